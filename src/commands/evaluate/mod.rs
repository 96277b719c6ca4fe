//! `softalign evaluate`

mod inputs;
mod outputs;
mod systems;

use anyhow::{Context, Result, ensure};
use candle_core::Device;

use super::console::Console;
use super::labels::Labelled;
use crate::cli::{EvaluateArgs, ExplicitArgs};
use crate::evaluation::{
    Evaluator, GoldScores, SystemOrigin, SystemResult, SystemScores, UNKNOWN_SIZE, read_gold, read_links,
    warn_of_truncated_scoring,
};
use crate::text::{PairFiles, ReadablePairs, SHIPPED_TEST};
use crate::translator::Linker;
use inputs::EvaluationInputs;
use outputs::EvaluationOutputs;
use systems::{NamedSystem, SystemReader, Systems};

pub fn run(given: &ExplicitArgs<EvaluateArgs>, device: &Device, console: &Console) -> Result<()> {
    let args = &given.args;
    let inputs = EvaluationInputs::new(given, console)?;
    let mut outputs = EvaluationOutputs::open(args, &inputs, console)?;
    let Some(files) = &inputs.files else {
        return outputs.finish(&evaluate_link_files(&inputs, args, console)?);
    };
    let mut readable = read_pairs(files, args, console);
    if !inputs.hypotheses.is_empty() {
        readable = readable.context("the pairs that --hypotheses are compared with");
    }
    let readable = readable?;
    if inputs.is_shipped {
        console.note(format!("no sentence pairs are named: evaluating on the shipped test set, {SHIPPED_TEST}"));
    }
    let evaluator = checked_evaluator(files, &readable, args, console)?;
    // All systems are read before the first is evaluated, so that errors appear early.
    let systems = SystemReader { args, files, readable: &readable, device, console }.read(&inputs)?;
    let results = evaluate(evaluator, systems, inputs.aligner_alone, args, console)?;
    outputs.save_translations(files, &readable.pairs, &results, console)?;
    outputs.finish(&results)
}

/// Evaluates files of links against the gold file, without the pairs.
fn evaluate_link_files(inputs: &EvaluationInputs, args: &EvaluateArgs, console: &Console) -> Result<Vec<SystemResult>> {
    let mut links_of_files = Vec::with_capacity(inputs.links.len());
    let mut sizes: Option<Vec<[usize; 2]>> = None;
    for file in &inputs.links {
        let links = read_links(&file.path, sizes.as_deref())?;
        sizes.get_or_insert_with(|| vec![UNKNOWN_SIZE; links.len()]);
        links_of_files.push(links);
    }
    let Some((path, sizes)) = inputs.gold.as_deref().zip(sizes) else { return Ok(Vec::new()) };
    let gold = read_gold(path, &sizes, args.gold_base)?;
    let mut results = Vec::with_capacity(links_of_files.len());
    for (Labelled { name, path }, links) in inputs.links.iter().zip(links_of_files) {
        let scores = GoldScores::from_links(&links, &gold);
        console.warn_all(scores.shift_warning(false));
        let scores = SystemScores::Links { pairs: links.len(), gold: scores };
        results.push(SystemResult::new(name.clone(), Some(SystemOrigin::Links(path.clone())), scores));
    }
    Ok(results)
}

/// Reads the pairs, and warns of references that are not scored to their ends.
fn read_pairs(files: &PairFiles, args: &EvaluateArgs, console: &Console) -> Result<ReadablePairs> {
    let readable = files.read_readable("--pairs", args.on_error, console)?;
    let ReadablePairs { pairs, numbers, .. } = &readable;
    files.report_format(pairs, numbers, console);
    ensure!(!pairs.is_empty(), "{files}: no sentence pairs");
    let references = pairs.iter().enumerate().map(|(place, pair)| (numbers.of(place), pair.target.as_str()));
    warn_of_truncated_scoring(&files.to_string(), references, console);
    Ok(readable)
}

/// Returns the evaluator of systems on pairs, which it can score as the options ask.
fn checked_evaluator<'a>(
    files: &PairFiles,
    readable: &'a ReadablePairs,
    args: &EvaluateArgs,
    console: &'a Console,
) -> Result<Evaluator<'a>> {
    let evaluator = Evaluator {
        pairs: &readable.pairs,
        untagged: Some(readable.pairs.iter().map(|pair| files.as_given(pair).0).collect()),
        numbers: readable.numbers.clone(),
        gold: None,
        by_length: args.by_length || args.figure.is_some(),
        search_threshold: args.search_threshold,
        confidence: args.confidence,
        tokenize: args.tokenize,
        options: args.search.clone(),
        precision: args.precision,
        reporter: console,
    };
    evaluator.check().with_context(|| files.to_string())?;
    Ok(evaluator)
}

/// Evaluates all systems, and the significance of their differences from the first if requested. With an aligner alone, its
/// links are those of every system.
fn evaluate(
    evaluator: Evaluator,
    systems: Systems,
    aligner_alone: bool,
    args: &EvaluateArgs,
    console: &Console,
) -> Result<Vec<SystemResult>> {
    let evaluator = Evaluator { gold: systems.gold, ..evaluator };
    let mut aligner = None;
    if aligner_alone {
        let linker = Linker::with_options(&args.links, None, evaluator.pairs, console)?;
        aligner = Some(evaluator.evaluate_linker(&linker)?);
    }
    let several = systems.named.len() > 1;
    let mut results: Vec<SystemResult> = Vec::with_capacity(systems.named.len());
    for system in systems.named {
        if several {
            console.note(format!("evaluating {}", system.name));
        }
        let Some(mut result) = evaluate_one(&evaluator, system, aligner)? else { continue };
        let baseline = results.first().and_then(|first| first.scores.evaluation()).filter(|_| args.compare);
        if let Some((baseline, own)) = baseline.zip(result.scores.evaluation()) {
            result.significance = Some(own.significance(baseline, args.search.seed));
        }
        results.push(result);
    }
    Ok(results)
}

/// Evaluates a system whose links are those of its model or its file, or else the aligner's. `None` if it has none and no
/// translations.
fn evaluate_one(
    evaluator: &Evaluator,
    NamedSystem { name, origin, system, links }: NamedSystem,
    aligner: Option<GoldScores>,
) -> Result<Option<SystemResult>> {
    let gold = links.map(|links| evaluator.evaluate_links(&links)).transpose()?.or(aligner);
    let scores = match (system, gold) {
        (None, None) => return Ok(None),
        (None, Some(gold)) => SystemScores::Links { pairs: evaluator.pairs.len(), gold },
        (Some(system), gold) => {
            let mut evaluation = evaluator.evaluate_system(&system)?;
            evaluation.gold = evaluation.gold.or(gold);
            SystemScores::Translations(Box::new(evaluation))
        }
    };
    Ok(Some(SystemResult::new(name, origin, scores)))
}
