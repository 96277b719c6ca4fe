//! Readout and output layer over a batch's target units, forward and backward; equations in `reference/output_layer.rs`.
//!
//! Runs after the decoder loops of all shards, so that the threads share the rows of the whole batch: forward and
//! backward to the readout's inputs block by block, then one product for the gradient of E_out.

use candle_core::Result;
use rayon::prelude::*;

use super::decoder_loop::DecoderLoop;
use super::lexical_bias::LexicalBias;
use super::shard::{Shard, TargetPosition, apply_output_dropout};
use super::weights::PackedModel;
use crate::attention::cpu::ForwardTape;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::cross_entropy::{cross_entropy_forward, cross_entropy_forward_backward};
use crate::kernels::matrix::{MatrixView, WriteMode, add_row_sums, bias_gradient, weight_gradient};
use crate::kernels::simd::{tanh, vectorized};
use crate::model::{BatchLoss, Dropout, DropoutSite};
use crate::parameters::Gradients;

/// Maximum rows per block.
const ROWS: usize = 64;
/// Blocks whose logits are in memory at a time, which bounds memory for long sentences.
const BLOCKS: usize = 16;

/// Training objective.
#[derive(Clone, Copy)]
pub struct Objective {
    /// ε of label smoothing.
    pub smoothing: f32,
    /// Factor on the derivatives.
    pub scale: f32,
}

/// Inputs of the output layer from one shard's decoder.
#[derive(Clone, Copy)]
pub struct DecoderOutput<'a> {
    /// States of all steps.
    pub steps: &'a DecoderLoop<'a>,
    /// Attention of all steps.
    pub tape: &'a ForwardTape,
}

/// Derivatives of the output layer for one shard.
pub struct OutputGrads {
    /// With respect to the state after each step: `[steps × rows, n]`
    pub d_states: Buffer,
    /// With respect to the contexts: `[steps × rows, n]`
    pub d_contexts: Buffer,
    /// With respect to the embeddings of the previous words: `[steps × rows, e]`
    pub d_embedded: Buffer,
    /// With respect to α, mean over the heads, if there is a lexicon: `[steps × rows, longest source]`
    pub d_alphas: Option<Buffer>,
}

/// Results of a batch for the backward pass of the decoder loops and the gradient of the readout.
pub struct OutputPass {
    /// Shard by shard, step by step.
    blocks: Vec<BlockPass>,
}

/// Some target units of one shard.
struct Block<'a> {
    shard: usize,
    positions: &'a [TargetPosition],
    targets: &'a [u32],
}

struct BlockPass {
    shard: usize,
    loss: BatchLoss,
    /// [s ; E_y ; c]: `[positions, n + e + n]`, after dropout of the states
    input: Buffer,
    /// With respect to `input`
    d_input: Buffer,
    /// With respect to W_r input + b_r: `[positions, e]`
    d_sum: Buffer,
    /// With respect to b: `[V]`
    d_bias: Buffer,
    /// With respect to α, if there is a lexicon: `[positions, longest source]`
    d_alphas: Option<Buffer>,
}

/// Forward pass over some positions.
struct OutputRows {
    input: Buffer,
    /// tanh(W_r input + b_r): `[positions, e]`, before dropout
    readout: Buffer,
}

