//! Output layer under exact hard attention, forward and backward; equations in `reference/output_layer.rs`.
//!
//! Each target position has a row of the output layer for each token of its source.

use std::iter::once;

use super::decoder_loop::DecoderOutput;
use super::lexical_bias::LexicalBias;
use super::readout::token_inputs;
use super::shard::{Shard, TargetPosition};
use super::weights::PackedModel;
use crate::attention::cpu::RaggedMemory;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::cross_entropy::Objective;
use crate::kernels::cpu::mixture::{mixture_forward, mixture_forward_backward, mixture_losses};
use crate::kernels::matrix::WriteMode;
use crate::kernels::simd::add_scaled;
use crate::model::BatchLoss;

/// Returns each position once per token of its source.
pub fn mixture_rows(shard: &Shard, positions: &[TargetPosition]) -> Vec<TargetPosition> {
    positions.iter().flat_map(|position| (0..shard.source.length(position.row)).map(|_| *position)).collect()
}

/// Adds to the logits of each source token, `[length, V]`, the bias of its lexicon row.
fn add_lexical_bias(lexical: &mut Option<LexicalBias>, logits: &mut [f32], sources: impl Iterator<Item = u32>) {
    let Some(lexical) = lexical else { return };
    let sources: Vec<u32> = sources.collect();
    for (logits, &source) in logits.chunks_exact_mut(logits.len() / sources.len()).zip(&sources) {
        lexical.forward(logits, &[1.0], once(source));
    }
}

/// Score of one target token.
pub struct TokenScore {
    /// Smoothed loss.
    pub smoothed: f64,
    /// Log-probability.
    pub log_probability: f64,
    /// Posterior distribution over the source tokens under exact hard attention.
    pub posterior: Option<Vec<f32>>,
}

/// Mixtures at some positions of a shard.
pub struct MixtureOutput<'a> {
    weights: &'a PackedModel<'a>,
    shard: &'a Shard<'a>,
    decoder: DecoderOutput<'a>,
    lexical: Option<LexicalBias<'a>>,
    /// α of the current position.
    alphas: Vec<f32>,
    /// Probabilities of the current position: `[V]`
    mixture: Buffer,
}

impl<'a> MixtureOutput<'a> {
    /// Creates the working memory.
    pub fn new(weights: &'a PackedModel<'a>, shard: &'a Shard<'a>, decoder: DecoderOutput<'a>) -> Self {
        let mixture = Buffer::scratch(weights.architecture.target_vocabulary);
        Self { weights, shard, decoder, lexical: weights.lexicon.map(LexicalBias::new), alphas: Vec::new(), mixture }
    }

    /// Prepares a position; returns its logits, `[length, V]`, with the lexical bias, and the logits of the others.
    fn load<'l>(&mut self, position: TargetPosition, logits: &'l mut [f32]) -> (&'l mut [f32], &'l mut [f32]) {
        let length = self.shard.source.length(position.row);
        let (own, rest) = logits.split_at_mut(length * self.weights.architecture.target_vocabulary);
        add_lexical_bias(&mut self.lexical, own, self.shard.source_of(position.row));
        self.alphas.resize(length, 0.0);
        self.decoder.tape.mean_alphas(position.step, position.row, &mut self.alphas);
        (own, rest)
    }

    /// Returns the loss, summed over the positions. Replaces the logits, `[rows, V]`, by the derivatives, and writes those with
    /// respect to α, `[positions, longest source]`.
    pub fn forward_backward(
        &mut self,
        positions: &[TargetPosition],
        targets: &[u32],
        mut logits: &mut [f32],
        objective: Objective,
        d_alphas: &mut [f32],
    ) -> BatchLoss {
        let mut loss = BatchLoss { tokens: positions.len(), ..BatchLoss::default() };
        let rows = d_alphas.chunks_exact_mut(self.shard.source.steps());
        for ((&position, &target), d_alphas) in positions.iter().zip(targets).zip(rows) {
            let (own, rest) = self.load(position, logits);
            let into = [&mut *self.mixture, &mut d_alphas[..self.alphas.len()]];
            let (smoothed, log_probability) = mixture_forward_backward(own, &self.alphas, target, objective, into);
            loss.smoothed += smoothed;
            loss.negative_log_likelihood -= log_probability;
            logits = rest;
        }
        loss
    }

    /// Returns the smoothed loss and the target's log-probability at each position, with the posterior distribution of the
    /// attended token given the target.
    pub fn score(
        &mut self,
        positions: &[TargetPosition],
        targets: &[u32],
        mut logits: &mut [f32],
        smoothing: f32,
    ) -> Vec<TokenScore> {
        let mut scores = Vec::with_capacity(positions.len());
        for (&position, &target) in positions.iter().zip(targets) {
            let (own, rest) = self.load(position, logits);
            mixture_forward(own, &self.alphas, &mut self.mixture);
            let joint = own.chunks_exact(self.mixture.len()).zip(&self.alphas);
            let joint: Vec<f32> = joint.map(|(probabilities, alpha)| alpha * probabilities[target as usize]).collect();
            let sum: f32 = joint.iter().sum();
            let posterior = if sum > 0.0 { joint.iter().map(|p| p / sum).collect() } else { self.alphas.clone() };
            let (smoothed, log_probability) = mixture_losses(&self.mixture, target, smoothing);
            scores.push(TokenScore { smoothed, log_probability, posterior: Some(posterior) });
            logits = rest;
        }
        scores
    }
}

/// Replaces logits `[length, V]` by the log-probabilities of their mixture by α, `[V]`, with the lexical bias of the sources.
pub fn log_mixture(
    lexical: &mut Option<LexicalBias>,
    logits: &mut [f32],
    alphas: &[f32],
    sources: impl Iterator<Item = u32>,
    into: &mut [f32],
) {
    add_lexical_bias(lexical, logits, sources);
    mixture_forward(logits, alphas, into);
    into.iter_mut().for_each(|p| *p = p.ln());
}

/// Source tokens of one shard as inputs of the readout, with the derivatives of all target positions.
pub struct TokenPass {
    /// [0 ; 0 ; h]: `[source positions, n + e + n]`
    pub input: Buffer,
    /// With respect to W_r input: `[source positions, e]`
    pub d_sum: Buffer,
}

impl TokenPass {
    /// Sums the derivatives with respect to the readout's sums over the target positions. `d_sums` yields those of some rows,
    /// `[rows, e]`, in order.
    pub fn new<'b>(
        weights: &PackedModel,
        shard: &Shard,
        memory: &RaggedMemory,
        d_sums: impl Iterator<Item = &'b [f32]>,
    ) -> Self {
        let e = weights.architecture.embedding_size;
        let input = token_inputs(weights, memory.annotations());
        let mut d_sum = Buffer::zeros(shard.source.size() * e);
        let mut rows = d_sums.flat_map(|rows| rows.chunks_exact(e));
        for position in &shard.positions {
            for (token, row) in shard.source.row(position.row).zip(&mut rows) {
                add_scaled(&mut d_sum[token * e..][..e], 1.0, row);
            }
        }
        Self { input, d_sum }
    }

    /// With respect to the annotations: `[source positions, n]`.
    pub fn d_annotations(&self, weights: &PackedModel) -> Buffer {
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
