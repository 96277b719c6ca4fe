//! `softalign align`: forced decoding of given pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Error, Result};
use candle_core::Device;

use super::console::{Bar, Console};
use super::load_model::{reject_attention_options, translator};
use super::output_file::{Output, WrittenPath, ensure_distinct_paths};
use super::pair_files::{ChunkedWork, pairs_or_standard_input, process_chunks};
use super::render_options::{alignment_format, check_figures, heatmap, renderer};
use super::unreadable::Unreadable;
use crate::alignment::{Gold, LexiconBuilder, LinkFormat, NoiseFeatures};
use crate::checkpoint::ModelDir;
use crate::cli::{AlignArgs, ExplicitArgs, joined_options_of};
use crate::error::usage;
use crate::evaluation::{UNKNOWN_SIZE, pair_sizes, read_gold};
use crate::render::{AlignmentFormat, Item, ListFormat, RenderOptions, Renderer, write_lexicon, write_noisy_pairs};
use crate::text::{
    Languages, LineNumbers, OnError, Pair, PairFiles, PairStream, WordSplitting, without_features, word_spans,
};
use crate::translator::{AlignerSource, LineWarnings, LinkOptions, LinkedPair, Linker, LinksFrom, Translator};

/// Largest number of pairs that --format svg draws without --only.
const MAX_FIGURES: usize = 50;

pub fn run(given: &ExplicitArgs<AlignArgs>, device: &Device, console: &Console) -> Result<()> {
    let args = &given.args;
    let format = alignment_format(args.format, &args.output)?;
    check(given, format)?;
    // Only a model's directory records the layout of its training files.
    let of_model = args.aligner.is_none() && args.links.links_from != LinksFrom::Pairs;
    let model = of_model.then(|| args.model[0].as_path());
    let files = pairs_or_standard_input(&args.pairs, model)?;
    check_paths(args, &files)?;
    let outputs = AlignOutputs::open(args, format)?;
    let input = AlignInput::new(args, &files)?;
    let links = link_options(args);
    let translator = load_translator(args, &links, device)?;
    let linker = build_linker(args, &links, translator.as_ref(), &input.all, console)?;
    let mut work = PairAligner {
        args,
        files: &files,
        translator,
        warns_of_languages: of_model,
        warnings: LineWarnings::new(&input.numbers),
        bar: console.bar("aligning", input.count),
        writer: AlignmentWriter::new(args, &files, &input, &linker, outputs)?,
        linker,
        input,
        console,
    };
    let mut unreadable = Unreadable::new(args.on_error);
    process_chunks(&mut work, &mut unreadable)?;
    let PairAligner { bar, warnings, writer, input, .. } = work;
    drop(bar);
    warnings.report_truncated(console);
    warnings.report_unknown_features(console);
    writer.finish(&input.all, &input.numbers)?;
    unreadable.finish(console)
}

/// Output files.
struct AlignOutputs {
    format: AlignmentFormat,
    alignments: Output,
    lexicon: Option<Output>,
}

impl AlignOutputs {
    fn open(args: &AlignArgs, format: AlignmentFormat) -> Result<Self> {
        let alignments = Output::open(&args.output)?;
        let alignments = if args.lexicon.is_some() { alignments.beside_others() } else { alignments };
        Ok(Self { format, alignments, lexicon: args.lexicon.as_deref().map(Output::open).transpose()? })
    }
}

/// Alignment of pairs as they are read.
struct PairAligner<'a> {
    args: &'a AlignArgs,
    files: &'a PairFiles,
    input: AlignInput,
    translator: Option<Translator>,
    linker: Linker,
    /// True if the model may have been trained on other languages.
    warns_of_languages: bool,
    warnings: LineWarnings,
    writer: AlignmentWriter<'a>,
    bar: Bar,
    console: &'a Console,
}

impl ChunkedWork for PairAligner<'_> {
    type Item = Pair;

    fn next_chunk(&mut self, most: usize) -> Result<Vec<Result<Pair>>> {
        self.input.next_chunk(most)
    }

    fn process(&mut self, first: usize, chunk: &[Pair], unreadable: &Unreadable) -> Result<()> {
        if first == 0 {
            self.files.report_format(chunk, &self.input.numbers, self.console);
        }
        let linked = self.linker.link(chunk, &mut |count| self.bar.advance(count))?;
        let bar = self.bar.handle();
        bar.suspend(|| self.write(first, chunk, &linked, unreadable))
    }
}

