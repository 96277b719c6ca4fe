//! Readout and output layer over the target units of one part of a batch.
//!
//! The rows are taken some hundred at a time, so that logits never need memory for a whole batch.

use super::ForcedPair;
use super::decoder::DecoderPass;
use super::part::{Masks, Part, Position};
use super::weights::{PartGradients, Weights};
use crate::kernels::cross_entropy::fused::{forward_backward, log_probabilities};
use crate::kernels::matrix::{Into, Matrix, add_bias, add_row_sums, multiply};
use crate::kernels::simd::{tanh, vectorised};
use crate::model::BatchLoss;

/// Rows of logits at a time.
const ROWS: usize = 256;

/// Derivatives that the output layer hands down.
pub struct ByOutput {
    /// By the state after each step: `[steps × rows, n]`
    pub states: Vec<f32>,
    /// By the contexts: `[steps × rows, n]`
    pub contexts: Vec<f32>,
    /// By the embeddings of the words before: `[steps × rows, e]`
    pub embedded: Vec<f32>,
}

/// Readout and output layer.
pub struct Output;

/// The layers' forward pass over some positions.
struct Rows {
    /// [s ; E_y ; c]: `[positions, n + e + n]`, states dropped
    input: Vec<f32>,
    /// tanh(W_r input + b_r): `[positions, e]`, before dropout
    readout: Vec<f32>,
    /// The same, dropped
    dropped: Vec<f32>,
    /// `[positions, V]`
    logits: Vec<f32>,
}

impl Output {
    /// Loss of a part; adds gradients and returns derivatives. Derivatives are those of `scale` times the loss.
    pub fn gradients(
        weights: &Weights,
        part: &Part,
        masks: &Masks,
        decoder: &DecoderPass,
        smoothing: f32,
        scale: f32,
        gradients: &mut PartGradients,
    ) -> (BatchLoss, ByOutput) {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let cells = part.target_length * part.size();
        let mut by =
            ByOutput { states: vec![0.0; cells * n], contexts: vec![0.0; cells * n], embedded: vec![0.0; cells * e] };
        let mut loss = BatchLoss::default();
        let targets = part.targets();
        for (positions, targets) in part.positions.chunks(ROWS).zip(targets.chunks(ROWS)) {
            let mut rows = Rows::forward(weights, part, masks, decoder, positions);
            let (smoothed, likelihood) = forward_backward(&mut rows.logits, targets, smoothing, scale);
            loss += BatchLoss { smoothed, negative_log_likelihood: likelihood, units: positions.len() };
            rows.backward(weights, part, masks, positions, &mut by, gradients);
        }
        (loss, by)
    }

    /// Log-probabilities and attention of each of a part's pairs.
    pub fn score(weights: &Weights, part: &Part, decoder: &DecoderPass, smoothing: f32) -> Vec<ForcedPair> {
        let masks = Masks::none(weights.architecture);
        let empty = || ForcedPair { log_probability: 0.0, smoothed: 0.0, weights: Vec::new() };
        let mut pairs: Vec<ForcedPair> = (0..part.size()).map(|_| empty()).collect();
        let targets = part.targets();
        for (positions, targets) in part.positions.chunks(ROWS).zip(targets.chunks(ROWS)) {
            let rows = Rows::forward(weights, part, &masks, decoder, positions);
            let scores = log_probabilities(&rows.logits, targets, smoothing);
            for (position, (smoothed, log_probability)) in positions.iter().zip(scores) {
                let pair = &mut pairs[position.row];
                pair.smoothed += smoothed;
                pair.log_probability += log_probability;
                pair.weights.push(decoder.attention(part, position.step, position.row).to_vec());
            }
        }
        pairs
    }
}

