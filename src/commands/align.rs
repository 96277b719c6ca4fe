//! `softalign align`: forced decoding of given pairs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use candle_core::Device;

use super::console::Console;
use super::lexicon_tsv::{ListFormat, listed, write_lexicon, write_suspicions};
use super::load_model::{refuse_reading, translator};
use super::output_file::{Output, apart};
use super::pair_files::{for_each_chunk, given_pairs};
use super::render_options::{RenderOptions, check_view, item, renderer};
use crate::alignment::{Gold, LexiconBuilder, Link, LinkFormat, NoiseFeatures};
use crate::checkpoint::ModelDir;
use crate::cli::{AlignArgs, AlignmentFormat};
use crate::error::UsageError;
use crate::evaluation::read_gold;
use crate::render::{Item, Renderer};
use crate::text::{LineNumbers, Pair, PairStream, WordSplitting, without_features, word_spans};
use crate::text::{PairFiles, SHIPPED_TEST};
use crate::translator::{AlignerSource, LineWarnings, LinkOptions, LinkedPair, Linker, LinksFrom};

pub fn run(args: &AlignArgs, device: &Device, console: &Console) -> Result<()> {
    check(args)?;
    // Without a model nothing is known of how its files were laid out.
    let of_model = args.aligner.is_none() && args.links.links_from != LinksFrom::Pairs;
    let model = of_model.then(|| args.model[0].as_path());
    let files = given_pairs(&args.pairs, model).unwrap_or_else(|| PairFiles::shipped(SHIPPED_TEST));
    check_places(args, &files)?;
    let output = Output::open(&args.output)?;
    let output = if args.lexicon.is_some() { output.beside_others() } else { output };
    let lexicon = args.lexicon.as_deref().map(Output::open).transpose()?;
    let mut pairs = AlignInput::of(args, &files)?;
    let links = link_options(args);
    let translator = if links.links_from.uses_attention() {
        Some(translator(&args.model, &args.attention, links.words, device)?)
    } else {
        refuse_reading(&args.attention)?;
        None
    };
    let mut linker = Linker::with_options(&links, translator.as_ref(), &pairs.all, console)?;
    if let (Some(folder), Some(aligner)) = (&args.save_aligner, &linker.statistical) {
        let folder = ModelDir::new(folder);
        folder.save_aligner_alone(aligner)?;
        // As it will link later: what is hardly believed is not kept.
        linker.statistical = Some(Arc::new(folder.load_aligner_alone()?));
    }
    let read = |path: &PathBuf| read_gold(path, &pairs.all, linker.words, usize::from(args.gold_base));
    let gold = args.gold.as_ref().map(read).transpose()?;
    let title = files.title();
    let manner = RenderOptions {
        format: args.format,
        title,
        view: args.view,
        probabilities: args.probs,
        notation: args.notation.notation(),
        n_best: false,
    };
    let mut dump = AlignmentWriter {
        args,
        files: &files,
        words: linker.words[0],
        gold,
        renderer: renderer(manner, &linker, &output),
        output,
        lexicon: lexicon.map(|output| (output, LexiconBuilder::default())),
        signs: Vec::new(),
    };
    let mut warnings = LineWarnings::new(&pairs.numbers);
    let mut bar = console.bar("aligning", pairs.count);
    let align = |first: usize, part: Vec<Pair>| {
        if first == 0 {
            console.warn_all(files.spreadsheet_warnings(&part));
        }
        let linked = linker.link(&part, &mut |count| bar.advance(count))?;
        bar.hidden_while(|| {
            for (place, (pair, linked)) in (first..).zip(part.iter().zip(&linked)) {
                let id = pairs.chosen.as_ref().map_or(place, |chosen| chosen[place]);
                warnings.add_linked(id, linked);
                dump.add(id, pair, linked)?;
            }
            dump.output.flush()
        })
    };
    for_each_chunk(|most| pairs.stream.next_chunk(most), align)?;
    drop(bar);
    warnings.report_truncated(console);
    dump.finish(&pairs.all, &pairs.numbers)
}

