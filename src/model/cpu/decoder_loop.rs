//! Recurrent steps of the decoder, forward (training and search) and backward; equations in `reference/decoder_loop.rs`.

use super::weights::{CellWeights, PackedContextInput, PackedModel};
use crate::attention::StepWeights;
use crate::attention::cpu::{BackwardPass, ForwardTape, RaggedMemory, TapeStep};
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::gru::{GruStep, gru_backward, gru_forward};
use crate::kernels::matrix::{PackedWeight, WriteMode};
use crate::model::Architecture;

/// Values of all steps so far. A step is one target position of all rows.
pub struct DecoderLoop<'w> {
    weights: &'w PackedModel<'w>,
    rows: usize,
    /// E_y[y_{t-1}]: `[steps × rows, e]`
    pub embedded: Buffer,
    /// s: the state before the first step and after each, `[(steps + 1) × rows, n]`
    states: Buffer,
    /// c: `[steps × rows, n]`
    pub contexts: Buffer,
    /// Cell that consumes the word.
    pub word: CellTape<'w>,
    /// Path of the context into the state.
    pub context: ContextTape<'w>,
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
pub enum ContextTape<'w> {
    /// Share in the gates of the word's cell, by these weights.
    Gates(&'w PackedWeight),
    /// Cell of its own.
    Cell {
        /// u, the state between the two cells: `[steps × rows, n]`
        intermediate: Buffer,
        /// Cell that consumes the context.
        cell: CellTape<'w>,
    },
}

/// Values of all steps of one recurrent cell.
pub struct CellTape<'w> {
    weights: &'w CellWeights<'w>,
    /// `[steps × rows, 3n]`: see [`GruStep`]; after the backward pass the derivatives with respect to the inputs' share
    pub gates: Buffer,
    /// `[steps × rows, n]`, see [`GruStep`]
    candidates: Buffer,
    /// W_hh s of the current step, `[rows, 3n]`; in the backward pass the derivatives of all steps, `[steps × rows,
    /// 3n]`
    pub state_gates: Buffer,
}

impl<'w> CellTape<'w> {
    /// Tape of a cell with `rows` rows per step, given the inputs' share of the gates of all steps.
    fn new(weights: &'w CellWeights<'w>, gates: Buffer, rows: usize) -> Self {
        let candidates = Buffer::scratch(gates.len() / 3);
        Self { weights, gates, candidates, state_gates: Buffer::scratch(rows * weights.bias_hh.len()) }
    }

    /// Gates of one step whose states have `size` numbers in total.
    fn gates(&mut self, step: usize, size: usize) -> &mut [f32] {
        &mut self.gates[step * 3 * size..][..3 * size]
    }

    /// Forward pass of one step: states `before` to `after`, both `[rows, n]`.
    fn forward(&mut self, step: usize, before: &[f32], after: &mut [f32]) {
        let Self { weights, gates, candidates, state_gates } = self;
        let size = before.len();
        weights.state.forward(state_gates, weights.bias_hh.len(), before, WriteMode::Overwrite);
        let gates = &mut gates[step * 3 * size..][..3 * size];
        let candidate = &mut candidates[step * size..][..size];
        gru_forward(GruStep { gates, candidate }, state_gates, weights.bias_hh, before, after);
    }

    /// Backward pass of one step up to the gates. `d_state` is the derivative with respect to the state after it,
    /// `[rows, n]`, and is replaced by the elementwise part of the one with respect to the state before.
    fn backward(&mut self, step: usize, before: &[f32], d_state: &mut [f32]) {
        let Self { weights, gates, candidates, state_gates } = self;
        let size = before.len();
        state_gates.resize_scratch(gates.len());
        let gates = &mut gates[step * 3 * size..][..3 * size];
        let candidate = &mut candidates[step * size..][..size];
        let d_state_gates = &mut state_gates[step * 3 * size..][..3 * size];
        gru_backward(GruStep { gates, candidate }, before, d_state, d_state_gates, weights.bias_hh.len() / 3);
    }

    /// Adds the part of the derivatives with respect to the state before that passes through W_hh, after
    /// [`Self::backward`].
    fn add_state_grads(&self, step: usize, d_state: &mut [f32]) {
        let size = d_state.len();
        self.weights.state.backward(d_state, &self.state_gates[step * 3 * size..][..3 * size], WriteMode::Accumulate);
    }
}

