//! Report of one evaluation, or of several systems side by side, as text.

use std::io::{Result, Write};

use unicode_width::UnicodeWidthStr;

use super::confidence::PerMetric;
use super::system_result::{SystemResult, SystemScores};
use super::{CorpusScores, Evaluation, GoldScores, LengthScores};
use crate::metrics::{Confidence, ErrorRates, LengthBucket, RANDOMIZATION_TRIALS, Significance};
use crate::render::{escape_controls, readable};
use crate::translator::CalibrationError;

/// Width of the labels.
const LABELS: usize = 14;
/// Largest p-value that is called significant.
const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// Measure of a system.
struct Measure {
    label: &'static str,
    number: String,
    /// Text after the number: a unit or an interval.
    suffix: String,
}

/// Difference of a system from the first one.
struct Difference {
    label: &'static str,
    value: f64,
    significance: Significance,
}

impl Measure {
    fn new(label: &'static str, number: String) -> Self {
        Self { label, number, suffix: String::new() }
    }

    /// Score with two digits after the point.
    fn score(label: &'static str, value: f64) -> Self {
        Self::new(label, format!("{value:.2}"))
    }

    fn percent(label: &'static str, value: f64) -> Self {
        Self { suffix: " %".to_owned(), ..Self::score(label, value) }
    }

    fn with_interval(mut self, interval: Option<Confidence>) -> Self {
        if let Some(interval) = interval {
            self.suffix += &format!(" ± {:.2}", interval.half_width);
        }
        self
    }
}

/// Returns all measures of a system. Those that say little about single words are left out for them.
fn measures(scores: &SystemScores) -> Vec<Measure> {
    let (mut measures, gold) = match scores {
        SystemScores::Translations(evaluation) => (translation_measures(evaluation), evaluation.gold.as_ref()),
        SystemScores::Links { pairs, gold } => (vec![Measure::new("pairs", pairs.to_string())], Some(gold)),
    };
    let Some(GoldScores { agreement, best, .. }) = gold else { return measures };
    for (label, value) in
        [("AER", agreement.aer), ("precision", agreement.precision), ("recall", agreement.recall), ("F1", agreement.f1)]
    {
        measures.push(Measure::new(label, format!("{value:.3}")));
    }
    measures.extend(best.map(|best| Measure {
        label: "best threshold",
        number: format!("{:.2}", best.threshold),
        suffix: format!(" (AER {:.3})", best.aer),
    }));
    measures
}

fn translation_measures(evaluation: &Evaluation) -> Vec<Measure> {
    let CorpusScores { pairs, bleu, chrf, exact_match, errors, ter, perplexity } = evaluation.scores;
    let intervals = evaluation.confidence;
    let mut measures = vec![Measure::new("pairs", pairs.to_string())];
    match errors {
        ErrorRates::SingleWords { wer, per } => measures.extend([
            Measure::percent("WER", wer).with_interval(intervals.and_then(|all| all.wer)),
            Measure::percent("PER", per).with_interval(intervals.and_then(|all| all.per)),
            Measure::percent("exact match", exact_match),
            Measure::score("chrF", chrf).with_interval(intervals.map(|all| all.chrf)),
        ]),
        ErrorRates::Sentences { word_error_rate, character_error_rate } => measures.extend([
            Measure::score("BLEU", bleu).with_interval(intervals.map(|all| all.bleu)),
            Measure::score("chrF", chrf).with_interval(intervals.map(|all| all.chrf)),
            Measure::score("TER", ter).with_interval(intervals.map(|all| all.ter)),
            Measure::percent("exact match", exact_match),
            Measure::percent("word errors", word_error_rate),
            Measure::percent("char errors", character_error_rate),
        ]),
    }
    measures.extend(perplexity.map(|perplexity| Measure::new("perplexity", readable(perplexity, 2))));
    measures.extend(evaluation.calibration_error.map(|CalibrationError { sentence, word }| Measure {
        label: "ECE",
        number: format!("{word:.3}"),
        suffix: format!(" of words, {sentence:.3} of sentences"),
    }));
    measures
}

/// Writes the measures, the scores by length, and the differences from the first system as text.
///
/// # Errors
/// Writing fails.
pub fn write_report(out: &mut dyn Write, systems: &[SystemResult]) -> Result<()> {
    if let [only] = systems {
        for Measure { label, number, suffix } in measures(&only.scores) {
            writeln!(out, "{label:<LABELS$} {number:>8}{suffix}")?;
        }
    } else {
        write_table(out, systems)?;
    }
    let mut signatures: Vec<&str> = systems
        .iter()
        .filter_map(|system| system.scores.evaluation())
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
    let columns: Vec<Vec<Measure>> = systems.iter().map(|system| measures(&system.scores)).collect();
    let mut labels: Vec<&str> = Vec::new();
    for measure in columns.iter().flatten() {
        if !labels.contains(&measure.label) {
            labels.push(measure.label);
        }
    }
    let mut lines: Vec<String> =
        std::iter::once("").chain(labels.clone()).map(|label| format!("{label:<LABELS$}")).collect();
    for (system, measures) in systems.iter().zip(&columns) {
        let mut cells = vec![escape_controls(&system.name)];
        for label in &labels {
            let measure = measures.iter().find(|measure| measure.label == *label);
            cells.push(measure.map_or(String::new(), |Measure { number, suffix, .. }| format!("{number}{suffix}")));
        }
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
        let (Some(own), Some(baseline)) = (system.scores.evaluation(), first.scores.evaluation()) else { continue };
        writeln!(out, "\n{} against {}", escape_controls(&system.name), escape_controls(&first.name))?;
        for Difference { label, value, significance } in differences(&own.scores, &baseline.scores, significance) {
            let p = significance.randomization;
            let meaning = if p <= SIGNIFICANCE_LEVEL { "significant" } else { "may be chance" };
            writeln!(out, "{label:<LABELS$} {value:>+8.2}   p = {p:.4}   {meaning}")?;
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

/// Returns the differences that were tested: of WER and PER for single words, else of BLEU, chrF and TER.
fn differences(own: &CorpusScores, baseline: &CorpusScores, significance: &PerMetric<Significance>) -> Vec<Difference> {
    if let Some((wer, per)) = significance.wer.zip(significance.per) {
        let [own, baseline] = [own, baseline].map(|scores| scores.errors.values());
        return vec![
            Difference { label: "WER", value: own[0] - baseline[0], significance: wer },
            Difference { label: "PER", value: own[1] - baseline[1], significance: per },
        ];
    }
    vec![
        Difference { label: "BLEU", value: own.bleu - baseline.bleu, significance: significance.bleu },
        Difference { label: "chrF", value: own.chrf - baseline.chrf, significance: significance.chrf },
        Difference { label: "TER", value: own.ter - baseline.ter, significance: significance.ter },
    ]
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
