//! Recurrent steps of the decoder, forward (training and search) and backward; equations in `reference/decoder_loop.rs`.

use std::ops::Range;

use super::cell::{CellBackward, CellTape};
use super::weights::{PackedContextInput, PackedModel};
use crate::attention::AttentionWeights;
use crate::attention::cpu::{BackwardPass, ForwardTape, RaggedMemory, TapeStep};
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::matrix::PackedWeight;
use crate::model::Architecture;

/// Values of all steps so far. A step is one target position of all rows.
pub struct DecoderLoop<'w> {
    weights: &'w PackedModel<'w>,
    rows: usize,
    /// E_y[y_{t-1}]: `[steps × rows, e]`
    embedded: Buffer,
    /// s: the state before the first step and after each, `[(steps + 1) × rows, n]`
    states: Buffer,
    /// c: `[steps × rows, n]`
    contexts: Buffer,
    /// Cell that consumes the word.
    word: CellTape<'w>,
    /// Path of the context into the state.
    context: ContextTape<'w>,
}

/// Inputs of the output layer from one shard's decoder.
#[derive(Clone, Copy)]
pub struct DecoderOutput<'a> {
    /// States of all steps.
    pub steps: &'a DecoderLoop<'a>,
    /// Attention of all steps.
    pub tape: &'a ForwardTape,
    /// Annotations that it attends to.
    pub memory: &'a RaggedMemory,
}

/// Path of the context into the state, with the values of all steps.
enum ContextTape<'w> {
    /// Share in the gates of the word's cell, by these columns of its W_ih.
    Gates(&'w PackedWeight),
    /// Cell of its own.
    Cell {
        /// u, the state between the two cells: `[steps × rows, n]`
        intermediate: Buffer,
        /// Cell that consumes the context.
        cell: CellTape<'w>,
    },
}

impl<'w> DecoderLoop<'w> {
    /// Creates a loop over all steps that have embeddings of previous words, `[steps × rows, e]`, with their share of
    /// the gates, `[steps × rows, gates]`. `initial` writes the first state, `[rows, n]`.
    pub fn new(
        weights: &'w PackedModel<'w>,
        rows: usize,
        embedded: Buffer,
        gates: Buffer,
        initial: impl FnOnce(&mut [f32]),
    ) -> Self {
        let n = weights.architecture.hidden_size;
        let word = CellTape::new(&weights.word_cell, gates, rows);
        let positions = word.positions().len();
        let context = match &weights.context {
            PackedContextInput::Gates(input) => ContextTape::Gates(input),
            PackedContextInput::Cell(cell) => ContextTape::Cell {
                intermediate: Buffer::scratch(positions * n),
                cell: CellTape::without_inputs(cell, positions, rows),
            },
        };
        let mut steps = Self {
            weights,
            rows,
            embedded,
            states: Buffer::scratch((positions + rows) * n),
            contexts: Buffer::scratch(positions * n),
            word,
            context,
        };
        initial(&mut steps.states[..rows * n]);
        steps
    }

    /// Forward pass of one step. `sentences` yields the sentence of each row.
    pub fn forward_step(
        &mut self,
        memory: &RaggedMemory,
        tape: &mut ForwardTape,
        step: usize,
        sentences: impl Iterator<Item = usize>,
        attention_weights: AttentionWeights,
    ) {
        let (positions, size) = (self.positions(step), self.size());
        let (before, after) = self.states.split_at_mut((step + 1) * size);
        let (before, after) = (&before[step * size..], &mut after[..size]);
        let contexts = &mut self.contexts[step * size..][..size];
        let into = TapeStep { tape, step, contexts: &mut *contexts };
        match &mut self.context {
            ContextTape::Gates(input) => {
                self.weights.attention.attend(memory, sentences, before, attention_weights, into);
                self.word.add_inputs(input, &positions, contexts);
                self.word.forward_step(&positions, before, after);
            }
            ContextTape::Cell { intermediate, cell } => {
                let intermediate = &mut intermediate[step * size..][..size];
                self.word.forward_step(&positions, before, intermediate);
                self.weights.attention.attend(memory, sentences, intermediate, attention_weights, into);
                cell.write_inputs(&positions, contexts);
                cell.forward_step(&positions, intermediate, after);
            }
        }
    }

