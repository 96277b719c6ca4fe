//! Reasons to doubt a translation: measures that are worse than those of most translations of the validation pairs, and loops.

use anyhow::Result;

use super::{ForcedAlignment, Translator};
use crate::alignment::{Doubt, Doubts, QualityEstimate};
use crate::checkpoint::{ConfidenceCalibration, DoubtLimits};
use crate::text::is_punctuation;

/// Share of the validation translations with less confidence than the limit.
const LOW_CONFIDENCE: f64 = 0.05;
/// Share of the validation translations beyond the limits of coverage and of nonwords, which find what confidence does not.
const RARE: f64 = 0.01;
/// Attention, summed over the target words, below which a source word is uncovered.
const MIN_ATTENTION: f64 = 0.3;
/// Minimum number of uncovered source words that are a reason to doubt.
const MIN_UNCOVERED: usize = 3;
/// Maximum number of tokens that are repeated.
const MAX_PERIOD: usize = 32;
/// Minimum number of times that a single token is repeated in a loop.
const MIN_REPEATS: usize = 4;
/// Minimum number of times that several tokens are repeated in a loop.
const MIN_PHRASE_REPEATS: usize = 3;

/// Measures of translations, of which limits tell the usual ones.
#[derive(Default)]
pub(super) struct DoubtMeasures {
    confidence: Vec<f64>,
    coverage: Vec<f64>,
    nonwords: Vec<f64>,
}

impl DoubtMeasures {
    /// Adds a translation with its estimated quality.
    pub fn add(&mut self, aligned: &ForcedAlignment, estimate: &QualityEstimate, is_fixed: bool) {
        self.confidence.push(estimate.confidence);
        self.coverage.push(Coverage::new(aligned, is_fixed).mean);
        self.nonwords.push(share_of_nonwords(aligned, estimate));
    }

    /// Returns the limits that few of the translations are beyond, of which there is at least one.
    pub fn limits(mut self) -> Option<DoubtLimits> {
        for values in [&mut self.confidence, &mut self.coverage, &mut self.nonwords] {
            values.sort_by(f64::total_cmp);
        }
        let count = self.confidence.len() as f64;
        let [low, rare] = [LOW_CONFIDENCE, RARE].map(|share| (count * share) as usize);
        Some(DoubtLimits {
            confidence: *self.confidence.get(low)?,
            coverage: *self.coverage.get(rare)?,
            nonwords: *self.nonwords.iter().rev().nth(rare)?,
        })
    }
}

/// Attention that a source has from its translation.
struct Coverage {
    /// Mean over its words of the attention summed over the target words, at most 1 for each.
    mean: f64,
    /// Indices of the words with hardly any.
    uncovered: Vec<usize>,
}

impl Coverage {
    /// Sums the attention on all words but punctuation. Fixed attention covers all.
    fn new(aligned: &ForcedAlignment, is_fixed: bool) -> Self {
        let mut coverage = Self { mean: 1.0, uncovered: Vec::new() };
        if is_fixed {
            return coverage;
        }
        let alignment = aligned.by_words();
        let (mut words, mut total) = (0, 0.0);
        for (index, _) in alignment.source().iter().enumerate().filter(|(_, word)| !is_punctuation(word)) {
            let sum: f64 = alignment.rows().map(|row| f64::from(row[index])).sum();
            words += 1;
            total += sum.min(1.0);
            if sum < MIN_ATTENTION {
                coverage.uncovered.push(index);
            }
        }
        if words > 0 {
            coverage.mean = total / f64::from(words);
        }
        coverage
    }
}

fn share_of_nonwords(aligned: &ForcedAlignment, estimate: &QualityEstimate) -> f64 {
    estimate.nonwords.len() as f64 / aligned.target_words().len().max(1) as f64
}

impl Translator {
    /// Returns the reasons to doubt the translation of a sentence, none if the model did not translate it. A model without limits,
    /// and an ensemble, only notice loops.
    ///
    /// # Errors
    /// The aligner's file is damaged.
    pub(super) fn doubts(&self, aligned: &ForcedAlignment) -> Result<Doubts> {
        let mut doubts = Doubts::default();
        if aligned.token_log_probabilities.is_empty() {
            return Ok(doubts);
        }
        if let Some(ConfidenceCalibration { limits: Some(limits), .. }) = self.calibration()
            && let Some(estimate) = self.estimate_quality(aligned)?
        {
            if estimate.confidence < limits.confidence {
                doubts.reasons.push(Doubt::Confidence);
            }
            let coverage = Coverage::new(aligned, self.has_fixed_attention());
            if coverage.uncovered.len() >= MIN_UNCOVERED && coverage.mean < limits.coverage {
                doubts.reasons.push(Doubt::Uncovered);
                doubts.uncovered = coverage.uncovered;
            }
            if share_of_nonwords(aligned, &estimate) > limits.nonwords {
                doubts.reasons.push(Doubt::Nonwords);
            }
        }
        let repeats = loop_of(&aligned.target.ids);
        if repeats > loop_of(&aligned.source.ids) {
            doubts.reasons.push(Doubt::Repetition);
            doubts.reasons.sort_unstable();
        }
        Ok(doubts)
    }

    /// True if attention does not depend on the words.
    pub(super) fn has_fixed_attention(&self) -> bool {
        self.config().architecture.attention.is_fixed()
    }
}

/// Returns how often tokens are repeated in a loop; 1 without a loop.
fn loop_of(tokens: &[u32]) -> usize {
    let mut most = 1;
    for period in 1..=MAX_PERIOD.min(tokens.len() / MIN_PHRASE_REPEATS) {
        let least = if period == 1 { MIN_REPEATS } else { MIN_PHRASE_REPEATS };
        let mut equal = 0;
        for (token, later) in tokens.iter().zip(&tokens[period..]) {
            equal = if token == later { equal + 1 } else { 0 };
            let repeats = equal / period + 1;
            if repeats >= least {
                most = most.max(repeats);
            }
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_tokens_over_and_over() {
        for (tokens, repeats) in [
            (&[][..], 1),
            (&[5, 5, 5], 1),
            (&[1, 5, 5, 5, 5, 2], 4),
            (&[5, 6, 5, 6, 7], 1),
            (&[4, 5, 6, 5, 6, 5, 6, 7], 3),
            (&[1, 2, 3, 1, 2, 3, 1, 2], 1),
            (&[1, 2, 3, 1, 2, 3, 1, 2, 3], 3),
            (&[1, 2, 3, 1, 2, 4, 1, 2, 5], 1),
        ] {
            assert_eq!(loop_of(tokens), repeats, "{tokens:?}");
        }
    }

    #[test]
    fn few_translations_are_beyond_the_limits() {
        assert!(DoubtMeasures::default().limits().is_none());
        let shares: Vec<f64> = (0..200).map(|index| f64::from(index) / 200.0).collect();
        let measures = DoubtMeasures { confidence: shares.clone(), coverage: shares.clone(), nonwords: shares.clone() };
        let DoubtLimits { confidence, coverage, nonwords } = measures.limits().unwrap();
        let [low, uncovered] =
            [confidence, coverage].map(|limit| shares.iter().filter(|share| **share < limit).count());
        let above = shares.iter().filter(|share| **share > nonwords).count();
        assert_eq!((low, uncovered, above), (10, 2, 2));
    }
}
