//! Readout and output layer over all target units of a batch.
//!
//! All parts have gone through the decoder's loop before, so that the threads share the rows of the whole batch: block
//! by block forward and back to the readout's inputs, and then as one product for the gradient of E_out.

use candle_core::Result;
use rayon::prelude::*;

use super::super::{BatchLoss, Dropout, Gradients, Place};
use super::ForcedPair;
use super::decoder::DecoderPass;
use super::part::{Part, Position, drop_positions};
use super::products::{bias_gradient, weight_gradient};
use super::weights::{Weights, output_name};
use crate::kernels::buffer::Buffer;
use crate::kernels::cross_entropy::fused::{forward_backward, log_probabilities};
use crate::kernels::matrix::{Into, Matrix, add_row_sums};
use crate::kernels::simd::{tanh, vectorised};

/// Rows of a block, at most.
const ROWS: usize = 64;
/// Blocks whose logits are held at a time, so that long sentences need no more memory.
const BLOCKS: usize = 16;

/// Derivatives that the output layer hands down to a part.
pub struct ByOutput {
    /// By the state after each step: `[steps × rows, n]`
    pub states: Buffer,
    /// By the contexts: `[steps × rows, n]`
    pub contexts: Buffer,
    /// By the embeddings of the words before: `[steps × rows, e]`
    pub embedded: Buffer,
}

/// What a batch leaves for the derivatives of the decoder's loop and for the gradient of the readout.
pub struct OutputPass {
    /// Part by part, step by step.
    blocks: Vec<BlockPass>,
}

/// Some target units of one part.
struct Block<'a> {
    part: usize,
    positions: &'a [Position],
    targets: &'a [u32],
}

struct BlockPass {
    part: usize,
    loss: BatchLoss,
    /// [s ; E_y ; c]: `[positions, n + e + n]`, states dropped
    input: Buffer,
    /// By it
    by_input: Buffer,
    /// By W_r input + b_r: `[positions, e]`
    by_sum: Buffer,
    /// By b: `[V]`
    by_bias: Buffer,
}

/// The forward pass over some positions.
struct Rows {
    /// See [`BlockPass`].
    input: Buffer,
    /// tanh(W_r input + b_r): `[positions, e]`, before dropout
    readout: Buffer,
}

impl OutputPass {
    /// Loss of all parts, and the derivatives of `scale` times the loss. Writes the gradients of readout and output
    /// layer over what is there.
    pub fn run(
        weights: &Weights,
        parts: &[(&Part, &DecoderPass)],
        dropout: &Dropout,
        smoothing: f32,
        scale: f32,
        gradients: &mut Gradients,
    ) -> Result<(BatchLoss, Self)> {
        let sizes = weights.architecture;
        let (e, vocabulary) = (sizes.embedding_size, sizes.target_vocabulary);
        let targets: Vec<Vec<u32>> = parts.iter().map(|(part, _)| part.targets()).collect();
        let blocks: Vec<Block> = parts.iter().zip(&targets).enumerate().flat_map(Block::deal).collect();
        let mut passes: Vec<BlockPass> = Vec::with_capacity(blocks.len());
        for blocks in blocks.chunks(BLOCKS) {
            let rows: usize = blocks.iter().map(|block| block.positions.len()).sum();
            let (mut dropped, mut logits) = (Buffer::any(rows * e), Buffer::any(rows * vocabulary));
            let places = split(&mut dropped, blocks, e).into_par_iter().zip(split(&mut logits, blocks, vocabulary));
            let into = if passes.is_empty() { Into::Replace } else { Into::Add };
            passes.par_extend(blocks.par_iter().zip(places).map(|(block, (dropped, logits))| {
                let (part, decoder) = parts[block.part];
                let rows = Rows::forward(weights, part, dropout, decoder, block.positions, dropped, logits);
                let (smoothed, likelihood) = forward_backward(logits, block.targets, smoothing, scale);
                let units = block.positions.len();
                let loss = BatchLoss { smoothed, negative_log_likelihood: likelihood, guidance: 0.0, units };
                BlockPass::back(rows, logits, weights, dropout, block, loss)
            }));
            let factors = [(Matrix::new(&logits, rows, vocabulary), Matrix::new(&dropped, rows, e))];
            gradients.fill(output_name(sizes), |out| weight_gradient(out, e, &factors, into))?;
        }
        let mut loss = BatchLoss::default();
        passes.iter().for_each(|pass| loss += pass.loss);
        let pass = Self { blocks: passes };
        pass.gradients(weights, gradients)?;
        Ok((loss, pass))
    }

