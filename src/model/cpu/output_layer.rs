//! Readout and output layer over a batch's target tokens, forward and backward; equations in `reference/output_layer.rs`.
//!
//! Runs after the decoder loops of all shards, so that the threads share the rows of the whole batch: forward and
//! backward to the readout's inputs block by block, then one product for the gradient of E_out.

use std::borrow::Cow;

use candle_core::Result;
use rayon::prelude::*;

use super::decoder_loop::DecoderOutput;
use super::lexical_bias::LexicalBias;
use super::mixture_output::{MixtureOutput, TokenScore, mixture_rows};
use super::readout::{readout_of_tokens, state_sums, tanh_in_place, token_inputs, token_sums};
use super::shard::{Shard, TargetPosition, apply_output_dropout};
use super::weights::PackedModel;
use crate::attention::cpu::ForwardTape;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::cross_entropy::{Objective, cross_entropy_forward, cross_entropy_forward_backward};
use crate::kernels::matrix::{MatrixView, WriteMode, add_row_sums, bias_gradient, weight_gradient};
use crate::kernels::simd::add_scaled;
use crate::model::{BatchLoss, Dropout, DropoutSite, ForcedScores};
use crate::parameters::Gradients;

/// Maximum rows per block.
const ROWS: usize = 64;
/// Blocks whose logits are in memory at a time, which bounds memory for long sentences.
const BLOCKS: usize = 16;

/// Derivatives of the output layer for one shard.
pub struct OutputGrads {
    /// With respect to the state after each step: `[steps × rows, n]`
    pub d_states: Buffer,
    /// With respect to the contexts: `[steps × rows, n]`
    pub d_contexts: Buffer,
    /// With respect to the embeddings of the previous words: `[steps × rows, e]`
    pub d_embedded: Buffer,
    /// With respect to α, mean over the heads, if the output depends on it: `[steps × rows, longest source]`
    pub d_alphas: Option<Buffer>,
    /// With respect to the annotations under exact hard attention: `[cells, n]`
    pub d_annotations: Option<Buffer>,
}

/// Results of a batch for the backward pass of the decoder loops and the gradient of the readout.
pub struct OutputPass {
    /// Shard by shard, step by step.
    blocks: Vec<BlockPass>,
    /// Of each shard under exact hard attention; otherwise empty.
    tokens: Vec<TokenPass>,
}

/// Source tokens of one shard under exact hard attention.
struct TokenPass {
    /// [0 ; 0 ; h]: `[cells, n + e + n]`
    input: Buffer,
    /// With respect to W_r input: `[cells, e]`
    d_sum: Buffer,
}

/// Some target tokens of one shard.
struct Block<'a> {
    shard: usize,
    positions: &'a [TargetPosition],
    targets: &'a [u32],
    /// Position of each row: `positions`, or under exact hard attention each one once per source token.
    rows: Cow<'a, [TargetPosition]>,
}

struct BlockPass {
    shard: usize,
    loss: BatchLoss,
    /// [s ; E_y ; c], or under exact hard attention [s ; E_y ; 0]: `[positions, n + e + n]`, after dropout of the states
    input: Buffer,
    /// With respect to `input`
    d_input: Buffer,
    /// With respect to W_r input + b_r: `[positions, e]`
    d_sum: Buffer,
    /// Under exact hard attention, with respect to that of each source token: `[rows, e]`
    d_token_sum: Option<Buffer>,
    /// With respect to b: `[V]`
    d_bias: Buffer,
    /// With respect to α, if the output depends on it: `[positions, longest source]`
    d_alphas: Option<Buffer>,
}

