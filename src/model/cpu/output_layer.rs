//! Readout and output layer over a batch's target tokens, forward and backward; equations in `reference/output_layer.rs`.
//!
//! Runs after the decoder loops of all shards, so that the threads share the rows of the whole batch: forward and
//! backward to the readout's inputs block by block, then one product for the gradient of E_out.

use candle_core::Result;
use rayon::prelude::*;

use super::decoder_loop::DecoderOutput;
use super::mixture_output::{TokenPass, TokenScore};
use super::output_block::{Block, BlockPass, OutputStep, ShardOutput};
use super::shard::Shard;
use super::weights::PackedModel;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::matrix::{MatrixView, WeightFactors, WriteMode, bias_gradient, weight_gradient};
use crate::kernels::simd::add_scaled;
use crate::model::{BatchLoss, ForcedScores};
use crate::parameters::Gradients;

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
    /// With respect to the annotations under exact hard attention: `[source positions, n]`
    pub d_annotations: Option<Buffer>,
}

/// Results of a batch for the backward pass of the decoder loops and the gradient of the readout.
pub struct OutputPass {
    /// Shard by shard, step by step.
    blocks: Vec<BlockPass>,
    /// Of each shard under exact hard attention; otherwise empty.
    tokens: Vec<TokenPass>,
}

impl OutputPass {
    /// Loss of all shards and its derivatives. Overwrites the gradients of readout and output layer.
    pub fn forward_backward(
        step: OutputStep,
        shards: &[Shard],
        decoders: &[DecoderOutput],
        gradients: &mut Gradients,
    ) -> Result<(BatchLoss, Self)> {
        let OutputStep { weights, .. } = step;
        let sizes = weights.architecture;
        let (e, vocabulary) = (sizes.embedding_size, sizes.target_vocabulary);
        let targets: Vec<Vec<u32>> = shards.iter().map(Shard::targets).collect();
        let mut blocks: Vec<Block> = Vec::new();
        for (number, (shard, targets)) in shards.iter().zip(&targets).enumerate() {
            blocks.extend(Block::split(weights, number, shard, targets));
        }
        let outputs: Vec<ShardOutput> = shards
            .par_iter()
            .zip(decoders)
            .map(|(shard, decoder)| ShardOutput::new(weights, shard, *decoder))
            .collect();
        let mut passes: Vec<BlockPass> = Vec::with_capacity(blocks.len());
        for blocks in blocks.chunks(BLOCKS) {
            let rows: usize = blocks.iter().map(Block::row_count).sum();
            let (mut dropped, mut logits) = (Buffer::scratch(rows * e), Buffer::scratch(rows * vocabulary));
            let slices =
                split_rows(&mut dropped, blocks, e).into_par_iter().zip(split_rows(&mut logits, blocks, vocabulary));
            let mode = if passes.is_empty() { WriteMode::Overwrite } else { WriteMode::Accumulate };
            passes.par_extend(blocks.par_iter().zip(slices).map(|(block, (dropped, logits))| {
                BlockPass::new(step, &outputs[block.shard], block, [dropped, logits])
            }));
            let factors = [WeightFactors {
                d_output: MatrixView::new(&logits, rows, vocabulary),
                input: MatrixView::new(&dropped, rows, e),
            }];
            gradients.with_slice_mut(sizes.output_weight(), |out| {
                weight_gradient(out, e, &factors, weights.precision, mode)
            })?;
        }
        let mut loss = BatchLoss::default();
        passes.iter().for_each(|pass| loss += pass.loss);
        let mut tokens = Vec::new();
        if sizes.attention.is_exact() {
            for (number, output) in outputs.iter().enumerate() {
                let d_sums = passes.iter().filter(|pass| pass.shard == number);
                let d_sums = d_sums.filter_map(|pass| pass.d_token_sum.as_deref());
                tokens.push(TokenPass::new(weights, output.shard, output.decoder.memory, d_sums));
            }
        }
        let pass = Self { blocks: passes, tokens };
        pass.gradients(weights, gradients)?;
        Ok((loss, pass))
    }