/// Returns the options of linking, with the place of a saved aligner where no model is asked.
fn link_options(args: &AlignArgs) -> LinkOptions {
    let options = LinkOptions { by_units: args.subwords, ..args.links.options() };
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

/// What is aligned.
struct AlignInput {
    /// All pairs, where a word list, a judgement or an aligner is made of them together; else none.
    all: Vec<Pair>,
    /// Those that are aligned, as they arrive.
    stream: PairStream,
    /// The lines of all.
    numbers: LineNumbers,
    /// Their places among all, where only some are aligned.
    chosen: Option<Vec<usize>>,
    /// How many are aligned, about, if that is known.
    count: Option<usize>,
}

impl AlignInput {
    fn of(args: &AlignArgs, files: &PairFiles) -> Result<Self> {
        let together = args.lexicon.is_some() || args.noisy || args.gold.is_some() || !args.only.is_empty();
        if !together && args.links.links_from != LinksFrom::Pairs {
            let stream = files.stream("--pairs")?;
            let numbers = stream.numbers().clone();
            return Ok(Self { all: Vec::new(), stream, numbers, chosen: None, count: files.count() });
        }
        let (all, numbers) = files.read_numbered("--pairs")?;
        let chosen = (!args.only.is_empty()).then(|| chosen(&args.only, all.len())).transpose()?;
        let aligned = match &chosen {
            Some(chosen) => chosen.iter().map(|&id| all[id].clone()).collect(),
            None => all.clone(),
        };
        Ok(Self { count: Some(aligned.len()), stream: PairStream::of(aligned, numbers.clone()), numbers, all, chosen })
    }
}

/// Refuses options that do not go together.
fn check(args: &AlignArgs) -> Result<()> {
    LinkOptions { by_units: args.subwords, ..args.links.options() }.check()?;
    check_view(args.view, Some(args.format))?;
    if args.probs && args.format != AlignmentFormat::Pharaoh {
        bail!(UsageError("--probs is for --format pharaoh; the other formats hold weights anyway".to_owned()));
    }
    if args.notation.notation() != LinkFormat::default() && args.format != AlignmentFormat::Pharaoh {
        bail!(UsageError("--reverse and --link-base are for --format pharaoh".to_owned()));
    }
    if args.save_aligner.is_some() && args.links.links_from != LinksFrom::Pairs {
        bail!(UsageError("--save-aligner keeps what --links-from pairs learns: give that as well".to_owned()));
    }
    if args.gold.is_some() && (args.format != AlignmentFormat::Html || args.subwords) {
        bail!(UsageError("--gold is shown by --format html, between words; evaluate --gold measures".to_owned()));
    }
    if args.noisy && ListFormat::of(args.format).is_none() {
        bail!(UsageError("--noisy lists pairs: as a table, or with --format json or jsonl".to_owned()));
    }
    Ok(())
}

/// The places of the pairs that are asked for, in their order.
fn chosen(only: &[usize], count: usize) -> Result<Vec<usize>> {
    if let Some(number) = only.iter().find(|number| !(1..=count).contains(number)) {
        bail!(UsageError(format!("--only {number}: there are {count} pairs, counted from 1")));
    }
    Ok(BTreeSet::from_iter(only.iter().map(|number| number - 1)).into_iter().collect())
}

/// Refuses results that would be written over each other, or over what they are made from.
fn check_places(args: &AlignArgs, files: &PairFiles) -> Result<()> {
    let read = files.paths().into_iter().chain(args.gold.as_deref());
    let lexicon = args.lexicon.as_deref().map(|path| ("--lexicon", path));
    apart(read, [("--output", &*args.output)].into_iter().chain(lexicon))
}

/// What is written of the pairs as they come, and what is collected of them to be written at the end.
struct AlignmentWriter<'a> {
    args: &'a AlignArgs,
    files: &'a PairFiles,
    /// What counts as a word of the source.
    words: WordSplitting,
    gold: Option<Vec<Gold>>,
    renderer: Box<dyn Renderer>,
    output: Output,
    /// The word list, and where it goes, if one is asked for.
    lexicon: Option<(Output, LexiconBuilder)>,
    /// Each pair's signs, if the suspicious ones are asked for.
    signs: Vec<NoiseFeatures>,
}

impl AlignmentWriter<'_> {
    /// Adds the pair of number `id`.
    fn add(&mut self, id: usize, pair: &Pair, linked: &LinkedPair) -> Result<()> {
        let (given, _) = self.files.as_given(pair);
        if let Some((_, words)) = &mut self.lexicon {
            let [mut sources, targets] = [linked.alignment.source(), linked.alignment.target()].map(listed);
            // A tag is no word, and features are no part of one.
            let lead = pair.source.len() - given.source.len();
            let before = word_spans(&pair.source, self.words).iter().take_while(|span| span.end <= lead).count();
            sources.iter_mut().for_each(|word| *word = without_features(word).0.to_owned());
            let links: Vec<Link> = linked.links.iter().copied().filter(|link| link.source >= before).collect();
            words.add(id, &sources, &targets, &links);
        }
        if self.args.noisy {
            self.signs.push(linked.signs());
            return Ok(());
        }
        let with_units = self.args.format == AlignmentFormat::Html && !self.args.subwords;
        let texts = [&*given.source, &*given.target];
        let item = Item { gold: self.gold.as_ref().map(|gold| &gold[id]), ..item(id, texts, linked, with_units) };
        self.output.with(|out| self.renderer.item(out, &item))
    }

    /// Writes what is left; `pairs` are all of them, where what is made of them together needs them.
    fn finish(mut self, pairs: &[Pair], numbers: &LineNumbers) -> Result<()> {
        let given: Vec<Pair> = pairs.iter().map(|pair| self.files.as_given(pair).0).collect();
        if self.args.noisy {
            let format = ListFormat::of(self.args.format).unwrap_or(ListFormat::TableScorer);
            self.output.with(|out| write_suspicions(out, format, &given, &self.signs, numbers))?;
        } else {
            self.output.with(|out| self.renderer.finish(out))?;
        }
        self.output.finish()?;
        if let Some((mut output, words)) = self.lexicon {
            output.with(|out| write_lexicon(out, &given, &words))?;
            output.finish()?;
        }
        Ok(())
    }
}