impl<'w> DecoderLoop<'w> {
    /// Creates a loop over all steps that have embeddings of previous words, `[steps × rows, e]`, with their share of
    /// the gates, `[steps × rows, 3n]`. `initial` writes the first state, `[rows, n]`.
    pub fn new(
        weights: &'w PackedModel<'w>,
        rows: usize,
        embedded: Buffer,
        gates: Buffer,
        initial: impl FnOnce(&mut [f32]),
    ) -> Self {
        let (states, size) = (gates.len() / 3, rows * weights.architecture.hidden_size);
        let context = match &weights.context {
            PackedContextInput::Gates(input) => ContextTape::Gates(input),
            PackedContextInput::Cell(cell) => ContextTape::Cell {
                intermediate: Buffer::scratch(states),
                cell: CellTape::new(cell, Buffer::scratch(gates.len()), rows),
            },
        };
        let mut steps = Self {
            weights,
            rows,
            embedded,
            states: Buffer::scratch(states + size),
            contexts: Buffer::scratch(states),
            word: CellTape::new(&weights.word_cell, gates, rows),
            context,
        };
        initial(&mut steps.states[..size]);
        steps
    }

    /// Forward pass of one step. `sentences` yields the sentence of each row; `weights` are the origin of those of
    /// attention.
    pub fn forward_step(
        &mut self,
        memory: &RaggedMemory,
        tape: &mut ForwardTape,
        step: usize,
        sentences: impl Iterator<Item = usize>,
        weights: StepWeights,
    ) {
        let (n, size) = (self.weights.architecture.hidden_size, self.size());
        let (before, after) = self.states.split_at_mut((step + 1) * size);
        let (before, after) = (&before[step * size..], &mut after[..size]);
        let contexts = &mut self.contexts[step * size..][..size];
        let into = TapeStep { tape, step, contexts: &mut *contexts };
        match &mut self.context {
            ContextTape::Gates(input) => {
                self.weights.attention.attend(memory, sentences, before, weights, into);
                input.forward(self.word.gates(step, size), 3 * n, contexts, WriteMode::Accumulate);
                self.word.forward(step, before, after);
            }
            ContextTape::Cell { intermediate, cell } => {
                let intermediate = &mut intermediate[step * size..][..size];
                self.word.forward(step, before, intermediate);
                self.weights.attention.attend(memory, sentences, intermediate, weights, into);
                let bias = WriteMode::AddBias(cell.weights.bias_ih);
                cell.weights.input.forward(cell.gates(step, size), 3 * n, contexts, bias);
                cell.forward(step, intermediate, after);
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
        let size = self.size();
        let before = &self.states[step * size..][..size];
        let weights = &self.weights.attention;
        match &mut self.context {
            ContextTape::Gates(input) => {
                self.word.backward(step, before, d_state);
                let d_context = &mut attention.d_contexts[step * size..][..size];
                input.backward(d_context, self.word.gates(step, size), WriteMode::Accumulate);
                attention.backward_step(weights, memory, step, before, d_state);
                self.word.add_state_grads(step, d_state);
            }
            ContextTape::Cell { intermediate, cell } => {
                let intermediate = &intermediate[step * size..][..size];
                cell.backward(step, intermediate, d_state);
                let d_context = &mut attention.d_contexts[step * size..][..size];
                cell.weights.input.backward(d_context, cell.gates(step, size), WriteMode::Accumulate);
                attention.backward_step(weights, memory, step, intermediate, d_state);
                cell.add_state_grads(step, d_state);
                self.word.backward(step, before, d_state);
                self.word.add_state_grads(step, d_state);
            }
        }
    }

    /// Size of the states of one step.
    fn size(&self) -> usize {
        self.rows * self.weights.architecture.hidden_size
    }

    /// s_0: `[rows, n]`.
    pub fn initial_state(&self) -> &[f32] {
        &self.states[..self.size()]
    }

    /// States before all steps and after the last: `[(steps + 1) × rows, n]`.
    pub fn states(&self) -> &[f32] {
        &self.states
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
        let cell = step * self.rows + row;
        input[..n].copy_from_slice(&self.states[(cell + self.rows) * n..][..n]);
        input[n..n + e].copy_from_slice(&self.embedded[cell * e..][..e]);
        input[n + e..].copy_from_slice(&self.contexts[cell * n..][..n]);
    }

    /// Returns the state after the last step, `[rows, n]`.
    pub fn into_last_state(self) -> Buffer {
        Buffer::from_slice(&self.states[self.states.len() - self.size()..])
    }
}
