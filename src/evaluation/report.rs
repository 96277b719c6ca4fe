//! Report of one evaluation, or of several systems side by side: as text and as JSON.

use std::io::{Result, Write};
use std::path::PathBuf;

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::confidence::PerMetric;
use super::{CorpusScores, Evaluation, GoldScores, LengthScores};
use crate::metrics::{Confidence, ErrorRates, LengthBucket, RANDOMIZATION_TRIALS, Significance};
use crate::render::{SCHEMA, escape_controls, readable};
use crate::translator::CalibrationError;

/// Width of the labels.
const LABELS: usize = 14;
/// Largest p-value that is called significant.
const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// One of the systems that are compared.
#[derive(Serialize)]
pub struct SystemResult {
    /// Name in the report.
    pub name: String,
    /// Origin, unless the links are those of an aligner.
    #[serde(flatten)]
    pub origin: Option<SystemOrigin>,
    schema: u32,
    /// Scores.
    #[serde(flatten)]
    pub scores: SystemScores,
    /// Significance of its difference from the first system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub significance: Option<PerMetric<Significance>>,
}

/// Origin of a system's translations or links.
#[derive(Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemOrigin {
    /// A model's directory.
    ModelDir(PathBuf),
    /// A file of translations.
    Hypotheses(PathBuf),
    /// A file of links.
    Links(PathBuf),
}

/// Scores of a system.
#[derive(Serialize)]
#[serde(untagged)]
pub enum SystemScores {
    /// Scores of translations, and of links if there are gold alignments.
    Translations(Box<Evaluation>),
    /// Scores of links alone.
    Links {
        /// Number of sentence pairs.
        pairs: usize,
        /// Scores against the gold alignments.
        #[serde(flatten)]
        gold: GoldScores,
    },
}

/// A single evaluation as JSON.
#[derive(Serialize)]
struct SingleReport<'a> {
    schema: u32,
    #[serde(flatten)]
    scores: &'a SystemScores,
}

/// Several evaluations as JSON.
#[derive(Serialize)]
struct ComparisonReport<'a> {
    models: &'a [SystemResult],
}

/// Measure of a system: its label, the number, and what follows the number.
type Measure = (&'static str, String, String);

impl SystemResult {
    /// Names scores, which are compared with nothing so far.
    pub fn new(name: String, origin: Option<SystemOrigin>, scores: SystemScores) -> Self {
        Self { name, origin, schema: SCHEMA, scores, significance: None }
    }
}

impl SystemScores {
    /// Returns the evaluation of the translations, if there are any.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        match self {
            Self::Translations(evaluation) => Some(evaluation),
            Self::Links { .. } => None,
        }
    }

    /// Returns all measures for people. Those that say little about single words are left out for them.
    fn measures(&self) -> Vec<Measure> {
        let (mut measures, gold) = match self {
            Self::Translations(evaluation) => (translation_measures(evaluation), evaluation.gold.as_ref()),
            Self::Links { pairs, gold } => (vec![("pairs", pairs.to_string(), String::new())], Some(gold)),
        };
        let Some(GoldScores { agreement, best, .. }) = gold else { return measures };
        for (label, value) in [
            ("AER", agreement.aer),
            ("precision", agreement.precision),
            ("recall", agreement.recall),
            ("F1", agreement.f1),
        ] {
            measures.push((label, format!("{value:.3}"), String::new()));
        }
        let best =
            best.map(|best| ("best threshold", format!("{:.2}", best.threshold), format!(" (AER {:.3})", best.aer)));
        measures.extend(best);
        measures
    }
}

