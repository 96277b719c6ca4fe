//! Readout and output layer over the target units of one part of a batch.
//!
//! The rows are taken some hundred at a time, so that logits never need memory for a whole batch.

use candle_core::Result;

use super::super::{BatchLoss, Dropout, Gradients, Place};
use super::ForcedPair;
use super::decoder::DecoderPass;
use super::part::{Part, Position, drop_positions};
use super::products::weight_gradient;
use super::weights::{Weights, output_name};
use crate::kernels::buffer::Buffer;
use crate::kernels::cross_entropy::fused::{forward_backward, log_probabilities};
use crate::kernels::matrix::{Into, Matrix, add_row_sums, multiply};
use crate::kernels::simd::{add_scaled, tanh, vectorised};

/// Rows of logits at a time.
const ROWS: usize = 256;

/// Derivatives that the output layer hands down.
pub struct ByOutput {
    /// By the state after each step: `[steps × rows, n]`
    pub states: Buffer,
    /// By the contexts: `[steps × rows, n]`
    pub contexts: Buffer,
    /// By the embeddings of the words before: `[steps × rows, e]`
    pub embedded: Buffer,
}

/// What a part leaves for the gradients of readout and output layer.
pub struct OutputPass {
    /// Readout inputs and derivatives by W_r input + b_r, some rows at a time.
    readout: Vec<ReadoutRows>,
    /// By E_out: `[V, e]`
    by_output: Buffer,
    /// By b: `[V]`
    by_bias: Buffer,
}

struct ReadoutRows {
    /// [s ; E_y ; c]: `[positions, n + e + n]`, states dropped
    input: Buffer,
    /// `[positions, e]`
    by_sum: Buffer,
}

/// The layers' forward pass over some positions.
struct Rows {
    /// See [`ReadoutRows`].
    input: Buffer,
    /// tanh(W_r input + b_r): `[positions, e]`, before dropout
    readout: Buffer,
    /// The same, dropped
    dropped: Buffer,
    /// `[positions, V]`
    logits: Buffer,
}

impl OutputPass {
    /// Loss and derivatives of a part: those of `scale` times the loss.
    pub fn run(
        weights: &Weights,
        part: &Part,
        dropout: &Dropout,
        decoder: &DecoderPass,
        smoothing: f32,
        scale: f32,
    ) -> (BatchLoss, ByOutput, Self) {
        let sizes = weights.architecture;
        let (e, n, vocabulary) = (sizes.embedding_size, sizes.hidden_size, sizes.target_vocabulary);
        let cells = part.target_length * part.size();
        let zeros = |width: usize| Buffer::zeros(cells * width);
        let mut by = ByOutput { states: zeros(n), contexts: zeros(n), embedded: zeros(e) };
        let (by_output, by_bias) = (Buffer::any(vocabulary * e), Buffer::zeros(vocabulary));
        let mut pass = Self { readout: Vec::new(), by_output, by_bias };
        let mut loss = BatchLoss::default();
        let targets = part.targets();
        for (positions, targets) in part.positions.chunks(ROWS).zip(targets.chunks(ROWS)) {
            let mut rows = Rows::forward(weights, part, dropout, decoder, positions);
            let (smoothed, likelihood) = forward_backward(&mut rows.logits, targets, smoothing, scale);
            loss += BatchLoss { smoothed, negative_log_likelihood: likelihood, units: positions.len() };
            pass.back(rows, weights, part, dropout, positions, &mut by);
        }
        (loss, by, pass)
    }

    /// Takes rows back, with the logits' derivatives in their place.
    fn back(
        &mut self,
        rows: Rows,
        weights: &Weights,
        part: &Part,
        dropout: &Dropout,
        positions: &[Position],
        by: &mut ByOutput,
    ) {
        let sizes = weights.architecture;
        let (e, n, vocabulary) = (sizes.embedding_size, sizes.hidden_size, sizes.target_vocabulary);
        let by_logits = Matrix::rows_of(&rows.logits, vocabulary);
        let into = if self.readout.is_empty() { Into::Replace } else { Into::Add };
        multiply(&mut self.by_output, e, by_logits.t(), Matrix::rows_of(&rows.dropped, e), into);
        add_row_sums(&mut self.by_bias, &rows.logits);
        let mut by_sum = Buffer::any(rows.readout.len());
        weights.output.apply_back(&mut by_sum, &rows.logits, Into::Replace);
        drop_positions(positions, &mut by_sum, dropout.mask(Place::Readout), e, e);
        by_sum.iter_mut().zip(&*rows.readout).for_each(|(by, value)| *by *= 1.0 - value * value);
        let width = n + e + n;
        let mut by_input = Buffer::any(rows.input.len());
        weights.readout.apply_back(&mut by_input, &by_sum, Into::Replace);
        drop_positions(positions, &mut by_input, dropout.mask(Place::States), n, width);
        for (row, position) in by_input.chunks_exact(width).zip(positions) {
            let cell = position.step * part.size() + position.row;
            by.states[cell * n..][..n].copy_from_slice(&row[..n]);
            by.embedded[cell * e..][..e].copy_from_slice(&row[n..n + e]);
            by.contexts[cell * n..][..n].copy_from_slice(&row[n + e..]);
        }
        self.readout.push(ReadoutRows { input: rows.input, by_sum });
    }

