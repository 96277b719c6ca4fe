//! Scores of translations, of single words, and of links against gold alignments.

use serde::Serialize;

use super::gold::UNKNOWN_SIZE;
use crate::alignment::{AlignmentMetrics, BestThreshold, Gold, Link, LinkOffset, OffsetCounts, ThresholdSearch};
use crate::metrics::{ErrorRates, Scores, perplexity, translation_edit_rate};
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
    /// Error rates, by name those of sentences or of single words.
    #[serde(flatten)]
    pub errors: ErrorRates,
    /// Translation edit rate.
    pub ter: f64,
    /// Perplexity of the references per token; `None` without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perplexity: Option<f64>,
}

impl CorpusScores {
    /// Scores the results of a corpus. `single_words` is true if every source is a single word.
    pub fn new(results: &[PairResult], single_words: bool) -> Self {
        let translations: Vec<&str> = results.iter().map(|result| result.translation).collect();
        let references: Vec<&str> = results.iter().map(|result| result.reference).collect();
        let likelihoods: Option<Vec<(f64, usize)>> = results.iter().map(|result| result.likelihood).collect();
        let sums = |all: Vec<(f64, usize)>| all.into_iter().fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let Scores { bleu, chrf, exact_match, errors } = Scores::compute(&translations, &references, single_words);
        Self {
            pairs: results.len(),
            bleu,
            chrf,
            exact_match,
            errors,
            ter: translation_edit_rate(&translations, &references),
            perplexity: likelihoods.map(sums).map(|(log_probability, tokens)| perplexity(-log_probability, tokens)),
        }
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
    /// Scores the links of a linker; `search` also searches for the best threshold.
    pub fn new(linked: &[LinkedPair], gold: &[Gold], search: bool) -> Self {
        let size = |linked: &LinkedPair| [linked.alignment.source().len(), linked.alignment.target().len()];
        let scores = Self::counted(linked.iter().map(|linked| (&linked.links[..], size(linked))), gold);
        let mut thresholds = ThresholdSearch::default();
        for (linked, gold) in linked.iter().zip(gold).filter(|_| search) {
            thresholds.add(|threshold| linked.links_above(threshold), gold);
        }
        Self { best: if search { thresholds.best() } else { None }, ..scores }
    }

    /// Scores links that were made elsewhere, the links of each pair without duplicates.
    pub fn from_links(links: &[Vec<Link>], gold: &[Gold]) -> Self {
        Self::counted(links.iter().map(|links| (&links[..], UNKNOWN_SIZE)), gold)
    }

    fn counted<'a>(links: impl Iterator<Item = (&'a [Link], [usize; 2])>, gold: &[Gold]) -> Self {
        let mut counts = OffsetCounts::default();
        links.zip(gold).for_each(|((links, size), gold)| counts.add(links, size, gold));
        Self { agreement: counts.unmoved().metrics(), shift: counts.significant_offset(), best: None }
    }

    /// Returns a warning with the offset, if any, and its likely cause. `attention` is true if the links are from attention.
    pub fn shift_warning(&self, attention: bool) -> Option<String> {
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
            if both || !attention {
                "the gold file may count words from another base: see --gold-base"
            } else {
                "attention may be one word off: train longer or with --guided-alignment, or see --gold-base"
            }
        ))
    }
}