fn translation_measures(evaluation: &Evaluation) -> Vec<Measure> {
    let CorpusScores { pairs, bleu, chrf, exact_match, errors, ter, perplexity } = evaluation.scores;
    let interval = |of: fn(&PerMetric<Confidence>) -> Option<Confidence>| {
        let interval = evaluation.confidence.as_ref().and_then(of);
        interval.map_or(String::new(), |interval| format!(" ± {:.2}", interval.half_width))
    };
    let measure = |label, value: f64, after: String| (label, format!("{value:.2}"), after);
    let percent = || " %".to_owned();
    let mut measures = vec![("pairs", pairs.to_string(), String::new())];
    match errors {
        ErrorRates::SingleWords { wer, per } => measures.extend([
            measure("WER", wer, percent() + &interval(|all| all.wer)),
            measure("PER", per, percent() + &interval(|all| all.per)),
            measure("exact match", exact_match, percent()),
            measure("chrF", chrf, interval(|all| Some(all.chrf))),
        ]),
        ErrorRates::Sentences { word_error_rate, character_error_rate } => measures.extend([
            measure("BLEU", bleu, interval(|all| Some(all.bleu))),
            measure("chrF", chrf, interval(|all| Some(all.chrf))),
            measure("TER", ter, interval(|all| Some(all.ter))),
            measure("exact match", exact_match, percent()),
            measure("word errors", word_error_rate, percent()),
            measure("char errors", character_error_rate, percent()),
        ]),
    }
    measures.extend(perplexity.map(|perplexity| ("perplexity", readable(perplexity, 2), String::new())));
    measures.extend(evaluation.calibration_error.map(|CalibrationError { sentence, word }| {
        ("ECE", format!("{word:.3}"), format!(" of words, {sentence:.3} of sentences"))
    }));
    measures
}

/// Returns the report as one JSON object; several systems are entries of its list `models`.
///
/// # Errors
/// Serialization fails.
pub fn report_json(systems: &[SystemResult]) -> serde_json::Result<String> {
    match systems {
        [only] => serde_json::to_string(&SingleReport { schema: SCHEMA, scores: &only.scores }),
        models => serde_json::to_string(&ComparisonReport { models }),
    }
}

/// Writes the measures, the scores by length, and the differences from the first system as text.
///
/// # Errors
/// Writing fails.
pub fn write_report(out: &mut dyn Write, systems: &[SystemResult]) -> Result<()> {
    match systems {
        [only] => only
            .scores
            .measures()
            .iter()
            .try_for_each(|(label, number, after)| writeln!(out, "{label:<LABELS$} {number:>8}{after}"))?,
        _ => write_table(out, systems)?,
    }
    let evaluations = || systems.iter().filter_map(|system| system.scores.evaluation());
    let mut signatures: Vec<&str> = evaluations()
        .filter(|evaluation| matches!(evaluation.scores.errors, ErrorRates::Sentences { .. }))
        .map(|evaluation| &*evaluation.signature)
        .collect();
    signatures.dedup();
    for signature in signatures {
        writeln!(out, "BLEU is        {signature}")?;
    }
    for system in systems {
        let buckets = system.scores.evaluation().and_then(|evaluation| evaluation.by_length.as_ref());
        let Some(buckets) = buckets else { continue };
        writeln!(out)?;
        if systems.len() > 1 {
            writeln!(out, "{}", escape_controls(&system.name))?;
        }
        write_by_length(out, buckets)?;
    }
    write_significance(out, systems)
}

