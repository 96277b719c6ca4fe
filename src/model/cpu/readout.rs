//! Readout; equations in `reference/output_layer.rs`.
//!
//! W_r [s ; E_y ; c] + b_r is the sum of a share of the state and the previous token, and one of the context. Where each source
//! token has a context of its own, both shares are computed once.

use super::weights::PackedModel;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::matrix::WriteMode;
use crate::kernels::simd::{tanh, vectorized};

/// W_r input + b_r of rows [s ; E_y ; c] or [s ; E_y ; 0]: `[rows, e]`.
pub fn state_sums(weights: &PackedModel, inputs: &[f32]) -> Buffer {
    let sizes = weights.architecture;
    let (e, width) = (sizes.embedding_size, sizes.embedding_size + 2 * sizes.hidden_size);
    let mut sums = Buffer::scratch(inputs.len() / width * e);
    weights.readout.forward(&mut sums, e, inputs, WriteMode::AddBias(weights.get("readout.bias")));
    sums
}

/// [0 ; 0 ; c] of contexts `[rows, n]`: `[rows, n + e + n]`.
pub fn token_inputs(weights: &PackedModel, contexts: &[f32]) -> Buffer {
    let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
    let width = n + e + n;
    let mut inputs = Buffer::zeros(contexts.len() / n * width);
    for (input, context) in inputs.chunks_exact_mut(width).zip(contexts.chunks_exact(n)) {
        input[n + e..].copy_from_slice(context);
    }
    inputs
}

/// W_r [0 ; 0 ; c] of contexts `[rows, n]`: `[rows, e]`.
pub fn token_sums(weights: &PackedModel, contexts: &[f32]) -> Buffer {
    let sizes = weights.architecture;
    let mut sums = Buffer::scratch(contexts.len() / sizes.hidden_size * sizes.embedding_size);
    weights.readout.forward(&mut sums, sizes.embedding_size, &token_inputs(weights, contexts), WriteMode::Overwrite);
    sums
}

/// Readouts of one state with each context, `[tokens, e]`, given their shares: `[e]` and at least `[tokens, e]`.
pub fn readout_of_tokens(of_state: &[f32], of_tokens: &[f32], readout: &mut [f32]) {
    let rows = readout.chunks_exact_mut(of_state.len()).zip(of_tokens.chunks_exact(of_state.len()));
    for (readout, of_token) in rows {
        let sums = of_state.iter().zip(of_token);
        vectorized(
            #[inline(always)]
            || readout.iter_mut().zip(sums).for_each(|(value, (state, token))| *value = tanh(state + token)),
        );
    }
}

/// Replaces sums by their tanh, the readout.
pub fn tanh_in_place(sums: &mut [f32]) {
    vectorized(
        #[inline(always)]
        || sums.iter_mut().for_each(|value| *value = tanh(*value)),
    );
}
