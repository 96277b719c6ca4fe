//! Scores of translations against references.

use anyhow::ensure;
use pyo3::prelude::*;
use softalign::error::UsageError;
use softalign::metrics::{
    BleuStats, ChrfStats, FromSegment, Significance, TerStats, confidence as confidence_interval, signature,
    significance,
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
    confidence: bool,
    seed: u64,
) -> PyResult<(f64, Option<f64>, Option<String>)> {
    let metric = Metric::named(py, metric)?;
    let (score, interval) = run(py, None, |_| {
        check_counts(&[&hypotheses], &references)?;
        Ok(match metric {
            Metric::Bleu => score::<BleuStats>(&hypotheses, &references, confidence.then_some(seed)),
            Metric::Chrf => score::<ChrfStats>(&hypotheses, &references, confidence.then_some(seed)),
            Metric::Ter => score::<TerStats>(&hypotheses, &references, confidence.then_some(seed)),
        })
    })?;
    Ok((score, interval, matches!(metric, Metric::Bleu).then(|| signature(false))))
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
    seed: u64,
) -> PyResult<(f64, f64, f64, f64)> {
    let metric = Metric::named(py, metric)?;
    run(py, None, |_| {
        check_counts(&[&baseline, &system], &references)?;
        let sides = [&baseline[..], &system[..]];
        Ok(match metric {
            Metric::Bleu => compare::<BleuStats>(sides, &references, seed),
            Metric::Chrf => compare::<ChrfStats>(sides, &references, seed),
            Metric::Ter => compare::<TerStats>(sides, &references, seed),
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

fn segments<C: FromSegment>(hypotheses: &[String], references: &[String]) -> Vec<C> {
    hypotheses.iter().zip(references).map(|(hypothesis, reference)| C::from_segment(hypothesis, reference)).collect()
}

fn total<C: FromSegment>(segments: &[C]) -> f64 {
    let mut sum = C::default();
    segments.iter().for_each(|segment| sum.add(segment));
    sum.score()
}

fn score<C: FromSegment>(hypotheses: &[String], references: &[String], seed: Option<u64>) -> (f64, Option<f64>) {
    let segments = segments::<C>(hypotheses, references);
    (total(&segments), seed.map(|seed| confidence_interval(&segments, seed).half_width))
}

fn compare<C: FromSegment>(sides: [&[String]; 2], references: &[String], seed: u64) -> (f64, f64, f64, f64) {
    let [baseline, system] = sides.map(|side| segments::<C>(side, references));
    let Significance { bootstrap, randomization } = significance(&baseline, &system, seed);
    (total(&baseline), total(&system), bootstrap, randomization)
}
