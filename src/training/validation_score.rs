//! Comparison of models by validation.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// Validation result by which models are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationScore {
    /// Score, negated if lower is better.
    pub score: f64,
    /// Loss, which breaks ties.
    pub loss: f64,
}

impl ValidationScore {
    /// Compares two results; greater is better.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.loss.total_cmp(&self.loss))
    }

    /// True if this is better than the best so far.
    pub fn beats(&self, best: Option<Self>) -> bool {
        best.is_none_or(|best| self.compare(&best) == Ordering::Greater)
    }
}
