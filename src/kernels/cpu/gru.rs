//! GRU step, forward and backward: all gate arithmetic in one pass; forward equations in `reference/gru.rs`.
//!
//! With ds the derivative with respect to the state after the step, h̃ = h W_hnᵀ + b_hn, all products elementwise:
//!
//! ```text
//! dz = ds (h − n) z (1 − z)        update gate, before σ
//! dn = ds (1 − z) (1 − n²)         candidate, before tanh
//! dr = dn h̃ r (1 − r)              reset gate, before σ
//! input gates      [dr ; dz ; dn]
//! state gates      [dr ; dz ; dn r]
//! previous state   ds z + (state gates) W_hh          the caller adds the product
//! ```

use crate::kernels::simd::{sigmoid, tanh, vectorized};

/// Values of one step that the backward pass needs.
pub struct GruStep<'a> {
    /// `[rows, 3h]`: the inputs' share of the gates before the step; r, z and n after it.
    pub gates: &'a mut [f32],
    /// `[rows, h]`: h̃, after the step.
    pub candidate: &'a mut [f32],
}

/// Forward pass of one step. `state_gates` is h W_hhᵀ without bias, `[rows, 3h]`; `state` is h; `next` receives h';
/// both `[rows, h]`.
pub fn gru_forward(step: GruStep, state_gates: &[f32], bias: &[f32], state: &[f32], next: &mut [f32]) {
    let h = bias.len() / 3;
    vectorized(
        #[inline(always)]
        || {
            let rows = next.chunks_exact_mut(h).zip(state.chunks_exact(h)).zip(state_gates.chunks_exact(3 * h));
            let saved = step.gates.chunks_exact_mut(3 * h).zip(step.candidate.chunks_exact_mut(h));
            for (((next, state), state_gates), (gates, candidate)) in rows.zip(saved) {
                let ([r, z, n], [state_r, state_z, state_n]) = (split_gates_mut(gates, h), split_gates(state_gates, h));
                let [bias_r, bias_z, bias_n] = split_gates(bias, h);
                gate_forward(r, state_r, bias_r);
                gate_forward(z, state_z, bias_z);
                candidate_forward(n, candidate, r, state_n, bias_n);
                state_forward(next, state, z, n);
            }
        },
    );
}

// One function per pass over a row lets the compiler assume that the slices do not overlap.

/// gate ← σ(gate + state + bias)
#[inline(always)]
fn gate_forward(gate: &mut [f32], state: &[f32], bias: &[f32]) {
    for ((gate, state), bias) in gate.iter_mut().zip(state).zip(bias) {
        *gate = sigmoid(*gate + state + bias);
    }
}

/// h̃ ← state + bias; n ← tanh(n + r h̃)
#[inline(always)]
fn candidate_forward(n: &mut [f32], candidate: &mut [f32], r: &[f32], state: &[f32], bias: &[f32]) {
    for ((((n, candidate), r), state), bias) in n.iter_mut().zip(candidate).zip(r).zip(state).zip(bias) {
        *candidate = state + bias;
        *n = tanh(*n + r * *candidate);
    }
}

/// h' ← n + z (h − n)
#[inline(always)]
fn state_forward(next: &mut [f32], state: &[f32], z: &[f32], n: &[f32]) {
    for (((next, state), z), n) in next.iter_mut().zip(state).zip(z).zip(n) {
        *next = n + z * (state - n);
    }
}

/// Backward pass of one step. `d_next`, `[rows, h]`, is the derivative with respect to h' and is replaced by the
/// elementwise part of the one with respect to h. Replaces the saved gates by their derivatives and writes those of the
/// state gates to `d_state_gates`, both `[rows, 3h]`.
pub fn gru_backward(step: GruStep, state: &[f32], d_next: &mut [f32], d_state_gates: &mut [f32], h: usize) {
    vectorized(
        #[inline(always)]
        || {
            let rows = d_next.chunks_exact_mut(h).zip(state.chunks_exact(h)).zip(d_state_gates.chunks_exact_mut(3 * h));
            let saved = step.gates.chunks_exact_mut(3 * h).zip(step.candidate.chunks_exact_mut(h));
            for (((d_next, state), d_state), (gates, candidate)) in rows.zip(saved) {
                let [r, z, n] = split_gates_mut(gates, h);
                state_backward(d_next, state, z, n);
                candidate_backward(candidate, r, n, &mut d_state[2 * h..]);
                d_state[..h].copy_from_slice(r);
                d_state[h..2 * h].copy_from_slice(z);
            }
        },
    );
}

