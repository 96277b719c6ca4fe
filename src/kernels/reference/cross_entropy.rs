//! Cross-entropy with label smoothing (Szegedy et al. 2016, section 7), summed over rows.
//!
//! ```text
//! log p = z − log Σ_k exp z_k
//! loss  = −(1 − ε) log p_y − ε/V Σ_k log p_k
//! ```
//!
//! ε is spread over all V tokens, the target included, as in PyTorch.

use candle_core::{D, Result, Tensor};
use candle_nn::ops::log_softmax;

/// Returns two scalars, each summed over the rows of `logits`, `[rows, V]`, for `targets`, `[rows]`: the smoothed loss
/// and the negative log-likelihood.
///
/// # Errors
/// The shapes do not match.
pub fn cross_entropy_sums(logits: &Tensor, targets: &Tensor, smoothing: f64) -> Result<(Tensor, Tensor)> {
    #[cfg(feature = "cuda")]
    if logits.device().is_cuda() {
        return crate::kernels::cuda::cross_entropy(logits, targets, smoothing);
    }
    let log_probabilities = log_softmax(logits, D::Minus1)?; // [rows, V]
    let likelihood = log_probabilities.gather(&targets.unsqueeze(1)?, 1)?.sum_all()?;
    let vocabulary = logits.dim(1)? as f64;
    let loss = if smoothing == 0.0 {
        likelihood.neg()?
    } else {
        ((&likelihood * (smoothing - 1.0))? - (log_probabilities.sum_all()? * (smoothing / vocabulary))?)?
    };
    Ok((loss, likelihood.neg()?))
}
