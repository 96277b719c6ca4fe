//! Scores of translations, of single words, and of links against gold alignments.

use serde::Serialize;

use crate::alignment::{AlignmentMetrics, BestThreshold, Gold, Link, LinkOffset, OffsetCounts, ThresholdSearch};
use crate::metrics::{Scores, perplexity, translation_edit_rate};
use crate::text::{Pair, WordSplitting, word_spans};
use crate::translator::LinkedPair;

/// Output of a system for one pair.
#[derive(Clone, Copy)]
pub struct PairResult<'a> {
    /// Translation of the system.
    pub translation: &'a str,
    /// Target of the pair.
    pub reference: &'a str,
    /// Log-probability of the reference, in nats, and its number of tokens, `</s>` included; `None` without a model.
    pub likelihood: Option<(f64, usize)>,
    /// Predicted and gold links, if known.
    pub links: Option<(&'a [Link], &'a Gold)>,
}

/// Scores of a corpus of translations. All but the perplexity are in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CorpusScores {
    /// Number of sentence pairs.
    pub pairs: usize,
    /// BLEU, as sacrebleu computes it.
    pub bleu: f64,
    /// chrF, as sacrebleu computes it.
    pub chrf: f64,
    /// Share of translations that equal their reference.
    pub exact_match: f64,
    /// Word edits per reference word; may exceed 100.
    pub word_error_rate: f64,
    /// Character edits per reference character; may exceed 100.
    pub character_error_rate: f64,
    /// Translation edit rate.
    pub ter: f64,
    /// Perplexity of the references per token; `None` without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perplexity: Option<f64>,
}

impl CorpusScores {
    /// Scores the results of a corpus.
    pub fn new(results: &[PairResult]) -> Self {
        let translations: Vec<&str> = results.iter().map(|result| result.translation).collect();
        let references: Vec<&str> = results.iter().map(|result| result.reference).collect();
        let likelihoods: Option<Vec<(f64, usize)>> = results.iter().map(|result| result.likelihood).collect();
        let sums = |all: Vec<(f64, usize)>| all.into_iter().fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let Scores { bleu, chrf, exact_match, word_error_rate, character_error_rate } =
            Scores::compute(&translations, &references);
        Self {
            pairs: results.len(),
            bleu,
            chrf,
            exact_match,
            word_error_rate,
            character_error_rate,
            ter: translation_edit_rate(&translations, &references),
            perplexity: likelihoods.map(sums).map(|(log_probability, tokens)| perplexity(-log_probability, tokens)),
        }
    }
}

/// Error rates of a model of single words, such as grapheme-to-phoneme conversion or inflection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WordErrors {
    /// Word error rate: words with an error, in percent.
    pub wer: f64,
    /// Phone error rate: edits per reference symbol, in percent. Symbols are words, or characters if each reference is a
    /// single word.
    pub per: f64,
}

impl WordErrors {
    /// Returns the error rates, or `None` if a source has several words.
    pub fn new(pairs: &[Pair], scores: &CorpusScores) -> Option<Self> {
        let words = |text: &str| word_spans(text, WordSplitting::Whitespace).len();
        let single = pairs.iter().all(|pair| words(&pair.source) <= 1);
        let spelled = pairs.iter().any(|pair| words(&pair.target) > 1);
        let per = if spelled { scores.word_error_rate } else { scores.character_error_rate };
        single.then_some(Self { wer: 100.0 - scores.exact_match, per })
    }
}

/// Scores of links against gold alignments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GoldScores {
    /// Precision, recall, F1 and alignment error rate.
    #[serde(flatten)]
    pub agreement: AlignmentMetrics,
    /// Offset that would lower the alignment error rate considerably, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<LinkOffset>,
    /// Threshold of the lowest alignment error rate, if searched for.
    #[serde(flatten)]
    pub best: Option<BestThreshold>,
}

impl GoldScores {
    /// Scores links; `search` also searches for the best threshold.
    pub fn new(linked: &[LinkedPair], gold: &[Gold], search: bool) -> Self {
        let mut counts = OffsetCounts::default();
        let mut thresholds = ThresholdSearch::default();
        for (linked, gold) in linked.iter().zip(gold) {
            let size = [linked.alignment.source().len(), linked.alignment.target().len()];
            counts.add(&linked.links, size, gold);
            if search {
                thresholds.add(|threshold| linked.links_above(threshold), gold);
            }
        }
        Self {
            agreement: counts.unmoved().metrics(),
            shift: counts.significant_offset(),
            best: if search { thresholds.best() } else { None },
        }
    }

    /// Returns a warning with the offset, if any, and its likely cause.
    pub fn shift_warning(&self) -> Option<String> {
        let shift = self.shift?;
        let word = |side, step: isize| match step {
            0 => None,
            ..0 => Some(format!("one {side} word earlier")),
            1.. => Some(format!("one {side} word later")),
        };
        let both = shift.source != 0 && shift.target != 0;
        let steps: Vec<String> =
            [word("source", shift.source), word("target", shift.target)].into_iter().flatten().collect();
        Some(format!(
            "links {} would have AER {:.3} instead of {:.3}; {}",
            steps.join(" and "),
            shift.aer,
            self.agreement.aer,
            if both {
                "the gold file may count words from another base: see --gold-base"
            } else {
                "attention may be one word off: train longer or with --guided-alignment, or see --gold-base"
            }
        ))
    }
}
