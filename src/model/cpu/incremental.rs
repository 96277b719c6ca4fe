//! Step-by-step decoding of many rows, without derivatives.

use std::sync::Arc;

use super::decoder::first_state;
use super::decoder_loop::DecoderLoop;
use super::encoder::EncoderPass;
use super::lexical_bias::LexicalBias;
use super::mixture_output::log_mixture;
use super::readout::{readout_of_tokens, state_sums, tanh_in_place, token_sums};
use super::shard::Shard;
use super::weights::PackedModel;
use crate::attention::AttentionWeights;
use crate::attention::cpu::{ForwardTape, RaggedMemory};
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::embedding::gather_forward;
use crate::kernels::matrix::{PackedWeight, WriteMode};
use crate::model::reference::StepOutput;
use crate::model::shortlist::log_unlisted;
use crate::model::{Architecture, Dropout, FREQUENT_TOKENS, Shortlist};
use crate::text::{Batch, BatchShare, PADDING, PaddedBatch};

/// Decoder states of any number of rows over a batch of sources.
pub struct CpuIncrementalDecoder<'w> {
    weights: &'w PackedModel<'w>,
    memory: RaggedMemory,
    /// Source of each row, as its row in the memory.
    sentences: Vec<usize>,
    /// `[rows, n]`
    states: Buffer,
    /// Tokens of each source, by its row in the memory.
    sources: Vec<Vec<u32>>,
    /// Shares of the annotations in the readout under exact hard attention, otherwise empty: `[positions, e]`
    of_tokens: Buffer,
    /// Output layer of each source, by its row in the memory, if it is restricted to a shortlist; empty if none is.
    outputs: Vec<Option<RestrictedOutput>>,
}

/// Output layer for the tokens of a shortlist.
struct RestrictedOutput {
    tokens: Arc<[u32]>,
    /// Rows of E_out, without the first [`FREQUENT_TOKENS`] ones
    weight: PackedWeight,
    bias: Buffer,
}

impl RestrictedOutput {
    fn new(weights: &PackedModel, tokens: &Arc<[u32]>) -> Self {
        let others = &tokens[FREQUENT_TOKENS as usize..];
        let mut bias = Buffer::scratch(others.len());
        gather_forward(&mut bias, weights.get("output.bias"), others, 1);
        Self { tokens: Arc::clone(tokens), weight: weights.output_of_tokens(others), bias }
    }
}

impl<'w> CpuIncrementalDecoder<'w> {
    /// Encodes sources and returns a decoder with one row for each.
    pub fn new(weights: &'w PackedModel<'w>, source: &PaddedBatch) -> Self {
        let batch = Batch::from_sources(source);
        let shard = Shard::split(&batch, BatchShare::WHOLE, 1).remove(0);
        let (_, annotations) = EncoderPass::forward(weights, &shard, &Dropout::none());
        let mut memory_rows = vec![0; shard.size()];
        shard.rows.iter().zip(0..).for_each(|(&row, memory_row)| memory_rows[row] = memory_row);
        let n = weights.architecture.hidden_size;
        let mut states = Buffer::scratch(memory_rows.len() * n);
        gather_forward(&mut states, &first_state(weights, &shard, &annotations), &memory_rows, n);
        let memory = weights.attention.project_memory(annotations, shard.source.row_starts());
        let sentences = memory_rows.into_iter().map(|row| row as usize).collect();
        let sources = (0..shard.size()).map(|row| shard.source_of(row).collect()).collect();
        let is_exact = weights.architecture.attention.is_exact();
        let of_tokens = if is_exact { token_sums(weights, memory.annotations()) } else { Buffer::default() };
        Self { weights, memory, sentences, states, sources, of_tokens, outputs: Vec::new() }
    }

    /// Restricts each source to the tokens of a shortlist. Called before the first step, and not under exact hard attention.
    pub fn restrict(&mut self, shortlist: &Shortlist) {
        let mut outputs: Vec<Option<RestrictedOutput>> = (0..self.sentences.len()).map(|_| None).collect();
        for (sentence, &memory_row) in self.sentences.iter().enumerate() {
            outputs[memory_row] = shortlist.tokens(sentence).map(|tokens| RestrictedOutput::new(self.weights, tokens));
        }
        if outputs.iter().any(Option::is_some) {
            self.outputs = outputs;
        }
    }