/// Writes a row for each measure and a column for each system.
fn write_table(out: &mut dyn Write, systems: &[SystemResult]) -> Result<()> {
    let columns: Vec<Vec<Measure>> = systems.iter().map(|system| system.scores.measures()).collect();
    let mut labels: Vec<&str> = Vec::new();
    for (label, ..) in columns.iter().flatten() {
        if !labels.contains(label) {
            labels.push(label);
        }
    }
    let mut lines: Vec<String> =
        std::iter::once("").chain(labels.clone()).map(|label| format!("{label:<LABELS$}")).collect();
    for (system, measures) in systems.iter().zip(&columns) {
        let cell = |label: &&str| {
            let measure = measures.iter().find(|(own, ..)| own == label);
            measure.map_or(String::new(), |(_, number, after)| format!("{number}{after}"))
        };
        let cells: Vec<String> =
            std::iter::once(escape_controls(&system.name)).chain(labels.iter().map(cell)).collect();
        let width = cells.iter().map(|cell| cell.width()).max().unwrap_or_default();
        for (line, cell) in lines.iter_mut().zip(&cells) {
            *line += &format!("  {}{cell}", " ".repeat(width - cell.width()));
        }
    }
    lines.iter().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// Writes the differences of the systems from the first one, if they were tested.
fn write_significance(out: &mut dyn Write, systems: &[SystemResult]) -> Result<()> {
    let Some((first, others)) = systems.split_first() else { return Ok(()) };
    for system in others {
        let Some(significance) = &system.significance else { continue };
        let values = |system: &SystemResult| system.scores.evaluation().map(|evaluation| evaluation.scores);
        let (Some(own), Some(baseline)) = (values(system), values(first)) else { continue };
        writeln!(out, "\n{} against {}", escape_controls(&system.name), escape_controls(&first.name))?;
        let [own_errors, baseline_errors] = [own, baseline].map(|scores| scores.errors.values());
        let tested = match significance.wer.zip(significance.per) {
            Some((wer, per)) => {
                vec![("WER", own_errors[0] - baseline_errors[0], wer), ("PER", own_errors[1] - baseline_errors[1], per)]
            }
            None => vec![
                ("BLEU", own.bleu - baseline.bleu, significance.bleu),
                ("chrF", own.chrf - baseline.chrf, significance.chrf),
                ("TER", own.ter - baseline.ter, significance.ter),
            ],
        };
        for (label, difference, Significance { randomization: p, .. }) in tested {
            let meaning = if p <= SIGNIFICANCE_LEVEL { "significant" } else { "may be chance" };
            writeln!(out, "{label:<LABELS$} {difference:>+8.2}   p = {p:.4}   {meaning}")?;
        }
    }
    if others.iter().any(|system| system.significance.is_some()) {
        writeln!(
            out,
            "\np is the probability that systems of equal quality differ at least this much by chance (approximate\n\
             randomization, {RANDOMIZATION_TRIALS} trials). Up to {SIGNIFICANCE_LEVEL}, a difference is called significant."
        )?;
    }
    Ok(())
}

/// Writes the table of scores by length.
fn write_by_length(out: &mut dyn Write, buckets: &[LengthScores]) -> Result<()> {
    let single_words = buckets.iter().any(|bucket| matches!(bucket.scores.errors, ErrorRates::SingleWords { .. }));
    let [first, second] = if single_words { ["WER", "PER"] } else { ["BLEU", "chrF"] };
    let perplexity = if buckets.iter().any(|bucket| bucket.scores.perplexity.is_some()) { "  perplexity" } else { "" };
    let aer = if buckets.iter().any(|bucket| bucket.agreement.is_some()) { "     AER" } else { "" };
    writeln!(out, "source words      pairs {first:>8} {second:>8}  exact match{perplexity}{aer}")?;
    for LengthScores { bucket, scores, agreement, .. } in buckets {
        let [first, second] = if single_words { scores.errors.values() } else { [scores.bleu, scores.chrf] };
        write!(out, "{:<LABELS$} {:>8} {first:>8.2} {second:>8.2}", label(*bucket), scores.pairs)?;
        write!(out, " {:>10.2} %", scores.exact_match)?;
        if let Some(perplexity) = scores.perplexity {
            write!(out, " {:>11}", readable(perplexity, 2))?;
        }
        if let Some(agreement) = agreement {
            write!(out, " {:>7.3}", agreement.aer)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Names a bucket by its ends, or by its one length.
fn label(bucket: LengthBucket) -> String {
    if bucket.from == bucket.to { bucket.to.to_string() } else { format!("{}-{}", bucket.from, bucket.to) }
}
