//! Scores of translations against references.

use anyhow::ensure;
use pyo3::prelude::*;
use softalign::error::UsageError;
use softalign::metrics::{
    BleuStats, BleuTokenizer, ChrfStats, Significance, SufficientStats, TerStats, confidence as confidence_interval,
    signature, significance,
};

use crate::call::run;
use crate::error::argument_error;

/// Metric with sufficient statistics.
#[derive(Clone, Copy)]
enum Metric {
    Bleu,
    Chrf,
    Ter,
}

impl Metric {
    fn named(py: Python, name: &str) -> PyResult<Self> {
        match name {
            "bleu" => Ok(Self::Bleu),
            "chrf" => Ok(Self::Chrf),
            "ter" => Ok(Self::Ter),
            _ => Err(argument_error(py, format!("metric must be bleu, chrf or ter, not {name:?}"))),
        }
    }
}

/// Returns a corpus score in percent, half the width of its 95 % confidence interval if `confidence`, and BLEU's signature.
#[pyfunction]
pub fn corpus_score(
    py: Python,
    metric: &str,
    hypotheses: Vec<String>,
    references: Vec<String>,
    tokenize: Option<&str>,
    confidence: bool,
    seed: u64,
) -> PyResult<(f64, Option<f64>, Option<String>)> {
    let metric = Metric::named(py, metric)?;
    let tokenizer = tokenizer(py, tokenize, &references)?;
    let (score, interval) = run(py, None, |_| {
        check_counts(&[&hypotheses], &references)?;
        let (texts, seed) = ([&hypotheses[..], &references[..]], confidence.then_some(seed));
        Ok(match metric {
            Metric::Bleu => score(texts, seed, of_bleu(tokenizer)),
            Metric::Chrf => score(texts, seed, ChrfStats::of_segment),
            Metric::Ter => score(texts, seed, TerStats::of_segment),
        })
    })?;
    Ok((score, interval, matches!(metric, Metric::Bleu).then(|| signature(false, tokenizer))))
}

/// Returns the tokenization of BLEU by sacrebleu's name, or by default the one that suits the references.
fn tokenizer(py: Python, name: Option<&str>, references: &[String]) -> PyResult<BleuTokenizer> {
    match name {
        Some(name) => name.parse().map_err(|error: String| argument_error(py, error)),
        None => Ok(BleuTokenizer::for_references(references)),
    }
}

/// Returns the function that computes BLEU's statistics of a segment.
fn of_bleu(tokenizer: BleuTokenizer) -> impl Fn(&str, &str) -> BleuStats {
    move |hypothesis, reference| BleuStats::of_segment(hypothesis, reference, tokenizer)
}

/// Returns the scores of a baseline and of a system, and the p-values of their difference by paired bootstrap resampling and by
/// approximate randomization.
#[pyfunction]
pub fn paired_test(
    py: Python,
    metric: &str,
    baseline: Vec<String>,
    system: Vec<String>,
    references: Vec<String>,
    tokenize: Option<&str>,
    seed: u64,
) -> PyResult<(f64, f64, f64, f64)> {
    let metric = Metric::named(py, metric)?;
    let tokenizer = tokenizer(py, tokenize, &references)?;
    run(py, None, |_| {
        check_counts(&[&baseline, &system], &references)?;
        let sides = [&baseline[..], &system[..]];
        Ok(match metric {
            Metric::Bleu => compare(sides, &references, seed, of_bleu(tokenizer)),
            Metric::Chrf => compare(sides, &references, seed, ChrfStats::of_segment),
            Metric::Ter => compare(sides, &references, seed, TerStats::of_segment),
        })
    })
}

fn check_counts(hypotheses: &[&Vec<String>], references: &[String]) -> anyhow::Result<()> {
    ensure!(!references.is_empty(), UsageError::new("a score needs hypotheses and references".to_owned()));
    for hypotheses in hypotheses {
        let [given, needed] = [hypotheses.len(), references.len()];
        let message = || format!("{given} hypotheses for {needed} references; one for each is required");
        ensure!(given == needed, UsageError::new(message()));
    }
    Ok(())
}

/// Returns the statistics of each segment.
fn segments<C>(hypotheses: &[String], references: &[String], of_segment: impl Fn(&str, &str) -> C) -> Vec<C> {
    hypotheses.iter().zip(references).map(|(hypothesis, reference)| of_segment(hypothesis, reference)).collect()
}

fn total<C: SufficientStats>(segments: &[C]) -> f64 {
    let mut sum = C::default();
    segments.iter().for_each(|segment| sum.add(segment));
    sum.score()
}

/// Returns the score of hypotheses against references, and half the width of its confidence interval if there is a seed.
fn score<C: SufficientStats>(
    [hypotheses, references]: [&[String]; 2],
    seed: Option<u64>,
    of_segment: impl Fn(&str, &str) -> C,
) -> (f64, Option<f64>) {
    let segments = segments(hypotheses, references, of_segment);
    (total(&segments), seed.map(|seed| confidence_interval(&segments, seed).half_width))
}

/// Returns the scores of a baseline and of a system, and the p-values of their difference.
fn compare<C: SufficientStats>(
    sides: [&[String]; 2],
    references: &[String],
    seed: u64,
    of_segment: impl Fn(&str, &str) -> C,
) -> (f64, f64, f64, f64) {
    let [baseline, system] = sides.map(|side| segments(side, references, &of_segment));
    let Significance { bootstrap, randomization } = significance(&baseline, &system, seed);
    (total(&baseline), total(&system), bootstrap, randomization)
}