    /// Makes new rows: row `i` extends the former row `parents[i]` by `tokens[i]`.
    pub fn step(&mut self, parents: &[usize], tokens: &[u32]) -> StepOutput {
        self.forward_step(parents, tokens, AttentionWeights::Model).0
    }

    /// As [`Self::step`], with attention weights of this origin. Also returns each head's weights,
    /// `[rows][heads][length]`.
    pub fn inspect_step(
        &mut self,
        parents: &[usize],
        tokens: &[u32],
        attention_weights: AttentionWeights,
    ) -> (StepOutput, Vec<Vec<Vec<f32>>>) {
        let (output, tape) = self.forward_step(parents, tokens, attention_weights);
        let lengths = output.attention.iter().map(Vec::len);
        let heads = lengths.enumerate().map(|(row, length)| tape.heads(0, row, length)).collect();
        (output, heads)
    }

    fn forward_step(
        &mut self,
        parents: &[usize],
        tokens: &[u32],
        attention_weights: AttentionWeights,
    ) -> (StepOutput, ForwardTape) {
        let Self { weights, .. } = *self;
        let (e, n, rows) = (weights.architecture.embedding_size, weights.architecture.hidden_size, parents.len());
        self.sentences = parents.iter().map(|&row| self.sentences[row]).collect();
        let parents: Vec<u32> = parents.iter().map(|&row| row as u32).collect();
        let mut embedded = Buffer::scratch(rows * e);
        gather_forward(&mut embedded, weights.get("target_embedding.weight"), tokens, e);
        let gates = weights.input_gates(tokens, &embedded);
        let mut steps =
            DecoderLoop::new(weights, rows, embedded, gates, |state| gather_forward(state, &self.states, &parents, n));
        let mut tape = ForwardTape::new(&weights.attention, &self.memory, rows, 1);
        steps.forward_step(&self.memory, &mut tape, 0, self.sentences.iter().copied(), attention_weights);
        let mut attention = Vec::with_capacity(rows);
        for (row, &sentence) in self.sentences.iter().enumerate() {
            attention.push(tape.reported(&weights.attention, 0, row, self.memory.cells(sentence).len()));
        }
        let mut lexical = weights.lexicon.map(LexicalBias::new);
        let logits = if weights.architecture.attention.is_exact() {
            self.mixture_logits(&steps, &tape, &mut lexical)
        } else {
            let mut logits = self.logits(&steps);
            lexical.iter_mut().for_each(|bias| self.add_lexical_bias(bias, &tape, &mut logits));
            logits
        };
        let tokens = if self.outputs.is_empty() { Vec::new() } else { self.tokens_of_rows().collect() };
        self.states = steps.into_last_state();
        (StepOutput { logits, tokens, attention }, tape)
    }

    /// Restricted output layer of a source, if there is one.
    fn restricted(&self, memory_row: usize) -> Option<&RestrictedOutput> {
        self.outputs.get(memory_row)?.as_ref()
    }

    /// Tokens of each row; none where all tokens have a logit.
    fn tokens_of_rows(&self) -> impl Iterator<Item = Option<Arc<[u32]>>> {
        self.sentences.iter().map(|&sentence| Some(Arc::clone(&self.restricted(sentence)?.tokens)))
    }

    /// Number of tokens with a logit in a row of a source.
    fn width(&self, sentence: usize) -> usize {
        self.restricted(sentence).map_or(self.weights.architecture.target_vocabulary, |output| output.tokens.len())
    }

    fn add_lexical_bias(&self, bias: &mut LexicalBias, tape: &ForwardTape, mut logits: &mut [f32]) {
        for (row, &sentence) in self.sentences.iter().enumerate() {
            let logits = logits.split_off_mut(..self.width(sentence)).unwrap_or_default();
            let source = &self.sources[sentence];
            let mut alphas = vec![0.0; source.len()];
            tape.mean_alphas(0, row, &mut alphas);
            let source = source.iter().copied();
            match self.restricted(sentence) {
                Some(output) => bias.forward_selected(&output.tokens, logits, &alphas, source),
                None => bias.forward(logits, &alphas, source),
            }
        }
    }