impl PairAligner<'_> {
    /// Writes the links of a chunk whose first pair is at this place among those that are aligned.
    fn write(&mut self, first: usize, chunk: &[Pair], linked: &[LinkedPair], unreadable: &Unreadable) -> Result<()> {
        if first == 0 && self.warns_of_languages {
            warn_of_other_languages(self.args, &self.linker, linked, self.console);
        }
        unreadable.warn(self.console);
        for (place, (pair, linked)) in (first..).zip(chunk.iter().zip(linked)) {
            let id = self.input.id(place);
            self.warnings.add_linked(id, linked);
            if let Some(translator) = &self.translator {
                self.warnings.add_pair(id, pair, self.files, translator);
            }
            if !unreadable.is_skipped(place) {
                self.writer.add(id, pair, linked, unreadable.message(place))?;
            }
        }
        self.writer.output.flush()
    }
}

/// Warns if most words of a side are unknown to the model's aligner, since the model was probably trained on other languages.
fn warn_of_other_languages(args: &AlignArgs, linker: &Linker, linked: &[LinkedPair], console: &Console) {
    const MIN_WORDS: usize = 5;
    let Some(aligner) = linker.statistical.as_ref().filter(|_| !args.tokens) else { return };
    for (side, name) in ["source", "target"].into_iter().enumerate() {
        let words = linked.iter().flat_map(|pair| [pair.alignment.source(), pair.alignment.target()][side]);
        let words: Vec<&String> = words.collect();
        let unknown = words.iter().filter(|word| !aligner.knows(side, word)).count();
        if words.len() >= MIN_WORDS && 2 * unknown > words.len() {
            console.warn(format!(
                "{unknown} of {} {name} words are unknown to {}; if it translates other languages, name your own --model, or use \
                 --links-from pairs",
                words.len(),
                args.model[0].display()
            ));
            return;
        }
    }
}

fn render_options(args: &AlignArgs, files: &PairFiles, linker: &Linker, output: &Output) -> RenderOptions {
    RenderOptions {
        title: files.title(),
        figures: args.figures.style(),
        probabilities: args.probs,
        notation: args.notation,
        n_best: false,
        min_link_score: linker.min_link_score(),
        heatmap: heatmap(output.is_terminal()),
        languages: Languages::of_files(files),
    }
}

/// Loads the models if attention makes links.
fn load_translator(args: &AlignArgs, links: &LinkOptions, device: &Device) -> Result<Option<Translator>> {
    if !links.links_from.uses_attention() {
        return Ok(None);
    }
    translator(&args.model, &args.attention, links.words, device).map(Some)
}

/// Builds the linker, and saves its aligner if requested.
fn build_linker(
    args: &AlignArgs,
    links: &LinkOptions,
    translator: Option<&Translator>,
    pairs: &[Pair],
    console: &Console,
) -> Result<Linker> {
    let mut linker = Linker::with_options(links, translator, pairs, console)?;
    if let (Some(path), Some(aligner)) = (&args.save_aligner, &linker.statistical) {
        let directory = ModelDir::new(path);
        directory.save_aligner_alone(aligner)?;
        // Saving drops negligible probabilities, so the links equal those of a later run.
        linker.statistical = Some(Arc::new(directory.load_aligner_alone()?));
    }
    Ok(linker)
}

/// Returns the options of linking, with the directory of a saved aligner if no model is used.
fn link_options(args: &AlignArgs) -> LinkOptions {
    let options = LinkOptions {
        by_tokens: args.tokens,
        direction: args.direction,
        prior: args.prior.clone(),
        ..args.links.clone()
    };
    match &args.aligner {
        Some(path) => {
            LinkOptions { links_from: LinksFrom::Hmm, aligner: Some(AlignerSource::Directory(path.clone())), ..options }
        }
        None if options.links_from == LinksFrom::Hmm => {
            LinkOptions { aligner: Some(AlignerSource::Model(args.model[0].clone())), ..options }
        }
        None => options,
    }
}

/// Pairs to align.
struct AlignInput {
    /// All pairs if a lexicon, a ranking or an aligner needs them at once, else none. Unreadable ones are empty.
    all: Vec<Pair>,
    queue: AlignQueue,
    /// Line numbers of all pairs.
    numbers: LineNumbers,
    /// Indices of the pairs that --only selects.
    selected: Option<Vec<usize>>,
    /// Estimated number of pairs to align, if known.
    count: Option<usize>,
}

/// Pairs that are not aligned yet.
enum AlignQueue {
    Stream(Box<PairStream>),
    Memory {
        /// Place of the next pair among those that are selected.
        next: usize,
        /// Errors of the unreadable pairs by their index.
        errors: BTreeMap<usize, Error>,
    },
}

