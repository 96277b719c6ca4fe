//! `softalign align`: forced decoding of given pairs.

mod input;
mod options;
mod writer;

use std::sync::Arc;

use anyhow::Result;
use candle_core::Device;

use super::console::{Bar, Console};
use super::load_model::translator;
use super::pair_files::{ChunkedWork, pairs_or_standard_input, process_chunks};
use super::render_options::alignment_format;
use super::unreadable::Unreadable;
use crate::checkpoint::ModelDir;
use crate::cli::{AlignArgs, ExplicitArgs};
use crate::text::{Pair, PairFiles, WordSplitting};
use crate::translator::{LineWarnings, LinkOptions, LinkedPair, Linker, LinksFrom, Translator};
use input::AlignInput;
use options::{check, check_paths, link_options};
use writer::{AlignOutputs, AlignmentWriter};

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
        self.writer.flush()
    }
}

/// Warns if most words of a side are unknown to the model's aligner, since the model was probably trained on other languages.
fn warn_of_other_languages(args: &AlignArgs, linker: &Linker, linked: &[LinkedPair], console: &Console) {
    const MIN_WORDS: usize = 5;
    // The aligner knows no tokens, and no letters of words.
    let by_words = !args.tokens && args.links.words != Some(WordSplitting::Characters);
    let Some(aligner) = linker.statistical.as_ref().filter(|_| by_words) else { return };
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
