//! Selection of the weights that pool the values: soft, or hard at one position.
//!
//! Hard attention pools with a weight of 1 at one position instead of α: the position of the largest weight, or during
//! training one sampled from α. The straight-through estimator takes the gradient as if α had pooled (Bengio, Léonard &
//! Courville 2013, "Estimating or Propagating Gradients Through Stochastic Neurons", section 4).

use serde::{Deserialize, Serialize};

/// Which weights pool the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// α itself.
    #[default]
    Soft,
    /// All on the heaviest.
    Hardest,
    /// While training all on one that is drawn by α, the derivative going straight through; at use, as there is no
    /// chance in it, all on the heaviest.
    Sampled,
}

impl Choice {
    /// Which weights pool where chance is given, or none.
    pub(in crate::attention) fn with(self, draws: Option<&[f32]>) -> Chosen<'_> {
        match (self, draws) {
            (Self::Soft, _) => Chosen::Soft,
            (Self::Sampled, Some(draws)) => Chosen::Drawn(draws),
            (Self::Hardest | Self::Sampled, _) => Chosen::Hardest,
        }
    }
}
/// Which weights pool.
#[derive(Clone, Copy, Debug)]
pub enum Chosen<'a> {
    /// α itself.
    Soft,
    /// All on the heaviest.
    Hardest,
    /// All on one drawn by α: a number in `0.0..1.0` for each row and head, `[rows × heads]`.
    Drawn(&'a [f32]),
}

/// The position that is chosen among weights.
pub(in crate::attention) fn choose(weights: &[f32], chosen: Chosen, row: usize) -> usize {
    match chosen {
        Chosen::Soft | Chosen::Hardest => {
            // Of equals the first.
            let heavier = |best: usize, (position, weight): (usize, &f32)| {
                if *weight > weights[best] { position } else { best }
            };
            weights.iter().enumerate().fold(0, heavier)
        }
        Chosen::Drawn(draws) => {
            let mut sum = 0.0;
            let reached = |weight: &f32| {
                sum += weight;
                sum > draws[row]
            };
            // Rounding may leave the sum below 1.
            weights.iter().position(reached).unwrap_or(weights.len().saturating_sub(1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_position_is_chosen() {
        let weights = [0.2, 0.5, 0.3];
        assert_eq!(choose(&weights, Chosen::Hardest, 0), 1);
        assert_eq!(choose(&[0.5, 0.5], Chosen::Hardest, 0), 0, "of equals the first");
        for (draw, expected) in [(0.0, 0), (0.19, 0), (0.21, 1), (0.71, 2), (0.999_999_9, 2)] {
            assert_eq!(choose(&weights, Chosen::Drawn(&[9.0, draw]), 1), expected, "{draw}");
        }
        assert_eq!(choose(&[0.0, 0.5], Chosen::Drawn(&[0.7]), 0), 1, "a sum that rounding left below the draw");
    }
}