impl AlignInput {
    fn new(args: &AlignArgs, files: &PairFiles) -> Result<Self> {
        let together = args.lexicon.is_some() || args.noisy || args.gold.is_some() || !args.only.is_empty();
        if !together && args.links.links_from != LinksFrom::Pairs {
            let stream = files.stream("--pairs")?;
            let (numbers, count) = (stream.numbers().clone(), files.count());
            return Ok(Self {
                all: Vec::new(),
                queue: AlignQueue::Stream(Box::new(stream)),
                numbers,
                selected: None,
                count,
            });
        }
        let (each, numbers) = files.read_each("--pairs")?;
        let (mut all, mut errors) = (Vec::with_capacity(each.len()), BTreeMap::new());
        for (id, pair) in each.into_iter().enumerate() {
            match pair {
                Err(error) if args.on_error == OnError::Fail => return Err(error),
                Err(error) => {
                    errors.insert(id, error);
                    all.push(Pair::default());
                }
                Ok(pair) => all.push(pair),
            }
        }
        let selected = (!args.only.is_empty()).then(|| chosen(&args.only, all.len())).transpose()?;
        let count = selected.as_ref().map_or(all.len(), Vec::len);
        Ok(Self { all, queue: AlignQueue::Memory { next: 0, errors }, numbers, selected, count: Some(count) })
    }

    /// Returns the index of the pair at a place among those that are aligned.
    fn id(&self, place: usize) -> usize {
        self.selected.as_ref().map_or(place, |selected| selected[place])
    }

    /// Returns at most `most` further pairs; none at the end.
    fn next_chunk(&mut self, most: usize) -> Result<Vec<Result<Pair>>> {
        let (next, errors) = match &mut self.queue {
            AlignQueue::Stream(stream) => return stream.next_chunk(most),
            AlignQueue::Memory { next, errors } => (next, errors),
        };
        let selected = self.selected.as_deref();
        let end = selected.map_or(self.all.len(), <[usize]>::len).min(*next + most);
        let mut chunk = Vec::with_capacity(end - *next);
        for place in *next..end {
            let id = selected.map_or(place, |selected| selected[place]);
            chunk.push(errors.remove(&id).map_or_else(|| Ok(self.all[id].clone()), Err));
        }
        *next = end;
        Ok(chunk)
    }
}

/// Rejects options that exclude each other.
fn check(given: &ExplicitArgs<AlignArgs>, format: AlignmentFormat) -> Result<()> {
    let args = &given.args;
    let links = link_options(args);
    links.check()?;
    check_figures(args.figures.style(), Some(format))?;
    if args.probs && format != AlignmentFormat::Pharaoh {
        return usage("--probs needs --format pharaoh; the other formats include scores");
    }
    if args.notation != LinkFormat::default() && format != AlignmentFormat::Pharaoh {
        return usage(format!("{} need --format pharaoh", joined_options_of::<LinkFormat>()));
    }
    if args.save_aligner.is_some() && links.links_from != LinksFrom::Pairs {
        return usage("--save-aligner needs --links-from pairs");
    }
    if args.gold.is_some() && (format != AlignmentFormat::Html || args.tokens) {
        return usage("--gold needs --format html without --tokens; to compute AER, use evaluate --gold");
    }
    if args.noisy && ListFormat::new(format).is_none() {
        return usage("--noisy needs --format text, tsv, json or jsonl");
    }
    if !links.links_from.uses_attention() {
        reject_attention_options(&args.attention)?;
    }
    if links.links_from == LinksFrom::Pairs && given.names().contains(&"model") {
        return usage("--model cannot be used with --links-from pairs, which trains an aligner on the pairs alone");
    }
    Ok(())
}

/// Returns the indices that `--only` selects, sorted.
fn chosen(only: &[usize], count: usize) -> Result<Vec<usize>> {
    if let Some(number) = only.iter().find(|number| !(1..=count).contains(number)) {
        return usage(format!("--only {number}: expected a pair number from 1 to {count}"));
    }
    Ok(BTreeSet::from_iter(only.iter().map(|number| number - 1)).into_iter().collect())
}

/// Checks that output files differ from each other and from the input.
fn check_paths(args: &AlignArgs, files: &PairFiles) -> Result<()> {
    // A saved aligner is read again.
    let aligner = args.save_aligner.as_deref().map(|path| ModelDir::new(path).aligner_path());
    let read = files.paths().into_iter().chain(args.gold.as_deref()).chain(aligner.as_deref());
    let output = WrittenPath::new("--output", &args.output);
    let lexicon = WrittenPath::given("--lexicon", args.lexicon.as_deref());
    ensure_distinct_paths(read, [Some(output), lexicon].into_iter().flatten())
}

/// Writes alignments as they arrive, and lists of all pairs at the end.
struct AlignmentWriter<'a> {
    args: &'a AlignArgs,
    files: &'a PairFiles,
    /// Word splitting of the source.
    words: WordSplitting,
    gold: Option<Vec<Gold>>,
    format: AlignmentFormat,
    renderer: Box<dyn Renderer>,
    output: Output,
    lexicon: Option<LexiconWriter>,
    /// Features of the readable pairs, for --noisy.
    noise: Vec<PairNoise>,
}