    /// Backward pass of one step. `d_state` is the derivative with respect to the state after it, `[rows, n]`, and is
    /// replaced by the one with respect to the state before it.
    pub fn backward_step(
        &mut self,
        memory: &RaggedMemory,
        attention: &mut BackwardPass,
        step: usize,
        d_state: &mut [f32],
    ) {
        let (positions, size) = (self.positions(step), self.size());
        let before = &self.states[step * size..][..size];
        let weights = &self.weights.attention;
        match &mut self.context {
            ContextTape::Gates(input) => {
                self.word.backward_step(&positions, before, d_state);
                let d_context = &mut attention.d_contexts[step * size..][..size];
                self.word.add_grads_of_columns(input, &positions, d_context);
                attention.backward_step(weights, memory, step, before, d_state);
                self.word.add_state_grads(&positions, d_state);
            }
            ContextTape::Cell { intermediate, cell } => {
                let intermediate = &intermediate[step * size..][..size];
                cell.backward_step(&positions, intermediate, d_state);
                let d_context = &mut attention.d_contexts[step * size..][..size];
                cell.add_input_grads(&positions, d_context);
                attention.backward_step(weights, memory, step, intermediate, d_state);
                cell.add_state_grads(&positions, d_state);
                self.word.backward_step(&positions, before, d_state);
                self.word.add_state_grads(&positions, d_state);
            }
        }
    }

    /// Adds the derivatives with respect to the embeddings of the previous words, `[steps × rows, e]`, after the backward pass
    /// of all steps.
    pub fn add_embedding_grads(&self, d_embedded: &mut [f32]) {
        self.word.add_input_grads(&self.word.positions(), d_embedded);
    }

    /// Returns the finished backward pass of the cell that consumes the word.
    pub fn word_backward(&self) -> CellBackward<'_> {
        let inputs = match &self.context {
            ContextTape::Gates(_) => vec![&self.embedded[..], &self.contexts[..]],
            ContextTape::Cell { .. } => vec![&self.embedded[..]],
        };
        CellBackward { tape: &self.word, inputs, before: &self.states }
    }

    /// Returns the finished backward pass of the context's own cell, if it has one.
    pub fn context_backward(&self) -> Option<CellBackward<'_>> {
        match &self.context {
            ContextTape::Gates(_) => None,
            ContextTape::Cell { intermediate, cell } => {
                Some(CellBackward { tape: cell, inputs: vec![&self.contexts[..]], before: intermediate })
            }
        }
    }

    /// Positions of a step, one for each row.
    fn positions(&self, step: usize) -> Range<usize> {
        step * self.rows..(step + 1) * self.rows
    }

    /// Size of the states of one step.
    fn size(&self) -> usize {
        self.rows * self.weights.architecture.hidden_size
    }

    /// s_0: `[rows, n]`.
    pub fn initial_state(&self) -> &[f32] {
        &self.states[..self.size()]
    }

    /// States that query attention: `[steps × rows, n]`, or more.
    pub fn queries(&self) -> &[f32] {
        match &self.context {
            ContextTape::Gates(_) => &self.states,
            ContextTape::Cell { intermediate, .. } => intermediate,
        }
    }

    /// Writes the readout's input for a row of a step, [s_t ; E_y ; c_t]: `[n + e + n]`.
    pub fn readout_input(&self, step: usize, row: usize, input: &mut [f32]) {
        let Architecture { embedding_size: e, hidden_size: n, .. } = *self.weights.architecture;
        let position = step * self.rows + row;
        input[..n].copy_from_slice(&self.states[(position + self.rows) * n..][..n]);
        input[n..n + e].copy_from_slice(&self.embedded[position * e..][..e]);
        input[n + e..].copy_from_slice(&self.contexts[position * n..][..n]);
    }

    /// Returns the state after the last step, `[rows, n]`.
    pub fn into_last_state(self) -> Buffer {
        Buffer::from_slice(&self.states[self.states.len() - self.size()..])
    }
}
