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
/// Minimum attention, summed over the target words, that covers a source word.
const MIN_ATTENTION: f32 = 0.2;
/// Minimum number of source words without attention that are a reason to doubt.
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
        self.coverage.push(Coverage::new(aligned, is_fixed).share());
        self.nonwords.push(share_of_nonwords(aligned, estimate));
    }

    /// Returns the limits that few of the translations are beyond, of which there is at least one.
    pub fn limits(mut self) -> Option<DoubtLimits> {
        [&mut self.confidence, &mut self.coverage, &mut self.nonwords].map(|values| values.sort_by(f64::total_cmp));
        let count = self.confidence.len() as f64;
        let [low, rare] = [LOW_CONFIDENCE, RARE].map(|share| (count * share) as usize);
        Some(DoubtLimits {
            confidence: *self.confidence.get(low)?,
            coverage: *self.coverage.get(rare)?,
            nonwords: *self.nonwords.iter().rev().nth(rare)?,
        })
    }
}

/// Words of a source that have attention.
struct Coverage {
    /// Number of words other than punctuation.
    words: usize,
    /// Indices of those without attention.
    uncovered: Vec<usize>,
}

impl Coverage {
    /// Sums the attention of a translation. Fixed attention covers all words.
    fn new(aligned: &ForcedAlignment, is_fixed: bool) -> Self {
        let alignment = aligned.by_words();
        let mut sums = vec![0.0; alignment.source().len()];
        for row in alignment.rows() {
            sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
        }
        let words = alignment.source().iter().zip(sums).enumerate();
        let words: Vec<(usize, f32)> =
            words.filter(|(_, (word, _))| !is_punctuation(word)).map(|(index, (_, sum))| (index, sum)).collect();
        let uncovered = words.iter().filter(|(_, sum)| !is_fixed && *sum < MIN_ATTENTION).map(|(index, _)| *index);
        Self { words: words.len(), uncovered: uncovered.collect() }
    }

    /// Share of the words that have attention, from 0 to 1.
    fn share(&self) -> f64 {
        1.0 - self.uncovered.len() as f64 / self.words.max(1) as f64
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
            if coverage.uncovered.len() >= MIN_UNCOVERED && coverage.share() < limits.coverage {
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
        let measures =
            DoubtMeasures { confidence: shares.clone(), coverage: shares.clone(), nonwords: shares.clone() };
        let DoubtLimits { confidence, coverage, nonwords } = measures.limits().unwrap();
        let below = |limit: f64| shares.iter().filter(|share| **share < limit).count();
        assert_eq!((below(confidence), below(coverage), below(1.0 - nonwords)), (10, 2, 3));
    }
}
