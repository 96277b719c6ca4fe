//! What `softalign evaluate` has measured, for people and for programs.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::by_length::{self, ClassMeasures, Measures};
use super::output::Output;
use super::sureness::OfScores;
use crate::alignment::{AlignmentMetrics, BestThreshold, LinkOffset};
use crate::metrics::{Confidence, Scores, Significance};
use crate::render::readable;
use crate::text::{Pair, Words, word_spans};

/// What is measured.
#[derive(Serialize)]
pub struct Evaluation {
    pub schema: u32,
    /// What BLEU means, in sacrebleu's words.
    pub signature: String,
    #[serde(flatten)]
    pub measures: Measures,
    #[serde(flatten)]
    pub of_words: Option<WordErrors>,
    #[serde(flatten)]
    pub judgement: Option<Judgement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<OfScores<Confidence>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_length: Option<Vec<ClassMeasures>>,
}

/// The errors of a model that turns single words into others or into their sounds, by the names that they have there.
#[derive(Serialize)]
pub struct WordErrors {
    /// Words that are not exactly right, in percent.
    wer: f64,
    /// Edits of symbols, such as phones, for each one of the references, in percent; where the references are single words
    /// too, symbols are characters.
    per: f64,
}

impl WordErrors {
    /// Those of pairs whose sources are single words; none where one is not.
    pub fn of(pairs: &[Pair], scores: &Scores) -> Option<Self> {
        let words = |text: &str| word_spans(text, Words::Whitespace).len();
        let single = pairs.iter().all(|pair| words(&pair.source) <= 1);
        let spelt = pairs.iter().any(|pair| words(&pair.target) > 1);
        let per = if spelt { scores.word_error_rate } else { scores.character_error_rate };
        single.then_some(Self { wer: 100.0 - scores.exact_match, per })
    }
}

/// What gold alignments say.
#[derive(Serialize)]
pub struct Judgement {
    #[serde(flatten)]
    pub agreement: AlignmentMetrics,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<LinkOffset>,
    #[serde(flatten)]
    pub best: Option<BestThreshold>,
}

/// One of those that are measured.
#[derive(Serialize)]
pub struct Compared {
    pub name: String,
    #[serde(flatten)]
    pub place: Place,
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// How probable its distance from the first one is by chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub significance: Option<OfScores<Significance>>,
}

/// Where what is measured comes from.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A model's.
    Folder(PathBuf),
    /// A file of translations.
    Hypotheses(PathBuf),
}

/// Several of them.
#[derive(Serialize)]
struct Comparison<'a> {
    models: &'a [Compared],
}

/// Writes results to standard output.
///
/// # Errors
/// It cannot be written to.
pub fn show(compared: &[Compared], json: bool) -> Result<()> {
    let mut output = Output::open(Path::new("-"))?;
    match compared {
        [only] if json => output.with(|out| Ok(writeln!(out, "{}", serde_json::to_string(&only.evaluation)?)?))?,
        [only] => output.with(|out| only.evaluation.print(out))?,
        models if json => {
            output.with(|out| Ok(writeln!(out, "{}", serde_json::to_string(&Comparison { models })?)?))?;
        }
        models => output.with(|out| print_all(out, models))?,
    }
    output.finish()
}

/// A block for each model under its name.
fn print_all(out: &mut dyn Write, models: &[Compared]) -> std::io::Result<()> {
    for (index, model) in models.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", model.name)?;
        model.evaluation.print(out)?;
    }
    let beside = models.iter().filter_map(|model| Some((model, model.significance.as_ref()?)));
    for (model, significance) in beside {
        writeln!(out, "\n{} beside {}", model.name, models[0].name)?;
        let [own, first] = [model, &models[0]].map(|model| &model.evaluation.measures);
        for (name, difference, chance) in [
            ("BLEU", own.scores.bleu - first.scores.bleu, significance.bleu),
            ("chrF", own.scores.chrf - first.scores.chrf, significance.chrf),
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

impl Evaluation {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Measures { pairs, scores, ter, perplexity } = &self.measures;
        let sure = |of: fn(&OfScores<Confidence>) -> Confidence| match &self.confidence {
            Some(confidence) => format!("   ± {:.2}", of(confidence).half_width),
            None => String::new(),
        };
        writeln!(out, "pairs          {pairs:>8}")?;
        writeln!(out, "BLEU           {:>8.2}{}", scores.bleu, sure(|all| all.bleu))?;
        writeln!(out, "chrF           {:>8.2}{}", scores.chrf, sure(|all| all.chrf))?;
        writeln!(out, "TER            {ter:>8.2}{}", sure(|all| all.ter))?;
        writeln!(out, "exact match    {:>8.2} %", scores.exact_match)?;
        match &self.of_words {
            Some(WordErrors { wer, per }) => {
                writeln!(out, "WER            {wer:>8.2} %")?;
                writeln!(out, "PER            {per:>8.2} %")?;
            }
            None => {
                writeln!(out, "word errors    {:>8.2} %", scores.word_error_rate)?;
                writeln!(out, "char errors    {:>8.2} %", scores.character_error_rate)?;
            }
        }
        if let Some(perplexity) = perplexity {
            writeln!(out, "perplexity     {:>8}", readable(*perplexity, 2))?;
        }
        if let Some(Judgement { agreement, best, .. }) = &self.judgement {
            writeln!(out, "AER            {:>8.3}", agreement.aer)?;
            writeln!(out, "precision      {:>8.3}", agreement.precision)?;
            writeln!(out, "recall         {:>8.3}", agreement.recall)?;
            writeln!(out, "F1             {:>8.3}", agreement.f1)?;
            if let Some(best) = best {
                writeln!(out, "best threshold {:>8.2} (AER {:.3})", best.threshold, best.aer)?;
            }
        }
        writeln!(out, "BLEU is        {}", self.signature)?;
        if let Some(classes) = &self.by_length {
            writeln!(out)?;
            by_length::print(out, classes)?;
        }
        Ok(())
    }
}
