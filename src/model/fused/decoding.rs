//! One step after another without derivatives: the decoder as search needs it.

use super::decoder::{Cell, DecoderPass};
use super::encoder::{EncoderPass, gather};
use super::part::{Masks, Part};
use super::weights::Weights;
use crate::kernels::attention::fused::Keys;
use crate::kernels::gru::fused::{Step, forward};
use crate::kernels::matrix::{Into, Matrix, add_bias, multiply};
use crate::kernels::simd::{tanh, vectorised};
use crate::text::{Batch, Padded};

/// Decoder states of any number of rows over a batch of sources.
pub struct Decoding<'w> {
    weights: &'w Weights<'w>,
    /// `[sentences, length, n]`
    annotations: Vec<f32>,
    /// `[sentences, length, a]`
    keys: Vec<f32>,
    /// Real source lengths.
    lengths: Vec<usize>,
    length: usize,
    /// The sentence of each row.
    sentences: Vec<usize>,
    /// `[rows, n]`
    states: Vec<f32>,
}

/// What a step says of its rows.
pub struct Said {
    /// `[rows, V]`
    pub logits: Vec<f32>,
    /// α: `[rows, length]`, 0 on padding.
    pub attention: Vec<f32>,
}

impl<'w> Decoding<'w> {
    /// Encodes sources; there is one row for each.
    pub fn new(weights: &'w Weights<'w>, source: &Padded) -> Self {
        let batch = Batch::of_sources(source);
        let part = Part::deal(&batch, 1).remove(0);
        let annotations = EncoderPass::forward(weights, &part, &Masks::none(weights.architecture)).annotations;
        let states = DecoderPass::first_state(weights, &part, &annotations);
        let keys = DecoderPass::keys(weights, &annotations);
        let sentences = (0..source.batch()).collect();
        Self { weights, annotations, keys, lengths: part.source_lengths, length: part.source_length, sentences, states }
    }

    /// The real source length of a row's sentence.
    pub fn source_length(&self, row: usize) -> usize {
        self.lengths[self.sentences[row]]
    }

    /// Makes new rows, each of which goes on from row `parents[i]` by taking in `units[i]`.
    pub fn advance(&mut self, parents: &[usize], units: &[u32]) -> Said {
        let cell = Cell::new(self.weights, parents.len());
        let Cell { a, e, n, size, .. } = cell;
        self.sentences = parents.iter().map(|&row| self.sentences[row]).collect();
        let rows: Vec<u32> = parents.iter().map(|&row| row as u32).collect();
        let states = gather(&self.states, &rows, n);
        let mut from_state = vec![0.0; size * (a + 3 * n)];
        multiply(&mut from_state, a + 3 * n, Matrix::rows_of(&states, n), cell.both.t(), Into::Replace);
        let mut attention = vec![0.0; size * self.length];
        let mut contexts = vec![0.0; size * n];
        let energy = self.weights.get("attention.energy.weight");
        let memory = Keys {
            keys: &self.keys,
            annotations: &self.annotations,
            energy,
            lengths: &self.lengths,
            length: self.length,
        };
        memory.attend(self.sentences.iter().copied(), &from_state, a + 3 * n, &mut attention, &mut contexts);
        let embedded = gather(self.weights.get("target_embedding.weight"), units, e);
        let mut gates = vec![0.0; size * 3 * n];
        multiply(&mut gates, 3 * n, Matrix::rows_of(&embedded, e), cell.embedding_gates().t(), Into::Replace);
        add_bias(&mut gates, self.weights.get("decoder.cell.bias_ih"));
        multiply(&mut gates, 3 * n, Matrix::rows_of(&contexts, n), cell.context_gates().t(), Into::Add);
        let mut candidate = vec![0.0; size * n];
        self.states = vec![0.0; size * n];
        let step = Step { gates: &mut gates, candidate: &mut candidate };
        forward(step, &from_state[a..], a + 3 * n, cell.bias_hh, &states, &mut self.states);
        let logits = self.logits(&embedded, &contexts);
        Said { logits, attention }
    }

    fn logits(&self, embedded: &[f32], contexts: &[f32]) -> Vec<f32> {
        let sizes = self.weights.architecture;
        let (e, n, vocabulary) = (sizes.embedding_size, sizes.hidden_size, sizes.target_vocabulary);
        let rows = embedded.len() / e;
        let weight = Matrix::new(self.weights.get("readout.weight"), e, n + e + n);
        let mut readout = vec![0.0; rows * e];
        multiply(&mut readout, e, Matrix::rows_of(&self.states, n), weight.columns(0, n).t(), Into::Replace);
        multiply(&mut readout, e, Matrix::rows_of(embedded, e), weight.columns(n, e).t(), Into::Add);
        multiply(&mut readout, e, Matrix::rows_of(contexts, n), weight.columns(n + e, n).t(), Into::Add);
        add_bias(&mut readout, self.weights.get("readout.bias"));
        vectorised(
            #[inline(always)]
            || readout.iter_mut().for_each(|value| *value = tanh(*value)),
        );
        let mut logits = vec![0.0; rows * vocabulary];
        let output = Matrix::new(self.weights.get(self.weights.output_name()), vocabulary, e);
        multiply(&mut logits, vocabulary, Matrix::rows_of(&readout, e), output.t(), Into::Replace);
        add_bias(&mut logits, self.weights.get("output.bias"));
        logits
    }
}