impl OutputPass {
    /// Loss of all shards and its derivatives. Overwrites the gradients of readout and output layer.
    pub fn forward_backward(
        weights: &PackedModel,
        shards: &[Shard],
        outputs: &[DecoderOutput],
        dropout: &Dropout,
        objective: Objective,
        gradients: &mut Gradients,
    ) -> Result<(BatchLoss, Self)> {
        let sizes = weights.architecture;
        let (e, vocabulary) = (sizes.embedding_size, sizes.target_vocabulary);
        let targets: Vec<Vec<u32>> = shards.iter().map(Shard::targets).collect();
        let split = |number: usize| Block::split(number, &shards[number].positions, &targets[number]);
        let blocks: Vec<Block> = (0..shards.len()).flat_map(split).collect();
        let mut passes: Vec<BlockPass> = Vec::with_capacity(blocks.len());
        for blocks in blocks.chunks(BLOCKS) {
            let rows: usize = blocks.iter().map(|block| block.positions.len()).sum();
            let (mut dropped, mut logits) = (Buffer::scratch(rows * e), Buffer::scratch(rows * vocabulary));
            let slices =
                split_rows(&mut dropped, blocks, e).into_par_iter().zip(split_rows(&mut logits, blocks, vocabulary));
            let mode = if passes.is_empty() { WriteMode::Overwrite } else { WriteMode::Accumulate };
            passes.par_extend(blocks.par_iter().zip(slices).map(|(block, (dropped, logits))| {
                let decoder = outputs[block.shard];
                let rows = OutputRows::forward(weights, dropout, decoder.steps, block.positions, [dropped, logits]);
                let mut lexical = ShardLexicalBias::new(weights, &shards[block.shard], decoder.tape);
                lexical.iter_mut().for_each(|lexical| lexical.forward(block.positions, logits));
                let Objective { smoothing, scale } = objective;
                let (smoothed, likelihood) = cross_entropy_forward_backward(logits, block.targets, smoothing, scale);
                let d_alphas = lexical.map(|mut lexical| lexical.backward(block.positions, logits));
                let units = block.positions.len();
                let loss = BatchLoss { smoothed, negative_log_likelihood: likelihood, guidance: 0.0, units };
                BlockPass { d_alphas, ..BlockPass::backward(rows, logits, weights, dropout, block, loss) }
            }));
            let factors = [(MatrixView::new(&logits, rows, vocabulary), MatrixView::new(&dropped, rows, e))];
            gradients.with_slice_mut(sizes.output_weight(), |out| weight_gradient(out, e, &factors, mode))?;
        }
        let mut loss = BatchLoss::default();
        passes.iter().for_each(|pass| loss += pass.loss);
        let pass = Self { blocks: passes };
        pass.gradients(weights, gradients)?;
        Ok((loss, pass))
    }

    /// Writes the gradients except that of E_out, which is complete.
    fn gradients(&self, weights: &PackedModel, gradients: &mut Gradients) -> Result<()> {
        let sizes = weights.architecture;
        let (e, width) = (sizes.embedding_size, sizes.embedding_size + 2 * sizes.hidden_size);
        let all = |of: fn(&BlockPass) -> &[f32]| -> Vec<&[f32]> { self.blocks.iter().map(of).collect() };
        let (d_sums, inputs) = (all(|block| &block.d_sum), all(|block| &block.input));
        let factors: Vec<_> = d_sums
            .iter()
            .zip(inputs)
            .map(|(d_sum, input)| (MatrixView::rows_of(d_sum, e), MatrixView::rows_of(input, width)))
            .collect();
        gradients
            .with_slice_mut("readout.weight", |out| weight_gradient(out, width, &factors, WriteMode::Overwrite))?;
        gradients.with_slice_mut("readout.bias", |out| bias_gradient(out, &d_sums))?;
        gradients.with_slice_mut("output.bias", |out| bias_gradient(out, &all(|block| &block.d_bias)))?;
        if sizes.tied_output { Ok(()) } else { gradients.zero("target_embedding.weight") }
    }

    /// Returns the derivatives for the shard of index `number`.
    pub fn shard_grads(&self, weights: &PackedModel, shard: &Shard, number: usize) -> OutputGrads {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let cells = shard.target_length * shard.size();
        let zeros = |width: usize| Buffer::zeros(cells * width);
        let longest = shard.source.steps();
        let d_alphas = weights.lexicon.map(|_| zeros(longest));
        let mut grads = OutputGrads { d_states: zeros(n), d_contexts: zeros(n), d_embedded: zeros(e), d_alphas };
        let blocks = self.blocks.iter().filter(|block| block.shard == number);
        let rows = blocks.clone().flat_map(|block| block.d_input.chunks_exact(n + e + n));
        for (row, position) in rows.zip(&shard.positions) {
            let cell = position.step * shard.size() + position.row;
            grads.d_states[cell * n..][..n].copy_from_slice(&row[..n]);
            grads.d_embedded[cell * e..][..e].copy_from_slice(&row[n..n + e]);
            grads.d_contexts[cell * n..][..n].copy_from_slice(&row[n + e..]);
        }
        if let Some(d_alphas) = &mut grads.d_alphas {
            let rows = blocks.filter_map(|block| block.d_alphas.as_ref()).flat_map(|rows| rows.chunks_exact(longest));
            for (row, position) in rows.zip(&shard.positions) {
                d_alphas[(position.step * shard.size() + position.row) * longest..][..longest].copy_from_slice(row);
            }
        }
        grads
    }

