//! `softalign score`

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use candle_core::Device;

use super::console::{Bar, Console};
use super::input_format::SentenceLines;
use super::output_file::{Output, WrittenPath, ensure_distinct_paths};
use super::pair_files::{ChunkedWork, pairs_or_standard_input, process_chunks};
use super::unreadable::{ReadableItems, Unreadable};
use crate::cli::ScoreArgs;
use crate::error::{usage, usage_of};
use crate::render::JsonError;
use crate::search::LengthFormula;
use crate::text::{LineError, NBestEntry, OnError, Pair, PairFiles, PairStream, RowSyntax, file_name, read_each_line};
use crate::translator::{ForcedScore, LineWarnings, Translator, check_length_penalty};

/// Name of the feature added to n-best lists.
const FEATURE: &str = "softalign";

pub fn run(args: &ScoreArgs, device: &Device, console: &Console) -> Result<()> {
    check_length_penalty(args.length_penalty)?;
    match (&args.rerank, &args.input) {
        (Some(list), Some(input)) => rerank(args, list, input, device, console),
        (None, Some(_)) => usage_of("input", "needs --rerank"),
        _ => score(args, device, console),
    }
}

fn score(args: &ScoreArgs, device: &Device, console: &Console) -> Result<()> {
    let files = pairs_or_standard_input(&args.pairs, Some(&args.model[0]))?;
    ensure_distinct_paths(files.paths(), [WrittenPath::new("--output", &args.output)])?;
    let output = Output::open(&args.output)?;
    let pairs = files.stream("--pairs")?;
    let translator = Translator::load_ensemble_on(&args.model, device)?;
    let numbers = pairs.numbers().clone();
    let mut work = PairScorer {
        args,
        files: &files,
        pairs,
        translator,
        warnings: LineWarnings::new(&numbers),
        bar: console.bar("scoring", files.count()),
        syntax: RowSyntax::of_file(output.path()),
        output,
        console,
    };
    let mut unreadable = Unreadable::new(args.on_error.unwrap_or(OnError::Keep));
    process_chunks(&mut work, &mut unreadable)?;
    let PairScorer { warnings, bar, output, .. } = work;
    drop(bar);
    warnings.report_truncated(console);
    warnings.report_unknown_features(console);
    output.finish()?;
    unreadable.finish(console)
}

/// Scoring of pairs as they are read.
struct PairScorer<'a> {
    args: &'a ScoreArgs,
    files: &'a PairFiles,
    pairs: PairStream,
    translator: Translator,
    warnings: LineWarnings,
    bar: Bar,
    output: Output,
    syntax: RowSyntax,
    console: &'a Console,
}

impl ChunkedWork for PairScorer<'_> {
    type Item = Pair;

    fn next_chunk(&mut self, most: usize) -> Result<Vec<Result<Pair>>> {
        self.pairs.next_chunk(most)
    }

    fn process(&mut self, first: usize, chunk: &[Pair], unreadable: &Unreadable) -> Result<()> {
        if first == 0 {
            self.files.report_format(chunk, self.pairs.numbers(), self.console);
        }
        let scored = self.translator.score_batch(chunk, &mut |count| self.bar.advance(count))?;
        let bar = self.bar.handle();
        bar.suspend(|| self.write_chunk(first, chunk, &scored, unreadable))
    }
}

impl PairScorer<'_> {
    fn write_chunk(
        &mut self,
        first: usize,
        chunk: &[Pair],
        scored: &[ForcedScore],
        unreadable: &Unreadable,
    ) -> Result<()> {
        unreadable.warn(self.console);
        for (id, (pair, scored)) in (first..).zip(chunk.iter().zip(scored)) {
            if !unreadable.is_skipped(id) {
                self.write(id, pair, scored, unreadable.message(id))?;
            }
        }
        self.output.flush()
    }

    /// Writes the scores of a pair, or the error of its line.
    fn write(&mut self, id: usize, pair: &Pair, scored: &ForcedScore, error: Option<&str>) -> Result<()> {
        if scored.cut {
            self.warnings.add_truncated(id);
        }
        self.warnings.add_pair(id, pair, self.files, &self.translator);
        let line = match (self.args.json, error) {
            (true, Some(error)) => serde_json::to_string(&JsonError::new(id, error))?,
            (false, Some(_)) => String::new(),
            (true, None) => scored.json(id, &self.files.as_given(pair).0)?,
            (false, None) => self.syntax.row(&scored.cells(self.args.words)),
        };
        let line = self.output.shown(&line).into_owned();
        self.output.with(|out| writeln!(out, "{line}"))
    }
}

