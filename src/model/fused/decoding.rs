//! One step after another without derivatives: the decoder as search needs it.

use super::super::Dropout;
use super::decoder::{first_state, keys};
use super::encoder::EncoderPass;
use super::output::readout;
use super::part::Part;
use super::products::gather;
use super::ragged::Ragged;
use super::weights::Weights;
use crate::kernels::attention::fused::Keys;
use crate::kernels::buffer::Buffer;
use crate::kernels::gru::fused::{Step, forward};
use crate::kernels::matrix::Into;
use crate::text::{Batch, Padded};

/// Decoder states of any number of rows over a batch of sources.
pub struct Decoding<'w> {
    weights: &'w Weights<'w>,
    /// The sources' lengths, the longest first.
    source: Ragged,
    /// `[cells, n]`, source by source
    annotations: Buffer,
    /// `[cells, a]`
    keys: Buffer,
    /// The source of each row, by its place there.
    sentences: Vec<usize>,
    /// `[rows, n]`
    states: Buffer,
}

/// What a step says of its rows.
pub struct Said {
    /// `[rows, V]`
    pub logits: Buffer,
    /// α: `[rows, longest source]`, 0 on padding.
    pub attention: Buffer,
}

impl<'w> Decoding<'w> {
    /// Encodes sources; there is one row for each.
    pub fn new(weights: &'w Weights<'w>, source: &Padded) -> Self {
        let batch = Batch::of_sources(source);
        let part = Part::deal(&batch, 1).remove(0);
        let annotations = EncoderPass::forward(weights, &part, &Dropout::none()).annotations;
        let mut places = vec![0; part.size()];
        part.rows.iter().zip(0..).for_each(|(&row, place)| places[row] = place);
        let mut states = Buffer::any(places.len() * weights.architecture.hidden_size);
        gather(&mut states, &first_state(weights, &part, &annotations), &places, weights.architecture.hidden_size);
        let keys = keys(weights, &annotations);
        let sentences = places.into_iter().map(|place| place as usize).collect();
        Self { weights, source: part.source, annotations, keys, sentences, states }
    }

    /// The real source length of a row's sentence.
    pub fn source_length(&self, row: usize) -> usize {
        self.source.length(self.sentences[row])
    }

    /// Makes new rows, each of which goes on from row `parents[i]` by taking in `units[i]`.
    pub fn advance(&mut self, parents: &[usize], units: &[u32]) -> Said {
        let Self { weights, .. } = *self;
        let sizes = weights.architecture;
        let (a, e, n, rows) = (sizes.attention_size, sizes.embedding_size, sizes.hidden_size, parents.len());
        self.sentences = parents.iter().map(|&row| self.sentences[row]).collect();
        let parents: Vec<u32> = parents.iter().map(|&row| row as u32).collect();
        let mut states = Buffer::any(rows * n);
        gather(&mut states, &self.states, &parents, n);
        let mut queries = Buffer::any(rows * a);
        weights.query.apply(&mut queries, a, &states, Into::Replace);
        let mut attention = Buffer::any(rows * self.source.steps());
        let mut contexts = Buffer::any(rows * n);
        let memory = Keys {
            keys: &self.keys,
            annotations: &self.annotations,
            energy: weights.get("attention.energy.weight"),
            starts: self.source.row_starts(),
            longest: self.source.steps(),
        };
        memory.attend(self.sentences.iter().copied(), &queries, &mut attention, &mut contexts);
        let mut embedded = Buffer::any(rows * e);
        gather(&mut embedded, weights.get("target_embedding.weight"), units, e);
        let mut gates = Buffer::any(rows * 3 * n);
        weights.gates_of_units(&mut gates, units, &embedded);
        weights.context_gates.apply(&mut gates, 3 * n, &contexts, Into::Add);
        let mut state_gates = Buffer::any(rows * 3 * n);
        weights.state_gates.apply(&mut state_gates, 3 * n, &states, Into::Replace);
        let mut candidate = Buffer::any(rows * n);
        self.states = Buffer::any(rows * n);
        let step = Step { gates: &mut gates, candidate: &mut candidate };
        let bias = weights.get("decoder.cell.bias_hh");
        forward(step, &state_gates, bias, &states, &mut self.states);
        let logits = self.logits(&embedded, &contexts);
        Said { logits, attention }
    }

    fn logits(&self, embedded: &[f32], contexts: &[f32]) -> Buffer {
        let sizes = self.weights.architecture;
        let (e, n, vocabulary) = (sizes.embedding_size, sizes.hidden_size, sizes.target_vocabulary);
        let rows = embedded.len() / e;
        let mut input = Buffer::any(rows * (n + e + n));
        let parts = self.states.chunks_exact(n).zip(embedded.chunks_exact(e)).zip(contexts.chunks_exact(n));
        for (row, ((state, embedded), context)) in input.chunks_exact_mut(n + e + n).zip(parts) {
            row[..n].copy_from_slice(state);
            row[n..n + e].copy_from_slice(embedded);
            row[n + e..].copy_from_slice(context);
        }
        let mut logits = Buffer::any(rows * vocabulary);
        let bias = self.weights.get("output.bias");
        self.weights.output.apply(&mut logits, vocabulary, &readout(self.weights, &input), Into::Row(bias));
        logits
    }
}