    /// Returns the smoothed loss of each of a shard's pairs and the log-probabilities of its units.
    pub fn score(weights: &PackedModel, shard: &Shard, decoder: DecoderOutput, smoothing: f32) -> Vec<(f64, Vec<f64>)> {
        let mut pairs = vec![(0.0, Vec::new()); shard.size()];
        let (e, vocabulary) = (weights.architecture.embedding_size, weights.architecture.target_vocabulary);
        let targets = shard.targets();
        for (positions, targets) in shard.positions.chunks(ROWS).zip(targets.chunks(ROWS)) {
            let mut readout = Buffer::scratch(positions.len() * e);
            let mut logits = Buffer::scratch(positions.len() * vocabulary);
            OutputRows::forward(weights, &Dropout::none(), decoder.steps, positions, [&mut readout, &mut logits]);
            if let Some(mut lexical) = ShardLexicalBias::new(weights, shard, decoder.tape) {
                lexical.forward(positions, &mut logits);
            }
            let scores = cross_entropy_forward(&logits, targets, smoothing);
            for (position, (smoothed, log_probability)) in positions.iter().zip(scores) {
                let pair = &mut pairs[position.row];
                pair.0 += smoothed;
                pair.1.push(log_probability);
            }
        }
        pairs
    }
}

impl<'a> Block<'a> {
    /// Splits a shard's positions into blocks of about equal size.
    fn split(shard: usize, positions: &'a [TargetPosition], targets: &'a [u32]) -> Vec<Self> {
        let rows = positions.len().div_ceil(positions.len().div_ceil(ROWS).max(1)).max(1);
        let chunks = positions.chunks(rows).zip(targets.chunks(rows));
        chunks.map(|(positions, targets)| Self { shard, positions, targets }).collect()
    }
}

impl BlockPass {
    /// Backward pass, given the derivatives with respect to the logits.
    fn backward(
        rows: OutputRows,
        d_logits: &[f32],
        weights: &PackedModel,
        dropout: &Dropout,
        block: &Block,
        loss: BatchLoss,
    ) -> Self {
        let sizes = weights.architecture;
        let (e, n) = (sizes.embedding_size, sizes.hidden_size);
        let mut d_bias = Buffer::zeros(sizes.target_vocabulary);
        add_row_sums(&mut d_bias, d_logits);
        let mut d_sum = Buffer::scratch(rows.readout.len());
        weights.output.backward(&mut d_sum, d_logits, WriteMode::Overwrite);
        apply_output_dropout(block.positions, &mut d_sum, dropout.mask(DropoutSite::Readout), e, e);
        d_sum.iter_mut().zip(&*rows.readout).for_each(|(d_sum, value)| *d_sum *= 1.0 - value * value);
        let mut d_input = Buffer::scratch(rows.input.len());
        weights.readout.backward(&mut d_input, &d_sum, WriteMode::Overwrite);
        apply_output_dropout(block.positions, &mut d_input, dropout.mask(DropoutSite::States), n, n + e + n);
        Self { shard: block.shard, loss, input: rows.input, d_input, d_sum, d_bias, d_alphas: None }
    }
}

/// Lexical bias at the positions of a shard.
struct ShardLexicalBias<'a> {
    bias: LexicalBias<'a>,
    shard: &'a Shard<'a>,
    tape: &'a ForwardTape,
    /// α of the current position.
    alphas: Vec<f32>,
}

