//! Scores of translations, of single words, and of links against gold alignments.

use serde::Serialize;

use super::gold::UNKNOWN_SIZE;
use crate::alignment::{AlignmentMetrics, BestThreshold, Gold, Link, LinkOffset, OffsetCounts, ThresholdSearch};
use crate::metrics::{ErrorRates, ScoreOptions, Scores, chrf_pp, perplexity, translation_edit_rate};
use crate::translator::LinkedPair;

/// Output of a system for one pair.
#[derive(Clone, Copy)]
pub struct PairResult<'a> {
    /// Translation of the system.
    pub translation: &'a str,
    /// Target of the pair.
    pub reference: &'a str,
    /// Likelihood of the reference; `None` without a model.
    pub likelihood: Option<Likelihood>,
    /// Predicted and gold links, if known.
    pub links: Option<PairLinks<'a>>,
}

/// Likelihood of a reference under a model.
#[derive(Clone, Copy)]
pub struct Likelihood {
    /// Log-probability in nats.
    pub log_probability: f64,
    /// Number of tokens, `</s>` included.
    pub tokens: usize,
}

/// Links of a pair, and those that they are compared with.
#[derive(Clone, Copy)]
pub struct PairLinks<'a> {
    /// Links of the system.
    pub predicted: &'a [Link],
    /// Gold alignment.
    pub gold: &'a Gold,
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
    /// chrF++, as sacrebleu computes it.
    pub chrf_pp: f64,
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
    /// Scores the results of a corpus.
    pub fn new(results: &[PairResult], options: ScoreOptions) -> Self {
        let translations: Vec<&str> = results.iter().map(|result| result.translation).collect();
        let references: Vec<&str> = results.iter().map(|result| result.reference).collect();
        let likelihoods: Option<Vec<Likelihood>> = results.iter().map(|result| result.likelihood).collect();
        let Scores { bleu, chrf, exact_match, errors } = Scores::compute(&translations, &references, options);
        Self {
            pairs: results.len(),
            bleu,
            chrf,
            chrf_pp: chrf_pp(&translations, &references),
            exact_match,
            errors,
            ter: translation_edit_rate(&translations, &references),
            perplexity: likelihoods.as_deref().map(corpus_perplexity),
        }
    }
}

fn corpus_perplexity(likelihoods: &[Likelihood]) -> f64 {
    let (mut log_probability, mut tokens) = (0.0, 0);
    for likelihood in likelihoods {
        log_probability += likelihood.log_probability;
        tokens += likelihood.tokens;
    }
    perplexity(-log_probability, tokens)
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
        let mut counts = OffsetCounts::default();
        let mut thresholds = ThresholdSearch::default();
        for (linked, gold) in linked.iter().zip(gold) {
            let size = [linked.alignment.source().len(), linked.alignment.target().len()];
            counts.add(&linked.links, size, gold);
            if search {
                thresholds.add(|threshold| linked.links_above(threshold), gold);
            }
        }
        Self { best: if search { thresholds.best() } else { None }, ..Self::from_counts(&counts) }
    }

    /// Scores links that were made elsewhere, the links of each pair without duplicates.
    pub fn from_links(links: &[Vec<Link>], gold: &[Gold]) -> Self {
        let mut counts = OffsetCounts::default();
        links.iter().zip(gold).for_each(|(links, gold)| counts.add(links, UNKNOWN_SIZE, gold));
        Self::from_counts(&counts)
    }

    fn from_counts(counts: &OffsetCounts) -> Self {
        Self { agreement: counts.unmoved().metrics(), shift: counts.significant_offset(), best: None }
    }

    /// Returns a warning with the offset, if any, and its likely cause. `attention` is true if the links are from attention.
    pub fn shift_warning(&self, attention: bool) -> Option<String> {
        let shift = self.shift?;
        let both = shift.source != 0 && shift.target != 0;
        let mut steps = Vec::new();
        for (side, step) in [("source", shift.source), ("target", shift.target)] {
            match step {
                0 => {}
                ..0 => steps.push(format!("one {side} word earlier")),
                1.. => steps.push(format!("one {side} word later")),
            }
        }
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
