//! Training pairs as they were read.

use std::collections::HashMap;

use crate::text::Pair;

/// Training pairs as they were read, with their weights.
#[derive(Default)]
pub struct TrainingPairs {
    /// Pairs of the user.
    pub given: Vec<Pair>,
    /// Synthetic pairs.
    pub synthetic: Vec<Pair>,
    /// Weight of each pair; empty if all weights are 1.
    weights: HashMap<Pair, CopyWeights>,
}

/// Weights of the copies of a pair.
#[derive(Default)]
struct CopyWeights {
    sum: f64,
    copies: usize,
}

impl CopyWeights {
    fn mean(&self) -> f64 {
        self.sum / self.copies as f64
    }
}

impl TrainingPairs {
    /// Records the weight of pairs.
    pub fn add_weights(&mut self, pairs: &[Pair], weight: f64) {
        for pair in pairs {
            let weights = self.weights.entry(pair.clone()).or_default();
            weights.sum += weight;
            weights.copies += 1;
        }
    }

    /// Returns the weights of some of the pairs. None if all are 1.
    pub fn weights_of(&self, pairs: &[Pair]) -> Option<Vec<f64>> {
        if self.weights.is_empty() {
            return None;
        }
        Some(pairs.iter().map(|pair| self.weights.get(pair).map_or(1.0, CopyWeights::mean)).collect())
    }

    /// Returns all pairs with text on both sides.
    pub fn usable(&self) -> Vec<&Pair> {
        self.given.iter().chain(&self.synthetic).filter(|pair| !pair.has_empty_side()).collect()
    }
}