impl Rows {
    fn forward(weights: &Weights, part: &Part, masks: &Masks, decoder: &DecoderPass, positions: &[Position]) -> Self {
        let sizes = weights.architecture;
        let (e, n, vocabulary) = (sizes.embedding_size, sizes.hidden_size, sizes.target_vocabulary);
        let mut states = rows_at(decoder.states_after(part), part, positions, n);
        part.drop_positions(positions, &mut states, &masks.states, n);
        let embedded = rows_at(&decoder.embedded, part, positions, e);
        let contexts = rows_at(&decoder.contexts, part, positions, n);
        let width = n + e + n;
        let mut input = Vec::with_capacity(positions.len() * width);
        let parts = states.chunks_exact(n).zip(embedded.chunks_exact(e)).zip(contexts.chunks_exact(n));
        for ((state, embedded), context) in parts {
            input.extend_from_slice(state);
            input.extend_from_slice(embedded);
            input.extend_from_slice(context);
        }
        let mut readout = vec![0.0; positions.len() * e];
        let weight = Matrix::new(weights.get("readout.weight"), e, width);
        multiply(&mut readout, e, Matrix::rows_of(&input, width), weight.t(), Into::Replace);
        add_bias(&mut readout, weights.get("readout.bias"));
        vectorised(
            #[inline(always)]
            || readout.iter_mut().for_each(|value| *value = tanh(*value)),
        );
        let mut dropped = readout.clone();
        part.drop_positions(positions, &mut dropped, &masks.readout, e);
        let mut logits = vec![0.0; positions.len() * vocabulary];
        let output = Matrix::new(weights.get(weights.output_name()), vocabulary, e);
        multiply(&mut logits, vocabulary, Matrix::rows_of(&dropped, e), output.t(), Into::Replace);
        add_bias(&mut logits, weights.get("output.bias"));
        Self { input, readout, dropped, logits }
    }

    /// With the logits' derivatives in their place.
    fn backward(
        self,
        weights: &Weights,
        part: &Part,
        masks: &Masks,
        positions: &[Position],
        by: &mut ByOutput,
        gradients: &mut PartGradients,
    ) {
        let sizes = weights.architecture;
        let (e, n, vocabulary) = (sizes.embedding_size, sizes.hidden_size, sizes.target_vocabulary);
        let by_logits = Matrix::rows_of(&self.logits, vocabulary);
        let by_output = gradients.of(weights.output_name());
        multiply(by_output, e, by_logits.t(), Matrix::rows_of(&self.dropped, e), Into::Add);
        add_row_sums(gradients.of("output.bias"), &self.logits);
        let mut by_readout = vec![0.0; self.readout.len()];
        let output = Matrix::new(weights.get(weights.output_name()), vocabulary, e);
        multiply(&mut by_readout, e, by_logits, output, Into::Replace);
        part.drop_positions(positions, &mut by_readout, &masks.readout, e);
        by_readout.iter_mut().zip(&self.readout).for_each(|(by, value)| *by *= 1.0 - value * value);
        let width = n + e + n;
        let by_rows = Matrix::rows_of(&by_readout, e);
        multiply(gradients.of("readout.weight"), width, by_rows.t(), Matrix::rows_of(&self.input, width), Into::Add);
        add_row_sums(gradients.of("readout.bias"), &by_readout);
        let weight = Matrix::new(weights.get("readout.weight"), e, width);
        let mut by_input = vec![0.0; self.input.len()];
        multiply(&mut by_input, width, by_rows, weight, Into::Replace);
        let mut by_states: Vec<f32> = by_input.chunks_exact(width).flat_map(|row| &row[..n]).copied().collect();
        part.drop_positions(positions, &mut by_states, &masks.states, n);
        for ((row, by_state), position) in by_input.chunks_exact(width).zip(by_states.chunks_exact(n)).zip(positions) {
            let cell = position.step * part.size() + position.row;
            by.states[cell * n..(cell + 1) * n].copy_from_slice(by_state);
            by.embedded[cell * e..(cell + 1) * e].copy_from_slice(&row[n..n + e]);
            by.contexts[cell * n..(cell + 1) * n].copy_from_slice(&row[n + e..]);
        }
    }
}

/// The rows of `[steps × rows, width]` at some positions.
fn rows_at(values: &[f32], part: &Part, positions: &[Position], width: usize) -> Vec<f32> {
    let row = |position: &Position| &values[(position.step * part.size() + position.row) * width..][..width];
    positions.iter().flat_map(row).copied().collect()
}
