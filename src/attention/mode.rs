//! Attention mode: all weights pool the values, or one position does.
//!
//! Hard attention pools with a weight of 1 at one position instead of α: the position of the largest weight, or during
//! training one sampled from α. The straight-through estimator takes the gradient as if α had pooled (Bengio, Léonard &
//! Courville 2013, "Estimating or Propagating Gradients Through Stochastic Neurons", section 4).

use serde::{Deserialize, Serialize};

/// Soft or hard attention. The variants' names are saved in config.json; the option `hard-attention` calls soft attention
/// `off`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum AttentionMode {
    /// Soft attention: α pools.
    #[default]
    #[cfg_attr(feature = "cli", value(name = "off", help = "Soft attention"))]
    Soft,
    /// Hard attention: the position of the largest weight.
    #[cfg_attr(feature = "cli", value(skip))]
    Hardest,
    /// Hard attention: a position sampled from α during training, with the straight-through estimator; the position of
    /// the largest weight at inference.
    #[cfg_attr(feature = "cli", value(help = "Sampled in training, else the position of the largest weight"))]
    Sampled,
    /// Hard attention with the position marginalized: each position predicts the target token from its own annotation, and α
    /// mixes the predictions (Shankar, Garg & Sarawagi 2018, section 3). The soft context updates the state.
    #[cfg_attr(feature = "cli", value(help = "Marginalized exactly"))]
    Exact,
}

impl AttentionMode {
    /// True if one position pools.
    pub fn is_hard(self) -> bool {
        matches!(self, Self::Hardest | Self::Sampled)
    }

    /// Returns the weights that pool in a step.
    pub(in crate::attention) fn pooling_weights(self, weights: AttentionWeights) -> PoolingWeights {
        match (self, weights) {
            (_, AttentionWeights::Given(given)) => PoolingWeights::Given(given),
            (Self::Soft | Self::Exact, _) => PoolingWeights::Soft,
            (Self::Sampled, AttentionWeights::Draws(draws)) => PoolingWeights::Sampled(draws),
            (Self::Hardest | Self::Sampled, _) => PoolingWeights::Hardest,
        }
    }
}

/// Origin of the attention weights of one step.
#[derive(Clone, Copy, Debug, Default)]
pub enum AttentionWeights<'a> {
    /// The model's own.
    #[default]
    Model,
    /// The model's own, with random numbers in `0.0..1.0` for hard attention that is sampled, `[rows × heads]`.
    Draws(&'a [f32]),
    /// Weights that replace those that would pool, the same for every row: `[heads × length]`. Under soft attention they
    /// replace α.
    Given(&'a [f32]),
}

impl<'a> From<Option<&'a [f32]>> for AttentionWeights<'a> {
    /// Weights of a training step, with or without random numbers.
    fn from(draws: Option<&'a [f32]>) -> Self {
        draws.map_or(Self::Model, Self::Draws)
    }
}

/// Weights that pool the values in one step.
#[derive(Clone, Copy, Debug)]
pub enum PoolingWeights<'a> {
    /// α itself.
    Soft,
    /// 1 at the position of the largest weight.
    Hardest,
    /// 1 at a position sampled from α, by a number in `0.0..1.0` per row and head, `[rows × heads]`.
    Sampled(&'a [f32]),
    /// Given weights, `[heads × length]`.
    Given(&'a [f32]),
}

/// Returns the position selected among the weights of one row and head; `row` is their index in the draws.
pub(in crate::attention) fn select_position(weights: &[f32], pooling_weights: PoolingWeights, row: usize) -> usize {
    match pooling_weights {
        PoolingWeights::Soft | PoolingWeights::Hardest | PoolingWeights::Given(_) => {
            let mut first_largest = 0;
            for (position, weight) in weights.iter().enumerate() {
                if *weight > weights[first_largest] {
                    first_largest = position;
                }
            }
            first_largest
        }
        PoolingWeights::Sampled(draws) => {
            let mut sum = 0.0;
            for (position, weight) in weights.iter().enumerate() {
                sum += weight;
                if sum > draws[row] {
                    return position;
                }
            }
            // Rounding can leave the sum below 1; padding has no weight.
            weights.iter().rposition(|&weight| weight > 0.0).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hard_selection_picks_one_position() {
        let weights = [0.2, 0.5, 0.3];
        assert_eq!(select_position(&weights, PoolingWeights::Hardest, 0), 1);
        assert_eq!(select_position(&[0.5, 0.5], PoolingWeights::Hardest, 0), 0, "the first of equals");
        for (draw, expected) in [(0.0, 0), (0.19, 0), (0.21, 1), (0.71, 2), (0.999_999_9, 2)] {
            assert_eq!(select_position(&weights, PoolingWeights::Sampled(&[9.0, draw]), 1), expected, "{draw}");
        }
        assert_eq!(
            select_position(&[0.0, 0.5], PoolingWeights::Sampled(&[0.7]), 0),
            1,
            "a draw above the sum left by rounding"
        );
    }
}
