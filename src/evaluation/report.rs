//! Report of one evaluation, or of several systems side by side, as text.

use std::collections::HashSet;
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
/// Column of the explanations.
const WORDS: usize = 32;
/// Width of a table of systems, as far as their scores leave it.
const TABLE_WIDTH: usize = 80;
/// Largest p-value that is called significant.
const SIGNIFICANCE_LEVEL: f64 = 0.05;

const EXACT_MATCH: &str = "translations that equal their references";
const CHRF: &str = "the same by characters, kinder to word endings";
const PERPLEXITY: &str = "tokens that it wavers between; 1 is sure";

/// Measure of a system.
struct Measure {
    label: &'static str,
    /// Meaning of the number, in a few plain words.
    words: &'static str,
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
    fn new(label: &'static str, words: &'static str, number: String) -> Self {
        Self { label, words, number, suffix: String::new() }
    }

    /// Score with two digits after the point.
    fn score(label: &'static str, words: &'static str, value: f64) -> Self {
        Self::new(label, words, format!("{value:.2}"))
    }

    fn percent(label: &'static str, words: &'static str, value: f64) -> Self {
        Self { suffix: " %".to_owned(), ..Self::score(label, words, value) }
    }

    /// Share or probability with three digits after the point.
    fn share(label: &'static str, words: &'static str, value: f64) -> Self {
        Self::new(label, words, format!("{value:.3}"))
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
        SystemScores::Links { pairs, gold } => (vec![pair_count(*pairs)], Some(gold)),
    };
    let Some(GoldScores { agreement, best, .. }) = gold else { return measures };
    measures.extend([
        Measure::share("AER", "wrong and missing word links; 0 is best", agreement.aer),
        Measure::share("precision", "share of its links that are right", agreement.precision),
        Measure::share("recall", "share of the right links that it found", agreement.recall),
        Measure::share("F1", "precision and recall in one number", agreement.f1),
    ]);
    measures.extend(best.map(|best| Measure {
        label: "best threshold",
        words: "--threshold with the lowest AER",
        number: format!("{:.2}", best.threshold),
        suffix: format!(" (AER {:.3})", best.aer),
    }));
    measures
}

fn pair_count(pairs: usize) -> Measure {
    Measure::new("pairs", "translations compared with references", pairs.to_string())
}

fn translation_measures(evaluation: &Evaluation) -> Vec<Measure> {
    let CorpusScores { pairs, bleu, chrf, chrf_pp, exact_match, errors, ter, perplexity } = evaluation.scores;
    let intervals = evaluation.confidence;
    let mut measures = vec![pair_count(pairs)];
    match errors {
        ErrorRates::SingleWords { wer, per } => measures.extend([
            Measure::percent("WER", "words with any error", wer).with_interval(intervals.and_then(|all| all.wer)),
            Measure::percent("PER", "wrong, missing and added signs", per)
                .with_interval(intervals.and_then(|all| all.per)),
            Measure::percent("exact match", EXACT_MATCH, exact_match),
            Measure::score("chrF", CHRF, chrf).with_interval(intervals.map(|all| all.chrf)),
        ]),
        ErrorRates::Sentences { word_error_rate, character_error_rate } => measures.extend([
            Measure::score("BLEU", "words and phrases as in the references, of 100", bleu)
                .with_interval(intervals.map(|all| all.bleu)),
            Measure::score("chrF", CHRF, chrf).with_interval(intervals.map(|all| all.chrf)),
            Measure::score("chrF++", "chrF with words and pairs of words", chrf_pp)
                .with_interval(intervals.map(|all| all.chrf_pp)),
            Measure::score("TER", "edits to the references, per 100 words", ter)
                .with_interval(intervals.map(|all| all.ter)),
            Measure::percent("exact match", EXACT_MATCH, exact_match),
            Measure::percent("word errors", "wrong, missing and added words", word_error_rate),
            Measure::percent("char errors", "wrong, missing and added characters", character_error_rate),
        ]),
    }
    measures.extend(perplexity.map(|perplexity| Measure::new("perplexity", PERPLEXITY, readable(perplexity, 2))));
    if let Some(CalibrationError { sentence, word }) = evaluation.calibration_error {
        measures.push(Measure::share("ECE, words", "error of its confidence; 0 is best", word));
        measures.push(Measure::share("ECE, sentences", "the same for whole sentences", sentence));
    }
    measures
}

/// Writes the measures, the scores by length, and the differences from the first system as text. `explained` adds what the
/// measures of a single system mean.
///
/// # Errors
/// Writing fails.
pub fn write_report(out: &mut dyn Write, systems: &[SystemResult], explained: bool) -> Result<()> {
    if let [only] = systems {
        for Measure { label, words, number, suffix } in measures(&only.scores) {
            let measure = format!("{label:<LABELS$} {number:>8}{suffix}");
            let line = if explained { format!("{measure:<WORDS$} {words}") } else { measure };
            writeln!(out, "{line}")?;
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

/// Returns the names of systems for the heads of columns: their ends if they are long, as these differ in paths.
fn heads(systems: &[SystemResult]) -> Vec<String> {
    let names: Vec<String> = systems.iter().map(|system| escape_controls(&system.name)).collect();
    let room = ((TABLE_WIDTH - LABELS) / systems.len()).saturating_sub(2).max(LABELS);
    let shortened: Vec<String> = names.iter().map(|name| end_of(name, room)).collect();
    let distinct: HashSet<&String> = shortened.iter().collect();
    if distinct.len() == names.len() { shortened } else { names }
}

/// Returns the end of a text in at most `width` columns of a terminal.
fn end_of(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut end = text;
    while end.width() >= width {
        let mut rest = end.chars();
        rest.next();
        end = rest.as_str();
    }
    format!("…{end}")
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
    for (head, measures) in heads(systems).into_iter().zip(&columns) {
        let mut cells = vec![head];
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