/// z ← dz; n ← dn; d_next ← ds z
#[inline(always)]
fn state_backward(d_next: &mut [f32], state: &[f32], z: &mut [f32], n: &mut [f32]) {
    for (((d_next, state), z), n) in d_next.iter_mut().zip(state).zip(z).zip(n) {
        let (d_update, d_candidate) =
            (*d_next * (state - *n) * *z * (1.0 - *z), *d_next * (1.0 - *z) * (1.0 - *n * *n));
        *d_next *= *z;
        (*z, *n) = (d_update, d_candidate);
    }
}

/// r ← dr; d_state ← dn r, with `d_candidate` = dn
#[inline(always)]
fn candidate_backward(candidate: &[f32], r: &mut [f32], d_candidate: &[f32], d_state: &mut [f32]) {
    for (((candidate, r), d_candidate), d_state) in candidate.iter().zip(r).zip(d_candidate).zip(d_state) {
        *d_state = d_candidate * *r;
        *r = d_candidate * candidate * *r * (1.0 - *r);
    }
}

/// Splits a row of gates into r, z and n.
#[inline(always)]
fn split_gates(row: &[f32], h: usize) -> [&[f32]; 3] {
    let (first, rest) = row.split_at(h);
    let (second, third) = rest.split_at(h);
    [first, second, third]
}

/// Splits a mutable row of gates into r, z and n.
#[inline(always)]
fn split_gates_mut(row: &mut [f32], h: usize) -> [&mut [f32]; 3] {
    let (first, rest) = row.split_at_mut(h);
    let (second, third) = rest.split_at_mut(h);
    [first, second, third]
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor, Var};

    use super::*;
    use crate::kernels::reference::gru::GruWeights;
    use crate::random::SeededRng;

    const ROWS: usize = 3;
    /// Not a multiple of any vector width.
    const H: usize = 19;

    fn numbers(count: usize, purpose: &str) -> Vec<f32> {
        let mut stream = SeededRng::new(1, purpose, 0);
        (0..count).map(|_| stream.normal() as f32).collect()
    }

    fn tensor(values: &[f32], width: usize) -> Tensor {
        Tensor::from_slice(values, (values.len() / width, width), &Device::Cpu).unwrap()
    }

    #[track_caller]
    fn assert_near(found: &[f32], expected: &Tensor) {
        let expected: Vec<f32> = expected.flatten_all().unwrap().to_vec1().unwrap();
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?}\n{expected:?}");
    }

    #[test]
    fn gru_step_and_its_derivatives_equal_reference() {
        let (weight, bias) = (numbers(3 * H * H, "weight"), numbers(3 * H, "bias"));
        let (mut gates, state) = (numbers(ROWS * 3 * H, "gates"), numbers(ROWS * H, "state"));
        let (weight_hh, bias_hh) = (tensor(&weight, H), Tensor::from_slice(&bias, 3 * H, &Device::Cpu).unwrap());
        let [gates_var, state_var] =
            [(&gates, 3 * H), (&state, H)].map(|(values, width)| Var::from_tensor(&tensor(values, width)).unwrap());
        let cell = GruWeights { weight_ih: weight_hh.clone(), bias_ih: bias_hh.clone(), weight_hh, bias_hh };
        let expected = cell.step(&gates_var, &state_var).unwrap();

        let product = tensor(&state, H).matmul(&cell.weight_hh.t().unwrap()).unwrap();
        let state_gates: Vec<f32> = product.flatten_all().unwrap().to_vec1().unwrap();
        let (mut candidate, mut next) = (vec![0.0; ROWS * H], vec![0.0; ROWS * H]);
        let step = GruStep { gates: &mut gates, candidate: &mut candidate };
        gru_forward(step, &state_gates, &bias, &state, &mut next);
        assert_near(&next, &expected);

        let mut d_next = numbers(ROWS * H, "derivatives");
        let gradients = (expected * tensor(&d_next, H)).unwrap().sum_all().unwrap().backward().unwrap();
        let mut d_state_gates = vec![0.0; ROWS * 3 * H];
        let step = GruStep { gates: &mut gates, candidate: &mut candidate };
        gru_backward(step, &state, &mut d_next, &mut d_state_gates, H);
        assert_near(&gates, gradients.get(&gates_var).unwrap());
        let product = tensor(&d_state_gates, 3 * H).matmul(&cell.weight_hh).unwrap();
        let d_state = (tensor(&d_next, H) + product).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_near(&d_state, gradients.get(&state_var).unwrap());
    }
}
