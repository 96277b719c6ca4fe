//! The decoder's loop over one part of a batch, forward and backward.

use super::super::InitialState;
use super::encoder::{gather, scatter};
use super::output::ByOutput;
use super::part::{Masks, Part};
use super::weights::{PartGradients, Weights};
use crate::kernels::attention::fused::{ByKeys, Keys};
use crate::kernels::gru::fused::{Step, backward, forward};
use crate::kernels::matrix::{Into, Matrix, add_bias, add_row_sums, multiply};
use crate::kernels::simd::{add_scaled, tanh, vectorised};

/// What the forward pass leaves behind. A "step" below is one of `target length`.
pub struct DecoderPass {
    /// The word before each unit, step by step.
    previous: Vec<u32>,
    /// Its embedding: `[steps × rows, e]`
    pub embedded: Vec<f32>,
    /// W_k h: `[rows, source length, a]`
    keys: Vec<f32>,
    /// What s_0 is made from: `[rows, n]`, or `[rows, n/2]`
    summary: Vec<f32>,
    /// s_0 and the state after each step: `[(steps + 1) × rows, n]`
    states: Vec<f32>,
    /// W_q s_{t-1}: `[steps × rows, a]`
    queries: Vec<f32>,
    /// α: `[steps × rows, source length]`
    weights: Vec<f32>,
    /// c: `[steps × rows, n]`
    pub contexts: Vec<f32>,
    /// `[steps × rows, 3n]`, see [`Step`]
    gates: Vec<f32>,
    /// `[steps × rows, n]`
    candidates: Vec<f32>,
}

/// Sizes and parameters that every step needs.
pub struct Cell<'a> {
    pub a: usize,
    pub e: usize,
    pub n: usize,
    /// Rows of a step.
    pub size: usize,
    weight_ih: Matrix<'a>,
    /// [W_q ; W_hh]
    pub both: Matrix<'a>,
    pub bias_hh: &'a [f32],
}

impl<'a> Cell<'a> {
    /// The cell for steps of `size` rows.
    pub fn new(weights: &'a Weights, size: usize) -> Self {
        let sizes = weights.architecture;
        let (a, e, n) = (sizes.attention_size, sizes.embedding_size, sizes.hidden_size);
        Self {
            a,
            e,
            n,
            size,
            weight_ih: Matrix::new(weights.get("decoder.cell.weight_ih"), 3 * n, e + n),
            both: Matrix::new(&weights.query_and_state_gates, a + 3 * n, n),
            bias_hh: weights.get("decoder.cell.bias_hh"),
        }
    }

    /// The columns of W_ih that the embedding meets.
    pub fn embedding_gates(&self) -> Matrix<'a> {
        self.weight_ih.columns(0, self.e)
    }

    /// The columns of W_ih that the context meets.
    pub fn context_gates(&self) -> Matrix<'a> {
        self.weight_ih.columns(self.e, self.n)
    }
}

impl DecoderPass {
    /// Runs the loop over annotations `[rows, source length, n]`.
    pub fn forward(weights: &Weights, part: &Part, masks: &Masks, annotations: &[f32]) -> Self {
        let cell = Cell::new(weights, part.size());
        let Cell { a, e, n, size, .. } = cell;
        let steps = part.target_length;
        let keys = Self::keys(weights, annotations);
        let previous = part.previous_ids();
        let mut embedded = gather(weights.get("target_embedding.weight"), &previous, e);
        part.drop(&mut embedded, &masks.target, e);
        let mut gates = vec![0.0; steps * size * 3 * n];
        multiply(&mut gates, 3 * n, Matrix::rows_of(&embedded, e), cell.embedding_gates().t(), Into::Replace);
        add_bias(&mut gates, weights.get("decoder.cell.bias_ih"));
        let summary = summary(weights, part, annotations);
        let mut states = vec![0.0; (steps + 1) * size * n];
        initial_state(weights, &summary, &mut states[..size * n]);
        let mut pass = Self {
            previous,
            embedded,
            keys,
            summary,
            states,
            queries: vec![0.0; steps * size * a],
            weights: vec![0.0; steps * size * part.source_length],
            contexts: vec![0.0; steps * size * n],
            gates,
            candidates: vec![0.0; steps * size * n],
        };
        let mut from_state = vec![0.0; size * (a + 3 * n)];
        for step in 0..steps {
            pass.step(&cell, part, weights, annotations, step, &mut from_state);
        }
        pass
    }

    /// W_k h: annotations `[rows, length, n]` to keys `[rows, length, a]`.
    pub fn keys(weights: &Weights, annotations: &[f32]) -> Vec<f32> {
        let (a, n) = (weights.architecture.attention_size, weights.architecture.hidden_size);
        let mut keys = vec![0.0; annotations.len() / n * a];
        let key_weight = Matrix::new(weights.get("attention.key.weight"), a, n);
        multiply(&mut keys, a, Matrix::rows_of(annotations, n), key_weight.t(), Into::Replace);
        keys
    }

