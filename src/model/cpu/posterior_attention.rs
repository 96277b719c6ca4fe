//! Posterior attention of a shard; equations in `reference/posterior_attention.rs`.

use super::decoder_loop::DecoderOutput;
use super::readout::{readout_of_tokens, state_sums, token_sums};
use super::shard::Shard;
use super::weights::PackedModel;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::cross_entropy::log_sum_exp;
use crate::kernels::matrix::{PackedWeight, WriteMode};
use crate::model::candidates::{Candidates, keep_largest};
use crate::model::token_lexicon::EPSILON;

/// Returns the posterior distribution over the source tokens of each target token, for each row of a shard:
/// `[rows][target length][source length]`.
pub fn posterior_attention(weights: &PackedModel, shard: &Shard, decoder: DecoderOutput) -> Vec<Vec<Vec<f32>>> {
    let mut targets = vec![Vec::new(); shard.size()];
    for (position, target) in shard.positions.iter().zip(shard.targets()) {
        targets[position.row].push(target);
    }
    let rows = targets.iter().enumerate();
    rows.map(|(row, targets)| PosteriorPass::new(weights, shard, decoder, row, targets).posteriors()).collect()
}

/// Output layer over one sentence pair, with each source token alone.
struct PosteriorPass<'a> {
    decoder: DecoderOutput<'a>,
    row: usize,
    /// y
    targets: &'a [u32],
    candidates: Candidates,
    /// Rows of E_out: `[candidates, e]`
    output: PackedWeight,
    /// W_r [s_t ; E_y ; 0] + b_r: `[T, e]`
    of_states: Buffer,
    /// W_r [0 ; 0 ; c_j], c_j being the context of token j alone: `[S, e]`
    of_tokens: Buffer,
    /// Bias of each candidate, with that of source token j's lexicon row: `[S, candidates]`
    biases: Buffer,
}

impl<'a> PosteriorPass<'a> {
    fn new(
        weights: &PackedModel<'a>,
        shard: &Shard,
        decoder: DecoderOutput<'a>,
        row: usize,
        targets: &'a [u32],
    ) -> Self {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let width = n + e + n;
        let candidates = Candidates::new(weights.architecture.target_vocabulary, targets);
        let mut states = Buffer::zeros(targets.len() * width);
        for (step, input) in states.chunks_exact_mut(width).enumerate() {
            decoder.steps.readout_input(step, row, input);
            input[n + e..].fill(0.0);
        }
        let of_states = state_sums(weights, &states);
        let of_tokens = token_sums(weights, &weights.attention.contexts_of_tokens(decoder.memory, row));
        let output = weights.output_of_tokens(&Vec::from_iter(candidates.tokens()));
        let biases = biases(weights, &candidates, shard.source_of(row));
        Self { decoder, row, targets, candidates, output, of_states, of_tokens, biases }
    }

    fn posteriors(&self) -> Vec<Vec<f32>> {
        let tokens = self.decoder.memory.cells(self.row).len();
        let e = self.of_tokens.len() / tokens;
        let mut readout = Buffer::scratch(self.of_tokens.len());
        let mut logits = Buffer::scratch(self.biases.len());
        let mut posteriors = Vec::with_capacity(self.targets.len());
        for (step, (&target, of_state)) in self.targets.iter().zip(self.of_states.chunks_exact(e)).enumerate() {
            let mut alphas = vec![0.0; tokens];
            self.decoder.tape.mean_alphas(step, self.row, &mut alphas);
            keep_largest(&mut alphas);
            let attended: Vec<usize> = (0..tokens).filter(|&token| alphas[token] > 0.0).collect();
            let (readout, logits) =
                (&mut readout[..attended.len() * e], &mut logits[..attended.len() * self.candidates.len()]);
            let rows = readout.chunks_exact_mut(e).zip(logits.chunks_exact_mut(self.candidates.len()));
            for (&token, (readout, logits)) in attended.iter().zip(rows) {
                readout_of_tokens(of_state, &self.of_tokens[token * e..][..e], readout);
                logits.copy_from_slice(&self.biases[token * self.candidates.len()..][..self.candidates.len()]);
            }
            self.output.forward(logits, self.candidates.len(), readout, WriteMode::Accumulate);
            let target = self.candidates.find(target).unwrap_or_default();
            let joint = attended.iter().zip(logits.chunks_exact(self.candidates.len()));
            let joint = joint.map(|(&token, logits)| alphas[token] * (logits[target] - log_sum_exp(logits)).exp());
            posteriors.push(posterior(&alphas, &attended, &Vec::from_iter(joint)));
        }
        posteriors
    }
}

/// Normalizes the joint probabilities of attended tokens; α is the result if all are 0.
fn posterior(alphas: &[f32], attended: &[usize], joint: &[f32]) -> Vec<f32> {
    let sum: f32 = joint.iter().sum();
    if sum == 0.0 {
        return alphas.to_vec();
    }
    let mut posterior = vec![0.0; alphas.len()];
    attended.iter().zip(joint).for_each(|(&token, p)| posterior[token] = p / sum);
    posterior
}

/// Output bias of each candidate with the lexical bias of each source token: `[S, candidates]`.
fn biases(weights: &PackedModel, candidates: &Candidates, sources: impl Iterator<Item = u32>) -> Buffer {
    let bias: Vec<f32> = candidates.tokens().map(|token| weights.get("output.bias")[token as usize]).collect();
    let mut biases = Vec::new();
    for source in sources {
        let start = biases.len();
        biases.extend_from_slice(&bias);
        let Some(lexicon) = weights.lexicon else { continue };
        let (tokens, probabilities) = lexicon.row(source);
        for (&token, probability) in tokens.iter().zip(probabilities) {
            if let Some(index) = candidates.find(token) {
                biases[start + index] += (probability / EPSILON).ln_1p();
            }
        }
    }
    Buffer::from_slice(&biases)
}