/// Hypothesis of an n-best list with its score by the model.
struct RankedHypothesis<'a> {
    entry: &'a NBestEntry,
    log_probability: f64,
    score: f64,
}

/// Reranks an n-best list, sentences in the order of their numbers.
fn rerank(args: &ScoreArgs, list: &Path, input: &Path, device: &Device, console: &Console) -> Result<()> {
    check_rerank(args, list, input)?;
    ensure_distinct_paths([list, input], [WrittenPath::new("--output", &args.output)])?;
    let mut output = Output::open(&args.output)?;
    let mut unreadable = Unreadable::new(args.on_error.unwrap_or_default());
    let sentences = readable(read_sentences(args, input)?, &mut unreadable, console)?;
    let hypotheses = readable(NBestEntry::read_each(list, sentences.len())?, &mut unreadable, console)?;
    let translator = Translator::load_ensemble_on(&args.model, device)?;
    let (mut pairs, mut entries) = (Vec::new(), Vec::new());
    for entry in hypotheses.into_iter().flatten() {
        if let Some(source) = &sentences[entry.sentence] {
            pairs.push(Pair { source: source.clone(), target: entry.text.clone() });
            entries.push(entry);
        }
    }
    let mut bar = console.bar("scoring", pairs.len());
    let scored = translator.score_batch(&pairs, &mut |count| bar.advance(count))?;
    drop(bar);
    // Warnings name the line of a sentence once, not once per hypothesis.
    let cut = entries.iter().zip(&scored).filter(|(_, scored)| scored.cut).map(|(entry, _)| entry.sentence);
    let mut warnings = LineWarnings::default();
    cut.collect::<BTreeSet<usize>>().into_iter().for_each(|sentence| warnings.add_truncated(sentence));
    for RankedHypothesis { entry, log_probability, score } in ranked(&entries, &scored, args.length_penalty) {
        let line = entry.line(FEATURE, log_probability, score);
        let line = output.shown(&line).into_owned();
        output.with(|out| writeln!(out, "{line}"))?;
    }
    warnings.report_truncated(console);
    output.finish()?;
    unreadable.finish(console)
}

/// Rejects options that do not suit the reranking of a list of translations of an input.
fn check_rerank(args: &ScoreArgs, list: &Path, input: &Path) -> Result<()> {
    if list == Path::new("-") && input == Path::new("-") {
        return usage("standard input cannot be both --rerank and --input");
    }
    if args.on_error == Some(OnError::Keep) {
        return usage_of(
            "on-error",
            "keep cannot be used with --rerank, which has no result line for each input line; use skip",
        );
    }
    Ok(())
}

/// Ranks the hypotheses of each sentence by their scores.
fn ranked<'a>(entries: &'a [NBestEntry], scored: &[ForcedScore], length_penalty: f64) -> Vec<RankedHypothesis<'a>> {
    let mut ranked = Vec::with_capacity(entries.len());
    for (entry, scored) in entries.iter().zip(scored) {
        let (log_probability, length) = (scored.log_probability(), scored.tokens as f64);
        let score = LengthFormula::Power.apply(log_probability, length, length_penalty);
        ranked.push(RankedHypothesis { entry, log_probability, score });
    }
    ranked.sort_by(|one, other| one.entry.sentence.cmp(&other.entry.sentence).then(other.score.total_cmp(&one.score)));
    ranked
}

/// Reads the source sentences of an n-best list, with a [`LineError`] in place of each one that cannot be read.
fn read_sentences(args: &ScoreArgs, input: &Path) -> Result<Vec<Result<String>>> {
    let form = SentenceLines::new(&args.pairs.layout, args.pairs.tag_source.as_deref(), &args.model[0])?;
    let mut sentences = Vec::new();
    for (number, line) in (1..).zip(read_each_line(input)?) {
        let place = format!("{}:{number}", file_name(input));
        sentences.push(line.and_then(|line| match form.read(line) {
            Ok(sentence) => Ok(sentence.text),
            Err(reason) => Err(LineError::new(place, number, &reason).into()),
        }));
    }
    Ok(sentences)
}

/// Returns the lines of a file, none for each unreadable one, with a warning.
///
/// # Errors
/// An unreadable line ends the work.
fn readable<T>(lines: Vec<Result<T>>, unreadable: &mut Unreadable, console: &Console) -> Result<Vec<Option<T>>> {
    let ReadableItems { items, error } = unreadable.replace(0, lines.into_iter().map(|line| line.map(Some)).collect());
    unreadable.warn(console);
    error.map_or(Ok(items), Err)
}
