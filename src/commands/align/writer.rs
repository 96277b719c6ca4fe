//! Output of alignments, of the lexicon and of the ranking by noise.

use anyhow::Result;

use super::input::AlignInput;
use crate::alignment::{Gold, LexiconBuilder, NoiseFeatures};
use crate::cli::AlignArgs;
use crate::commands::output_file::Output;
use crate::commands::render_options::{heatmap, renderer};
use crate::error::usage;
use crate::evaluation::{UNKNOWN_SIZE, pair_sizes, read_gold};
use crate::render::{AlignmentFormat, Item, ListFormat, RenderOptions, Renderer, write_lexicon, write_noisy_pairs};
use crate::text::{Languages, LineNumbers, Pair, PairFiles, WordSplitting, without_features, word_spans};
use crate::translator::{LinkedPair, Linker};

/// Largest number of pairs that --format svg draws without --only.
const MAX_FIGURES: usize = 50;

/// Output files of alignments.
pub struct AlignOutputs {
    format: AlignmentFormat,
    alignments: Output,
    lexicon: Option<Output>,
}

impl AlignOutputs {
    /// Opens the output files before long work starts.
    ///
    /// # Errors
    /// A path cannot be opened.
    pub fn open(args: &AlignArgs, format: AlignmentFormat) -> Result<Self> {
        let alignments = Output::open(&args.output)?;
        let alignments = if args.lexicon.is_some() { alignments.beside_others() } else { alignments };
        Ok(Self { format, alignments, lexicon: args.lexicon.as_deref().map(Output::open).transpose()? })
    }
}

/// Writer of alignments as they arrive, and of lists of all pairs at the end.
pub struct AlignmentWriter<'a> {
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
    ///
    /// # Errors
    /// The gold alignments cannot be read, or the format is not for a terminal.
    pub fn new(
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
    ///
    /// # Errors
    /// Writing fails, or there are too many figures.
    pub fn add(&mut self, id: usize, pair: &Pair, linked: &LinkedPair, error: Option<&str>) -> Result<()> {
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

    /// Writes what was added so far.
    ///
    /// # Errors
    /// Writing fails.
    pub fn flush(&mut self) -> Result<()> {
        self.output.flush()
    }

    /// Writes the ranking, the end of the document and the lexicon. `pairs` are all pairs if one of these needs them.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(mut self, pairs: &[Pair], numbers: &LineNumbers) -> Result<()> {
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
