//! Mixture of predictions.
//!
//! ```text
//! p_k = Σ_j α_j softmax(z_j)_k
//! ```

use candle_core::{D, Result, Tensor};
use candle_nn::ops::softmax;

/// ln p: `[rows, V]` from logits `[rows, components, V]` and weights `[rows, components]`.
///
/// # Errors
/// The shapes do not match.
pub fn log_mixture(logits: &Tensor, weights: &Tensor) -> Result<Tensor> {
    softmax(logits, D::Minus1)?.broadcast_mul(&weights.unsqueeze(2)?)?.sum(1)?.log()
}

/// Posterior probability of each component given a target, `[rows]`: `[rows, components]`.
///
/// # Errors
/// The shapes do not match.
pub fn component_posteriors(logits: &Tensor, weights: &Tensor, targets: &Tensor) -> Result<Tensor> {
    let (rows, components, _) = logits.dims3()?;
    let targets = targets.reshape((rows, 1, 1))?.broadcast_as((rows, components, 1))?.contiguous()?;
    let joint = (softmax(logits, D::Minus1)?.gather(&targets, 2)?.squeeze(2)? * weights)?; // [rows, components]
    joint.broadcast_div(&joint.sum_keepdim(1)?)
}
