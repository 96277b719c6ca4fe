//! How probable a given translation is.

use crate::text::Segmentation;

/// What a model says of a pair.
#[derive(Clone, Debug)]
pub struct ForcedScore {
    /// Words of the target with their log-probabilities, in nats: of all the units that make up a word.
    pub words: Vec<(String, f64)>,
    /// Log-probability of the target's end.
    pub end: f64,
    /// Units of the target, `</s>` included.
    pub units: usize,
    /// Whether a side was longer than [`LONGEST`](super::LONGEST) and only its beginning was read.
    pub cut: bool,
}

impl ForcedScore {
    /// By the log-probabilities of the target's units, `</s>` last.
    pub(super) fn new(source: &Segmentation, target: Segmentation, log_probabilities: &[f64]) -> Self {
        let mut words: Vec<(String, f64)> = target.words.into_iter().map(|word| (word, 0.0)).collect();
        for (&word, log_probability) in target.word_of_unit.iter().zip(log_probabilities) {
            words[word].1 += log_probability;
        }
        let end = log_probabilities.last().copied().unwrap_or_default();
        Self { words, end, units: log_probabilities.len(), cut: source.cut || target.cut }
    }

    /// Log-probability of the target given the source, in nats, `</s>` included.
    pub fn log_probability(&self) -> f64 {
        self.words.iter().map(|(_, log_probability)| log_probability).sum::<f64>() + self.end
    }

    /// The perplexity of a unit.
    pub fn perplexity(&self) -> f64 {
        (-self.log_probability() / self.units as f64).exp()
    }
}