    /// s_0 of a part: `[rows, n]`.
    pub fn first_state(weights: &Weights, part: &Part, annotations: &[f32]) -> Vec<f32> {
        let mut state = vec![0.0; part.size() * weights.architecture.hidden_size];
        initial_state(weights, &summary(weights, part, annotations), &mut state);
        state
    }

    fn step(
        &mut self,
        cell: &Cell,
        part: &Part,
        weights: &Weights,
        annotations: &[f32],
        step: usize,
        from_state: &mut [f32],
    ) {
        let Cell { a, n, size, .. } = *cell;
        let (before, after) = self.states.split_at_mut((step + 1) * size * n);
        let state = &before[step * size * n..];
        multiply(from_state, a + 3 * n, Matrix::rows_of(state, n), cell.both.t(), Into::Replace);
        let queries = &mut self.queries[step * size * a..][..size * a];
        for (query, row) in queries.chunks_exact_mut(a).zip(from_state.chunks_exact(a + 3 * n)) {
            query.copy_from_slice(&row[..a]);
        }
        let contexts = &mut self.contexts[step * size * n..][..size * n];
        let length = part.source_length;
        keys_of(&self.keys, annotations, weights, part).attend(
            0..size,
            queries,
            a,
            &mut self.weights[step * size * length..][..size * length],
            contexts,
        );
        let gates = &mut self.gates[step * size * 3 * n..][..size * 3 * n];
        multiply(gates, 3 * n, Matrix::rows_of(contexts, n), cell.context_gates().t(), Into::Add);
        let candidate = &mut self.candidates[step * size * n..][..size * n];
        let next = &mut after[..size * n];
        forward(Step { gates, candidate }, &from_state[a..], a + 3 * n, cell.bias_hh, state, next);
    }

    /// The state after each step: `[steps × rows, n]`.
    pub fn states_after(&self, part: &Part) -> &[f32] {
        &self.states[self.states.len() / (part.target_length + 1)..]
    }

    /// α of one row at one step, over its real source units.
    pub fn attention(&self, part: &Part, step: usize, row: usize) -> &[f32] {
        &self.weights[(step * part.size() + row) * part.source_length..][..part.source_lengths[row]]
    }

    /// Takes derivatives by states, contexts and embeddings to the gradients of the decoder's parameters; returns those by the
    /// annotations, `[rows, source length, n]`.
    pub fn backward(
        mut self,
        weights: &Weights,
        part: &Part,
        masks: &Masks,
        annotations: &[f32],
        mut by: ByOutput,
        gradients: &mut PartGradients,
    ) -> Vec<f32> {
        let cell = Cell::new(weights, part.size());
        let Cell { a, e, n, size, .. } = cell;
        let (steps, length) = (part.target_length, part.source_length);
        let mut by_annotations = vec![0.0; annotations.len()];
        let mut by_keys = vec![0.0; self.keys.len()];
        let mut by_from_state = vec![0.0; steps * size * (a + 3 * n)];
        let mut carried = vec![0.0; size * n];
        for step in (0..steps).rev() {
            let by_state = &mut by.states[step * size * n..][..size * n];
            vectorised(
                #[inline(always)]
                || add_scaled(by_state, 1.0, &carried),
            );
            let gates = &mut self.gates[step * size * 3 * n..][..size * 3 * n];
            let candidate = &mut self.candidates[step * size * n..][..size * n];
            let before = &self.states[step * size * n..][..size * n];
            let by_both = &mut by_from_state[step * size * (a + 3 * n)..][..size * (a + 3 * n)];
            backward(Step { gates: &mut *gates, candidate }, before, by_state, &mut by_both[a..], a + 3 * n, n);
            let by_context = &mut by.contexts[step * size * n..][..size * n];
            multiply(by_context, n, Matrix::rows_of(gates, 3 * n), cell.context_gates(), Into::Add);
            let mut by_memory = ByKeys {
                keys: &mut by_keys,
                annotations: &mut by_annotations,
                energy: gradients.of("attention.energy.weight"),
            };
            keys_of(&self.keys, annotations, weights, part).backward(
                &self.queries[step * size * a..][..size * a],
                &self.weights[step * size * length..][..size * length],
                by_context,
                &mut by_memory,
                by_both,
                a + 3 * n,
            );
            carried.copy_from_slice(by_state);
            multiply(&mut carried, n, Matrix::rows_of(by_both, a + 3 * n), cell.both, Into::Add);
        }
        self.weight_gradients(&cell, &by_from_state, &mut by.embedded, gradients);
        part.drop(&mut by.embedded, &masks.target, e);
        scatter(gradients.of("target_embedding.weight"), &self.previous, &by.embedded, e);
        self.initial_gradients(weights, part, carried, &mut by_annotations, gradients);
        let key_weight = Matrix::new(weights.get("attention.key.weight"), a, n);
        let by_keys = Matrix::rows_of(&by_keys, a);
        let by_key_weight = gradients.of("attention.key.weight");
        multiply(by_key_weight, n, by_keys.t(), Matrix::rows_of(annotations, n), Into::Add);
        multiply(&mut by_annotations, n, by_keys, key_weight, Into::Add);
        by_annotations
    }

