//! `softalign score`

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use candle_core::Device;

use super::console::Console;
use super::input_format::SentenceLines;
use super::output_file::{Output, ensure_distinct_paths};
use super::pair_files::{for_each_chunk, pairs_or_standard_input};
use super::unreadable::Unreadable;
use crate::cli::ScoreArgs;
use crate::error::{UsageError, usage};
use crate::render::JsonError;
use crate::search::LengthFormula;
use crate::text::{LineError, NBestEntry, OnError, Pair, RowSyntax, file_name, read_each_line};
use crate::translator::{ForcedScore, LineWarnings, Translator, check_length_penalty};

/// Name of the feature added to n-best lists.
const FEATURE: &str = "softalign";

pub fn run(args: &ScoreArgs, device: &Device, console: &Console) -> Result<()> {
    check_length_penalty(args.length_penalty)?;
    match (&args.rerank, &args.input) {
        (Some(list), Some(input)) => rerank(args, list, input, device, console),
        (None, Some(_)) => usage("--input needs --rerank"),
        _ => score(args, device, console),
    }
}

fn score(args: &ScoreArgs, device: &Device, console: &Console) -> Result<()> {
    let files = pairs_or_standard_input(&args.pairs, Some(&args.model[0]))?;
    ensure_distinct_paths(files.paths(), Some(("--output", args.output.as_path())))?;
    let mut output = Output::open(&args.output)?;
    let syntax = RowSyntax::of_file(output.path());
    let mut pairs = files.stream("--pairs")?;
    let translator = Translator::load_ensemble_on(&args.model, device)?;
    let numbers = pairs.numbers().clone();
    let mut warnings = LineWarnings::new(&numbers);
    let mut bar = console.bar("scoring", files.count());
    let mut unreadable = Unreadable::new(args.on_error.unwrap_or(OnError::Keep));
    let score = |first: usize, part: Vec<Pair>, unreadable: &Unreadable| {
        if first == 0 {
            files.report_format(&part, &numbers, console);
        }
        let scored = translator.score_batch(&part, &mut |count| bar.advance(count))?;
        bar.hidden_while(|| {
            unreadable.warn(console);
            for (id, (pair, scored)) in (first..).zip(part.iter().zip(&scored)) {
                if unreadable.is_skipped(id) {
                    continue;
                }
                if scored.cut {
                    warnings.add_truncated(id);
                }
                warnings.add_pair(id, pair, &files, &translator);
                let line = match (args.json, unreadable.message(id)) {
                    (true, Some(error)) => serde_json::to_string(&JsonError::new(id, error))?,
                    (false, Some(_)) => String::new(),
                    (true, None) => scored.json(id, &files.as_given(pair).0)?,
                    (false, None) => syntax.row(&scored.cells(args.words)),
                };
                let line = output.shown(&line).into_owned();
                output.with(|out| writeln!(out, "{line}"))?;
            }
            output.flush()
        })
    };
    for_each_chunk(&mut unreadable, |most| pairs.next_chunk(most), score)?;
    drop(bar);
    warnings.report_truncated(console);
    warnings.report_unknown_features(console);
    output.finish()?;
    unreadable.finish(console)
}

/// Reranks an n-best list, sentences in the order of their numbers.
fn rerank(args: &ScoreArgs, list: &Path, input: &Path, device: &Device, console: &Console) -> Result<()> {
    if list == Path::new("-") && input == Path::new("-") {
        bail!(UsageError("standard input cannot be both --rerank and --input".to_owned()));
    }
    if args.on_error == Some(OnError::Keep) {
        return usage(
            "--on-error keep cannot be used with --rerank, which has no result line for each input line; use skip",
        );
    }
    ensure_distinct_paths([list, input], Some(("--output", args.output.as_path())))?;
    let mut output = Output::open(&args.output)?;
    let mut unreadable = Unreadable::new(args.on_error.unwrap_or_default());
    let sentences = readable(read_sentences(args, input)?, &mut unreadable, console)?;
    let hypotheses = readable(NBestEntry::read_each(list, sentences.len())?, &mut unreadable, console)?;
    let translator = Translator::load_ensemble_on(&args.model, device)?;
    let pair = |one: NBestEntry| {
        let source = sentences[one.sentence].clone()?;
        Some((Pair { source, target: one.text.clone() }, one))
    };
    let (pairs, hypotheses): (Vec<Pair>, Vec<NBestEntry>) = hypotheses.into_iter().flatten().filter_map(pair).unzip();
    let mut warnings = LineWarnings::default();
    let mut bar = console.bar("scoring", pairs.len());
    let scored = translator.score_batch(&pairs, &mut |count| bar.advance(count))?;
    drop(bar);
    let rank = |scored: &ForcedScore| {
        LengthFormula::Power.apply(scored.log_probability(), scored.tokens as f64, args.length_penalty)
    };
    let mut ranked: Vec<(&NBestEntry, &ForcedScore, f64)> =
        hypotheses.iter().zip(&scored).map(|(one, scored)| (one, scored, rank(scored))).collect();
    // Warnings name the line of a sentence once, not once per hypothesis.
    let cut = ranked.iter().filter(|(_, scored, _)| scored.cut).map(|(one, ..)| one.sentence);
    cut.collect::<BTreeSet<usize>>().into_iter().for_each(|sentence| warnings.add_truncated(sentence));
    ranked.sort_by(|(a, _, of_a), (b, _, of_b)| a.sentence.cmp(&b.sentence).then(of_b.total_cmp(of_a)));
    for (one, scored, score) in ranked {
        let line = one.line((FEATURE, scored.log_probability()), score);
        let line = output.shown(&line).into_owned();
        output.with(|out| writeln!(out, "{line}"))?;
    }
    warnings.report_truncated(console);
    output.finish()?;
    unreadable.finish(console)
}

/// Reads the source sentences of an n-best list, with a [`LineError`] in place of each one that cannot be read.
fn read_sentences(args: &ScoreArgs, input: &Path) -> Result<Vec<Result<String>>> {
    let form = SentenceLines::new(&args.pairs.layout, args.pairs.tag_source.as_deref(), &args.model[0])?;
    let read = |(number, line): (usize, Result<String>)| {
        let place = || format!("{}:{number}", file_name(input));
        let sentence = form.read(line?).map_err(|reason| LineError::new(place(), number, &reason))?;
        Ok(sentence.text)
    };
    Ok((1..).zip(read_each_line(input)?).map(read).collect())
}

/// Returns the lines of a file, none for each unreadable one, with a warning.
///
/// # Errors
/// An unreadable line ends the work.
fn readable<T>(lines: Vec<Result<T>>, unreadable: &mut Unreadable, console: &Console) -> Result<Vec<Option<T>>> {
    let (lines, error) = unreadable.replace(0, lines.into_iter().map(|line| line.map(Some)).collect());
    unreadable.warn(console);
    error.map_or(Ok(lines), Err)
}