    /// Log-probabilities of the mixture over the source tokens: `[rows, V]`.
    fn mixture_logits(&self, steps: &DecoderLoop, tape: &ForwardTape, lexical: &mut Option<LexicalBias>) -> Buffer {
        let Architecture { target_vocabulary: vocabulary, embedding_size: e, hidden_size: n, .. } =
            *self.weights.architecture;
        let bias = WriteMode::AddBias(self.weights.get("output.bias"));
        let mut inputs = self.readout_inputs(steps);
        inputs.chunks_exact_mut(n + e + n).for_each(|input| input[n + e..].fill(0.0));
        let of_states = state_sums(self.weights, &inputs);
        let mut mixtures = Buffer::scratch(self.sentences.len() * vocabulary);
        let rows = mixtures.chunks_exact_mut(vocabulary).zip(of_states.chunks_exact(e)).zip(&self.sentences);
        for (row, ((mixture, of_state), &sentence)) in rows.enumerate() {
            let source = &self.sources[sentence];
            let mut readout = Buffer::scratch(source.len() * e);
            readout_of_tokens(of_state, &self.of_tokens[self.memory.cells(sentence).start * e..], &mut readout);
            let mut logits = Buffer::scratch(source.len() * vocabulary);
            self.weights.output().forward(&mut logits, vocabulary, &readout, bias);
            let mut alphas = vec![0.0; source.len()];
            tape.mean_alphas(0, row, &mut alphas);
            log_mixture(lexical, &mut logits, &alphas, source.iter().copied(), mixture);
        }
        mixtures
    }

    /// Logits from the contexts: for each row, as many as its source has tokens.
    fn logits(&self, steps: &DecoderLoop) -> Buffer {
        let e = self.weights.architecture.embedding_size;
        let mut readout = state_sums(self.weights, &self.readout_inputs(steps));
        tanh_in_place(&mut readout);
        let widths = self.sentences.iter().map(|&sentence| self.width(sentence));
        let mut logits = Buffer::scratch(widths.sum());
        let all_bias = self.weights.get("output.bias");
        if self.outputs.is_empty() {
            let vocabulary = self.weights.architecture.target_vocabulary;
            self.weights.output().forward(&mut logits, vocabulary, &readout, WriteMode::AddBias(all_bias));
            return logits;
        }
        let count = FREQUENT_TOKENS as usize;
        let mut frequent = Buffer::scratch(self.sentences.len() * count);
        let mode = WriteMode::AddBias(&all_bias[..count]);
        self.weights.frequent_output().forward(&mut frequent, count, &readout, mode);
        let unlisted = self.weights.unlisted_output().log_means(&readout);
        let (mut rest, mut first) = (&mut *logits, 0);
        // The rows of a source follow one another.
        for sources in self.sentences.chunk_by(|one, other| one == other) {
            let (rows, width) = (first..first + sources.len(), self.width(sources[0]));
            let (logits, others) = std::mem::take(&mut rest).split_at_mut(rows.len() * width);
            let input = &readout[rows.start * e..rows.end * e];
            if let Some(output) = self.restricted(sources[0]) {
                let frequent = frequent[rows.start * count..rows.end * count].chunks_exact(count);
                logits.chunks_exact_mut(width).zip(frequent).for_each(|(to, from)| to[..count].copy_from_slice(from));
                if width > count {
                    output.weight.forward(&mut logits[count..], width, input, WriteMode::AddBias(&output.bias));
                }
                let shift = log_unlisted(self.weights.architecture.target_vocabulary, width);
                let unlisted = &unlisted[rows.clone()];
                logits.chunks_exact_mut(width).zip(unlisted).for_each(|(to, mean)| to[PADDING as usize] = mean + shift);
            } else {
                self.weights.output().forward(logits, width, input, WriteMode::AddBias(all_bias));
            }
            (rest, first) = (others, rows.end);
        }
        logits
    }

    /// [s ; E_y ; c] of each row.
    fn readout_inputs(&self, steps: &DecoderLoop) -> Buffer {
        let width = self.weights.architecture.embedding_size + 2 * self.weights.architecture.hidden_size;
        let mut inputs = Buffer::scratch(self.sentences.len() * width);
        for (row, input) in inputs.chunks_exact_mut(width).enumerate() {
            steps.readout_input(0, row, input);
        }
        inputs
    }
}