/// Forward pass over some positions.
struct OutputRows {
    input: Buffer,
    /// r: `[rows, e]`, before dropout
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
        let split = |number: usize| Block::split(weights, (number, &shards[number]), &targets[number]);
        let blocks: Vec<Block> = (0..shards.len()).flat_map(split).collect();
        let of_tokens: Vec<Option<Buffer>> =
            outputs.par_iter().map(|output| exact_token_sums(weights, *output)).collect();
        let mut passes: Vec<BlockPass> = Vec::with_capacity(blocks.len());
        for blocks in blocks.chunks(BLOCKS) {
            let rows: usize = blocks.iter().map(|block| block.rows.len()).sum();
            let (mut dropped, mut logits) = (Buffer::scratch(rows * e), Buffer::scratch(rows * vocabulary));
            let slices =
                split_rows(&mut dropped, blocks, e).into_par_iter().zip(split_rows(&mut logits, blocks, vocabulary));
            let mode = if passes.is_empty() { WriteMode::Overwrite } else { WriteMode::Accumulate };
            passes.par_extend(blocks.par_iter().zip(slices).map(|(block, (dropped, logits))| {
                let (shard, decoder) = (&shards[block.shard], outputs[block.shard]);
                let of_tokens = of_tokens[block.shard].as_deref();
                let rows = OutputRows::forward(weights, dropout, (decoder, of_tokens), block, [dropped, logits]);
                let (loss, d_alphas) = block.loss(weights, shard, decoder, logits, objective);
                BlockPass { d_alphas, ..BlockPass::backward(rows, logits, weights, dropout, block, loss) }
            }));
            let factors = [(MatrixView::new(&logits, rows, vocabulary), MatrixView::new(&dropped, rows, e))];
            gradients.with_slice_mut(sizes.output_weight(), |out| {
                weight_gradient(out, e, &factors, weights.precision, mode)
            })?;
        }
        let mut loss = BatchLoss::default();
        passes.iter().for_each(|pass| loss += pass.loss);
        let of_shard = |number: usize| passes.iter().filter(move |block| block.shard == number);
        let tokens = (0..shards.len()).filter(|_| weights.architecture.attention.is_exact());
        let tokens =
            tokens.map(|number| TokenPass::new(weights, &shards[number], outputs[number], of_shard(number))).collect();
        let pass = Self { blocks: passes, tokens };
        pass.gradients(weights, gradients)?;
        Ok((loss, pass))
    }

    /// Writes the gradients except that of E_out, which is complete.
    fn gradients(&self, weights: &PackedModel, gradients: &mut Gradients) -> Result<()> {
        let sizes = weights.architecture;
        let (e, width) = (sizes.embedding_size, sizes.embedding_size + 2 * sizes.hidden_size);
        let all = |of: fn(&BlockPass) -> &[f32]| -> Vec<&[f32]> { self.blocks.iter().map(of).collect() };
        let (d_sums, inputs) = (all(|block| &block.d_sum), all(|block| &block.input));
        let of_tokens = self.tokens.iter().map(|tokens| (&*tokens.d_sum, &*tokens.input));
        let factors: Vec<_> = d_sums
            .iter()
            .copied()
            .zip(inputs)
            .chain(of_tokens)
            .map(|(d_sum, input)| (MatrixView::rows_of(d_sum, e), MatrixView::rows_of(input, width)))
            .collect();
        gradients.with_slice_mut("readout.weight", |out| {
            weight_gradient(out, width, &factors, weights.precision, WriteMode::Overwrite)
        })?;
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
        let is_exact = weights.architecture.attention.is_exact();
        let d_alphas = (is_exact || weights.lexicon.is_some()).then(|| zeros(longest));
        let d_annotations = is_exact.then(|| self.tokens[number].d_annotations(weights));
        let mut grads =
            OutputGrads { d_states: zeros(n), d_contexts: zeros(n), d_embedded: zeros(e), d_alphas, d_annotations };
        let blocks = self.blocks.iter().filter(|block| block.shard == number);
        let mut rows = blocks.clone().flat_map(|block| block.d_input.chunks_exact(n + e + n));
        for position in &shard.positions {
            let cell = position.step * shard.size() + position.row;
            let Some(row) = rows.next() else { break };
            add_scaled(&mut grads.d_states[cell * n..][..n], 1.0, &row[..n]);
            add_scaled(&mut grads.d_embedded[cell * e..][..e], 1.0, &row[n..n + e]);
            if !is_exact {
                add_scaled(&mut grads.d_contexts[cell * n..][..n], 1.0, &row[n + e..]);
            }
        }
        if let Some(d_alphas) = &mut grads.d_alphas {
            let rows = blocks.filter_map(|block| block.d_alphas.as_ref()).flat_map(|rows| rows.chunks_exact(longest));
            for (row, position) in rows.zip(&shard.positions) {
                d_alphas[(position.step * shard.size() + position.row) * longest..][..longest].copy_from_slice(row);
            }
        }
        grads
    }

    /// Returns the scores of each of a shard's pairs without α, and without posteriors except under exact hard attention.
    pub fn score(weights: &PackedModel, shard: &Shard, decoder: DecoderOutput, smoothing: f32) -> Vec<ForcedScores> {
        let mut pairs: Vec<ForcedScores> = (0..shard.size()).map(|_| ForcedScores::default()).collect();
        let (e, vocabulary) = (weights.architecture.embedding_size, weights.architecture.target_vocabulary);
        let targets = shard.targets();
        let of_tokens = exact_token_sums(weights, decoder);
        for block in Block::split(weights, (0, shard), &targets) {
            let mut readout = Buffer::scratch(block.rows.len() * e);
            let mut logits = Buffer::scratch(block.rows.len() * vocabulary);
            let into = [&mut *readout, &mut *logits];
            OutputRows::forward(weights, &Dropout::none(), (decoder, of_tokens.as_deref()), &block, into);
            let Block { positions, targets, .. } = block;
            let scores = if weights.architecture.attention.is_exact() {
                MixtureOutput::new(weights, shard, decoder).score(positions, targets, &mut logits, smoothing)
            } else {
                if let Some(mut lexical) = ShardLexicalBias::new(weights, shard, decoder.tape) {
                    lexical.forward(positions, &mut logits);
                }
                let scores = cross_entropy_forward(&logits, targets, smoothing);
                let score = |(smoothed, log_probability)| TokenScore { smoothed, log_probability, posterior: None };
                scores.into_iter().map(score).collect()
            };
            for (position, TokenScore { smoothed, log_probability, posterior }) in positions.iter().zip(scores) {
                let pair = &mut pairs[position.row];
                pair.smoothed += smoothed;
                pair.log_probabilities.push(log_probability);
                pair.posteriors.extend(posterior);
            }
        }
        pairs
    }
}

