//! Probability of a given translation.

use crate::text::Segmentation;

/// Log-probability of a target given its source, in nats.
#[derive(Clone, Debug)]
pub struct ForcedScore {
    /// Target words with their log-probabilities, each the sum over its units.
    pub words: Vec<(String, f64)>,
    /// Log-probability of `</s>`.
    pub end: f64,
    /// Number of target units, with `</s>`.
    pub units: usize,
    /// True if a side was truncated to [`MAX_SENTENCE_UNITS`](super::MAX_SENTENCE_UNITS).
    pub cut: bool,
}

impl ForcedScore {
    /// Sums the log-probabilities of target units, `</s>` last, by word.
    pub(super) fn new(source: &Segmentation, target: Segmentation, log_probabilities: &[f64]) -> Self {
        let mut words: Vec<(String, f64)> = target.words.into_iter().map(|word| (word, 0.0)).collect();
        for (&word, log_probability) in target.word_of_unit.iter().zip(log_probabilities) {
            words[word].1 += log_probability;
        }
        let end = log_probabilities.last().copied().unwrap_or_default();
        Self { words, end, units: log_probabilities.len(), cut: source.cut || target.cut }
    }

    /// Log-probability of the target, with `</s>`.
    pub fn log_probability(&self) -> f64 {
        self.words.iter().map(|(_, log_probability)| log_probability).sum::<f64>() + self.end
    }

    /// Perplexity per unit.
    pub fn perplexity(&self) -> f64 {
        (-self.log_probability() / self.units as f64).exp()
    }
}