    /// Writes the gradients except that of E_out, which is complete.
    fn gradients(&self, weights: &PackedModel, gradients: &mut Gradients) -> Result<()> {
        let sizes = weights.architecture;
        let (e, width) = (sizes.embedding_size, sizes.embedding_size + 2 * sizes.hidden_size);
        let of_blocks = self.blocks.iter().map(|block| (&block.d_sum, &block.input));
        let of_tokens = self.tokens.iter().map(|tokens| (&tokens.d_sum, &tokens.input));
        let mut factors = Vec::with_capacity(self.blocks.len() + self.tokens.len());
        for (d_sum, input) in of_blocks.chain(of_tokens) {
            let (d_output, input) = (MatrixView::rows_of(d_sum, e), MatrixView::rows_of(input, width));
            factors.push(WeightFactors { d_output, input });
        }
        gradients.with_slice_mut("readout.weight", |out| {
            weight_gradient(out, width, &factors, weights.precision, WriteMode::Overwrite)
        })?;
        let d_sums: Vec<&[f32]> = self.blocks.iter().map(|block| &block.d_sum[..]).collect();
        gradients.with_slice_mut("readout.bias", |out| bias_gradient(out, &d_sums))?;
        let d_biases: Vec<&[f32]> = self.blocks.iter().map(|block| &block.d_bias[..]).collect();
        gradients.with_slice_mut("output.bias", |out| bias_gradient(out, &d_biases))?;
        if sizes.tied_output { Ok(()) } else { gradients.zero("target_embedding.weight") }
    }

    /// Returns the derivatives for the shard of index `number`.
    pub fn shard_grads(&self, weights: &PackedModel, shard: &Shard, number: usize) -> OutputGrads {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let (positions, longest) = (shard.target_length * shard.size(), shard.source.steps());
        let is_exact = weights.architecture.attention.is_exact();
        let has_alphas = is_exact || weights.lexicon.is_some();
        let mut grads = OutputGrads {
            d_states: Buffer::zeros(positions * n),
            d_contexts: Buffer::zeros(positions * n),
            d_embedded: Buffer::zeros(positions * e),
            d_alphas: has_alphas.then(|| Buffer::zeros(positions * longest)),
            d_annotations: is_exact.then(|| self.tokens[number].d_annotations(weights)),
        };
        let blocks = self.blocks.iter().filter(|block| block.shard == number);
        let mut rows = blocks.clone().flat_map(|block| block.d_input.chunks_exact(n + e + n));
        for position in &shard.positions {
            let index = position.step * shard.size() + position.row;
            let Some(row) = rows.next() else { break };
            add_scaled(&mut grads.d_states[index * n..][..n], 1.0, &row[..n]);
            add_scaled(&mut grads.d_embedded[index * e..][..e], 1.0, &row[n..n + e]);
            if !is_exact {
                add_scaled(&mut grads.d_contexts[index * n..][..n], 1.0, &row[n + e..]);
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
        let targets = shard.targets();
        let output = ShardOutput::new(weights, shard, decoder);
        for block in Block::split(weights, 0, shard, &targets) {
            let scores = block.score(weights, &output, smoothing);
            for (position, TokenScore { smoothed, log_probability, posterior }) in block.positions.iter().zip(scores) {
                let pair = &mut pairs[position.row];
                pair.smoothed += smoothed;
                pair.log_probabilities.push(log_probability);
                pair.posteriors.extend(posterior);
            }
        }
        pairs
    }
}

/// Splits rows that are stored block by block into the blocks' slices.
fn split_rows<'v>(mut values: &'v mut [f32], blocks: &[Block], width: usize) -> Vec<&'v mut [f32]> {
    let mut split = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (rows, rest) = values.split_at_mut(block.row_count() * width);
        split.push(rows);
        values = rest;
    }
    split
}