impl<'a> Block<'a> {
    /// Splits the positions of the shard of index `number` into blocks of about equal size.
    fn split(weights: &PackedModel, (number, shard): (usize, &'a Shard<'a>), targets: &'a [u32]) -> Vec<Self> {
        let is_exact = weights.architecture.attention.is_exact();
        let positions = &shard.positions[..];
        let most = if is_exact { ROWS.div_ceil(shard.source.steps().max(1)) } else { ROWS };
        let size = positions.len().div_ceil(positions.len().div_ceil(most).max(1)).max(1);
        let block = |(positions, targets): (&'a [TargetPosition], &'a [u32])| {
            let rows = if is_exact { Cow::Owned(mixture_rows(shard, positions)) } else { Cow::Borrowed(positions) };
            Self { shard: number, positions, targets, rows }
        };
        positions.chunks(size).zip(targets.chunks(size)).map(block).collect()
    }

    /// Sums rows, `[rows, e]`, over the source tokens of each position: `[positions, e]`.
    fn sums_of_positions(&self, rows: &[f32], e: usize) -> Buffer {
        let mut sums = Buffer::zeros(self.positions.len() * e);
        let mut index = 0;
        for (position, row) in self.rows.iter().zip(rows.chunks_exact(e)) {
            if position.index != self.positions[index].index {
                index += 1;
            }
            add_scaled(&mut sums[index * e..][..e], 1.0, row);
        }
        sums
    }

    /// Returns the loss, and the derivatives with respect to α if the output depends on it, `[positions, longest source]`.
    /// Replaces the logits, `[rows, V]`, by the derivatives with respect to them.
    fn loss(
        &self,
        weights: &PackedModel,
        shard: &Shard,
        decoder: DecoderOutput,
        logits: &mut [f32],
        objective: Objective,
    ) -> (BatchLoss, Option<Buffer>) {
        let Self { positions, targets, .. } = self;
        let ((smoothed, negative_log_likelihood), d_alphas) = if weights.architecture.attention.is_exact() {
            let mut d_alphas = Buffer::zeros(positions.len() * shard.source.steps());
            let mut mixture = MixtureOutput::new(weights, shard, decoder);
            (mixture.forward_backward(positions, targets, logits, objective, &mut d_alphas), Some(d_alphas))
        } else {
            let mut lexical = ShardLexicalBias::new(weights, shard, decoder.tape);
            lexical.iter_mut().for_each(|lexical| lexical.forward(positions, logits));
            let Objective { smoothing, scale } = objective;
            let losses = cross_entropy_forward_backward(logits, targets, smoothing, scale);
            (losses, lexical.map(|mut lexical| lexical.backward(positions, logits)))
        };
        let tokens = positions.len();
        (BatchLoss { smoothed, negative_log_likelihood, guidance: 0.0, tokens }, d_alphas)
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
        let mut d_row_sum = Buffer::scratch(rows.readout.len());
        weights.output().backward(&mut d_row_sum, d_logits, WriteMode::Overwrite);
        apply_output_dropout(&block.rows, &mut d_row_sum, dropout.mask(DropoutSite::Readout), e, e);
        d_row_sum.iter_mut().zip(&*rows.readout).for_each(|(d_sum, value)| *d_sum *= 1.0 - value * value);
        let (d_sum, d_token_sum) = if weights.architecture.attention.is_exact() {
            (block.sums_of_positions(&d_row_sum, e), Some(d_row_sum))
        } else {
            (d_row_sum, None)
        };
        let mut d_input = Buffer::scratch(rows.input.len());
        weights.readout.backward(&mut d_input, &d_sum, WriteMode::Overwrite);
        apply_output_dropout(block.positions, &mut d_input, dropout.mask(DropoutSite::States), n, n + e + n);
        Self { shard: block.shard, loss, input: rows.input, d_input, d_sum, d_token_sum, d_bias, d_alphas: None }
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
        let (rows, rest) = values.split_at_mut(block.rows.len() * width);
        split.push(rows);
        values = rest;
    }
    split
}