    /// Weight gradients of all steps at once, and derivatives by the embeddings. The saved gates hold their derivatives by now.
    fn weight_gradients(
        &self,
        cell: &Cell,
        by_from_state: &[f32],
        by_embedded: &mut [f32],
        gradients: &mut PartGradients,
    ) {
        let Cell { a, e, n, .. } = *cell;
        let rows = self.gates.len() / (3 * n);
        let by_both = Matrix::rows_of(by_from_state, a + 3 * n);
        let states = Matrix::new(&self.states, rows, n);
        multiply(gradients.of("attention.query.weight"), n, by_both.columns(0, a).t(), states, Into::Add);
        multiply(gradients.of("decoder.cell.weight_hh"), n, by_both.columns(a, 3 * n).t(), states, Into::Add);
        let by_bias = gradients.of("decoder.cell.bias_hh");
        vectorised(
            #[inline(always)]
            || {
                for row in by_from_state.chunks_exact(a + 3 * n) {
                    add_scaled(by_bias, 1.0, &row[a..]);
                }
            },
        );
        let by_gates = Matrix::rows_of(&self.gates, 3 * n);
        let by_weight = gradients.of("decoder.cell.weight_ih");
        multiply(by_weight, e + n, by_gates.t(), Matrix::rows_of(&self.embedded, e), Into::Add);
        multiply(&mut by_weight[e..], e + n, by_gates.t(), Matrix::rows_of(&self.contexts, n), Into::Add);
        add_row_sums(gradients.of("decoder.cell.bias_ih"), &self.gates);
        multiply(by_embedded, e, by_gates, cell.embedding_gates(), Into::Add);
    }

    /// Gradients of s_0 = tanh(W_init m + b), and derivatives by the annotations that m was made from.
    fn initial_gradients(
        &self,
        weights: &Weights,
        part: &Part,
        mut by_state: Vec<f32>,
        by_annotations: &mut [f32],
        gradients: &mut PartGradients,
    ) {
        let n = weights.architecture.hidden_size;
        by_state.iter_mut().zip(&self.states).for_each(|(by_state, state)| *by_state *= 1.0 - state * state);
        let width = self.summary.len() / part.size();
        let by_rows = Matrix::rows_of(&by_state, n);
        let summary = Matrix::rows_of(&self.summary, width);
        multiply(gradients.of("decoder.initial.weight"), width, by_rows.t(), summary, Into::Add);
        add_row_sums(gradients.of("decoder.initial.bias"), &by_state);
        let mut by_summary = vec![0.0; self.summary.len()];
        let weight = Matrix::new(weights.get("decoder.initial.weight"), n, width);
        multiply(&mut by_summary, width, by_rows, weight, Into::Replace);
        for (row, by_summary) in by_summary.chunks_exact(width).enumerate() {
            for (position, share) in summary_shares(weights, part, row) {
                let annotation = &mut by_annotations[(row * part.source_length + position) * n..][..n];
                add_scaled(&mut annotation[n - width..], share, by_summary);
            }
        }
    }
}

fn keys_of<'k>(keys: &'k [f32], annotations: &'k [f32], weights: &Weights<'k>, part: &'k Part) -> Keys<'k> {
    let energy = weights.get("attention.energy.weight");
    Keys { keys, annotations, energy, lengths: &part.source_lengths, length: part.source_length }
}

/// The positions whose annotations make the first state, each with its share.
fn summary_shares(weights: &Weights, part: &Part, row: usize) -> impl Iterator<Item = (usize, f32)> {
    let count = match weights.architecture.initial_state {
        InitialState::Mean => part.source_lengths[row],
        InitialState::BackwardFirst => 1,
    };
    (0..count).map(move |position| (position, 1.0 / count as f32))
}

/// m: the annotations' mean, `[rows, n]`, or the backward direction's half of the first one, `[rows, n/2]`.
fn summary(weights: &Weights, part: &Part, annotations: &[f32]) -> Vec<f32> {
    let n = weights.architecture.hidden_size;
    let width = match weights.architecture.initial_state {
        InitialState::Mean => n,
        InitialState::BackwardFirst => n / 2,
    };
    let mut summary = vec![0.0; part.size() * width];
    for (row, sum) in summary.chunks_exact_mut(width).enumerate() {
        for (position, share) in summary_shares(weights, part, row) {
            let annotation = &annotations[(row * part.source_length + position) * n..][..n];
            add_scaled(sum, share, &annotation[n - width..]);
        }
    }
    summary
}

/// s_0 = tanh(W_init m + b)
fn initial_state(weights: &Weights, summary: &[f32], state: &mut [f32]) {
    let n = weights.architecture.hidden_size;
    let width = summary.len() / (state.len() / n);
    let weight = Matrix::new(weights.get("decoder.initial.weight"), n, width);
    multiply(state, n, Matrix::rows_of(summary, width), weight.t(), Into::Replace);
    add_bias(state, weights.get("decoder.initial.bias"));
    vectorised(
        #[inline(always)]
        || state.iter_mut().for_each(|value| *value = tanh(*value)),
    );
}
