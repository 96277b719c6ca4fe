//! Selection of the weights that pool the values: soft, or hard at one position.
//!
//! Hard attention pools with a weight of 1 at one position instead of α: the position of the largest weight, or during
//! training one sampled from α. The straight-through estimator takes the gradient as if α had pooled (Bengio, Léonard &
//! Courville 2013, "Estimating or Propagating Gradients Through Stochastic Neurons", section 4).

use serde::{Deserialize, Serialize};

/// Which weights pool the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelectionMode {
    /// α itself.
    #[default]
    Soft,
    /// All on the heaviest.
    Hardest,
    /// While training all on one that is drawn by α, the derivative going straight through; at use, as there is no
    /// chance in it, all on the heaviest.
    Sampled,
}

impl SelectionMode {
    /// Which weights pool where chance is given, or none.
    pub(in crate::attention) fn resolve(self, draws: Option<&[f32]>) -> Selection<'_> {
        match (self, draws) {
            (Self::Soft, _) => Selection::Soft,
            (Self::Sampled, Some(draws)) => Selection::Sampled(draws),
            (Self::Hardest | Self::Sampled, _) => Selection::Hardest,
        }
    }
}
/// Which weights pool.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// α itself.
    Soft,
    /// All on the heaviest.
    Hardest,
    /// All on one drawn by α: a number in `0.0..1.0` for each row and head, `[rows × heads]`.
    Sampled(&'a [f32]),
}

/// The position that is selection among weights.
pub(in crate::attention) fn select_position(weights: &[f32], selection: Selection, row: usize) -> usize {
    match selection {
        Selection::Soft | Selection::Hardest => {
            // Of equals the first.
            let heavier = |best: usize, (position, weight): (usize, &f32)| {
                if *weight > weights[best] { position } else { best }
            };
            weights.iter().enumerate().fold(0, heavier)
        }
        Selection::Sampled(draws) => {
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
        assert_eq!(select_position(&weights, Selection::Hardest, 0), 1);
        assert_eq!(select_position(&[0.5, 0.5], Selection::Hardest, 0), 0, "of equals the first");
        for (draw, expected) in [(0.0, 0), (0.19, 0), (0.21, 1), (0.71, 2), (0.999_999_9, 2)] {
            assert_eq!(select_position(&weights, Selection::Sampled(&[9.0, draw]), 1), expected, "{draw}");
        }
        assert_eq!(
            select_position(&[0.0, 0.5], Selection::Sampled(&[0.7]), 0),
            1,
            "a sum that rounding left below the draw"
        );
    }
}