impl TokenPass {
    /// Sums the derivatives over the target positions.
    fn new<'b>(
        weights: &PackedModel,
        shard: &Shard,
        decoder: DecoderOutput,
        blocks: impl Iterator<Item = &'b BlockPass>,
    ) -> Self {
        let e = weights.architecture.embedding_size;
        let input = token_inputs(weights, decoder.memory.annotations());
        let mut d_sum = Buffer::zeros(shard.source.cells() * e);
        let mut rows = blocks.filter_map(|block| block.d_token_sum.as_ref()).flat_map(|rows| rows.chunks_exact(e));
        for position in &shard.positions {
            for (cell, row) in shard.source.row(position.row).zip(&mut rows) {
                add_scaled(&mut d_sum[cell * e..][..e], 1.0, row);
            }
        }
        Self { input, d_sum }
    }

    /// With respect to the annotations: `[cells, n]`.
    fn d_annotations(&self, weights: &PackedModel) -> Buffer {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let mut d_input = Buffer::scratch(self.input.len());
        weights.readout.backward(&mut d_input, &self.d_sum, WriteMode::Overwrite);
        let mut d_annotations = Buffer::scratch(d_input.len() / (n + e + n) * n);
        for (to, from) in d_annotations.chunks_exact_mut(n).zip(d_input.chunks_exact(n + e + n)) {
            to.copy_from_slice(&from[n + e..]);
        }
        d_annotations
    }
}

/// W_r [0 ; 0 ; h] of all annotations under exact hard attention: `[cells, e]`.
fn exact_token_sums(weights: &PackedModel, decoder: DecoderOutput) -> Option<Buffer> {
    let is_exact = weights.architecture.attention.is_exact();
    is_exact.then(|| token_sums(weights, decoder.memory.annotations()))
}

impl OutputRows {
    /// Forward pass over a block; writes the readout after dropout, `[rows, e]`, and the logits, `[rows, V]`. `of_tokens` are those
    /// of [`exact_token_sums`].
    fn forward(
        weights: &PackedModel,
        dropout: &Dropout,
        (decoder, of_tokens): (DecoderOutput, Option<&[f32]>),
        Block { positions, rows, .. }: &Block,
        [dropped, logits]: [&mut [f32]; 2],
    ) -> Self {
        let sizes = weights.architecture;
        let (e, n, vocabulary) = (sizes.embedding_size, sizes.hidden_size, sizes.target_vocabulary);
        let width = n + e + n;
        let mut input = Buffer::scratch(positions.len() * width);
        for (input, position) in input.chunks_exact_mut(width).zip(*positions) {
            decoder.steps.readout_input(position.step, position.row, input);
            if of_tokens.is_some() {
                input[n + e..].fill(0.0);
            }
        }
        apply_output_dropout(positions, &mut input, dropout.mask(DropoutSite::States), n, width);
        let mut readout = state_sums(weights, &input);
        match of_tokens {
            Some(of_tokens) => {
                let of_states = readout;
                readout = Buffer::scratch(rows.len() * e);
                let mut rest = &mut readout[..];
                for (of_state, position) in of_states.chunks_exact(e).zip(*positions) {
                    let cells = decoder.memory.cells(position.row);
                    let (own, others) = rest.split_at_mut(cells.len() * e);
                    readout_of_tokens(of_state, &of_tokens[cells.start * e..], own);
                    rest = others;
                }
            }
            None => tanh_in_place(&mut readout),
        }
        dropped.copy_from_slice(&readout);
        apply_output_dropout(rows, dropped, dropout.mask(DropoutSite::Readout), e, e);
        weights.output().forward(logits, vocabulary, dropped, WriteMode::AddBias(weights.get("output.bias")));
        Self { input, readout }
    }
}
