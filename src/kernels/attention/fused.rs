//! One step of attention on plain slices, sentence by sentence, and its derivative.
//!
//! With dc the derivative by the context, and x_j = tanh(q + k_j) computed again rather than kept:
//!
//! ```text
//! dα_j = dc · h_j                      de_j = α_j (dα_j − Σ_i α_i dα_i)
//! dv   = Σ_j de_j x_j                  dk_j = de_j v ∘ (1 − x_j²)
//! dq   = Σ_j dk_j                      dh_j = α_j dc
//! ```

use std::array::from_fn;

use crate::kernels::buffer::Buffer;
use crate::kernels::simd::{LANES, add_scaled, dot, exp, sum_of_lanes, tanh, vectorised};

/// Dimensions whose derivatives are added up in registers.
const WIDTH: usize = 2 * LANES;

/// What all steps look at.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    /// `[cells, a]`: the sentences' units, sentence by sentence
    pub keys: &'a [f32],
    /// `[cells, n]`
    pub annotations: &'a [f32],
    /// v: `[a]`
    pub energy: &'a [f32],
    /// Where each sentence's cells begin, and the end of the last.
    pub starts: &'a [usize],
    /// The longest sentence's length: how many weights a row has.
    pub longest: usize,
}

impl Keys<'_> {
    fn sizes(&self) -> (usize, usize) {
        let a = self.energy.len();
        (a, self.annotations.len() / (self.keys.len() / a).max(1))
    }

    /// Weights `[rows, longest]`, 0 on padding, and contexts `[rows, n]` of queries `[rows, a]`. `sentences` names the
    /// sentence of each row.
    pub fn attend(
        &self,
        sentences: impl Iterator<Item = usize>,
        queries: &[f32],
        weights: &mut [f32],
        contexts: &mut [f32],
    ) {
        let (a, n) = self.sizes();
        vectorised(
            #[inline(always)]
            || {
                let rows = queries.chunks_exact(a).zip(weights.chunks_exact_mut(self.longest));
                let rows = rows.zip(contexts.chunks_exact_mut(n));
                for (sentence, ((query, weights), context)) in sentences.zip(rows) {
                    let first = self.starts[sentence];
                    let (weights, padding) = weights.split_at_mut(self.starts[sentence + 1] - first);
                    padding.fill(0.0);
                    let keys = self.keys[first * a..].chunks_exact(a);
                    for (weight, key) in weights.iter_mut().zip(keys) {
                        *weight = energy(query, key, self.energy);
                    }
                    softmax(weights);
                    context.fill(0.0);
                    let annotations = self.annotations[first * n..].chunks_exact(n);
                    for (&weight, annotation) in weights.iter().zip(annotations) {
                        add_scaled(context, weight, annotation);
                    }
                }
            },
        );
    }

    /// The derivative of [`Self::attend`] for one row each sentence: adds to the derivatives by keys and v, and writes
    /// `[rows, a]` derivatives by the queries. Those by the annotations, which no step waits for, are left to a product
    /// over all steps. `by_energies`, `[rows, longest]`, holds derivatives by the energies that come from elsewhere,
    /// and then all of them.
    #[expect(clippy::too_many_arguments, reason = "what the step has read, and what it adds to")]
    pub fn backward(
        &self,
        queries: &[f32],
        weights: &[f32],
        by_context: &[f32],
        by_keys: &mut [f32],
        by_v: &mut [f32],
        by_query: &mut [f32],
        by_energies: &mut [f32],
    ) {
        let (a, n) = self.sizes();
        let mut by_weights = Buffer::any(self.longest);
        vectorised(
            #[inline(always)]
            || {
                for (sentence, cells) in self.starts.windows(2).enumerate() {
                    let (first, length) = (cells[0], cells[1] - cells[0]);
                    let weights = &weights[sentence * self.longest..][..length];
                    let by_context = &by_context[sentence * n..][..n];
                    let by_energy = &mut by_energies[sentence * self.longest..][..length];
                    let by_weight = &mut by_weights[..length];
                    for (by_weight, annotation) in
                        by_weight.iter_mut().zip(self.annotations[first * n..].chunks_exact(n))
                    {
                        *by_weight = dot(by_context, annotation);
                    }
                    let mean = dot(weights, by_weight);
                    for ((by_energy, by_weight), weight) in by_energy.iter_mut().zip(by_weight).zip(weights) {
                        *by_energy += weight * (*by_weight - mean);
                    }
                    let query = &queries[sentence * a..][..a];
                    let by_query = &mut by_query[sentence * a..][..a];
                    let keys = &self.keys[first * a..][..length * a];
                    let by_keys = &mut by_keys[first * a..][..length * a];
                    let whole = a / WIDTH * WIDTH;
                    for start in (0..whole).step_by(WIDTH) {
                        block_backward::<WIDTH>(start, by_energy, query, keys, self.energy, by_v, by_query, by_keys);
                    }
                    for start in whole..a {
                        block_backward::<1>(start, by_energy, query, keys, self.energy, by_v, by_query, by_keys);
                    }
                }
            },
        );
    }
}

/// vᵀ tanh(q + k)
#[inline(always)]
fn energy(query: &[f32], key: &[f32], v: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let [queries, keys, vs] = [query, key, v].map(<[f32]>::as_chunks::<LANES>);
    for ((query, key), v) in queries.0.iter().zip(keys.0).zip(vs.0) {
        for lane in 0..LANES {
            lanes[lane] += v[lane] * tanh(query[lane] + key[lane]);
        }
    }
    for (lane, ((query, key), v)) in lanes.iter_mut().zip(queries.1.iter().zip(keys.1).zip(vs.1)) {
        *lane += v * tanh(query + key);
    }
    sum_of_lanes(lanes)
}

/// The derivative of all energies of a sentence, in `WIDTH` of the `a` dimensions from `start` on: what the positions
/// share stays in registers. Adds to `by_v` and `by_keys`, writes `by_query`.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what an energy depends on, and the derivatives by it")]
fn block_backward<const WIDTH: usize>(
    start: usize,
    by_energies: &[f32],
    query: &[f32],
    keys: &[f32],
    v: &[f32],
    by_v: &mut [f32],
    by_query: &mut [f32],
    by_keys: &mut [f32],
) {
    let a = query.len();
    let part = |values: &[f32]| -> [f32; WIDTH] { from_fn(|i| values[start + i]) };
    let (q, v) = (part(query), part(v));
    let (mut sum_v, mut sum_query) = ([0.0; WIDTH], [0.0; WIDTH]);
    for ((&by_energy, key), by_key) in by_energies.iter().zip(keys.chunks_exact(a)).zip(by_keys.chunks_exact_mut(a)) {
        let (key, by_key) = (&key[start..start + WIDTH], &mut by_key[start..start + WIDTH]);
        for i in 0..WIDTH {
            let x = tanh(q[i] + key[i]);
            sum_v[i] += by_energy * x;
            let d = by_energy * v[i] * (1.0 - x * x);
            sum_query[i] += d;
            by_key[i] += d;
        }
    }
    by_query[start..start + WIDTH].copy_from_slice(&sum_query);
    for (by_v, sum) in by_v[start..].iter_mut().zip(sum_v) {
        *by_v += sum;
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
