//! How good a model was found to be.

use std::cmp::Ordering;

/// What a validation says of a model, by which models are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValidationScore {
    /// The score, turned so that more is better.
    pub score: f64,
    /// The loss, which decides among equal scores.
    pub loss: f64,
}

impl ValidationScore {
    /// Greater is better.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.loss.total_cmp(&self.loss))
    }

    /// Whether this is better than what was best so far.
    pub fn beats(&self, best: Option<Self>) -> bool {
        best.is_none_or(|best| self.compare(&best) == Ordering::Greater)
    }
}
