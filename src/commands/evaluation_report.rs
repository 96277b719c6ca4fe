//! The report of `softalign evaluate`, for people and as JSON.

use std::io::{Result as IoResult, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::output_file::Output;
use crate::evaluation::{Evaluation, GoldScores, LengthScores, PerMetric, WordErrors};
use crate::metrics::{Confidence, LengthBucket, Significance};
use crate::render::{SCHEMA, readable};

/// One of the systems that are compared.
#[derive(Serialize)]
pub struct SystemResult {
    pub name: String,
    #[serde(flatten)]
    pub place: SystemOrigin,
    schema: u32,
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// Significance of its difference from the first system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub significance: Option<PerMetric<Significance>>,
}

/// Origin of a system's translations.
#[derive(Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemOrigin {
    /// A model's directory.
    ModelDir(PathBuf),
    /// A file of translations.
    Hypotheses(PathBuf),
}

/// A single evaluation as JSON.
#[derive(Serialize)]
struct SingleReport<'a> {
    schema: u32,
    #[serde(flatten)]
    evaluation: &'a Evaluation,
}

/// Several evaluations as JSON.
#[derive(Serialize)]
struct ComparisonReport<'a> {
    models: &'a [SystemResult],
}

impl SystemResult {
    /// Names an evaluation, which is compared with nothing so far.
    pub fn new(name: String, place: SystemOrigin, evaluation: Evaluation) -> Self {
        Self { name, place, schema: SCHEMA, evaluation, significance: None }
    }
}

/// Writes results to standard output.
///
/// # Errors
/// It cannot be written to.
pub fn show(compared: &[SystemResult], json: bool) -> Result<()> {
    let mut output = Output::open(Path::new("-"))?;
    if json {
        let json = match compared {
            [only] => serde_json::to_string(&SingleReport { schema: SCHEMA, evaluation: &only.evaluation })?,
            models => serde_json::to_string(&ComparisonReport { models })?,
        };
        output.with(|out| writeln!(out, "{json}"))?;
    } else {
        output.with(|out| match compared {
            [only] => print(out, &only.evaluation),
            models => print_all(out, models),
        })?;
    }
    output.finish()
}

/// Prints a block for each system under its name, and their differences from the first.
fn print_all(out: &mut dyn Write, systems: &[SystemResult]) -> IoResult<()> {
    for (index, system) in systems.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", system.name)?;
        print(out, &system.evaluation)?;
    }
    for system in systems {
        let Some(significance) = &system.significance else { continue };
        writeln!(out, "\n{} beside {}", system.name, systems[0].name)?;
        let [own, first] = [system, &systems[0]].map(|system| &system.evaluation.scores);
        for (name, difference, chance) in [
            ("BLEU", own.bleu - first.bleu, significance.bleu),
            ("chrF", own.chrf - first.chrf, significance.chrf),
            ("TER", own.ter - first.ter, significance.ter),
        ] {
            let Significance { bootstrap, randomization } = chance;
            writeln!(
                out,
                "{name:<14} {difference:>+8.2}   by chance: p = {bootstrap:.3} (bootstrap), {randomization:.4} (randomization)"
            )?;
        }
    }
    Ok(())
}

fn print(out: &mut dyn Write, evaluation: &Evaluation) -> IoResult<()> {
    print_scores(out, evaluation)?;
    if let Some(GoldScores { agreement, best, .. }) = &evaluation.gold {
        writeln!(out, "AER            {:>8.3}", agreement.aer)?;
        writeln!(out, "precision      {:>8.3}", agreement.precision)?;
        writeln!(out, "recall         {:>8.3}", agreement.recall)?;
        writeln!(out, "F1             {:>8.3}", agreement.f1)?;
        if let Some(best) = best {
            writeln!(out, "best threshold {:>8.2} (AER {:.3})", best.threshold, best.aer)?;
        }
    }
    writeln!(out, "BLEU is        {}", evaluation.signature)?;
    if let Some(buckets) = &evaluation.by_length {
        writeln!(out)?;
        print_by_length(out, buckets)?;
    }
    Ok(())
}

fn print_scores(out: &mut dyn Write, evaluation: &Evaluation) -> IoResult<()> {
    let scores = &evaluation.scores;
    let interval = |of: fn(&PerMetric<Confidence>) -> Confidence| match &evaluation.confidence {
        Some(confidence) => format!("   ± {:.2}", of(confidence).half_width),
        None => String::new(),
    };
    writeln!(out, "pairs          {:>8}", scores.pairs)?;
    writeln!(out, "BLEU           {:>8.2}{}", scores.bleu, interval(|all| all.bleu))?;
    writeln!(out, "chrF           {:>8.2}{}", scores.chrf, interval(|all| all.chrf))?;
    writeln!(out, "TER            {:>8.2}{}", scores.ter, interval(|all| all.ter))?;
    writeln!(out, "exact match    {:>8.2} %", scores.exact_match)?;
    match &evaluation.word_errors {
        Some(WordErrors { wer, per }) => {
            writeln!(out, "WER            {wer:>8.2} %")?;
            writeln!(out, "PER            {per:>8.2} %")?;
        }
        None => {
            writeln!(out, "word errors    {:>8.2} %", scores.word_error_rate)?;
            writeln!(out, "char errors    {:>8.2} %", scores.character_error_rate)?;
        }
    }
    if let Some(perplexity) = scores.perplexity {
        writeln!(out, "perplexity     {:>8}", readable(perplexity, 2))?;
    }
    Ok(())
}

/// Prints the table of scores by length.
fn print_by_length(out: &mut dyn Write, buckets: &[LengthScores]) -> IoResult<()> {
    let perplexity = if buckets.iter().any(|bucket| bucket.scores.perplexity.is_some()) { "  perplexity" } else { "" };
    let aer = if buckets.iter().any(|bucket| bucket.agreement.is_some()) { "     AER" } else { "" };
    writeln!(out, "source words      pairs     BLEU     chrF  exact match{perplexity}{aer}")?;
    for LengthScores { bucket, scores, agreement, .. } in buckets {
        write!(out, "{:<14} {:>8} {:>8.2} {:>8.2}", label(*bucket), scores.pairs, scores.bleu, scores.chrf)?;
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
