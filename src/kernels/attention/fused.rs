//! One step of attention on plain slices, sentence by sentence, and its derivative.
//!
//! With dc the derivative by the context, and x_j = tanh(q + k_j) computed again rather than kept:
//!
//! ```text
//! dα_j = dc · h_j                      de_j = α_j (dα_j − Σ_i α_i dα_i)
//! dv   = Σ_j de_j x_j                  dk_j = de_j v ∘ (1 − x_j²)
//! dq   = Σ_j dk_j                      dh_j = α_j dc
//! ```

use crate::kernels::buffer::Buffer;
use crate::kernels::simd::{add_scaled, dot, exp, sum_over, tanh, vectorised};

/// What all steps look at.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    /// `[batch, length, a]`
    pub keys: &'a [f32],
    /// `[batch, length, n]`
    pub annotations: &'a [f32],
    /// v: `[a]`
    pub energy: &'a [f32],
    /// Real length of each sentence.
    pub lengths: &'a [usize],
    /// The longest sentence's length.
    pub length: usize,
}

impl Keys<'_> {
    fn sizes(&self) -> (usize, usize) {
        (self.energy.len(), self.annotations.len() / (self.lengths.len() * self.length).max(1))
    }

    /// Weights `[rows, length]` and contexts `[rows, n]` of queries whose rows lie `stride` apart. `sentences` names the
    /// sentence of each row.
    pub fn attend(
        &self,
        sentences: impl Iterator<Item = usize>,
        queries: &[f32],
        stride: usize,
        weights: &mut [f32],
        contexts: &mut [f32],
    ) {
        let (a, n) = self.sizes();
        vectorised(
            #[inline(always)]
            || {
                let rows = weights.chunks_exact_mut(self.length).zip(contexts.chunks_exact_mut(n));
                for ((row, sentence), (weights, context)) in sentences.enumerate().zip(rows) {
                    let query = &queries[row * stride..row * stride + a];
                    let (weights, padding) = weights.split_at_mut(self.lengths[sentence]);
                    padding.fill(0.0);
                    let keys = self.keys[sentence * self.length * a..].chunks_exact(a);
                    for (weight, key) in weights.iter_mut().zip(keys) {
                        *weight = energy(query, key, self.energy);
                    }
                    softmax(weights);
                    context.fill(0.0);
                    let annotations = self.annotations[sentence * self.length * n..].chunks_exact(n);
                    for (&weight, annotation) in weights.iter().zip(annotations) {
                        add_scaled(context, weight, annotation);
                    }
                }
            },
        );
    }

    /// The derivative of [`Self::attend`] for one row each sentence: adds to the derivatives by keys and v, and writes `[rows, a]`
    /// derivatives by the queries, rows `stride` apart. Those by the annotations, which no step waits for, are left to a product
    /// over all steps.
    #[expect(clippy::too_many_arguments, reason = "five inputs of the step and what it adds to")]
    pub fn backward(
        &self,
        queries: &[f32],
        weights: &[f32],
        by_context: &[f32],
        by_keys: &mut [f32],
        by_v: &mut [f32],
        by_query: &mut [f32],
        stride: usize,
    ) {
        let (a, n) = self.sizes();
        let mut by_energies = Buffer::any(self.length);
        vectorised(
            #[inline(always)]
            || {
                for (sentence, &length) in self.lengths.iter().enumerate() {
                    let weights = &weights[sentence * self.length..][..length];
                    let by_context = &by_context[sentence * n..][..n];
                    let by_energy = &mut by_energies[..length];
                    let first = sentence * self.length;
                    for (by_energy, annotation) in by_energy.iter_mut().zip(self.annotations[first * n..].chunks_exact(n)) {
                        *by_energy = dot(by_context, annotation);
                    }
                    let mean = dot(weights, by_energy);
                    for (by_energy, weight) in by_energy.iter_mut().zip(weights) {
                        *by_energy = weight * (*by_energy - mean);
                    }
                    let query = &queries[sentence * a..][..a];
                    let by_query = &mut by_query[sentence * stride..][..a];
                    by_query.fill(0.0);
                    for (j, &by_energy) in by_energy.iter().enumerate() {
                        let key = &self.keys[(first + j) * a..][..a];
                        let by_key = &mut by_keys[(first + j) * a..][..a];
                        energy_backward(by_energy, query, key, self.energy, by_v, by_query, by_key);
                    }
                }
            },
        );
    }
}

/// vᵀ tanh(q + k)
#[inline(always)]
fn energy(query: &[f32], key: &[f32], energy: &[f32]) -> f32 {
    let mut sum = 0.0;
    // Three slices, of which `sum_over` takes two: blocks small enough to stay in registers.
    let mut block = [0.0f32; 64];
    for ((query, key), energy) in query.chunks(64).zip(key.chunks(64)).zip(energy.chunks(64)) {
        let block = &mut block[..query.len()];
        for i in 0..block.len() {
            block[i] = tanh(query[i] + key[i]);
        }
        sum += sum_over(block, energy, |x, v| x * v);
    }
    sum
}

/// The derivative of [`energy`], added up. A function of its own because the compiler then knows that its slices do not overlap.
#[inline(always)]
fn energy_backward(
    by_this: f32,
    query: &[f32],
    key: &[f32],
    energy: &[f32],
    by_energy: &mut [f32],
    by_query: &mut [f32],
    by_key: &mut [f32],
) {
    let a = query.len();
    let (key, energy, by_energy) = (&key[..a], &energy[..a], &mut by_energy[..a]);
    let (by_query, by_key) = (&mut by_query[..a], &mut by_key[..a]);
    for i in 0..a {
        let x = tanh(query[i] + key[i]);
        by_energy[i] += by_this * x;
        let d = by_this * energy[i] * (1.0 - x * x);
        by_query[i] += d;
        by_key[i] += d;
    }
}

/// Energies to weights that sum to 1, in place.
#[inline(always)]
fn softmax(energies: &mut [f32]) {
    let largest = energies.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for energy in energies.iter_mut() {
        *energy = exp(*energy - largest);
        sum += *energy;
    }
    for energy in energies.iter_mut() {
        *energy /= sum;
    }
}