    /// The gradients but that of E_out, which is there already.
    fn gradients(&self, weights: &Weights, gradients: &mut Gradients) -> Result<()> {
        let sizes = weights.architecture;
        let (e, width) = (sizes.embedding_size, sizes.embedding_size + 2 * sizes.hidden_size);
        let all = |of: fn(&BlockPass) -> &[f32]| -> Vec<&[f32]> { self.blocks.iter().map(of).collect() };
        let (by_sums, inputs) = (all(|block| &block.by_sum), all(|block| &block.input));
        let factors: Vec<_> = by_sums
            .iter()
            .zip(inputs)
            .map(|(by_sum, input)| (Matrix::rows_of(by_sum, e), Matrix::rows_of(input, width)))
            .collect();
        gradients.fill("readout.weight", |out| weight_gradient(out, width, &factors, Into::Replace))?;
        gradients.fill("readout.bias", |out| bias_gradient(out, &by_sums))?;
        gradients.fill("output.bias", |out| bias_gradient(out, &all(|block| &block.by_bias)))?;
        if sizes.tied_output { Ok(()) } else { gradients.clear("target_embedding.weight") }
    }

    /// What is handed down to the `number`th part.
    pub fn by_part(&self, weights: &Weights, part: &Part, number: usize) -> ByOutput {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let cells = part.target_length * part.size();
        let zeros = |width: usize| Buffer::zeros(cells * width);
        let mut by = ByOutput { states: zeros(n), contexts: zeros(n), embedded: zeros(e) };
        let blocks = self.blocks.iter().filter(|block| block.part == number);
        let rows = blocks.flat_map(|block| block.by_input.chunks_exact(n + e + n));
        for (row, position) in rows.zip(&part.positions) {
            let cell = position.step * part.size() + position.row;
            by.states[cell * n..][..n].copy_from_slice(&row[..n]);
            by.embedded[cell * e..][..e].copy_from_slice(&row[n..n + e]);
            by.contexts[cell * n..][..n].copy_from_slice(&row[n + e..]);
        }
        by
    }

    /// Log-probabilities and attention of each of a part's pairs.
    pub fn score(weights: &Weights, part: &Part, decoder: &DecoderPass, smoothing: f32) -> Vec<ForcedPair> {
        let empty = || ForcedPair { log_probability: 0.0, smoothed: 0.0, weights: Vec::new() };
        let mut pairs: Vec<ForcedPair> = (0..part.size()).map(|_| empty()).collect();
        let (e, vocabulary) = (weights.architecture.embedding_size, weights.architecture.target_vocabulary);
        let targets = part.targets();
        for (positions, targets) in part.positions.chunks(ROWS).zip(targets.chunks(ROWS)) {
            let mut readout = Buffer::any(positions.len() * e);
            let mut logits = Buffer::any(positions.len() * vocabulary);
            Rows::forward(weights, part, &Dropout::none(), decoder, positions, &mut readout, &mut logits);
            let scores = log_probabilities(&logits, targets, smoothing);
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

impl<'a> Block<'a> {
    /// Blocks of a part, of about the same size.
    fn deal((part, (parts, targets)): (usize, (&(&'a Part, &DecoderPass), &'a Vec<u32>))) -> Vec<Self> {
        let positions = &parts.0.positions;
        let rows = positions.len().div_ceil(positions.len().div_ceil(ROWS).max(1)).max(1);
        let chunks = positions.chunks(rows).zip(targets.chunks(rows));
        chunks.map(|(positions, targets)| Self { part, positions, targets }).collect()
    }
}

impl BlockPass {
    /// Takes rows back, with the logits' derivatives given.
    fn back(
        rows: Rows,
        by_logits: &[f32],
        weights: &Weights,
        dropout: &Dropout,
        block: &Block,
        loss: BatchLoss,
    ) -> Self {
        let sizes = weights.architecture;
        let (e, n) = (sizes.embedding_size, sizes.hidden_size);
        let mut by_bias = Buffer::zeros(sizes.target_vocabulary);
        add_row_sums(&mut by_bias, by_logits);
        let mut by_sum = Buffer::any(rows.readout.len());
        weights.output.apply_back(&mut by_sum, by_logits, Into::Replace);
        drop_positions(block.positions, &mut by_sum, dropout.mask(Place::Readout), e, e);
        by_sum.iter_mut().zip(&*rows.readout).for_each(|(by, value)| *by *= 1.0 - value * value);
        let mut by_input = Buffer::any(rows.input.len());
        weights.readout.apply_back(&mut by_input, &by_sum, Into::Replace);
        drop_positions(block.positions, &mut by_input, dropout.mask(Place::States), n, n + e + n);
        Self { part: block.part, loss, input: rows.input, by_input, by_sum, by_bias }
    }
}

/// Each block's rows of numbers that lie block by block.
fn split<'v>(mut values: &'v mut [f32], blocks: &[Block], width: usize) -> Vec<&'v mut [f32]> {
    let mut split = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (rows, rest) = values.split_at_mut(block.positions.len() * width);
        split.push(rows);
        values = rest;
    }
    split
}

impl Rows {
    /// Makes the dropped readout `[positions, e]` and the logits `[positions, V]` too.
    fn forward(
        weights: &Weights,
        part: &Part,
        dropout: &Dropout,
        decoder: &DecoderPass,
        positions: &[Position],
        dropped: &mut [f32],
        logits: &mut [f32],
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
        dropped.copy_from_slice(&readout);
        drop_positions(positions, dropped, dropout.mask(Place::Readout), e, e);
        weights.output.apply(logits, vocabulary, dropped, Into::Row(weights.get("output.bias")));
        Self { input, readout }
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
