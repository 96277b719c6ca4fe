//! Additive attention (Bahdanau et al. 2014, section 3.1 and appendix A.1.2).
//!
//! ```text
//! energy     e_j = vᵀ tanh(q + k_j)          q = W_q s_{t-1}, k_j = W_k h_j
//! weights    α = softmax_j(e)                padding gets 0
//! context    c = Σ_j α_j h_j
//! ```

pub mod fused;

use candle_core::{Result, Tensor};
use candle_nn::ops::softmax;

/// Energy of padded positions before the softmax: low enough that their weight is exactly 0 in f32.
const PADDED_ENERGY: f64 = -1e9;

/// Weights `[batch, length]` of queries `[batch, a]` over keys `[batch, length, a]` with the energy vector `v`, `[1,
/// a]`. `mask` is `[batch, length]`, 1 on real positions, of which every row must have one.
pub fn weights(query: &Tensor, keys: &Tensor, energy: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let (batch, length, size) = keys.dims3()?;
    let hidden = keys.broadcast_add(&query.unsqueeze(1)?)?.tanh()?;
    let energies = hidden.reshape((batch * length, size))?.matmul(&energy.t()?)?.reshape((batch, length))?;
    softmax(&(energies + ((1.0 - mask)? * PADDED_ENERGY)?)?, 1)
}

/// Contexts `[batch, n]`: the annotations `[batch, length, n]` summed by weights `[batch, length]`.
pub fn context(weights: &Tensor, annotations: &Tensor) -> Result<Tensor> {
    weights.unsqueeze(1)?.matmul(annotations)?.squeeze(1)
}
