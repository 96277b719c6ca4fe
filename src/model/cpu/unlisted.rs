//! Probability of the target tokens that a shortlist leaves out.
//!
//! Their logits z_k = w_k·r + b_k are taken to be normally distributed over the tokens k, with the mean and the variance of
//! those that are not frequent. Then their sum of exponentials depends on r alone:
//!
//! ```text
//! Σ_k exp z_k ≈ N exp(m + v/2)            m = mean(z_k) = μ·r + β
//!                                         v = var(z_k) = rᵀ Σ r + 2 γ·r + ν
//! ```
//!
//! μ and β are the means of w_k and b_k, Σ, γ and ν the covariances of both and the variance of b_k.

use crate::kernels::buffer_pool::Buffer;
use crate::kernels::matrix::{MatrixView, PackedWeight, Precision, WriteMode, multiply};
use crate::kernels::simd::{add_scaled, dot};
use crate::model::shortlist::unlisted_sample;

/// m + v/2 as a function of r.
pub struct UnlistedOutput {
    /// Σ/2: `[e, e]`
    half_covariance: PackedWeight,
    /// μ + γ: `[e]`
    linear: Vec<f32>,
    /// β + ν/2
    constant: f32,
}

impl UnlistedOutput {
    /// Measures the rows of E_out, `[V, e]`, and the output's bias, `[V]`.
    pub fn new(weight: &[f32], bias: &[f32]) -> Self {
        let (e, tokens) = (weight.len() / bias.len(), unlisted_sample(bias.len()));
        let share = 1.0 / tokens.len() as f32;
        let mean_bias = tokens.clone().map(|token| bias[token]).sum::<f32>() * share;
        let mut mean = vec![0.0; e];
        tokens.clone().for_each(|token| add_scaled(&mut mean, share, &weight[token * e..][..e]));
        let mut centered = Buffer::zeros(tokens.len() * e);
        let (mut linear, mut variance) = (mean.clone(), 0.0);
        for (centered, token) in centered.chunks_exact_mut(e).zip(tokens) {
            centered.copy_from_slice(&weight[token * e..][..e]);
            add_scaled(centered, -1.0, &mean);
            let difference = bias[token] - mean_bias;
            add_scaled(&mut linear, share * difference, centered);
            variance += share * difference * difference;
        }
        let mut covariance = Buffer::zeros(e * e);
        let rows = MatrixView::rows_of(&centered, e);
        // On this thread alone: while it waited for others, it could begin a task that needs this result.
        multiply(&mut covariance, e, rows.t(), rows, WriteMode::Overwrite);
        covariance.iter_mut().for_each(|value| *value *= share / 2.0);
        let half_covariance = PackedWeight::new(MatrixView::rows_of(&covariance, e), Precision::F32, false);
        Self { half_covariance, linear, constant: mean_bias + variance / 2.0 }
    }

    /// m + v/2 of each row r, `[rows, e]`.
    pub fn log_means(&self, readout: &[f32]) -> Vec<f32> {
        let e = self.linear.len();
        let mut slopes = Buffer::scratch(readout.len());
        self.half_covariance.forward(&mut slopes, e, readout, WriteMode::AddBias(&self.linear));
        slopes.chunks_exact(e).zip(readout.chunks_exact(e)).map(|(slope, r)| dot(slope, r) + self.constant).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FREQUENT_TOKENS;
    use crate::random::SeededRng;

    #[test]
    fn log_mean_is_near_that_of_all_logits_that_are_not_frequent() {
        let (e, vocabulary) = (24, 9000);
        let mut rng = SeededRng::new(1, "test", 0);
        let [weight, bias, readout] = [vocabulary * e, vocabulary, 3 * e]
            .map(|count| (0..count).map(|_| 0.2 * rng.normal() as f32 + 0.1).collect::<Vec<f32>>());
        let means = UnlistedOutput::new(&weight, &bias).log_means(&readout);
        for (r, found) in readout.chunks_exact(e).zip(means) {
            let rare = FREQUENT_TOKENS as usize..vocabulary;
            let count = rare.len() as f64;
            let logits = rare.map(|token| f64::from(dot(r, &weight[token * e..][..e]) + bias[token]));
            let exact = (logits.map(f64::exp).sum::<f64>() / count).ln();
            assert!((f64::from(found) - exact).abs() < 0.01, "{found} {exact}");
        }
    }
}