impl<'a> ShardLexicalBias<'a> {
    /// Returns `None` without a lexicon.
    fn new(weights: &PackedModel<'a>, shard: &'a Shard<'a>, tape: &'a ForwardTape) -> Option<Self> {
        let bias = LexicalBias::new(weights.lexicon?);
        Some(Self { bias, shard, tape, alphas: Vec::new() })
    }

    fn load_alphas(&mut self, position: TargetPosition) {
        self.alphas.resize(self.shard.source.length(position.row), 0.0);
        self.tape.mean_alphas(position.step, position.row, &mut self.alphas);
    }

    /// Adds the bias to logits `[positions, V]`.
    fn forward(&mut self, positions: &[TargetPosition], logits: &mut [f32]) {
        let vocabulary = logits.len() / positions.len().max(1);
        for (&position, logits) in positions.iter().zip(logits.chunks_exact_mut(vocabulary)) {
            self.load_alphas(position);
            self.bias.forward(logits, &self.alphas, self.shard.source_of(position.row));
        }
    }

    /// Returns the derivatives with respect to α: `[positions, longest source]`.
    fn backward(&mut self, positions: &[TargetPosition], d_logits: &[f32]) -> Buffer {
        let (vocabulary, longest) = (d_logits.len() / positions.len().max(1), self.shard.source.steps());
        let mut d_alphas = Buffer::zeros(positions.len() * longest);
        let rows = d_logits.chunks_exact(vocabulary).zip(d_alphas.chunks_exact_mut(longest));
        for (&position, (d_logits, d_alphas)) in positions.iter().zip(rows) {
            self.load_alphas(position);
            self.bias.backward(d_logits, &self.alphas, self.shard.source_of(position.row), d_alphas);
        }
        d_alphas
    }
}

/// Splits rows that are stored block by block into the blocks' slices.
fn split_rows<'v>(mut values: &'v mut [f32], blocks: &[Block], width: usize) -> Vec<&'v mut [f32]> {
    let mut split = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (rows, rest) = values.split_at_mut(block.positions.len() * width);
        split.push(rows);
        values = rest;
    }
    split
}

impl OutputRows {
    /// Forward pass; writes the readout after dropout, `[positions, e]`, and the logits, `[positions, V]`.
    fn forward(
        weights: &PackedModel,
        dropout: &Dropout,
        steps: &DecoderLoop,
        positions: &[TargetPosition],
        [dropped, logits]: [&mut [f32]; 2],
    ) -> Self {
        let sizes = weights.architecture;
        let (e, n, vocabulary) = (sizes.embedding_size, sizes.hidden_size, sizes.target_vocabulary);
        let width = n + e + n;
        let mut input = Buffer::scratch(positions.len() * width);
        for (input, position) in input.chunks_exact_mut(width).zip(positions) {
            steps.readout_input(position.step, position.row, input);
        }
        apply_output_dropout(positions, &mut input, dropout.mask(DropoutSite::States), n, width);
        let readout = readout(weights, &input);
        dropped.copy_from_slice(&readout);
        apply_output_dropout(positions, dropped, dropout.mask(DropoutSite::Readout), e, e);
        weights.output.forward(logits, vocabulary, dropped, WriteMode::AddBias(weights.get("output.bias")));
        Self { input, readout }
    }
}

/// r = tanh(W_r input + b_r) for rows [s ; E_y ; c].
pub fn readout(weights: &PackedModel, input: &[f32]) -> Buffer {
    let sizes = weights.architecture;
    let (e, width) = (sizes.embedding_size, sizes.embedding_size + 2 * sizes.hidden_size);
    let mut readout = Buffer::scratch(input.len() / width * e);
    weights.readout.forward(&mut readout, e, input, WriteMode::AddBias(weights.get("readout.bias")));
    vectorized(
        #[inline(always)]
        || readout.iter_mut().for_each(|value| *value = tanh(*value)),
    );
    readout
}
