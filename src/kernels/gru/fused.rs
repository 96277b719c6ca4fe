//! The cell on plain slices: all gate arithmetic of a step in one pass, and its derivative.
//!
//! With ds the derivative by the state after the step, h̃ = h W_hnᵀ + b_hn, and everything elementwise:
//!
//! ```text
//! dz = ds (h − n) z (1 − z)        by the update gate's sum
//! dn = ds (1 − z) (1 − n²)         by the candidate's sum
//! dr = dn h̃ r (1 − r)              by the reset gate's sum
//! input gates    [dr ; dz ; dn]
//! state gates    [dr ; dz ; dn r]
//! state before   ds z + (state gates) W_hh          the product is left to the caller
//! ```

use crate::kernels::simd::{sigmoid, tanh, vectorised};

/// What a step of `rows` rows leaves for its derivative.
pub struct Step<'a> {
    /// `[rows, 3h]`: before the step the input gates, after it r, z and n.
    pub gates: &'a mut [f32],
    /// `[rows, h]`: after the step h̃.
    pub candidate: &'a mut [f32],
}

/// One step: `state_gates` is h W_hhᵀ without bias, `[rows, 3h]`, with rows `stride` apart; `state` is h and `next` becomes
/// h', both `[rows, h]`.
pub fn forward(step: Step, state_gates: &[f32], stride: usize, bias: &[f32], state: &[f32], next: &mut [f32]) {
    let h = bias.len() / 3;
    let (bias_r, bias_zn) = bias.split_at(h);
    let (bias_z, bias_n) = bias_zn.split_at(h);
    vectorised(
        #[inline(always)]
        || {
            let rows = next.chunks_exact_mut(h).zip(state.chunks_exact(h));
            let saved = step.gates.chunks_exact_mut(3 * h).zip(step.candidate.chunks_exact_mut(h));
            for (row, ((next, state), (gates, candidate))) in rows.zip(saved).enumerate() {
                let from_state = &state_gates[row * stride..row * stride + 3 * h];
                let (state_r, state_zn) = from_state.split_at(h);
                let (state_z, state_n) = state_zn.split_at(h);
                let (r, zn) = gates.split_at_mut(h);
                let (z, n) = zn.split_at_mut(h);
                for i in 0..h {
                    r[i] = sigmoid(r[i] + state_r[i] + bias_r[i]);
                    z[i] = sigmoid(z[i] + state_z[i] + bias_z[i]);
                    candidate[i] = state_n[i] + bias_n[i];
                    n[i] = tanh(n[i] + r[i] * candidate[i]);
                    next[i] = n[i] + z[i] * (state[i] - n[i]);
                }
            }
        },
    );
}

/// The derivative of one step for `[rows, h]` derivatives `by_next`. Writes `[rows, 3h]` derivatives by the input gates over
/// the saved gates, those by the state gates into `by_state_gates`, rows `stride` apart, and the direct part of those by the
/// state before over `by_next`.
pub fn backward(step: Step, state: &[f32], by_next: &mut [f32], by_state_gates: &mut [f32], stride: usize, h: usize) {
    vectorised(
        #[inline(always)]
        || {
            let rows = by_next.chunks_exact_mut(h).zip(state.chunks_exact(h));
            let saved = step.gates.chunks_exact_mut(3 * h).zip(step.candidate.chunks_exact(h));
            for (row, ((by_next, state), (gates, candidate))) in rows.zip(saved).enumerate() {
                let by_state = &mut by_state_gates[row * stride..row * stride + 3 * h];
                let (state_r, state_zn) = by_state.split_at_mut(h);
                let (state_z, state_n) = state_zn.split_at_mut(h);
                let (r, zn) = gates.split_at_mut(h);
                let (z, n) = zn.split_at_mut(h);
                for i in 0..h {
                    let by_update = by_next[i] * (state[i] - n[i]) * z[i] * (1.0 - z[i]);
                    let by_candidate = by_next[i] * (1.0 - z[i]) * (1.0 - n[i] * n[i]);
                    let by_reset = by_candidate * candidate[i] * r[i] * (1.0 - r[i]);
                    by_next[i] *= z[i];
                    state_n[i] = by_candidate * r[i];
                    (state_r[i], state_z[i]) = (by_reset, by_update);
                    (r[i], z[i], n[i]) = (by_reset, by_update, by_candidate);
                }
            }
        },
    );
}