/// Lexicon of --lexicon, and where it is written.
struct LexiconWriter {
    output: Output,
    builder: LexiconBuilder,
}

/// Noise features of a pair.
struct PairNoise {
    /// Index of the pair.
    id: usize,
    features: NoiseFeatures,
}

impl<'a> AlignmentWriter<'a> {
    /// Returns a writer of the links that a linker finds. Reads the gold alignments, if they are named.
    fn new(
        args: &'a AlignArgs,
        files: &'a PairFiles,
        input: &AlignInput,
        linker: &Linker,
        outputs: AlignOutputs,
    ) -> Result<Self> {
        let AlignOutputs { format, alignments: output, lexicon } = outputs;
        let gold = args.gold.as_ref().map(|path| {
            let mut sizes = pair_sizes(&input.all, linker.words);
            // Unreadable pairs are empty.
            sizes.iter_mut().filter(|size| **size == [0, 0]).for_each(|size| *size = UNKNOWN_SIZE);
            read_gold(path, &sizes, args.gold_base)
        });
        Ok(Self {
            args,
            files,
            words: linker.words[0],
            gold: gold.transpose()?,
            format,
            renderer: renderer(format, render_options(args, files, linker, &output), &output)?,
            output,
            lexicon: lexicon.map(|output| LexiconWriter { output, builder: LexiconBuilder::default() }),
            noise: Vec::new(),
        })
    }

    /// Adds the pair with index `id`, or an empty one with the error of its line.
    fn add(&mut self, id: usize, pair: &Pair, linked: &LinkedPair, error: Option<&str>) -> Result<()> {
        let (given, _) = self.files.as_given(pair);
        if let Some(lexicon) = &mut self.lexicon {
            // Tags and features do not enter the lexicon.
            let lead = pair.source.len() - given.source.len();
            let before = word_spans(&pair.source, self.words).iter().take_while(|span| span.end <= lead).count();
            let mut source = vec![String::new(); before.min(linked.alignment.source().len())];
            for word in linked.alignment.source().iter().skip(before) {
                source.push(without_features(word).0.to_owned());
            }
            lexicon.builder.add(id, [&source, linked.alignment.target()], &linked.links, &linked.link_scores);
        }
        if self.args.noisy {
            self.noise.extend(error.is_none().then(|| PairNoise { id, features: linked.noise_features() }));
            return Ok(());
        }
        if self.format == AlignmentFormat::Svg && self.args.only.is_empty() && id >= MAX_FIGURES {
            return usage(format!("more than {MAX_FIGURES} pairs for --format svg; choose some with --only"));
        }
        let with_tokens = self.format == AlignmentFormat::Html && !self.args.tokens;
        let texts = [&*given.source, &*given.target];
        let gold = self.gold.as_ref().map(|gold| &gold[id]);
        let item = Item { gold, error, ..linked.item(id, texts, with_tokens) };
        self.output.with(|out| self.renderer.item(out, &item))
    }

    /// Writes the ranking, the end of the document and the lexicon. `pairs` are all pairs if one of these needs them.
    fn finish(mut self, pairs: &[Pair], numbers: &LineNumbers) -> Result<()> {
        if self.args.noisy {
            self.write_noise(pairs, numbers)?;
        } else {
            self.output.with(|out| self.renderer.finish(out))?;
        }
        self.output.finish()?;
        if let Some(LexiconWriter { mut output, builder }) = self.lexicon {
            let entries = builder.entries(self.args.min_count, self.args.sort);
            let given: Vec<Pair> = pairs.iter().map(|pair| self.files.as_given(pair).0).collect();
            let file = output.path().to_owned();
            output.with(|out| write_lexicon(out, &file, &given, &entries))?;
            output.finish()?;
        }
        Ok(())
    }

    /// Writes the ranking of the readable pairs by their noise.
    fn write_noise(&mut self, pairs: &[Pair], numbers: &LineNumbers) -> Result<()> {
        let format = ListFormat::new(self.format).unwrap_or(ListFormat::Table);
        let count = self.noise.len();
        let (mut given, mut lines, mut noise) =
            (Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count));
        for PairNoise { id, features } in std::mem::take(&mut self.noise) {
            given.push(self.files.as_given(&pairs[id]).0);
            lines.push(numbers.of(id));
            noise.push(features);
        }
        let numbers = LineNumbers::new(lines);
        let file = self.output.path().to_owned();
        self.output.with(|out| write_noisy_pairs(out, &file, format, &given, &noise, &numbers))
    }
}
