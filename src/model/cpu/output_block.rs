//! Readout and output layer over some target tokens of a shard, forward and backward; equations in
//! `reference/output_layer.rs`.

use std::borrow::Cow;

use super::decoder_loop::DecoderOutput;
use super::lexical_bias::ShardLexicalBias;
use super::mixture_output::{MixtureOutput, TokenScore, mixture_rows};
use super::readout::{readout_of_tokens, state_sums, tanh_in_place, token_sums};
use super::shard::{Shard, TargetPosition, apply_output_dropout};
use super::weights::PackedModel;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::cross_entropy::{Objective, RowLoss, cross_entropy_forward, cross_entropy_forward_backward};
use crate::kernels::matrix::{WriteMode, add_row_sums};
use crate::kernels::simd::add_scaled;
use crate::model::{BatchLoss, Dropout, DropoutSite};

/// Maximum rows per block.
const ROWS: usize = 64;

/// Forward and backward pass of a batch through the output layer.
#[derive(Clone, Copy)]
pub struct OutputStep<'a> {
    /// Parameters.
    pub weights: &'a PackedModel<'a>,
    /// Dropout of states and readout.
    pub dropout: &'a Dropout,
    /// Loss.
    pub objective: Objective,
}

/// Shard whose decoder has run.
pub struct ShardOutput<'a> {
    /// Shard.
    pub shard: &'a Shard<'a>,
    /// Inputs of the output layer.
    pub decoder: DecoderOutput<'a>,
    /// W_r [0 ; 0 ; h] of all annotations under exact hard attention: `[source positions, e]`
    of_tokens: Option<Buffer>,
}

impl<'a> ShardOutput<'a> {
    /// Computes the annotations' share of the readout under exact hard attention.
    pub fn new(weights: &PackedModel, shard: &'a Shard<'a>, decoder: DecoderOutput<'a>) -> Self {
        let is_exact = weights.architecture.attention.is_exact();
        let of_tokens = is_exact.then(|| token_sums(weights, decoder.memory.annotations()));
        Self { shard, decoder, of_tokens }
    }
}

/// Some target tokens of one shard.
pub struct Block<'a> {
    /// Index of the shard.
    pub shard: usize,
    /// Positions of the tokens.
    pub positions: &'a [TargetPosition],
    targets: &'a [u32],
    /// Position of each row: `positions`, or under exact hard attention each one once per source token.
    rows: Cow<'a, [TargetPosition]>,
}

/// Loss of a block.
struct BlockLoss {
    loss: BatchLoss,
    /// With respect to α, if the output depends on it: `[positions, longest source]`
    d_alphas: Option<Buffer>,
}