    /// The gradients of readout and output layer, when all parts have gone back; written over what is there.
    pub fn gradients(passes: &[&Self], weights: &Weights, gradients: &mut Gradients) -> Result<()> {
        let sizes = weights.architecture;
        let (e, width) = (sizes.embedding_size, sizes.embedding_size + 2 * sizes.hidden_size);
        let rows: Vec<_> = passes
            .iter()
            .flat_map(|pass| &pass.readout)
            .map(|rows| (Matrix::rows_of(&rows.by_sum, e), Matrix::rows_of(&rows.input, width)))
            .collect();
        gradients.fill("readout.weight", |out| weight_gradient(out, width, &rows))?;
        gradients.fill("readout.bias", |out| {
            out.fill(0.0);
            for rows in passes.iter().flat_map(|pass| &pass.readout) {
                add_row_sums(out, &rows.by_sum);
            }
        })?;
        if !sizes.tied_output {
            gradients.fill("target_embedding.weight", |out| out.fill(0.0))?;
        }
        gradients.fill(output_name(sizes), |out| sum(out, passes, |pass| &pass.by_output))?;
        gradients.fill("output.bias", |out| sum(out, passes, |pass| &pass.by_bias))
    }

    /// Log-probabilities and attention of each of a part's pairs.
    pub fn score(weights: &Weights, part: &Part, decoder: &DecoderPass, smoothing: f32) -> Vec<ForcedPair> {
        let empty = || ForcedPair { log_probability: 0.0, smoothed: 0.0, weights: Vec::new() };
        let mut pairs: Vec<ForcedPair> = (0..part.size()).map(|_| empty()).collect();
        let targets = part.targets();
        for (positions, targets) in part.positions.chunks(ROWS).zip(targets.chunks(ROWS)) {
            let rows = Rows::forward(weights, part, &Dropout::none(), decoder, positions);
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
    fn forward(
        weights: &Weights,
        part: &Part,
        dropout: &Dropout,
        decoder: &DecoderPass,
        positions: &[Position],
    ) -> Self {
        let sizes = weights.architecture;
        let (e, n, vocabulary) = (sizes.embedding_size, sizes.hidden_size, sizes.target_vocabulary);
        let width = n + e + n;
        let mut input = Buffer::any(positions.len() * width);
        for (row, position) in input.chunks_exact_mut(width).zip(positions) {
            let cell = position.step * part.size() + position.row;
            row[..n].copy_from_slice(&decoder.states_after()[cell * n..][..n]);
            row[n..n + e].copy_from_slice(&decoder.embedded[cell * e..][..e]);
            row[n + e..].copy_from_slice(&decoder.contexts[cell * n..][..n]);
        }
        drop_positions(positions, &mut input, dropout.mask(Place::States), n, width);
        let readout = readout(weights, &input);
        let mut dropped = Buffer::copy_of(&readout);
        drop_positions(positions, &mut dropped, dropout.mask(Place::Readout), e, e);
        let mut logits = Buffer::any(positions.len() * vocabulary);
        weights.output.apply(&mut logits, vocabulary, &dropped, Into::Row(weights.get("output.bias")));
        Self { input, readout, dropped, logits }
    }
}

/// tanh(W_r input + b_r) of rows [s ; E_y ; c].
pub fn readout(weights: &Weights, input: &[f32]) -> Buffer {
    let sizes = weights.architecture;
    let (e, width) = (sizes.embedding_size, sizes.embedding_size + 2 * sizes.hidden_size);
    let mut readout = Buffer::any(input.len() / width * e);
    weights.readout.apply(&mut readout, e, input, Into::Row(weights.get("readout.bias")));
    vectorised(
        #[inline(always)]
        || readout.iter_mut().for_each(|value| *value = tanh(*value)),
    );
    readout
}

/// The sum of what all parts have found.
fn sum(out: &mut [f32], passes: &[&OutputPass], found: fn(&OutputPass) -> &[f32]) {
    use rayon::prelude::*;
    const BLOCK: usize = 1 << 16;
    out.par_chunks_mut(BLOCK).enumerate().for_each(|(block, out)| {
        let range = block * BLOCK..block * BLOCK + out.len();
        out.copy_from_slice(&found(passes[0])[range.clone()]);
        for pass in &passes[1..] {
            vectorised(
                #[inline(always)]
                || add_scaled(out, 1.0, &found(pass)[range.clone()]),
            );
        }
    });
}