impl<'a> Block<'a> {
    /// Splits the positions of the shard of index `number` into blocks of about equal size.
    pub fn split(weights: &PackedModel, number: usize, shard: &'a Shard<'a>, targets: &'a [u32]) -> Vec<Self> {
        let is_exact = weights.architecture.attention.is_exact();
        let positions = &shard.positions[..];
        let most = if is_exact { ROWS.div_ceil(shard.source.steps().max(1)) } else { ROWS };
        let size = positions.len().div_ceil(positions.len().div_ceil(most).max(1)).max(1);
        let mut blocks = Vec::new();
        for (positions, targets) in positions.chunks(size).zip(targets.chunks(size)) {
            let rows = if is_exact { Cow::Owned(mixture_rows(shard, positions)) } else { Cow::Borrowed(positions) };
            blocks.push(Self { shard: number, positions, targets, rows });
        }
        blocks
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the score of each target token without dropout.
    pub fn score(&self, weights: &PackedModel, output: &ShardOutput, smoothing: f32) -> Vec<TokenScore> {
        let mut readout = Buffer::scratch(self.rows.len() * weights.architecture.embedding_size);
        let mut logits = Buffer::scratch(self.rows.len() * weights.architecture.target_vocabulary);
        OutputRows::forward(weights, &Dropout::none(), output, self, [&mut *readout, &mut *logits]);
        let ShardOutput { shard, decoder, .. } = *output;
        if weights.architecture.attention.is_exact() {
            let mut mixture = MixtureOutput::new(weights, shard, decoder);
            return mixture.score(self.positions, self.targets, &mut logits, smoothing);
        }
        if let Some(mut lexical) = ShardLexicalBias::new(weights, shard, decoder.tape) {
            lexical.forward(self.positions, &mut logits);
        }
        let mut scores = Vec::with_capacity(self.targets.len());
        for RowLoss { smoothed, negative_log_likelihood } in cross_entropy_forward(&logits, self.targets, smoothing) {
            scores.push(TokenScore { smoothed, log_probability: -negative_log_likelihood, posterior: None });
        }
        scores
    }

    /// Returns the loss. Replaces the logits, `[rows, V]`, by the derivatives with respect to them.
    fn loss(&self, step: OutputStep, output: &ShardOutput, logits: &mut [f32]) -> BlockLoss {
        let Self { positions, targets, .. } = self;
        let OutputStep { weights, objective, .. } = step;
        let ShardOutput { shard, decoder, .. } = *output;
        if weights.architecture.attention.is_exact() {
            let mut d_alphas = Buffer::zeros(positions.len() * shard.source.steps());
            let mut mixture = MixtureOutput::new(weights, shard, decoder);
            let loss = mixture.forward_backward(positions, targets, logits, objective, &mut d_alphas);
            return BlockLoss { loss, d_alphas: Some(d_alphas) };
        }
        let mut lexical = ShardLexicalBias::new(weights, shard, decoder.tape);
        lexical.iter_mut().for_each(|lexical| lexical.forward(positions, logits));
        let Objective { smoothing, scale } = objective;
        let RowLoss { smoothed, negative_log_likelihood } =
            cross_entropy_forward_backward(logits, targets, smoothing, scale);
        let loss = BatchLoss { smoothed, negative_log_likelihood, guidance: 0.0, tokens: positions.len() };
        BlockLoss { loss, d_alphas: lexical.map(|mut lexical| lexical.backward(positions, logits)) }
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
}

/// Results of a block for the backward pass of the decoder loop and the gradient of the readout.
pub struct BlockPass {
    /// Index of the shard.
    pub shard: usize,
    /// Loss.
    pub loss: BatchLoss,
    /// [s ; E_y ; c], or under exact hard attention [s ; E_y ; 0]: `[positions, n + e + n]`, after dropout of the states
    pub input: Buffer,
    /// With respect to `input`
    pub d_input: Buffer,
    /// With respect to W_r input + b_r: `[positions, e]`
    pub d_sum: Buffer,
    /// Under exact hard attention, with respect to that of each source token: `[rows, e]`
    pub d_token_sum: Option<Buffer>,
    /// With respect to b: `[V]`
    pub d_bias: Buffer,
    /// With respect to α, if the output depends on it: `[positions, longest source]`
    pub d_alphas: Option<Buffer>,
}

impl BlockPass {
    /// Forward and backward pass of a block. Writes the readout after dropout, `[rows, e]`, and the derivatives with respect
    /// to the logits, `[rows, V]`.
    pub fn new(step: OutputStep, output: &ShardOutput, block: &Block, [dropped, logits]: [&mut [f32]; 2]) -> Self {
        let OutputStep { weights, dropout, .. } = step;
        let sizes = weights.architecture;
        let (e, n) = (sizes.embedding_size, sizes.hidden_size);
        let rows = OutputRows::forward(weights, dropout, output, block, [&mut *dropped, &mut *logits]);
        let BlockLoss { loss, d_alphas } = block.loss(step, output, logits);
        // Now with respect to the logits: [rows, V]
        let d_logits = logits;
        let mut d_bias = Buffer::zeros(sizes.target_vocabulary);
        add_row_sums(&mut d_bias, d_logits);
        // [rows, e]
        let d_row_sum = rows.backward(weights, dropout, block, d_logits);
        // [positions, e], and [rows, e] under exact hard attention
        let (d_sum, d_token_sum) = if sizes.attention.is_exact() {
            (block.sums_of_positions(&d_row_sum, e), Some(d_row_sum))
        } else {
            (d_row_sum, None)
        };
        // [positions, n + e + n]
        let mut d_input = Buffer::scratch(rows.input.len());
        weights.readout.backward(&mut d_input, &d_sum, WriteMode::Overwrite);
        apply_output_dropout(block.positions, &mut d_input, dropout.mask(DropoutSite::States), n, n + e + n);
        Self { shard: block.shard, loss, input: rows.input, d_input, d_sum, d_token_sum, d_bias, d_alphas }
    }
}

/// Forward pass over the rows of a block.
struct OutputRows {
    /// [s ; E_y ; c]: `[positions, n + e + n]`; see [`BlockPass`]
    input: Buffer,
    /// r: `[rows, e]`, before dropout
    readout: Buffer,
}

impl OutputRows {
    /// Forward pass; writes the readout after dropout, `[rows, e]`, and the logits, `[rows, V]`.
    fn forward(
        weights: &PackedModel,
        dropout: &Dropout,
        output: &ShardOutput,
        Block { positions, rows, .. }: &Block,
        [dropped, logits]: [&mut [f32]; 2],
    ) -> Self {
        let sizes = weights.architecture;
        let (e, n, vocabulary) = (sizes.embedding_size, sizes.hidden_size, sizes.target_vocabulary);
        let width = n + e + n;
        let ShardOutput { decoder, of_tokens, .. } = output;
        let mut input = Buffer::scratch(positions.len() * width);
        for (input, position) in input.chunks_exact_mut(width).zip(*positions) {
            decoder.steps.readout_input(position.step, position.row, input);
            if of_tokens.is_some() {
                input[n + e..].fill(0.0);
            }
        }
        apply_output_dropout(positions, &mut input, dropout.mask(DropoutSite::States), n, width);
        // [positions, e]
        let mut readout = state_sums(weights, &input);
        match of_tokens {
            Some(of_tokens) => {
                let of_states = readout;
                // [rows, e]
                readout = Buffer::scratch(rows.len() * e);
                let mut rest = &mut readout[..];
                for (of_state, position) in of_states.chunks_exact(e).zip(*positions) {
                    let tokens = decoder.memory.cells(position.row);
                    let (own, others) = rest.split_at_mut(tokens.len() * e);
                    readout_of_tokens(of_state, &of_tokens[tokens.start * e..], own);
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

    /// Returns the derivatives with respect to the readout's sums, `[rows, e]`, given those with respect to the logits.
    fn backward(&self, weights: &PackedModel, dropout: &Dropout, block: &Block, d_logits: &[f32]) -> Buffer {
        let e = weights.architecture.embedding_size;
        let mut d_row_sum = Buffer::scratch(self.readout.len());
        weights.output().backward(&mut d_row_sum, d_logits, WriteMode::Overwrite);
        apply_output_dropout(&block.rows, &mut d_row_sum, dropout.mask(DropoutSite::Readout), e, e);
        d_row_sum.iter_mut().zip(&*self.readout).for_each(|(d_sum, value)| *d_sum *= 1.0 - value * value);
        d_row_sum
    }
}
