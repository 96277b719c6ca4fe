//! The decoder's loop: one step forward, written once for training and for search, and one step back.
//!
//! ```text
//! in one cell (Bahdanau)          c_t = attention(s_{t-1})      s_t = GRU([E_y[y_{t-1}] ; c_t], s_{t-1})
//! in two (conditional)            u_t = GRU(E_y[y_{t-1}], s_{t-1})
//!                                 c_t = attention(u_t)          s_t = GRU'(c_t, u_t)
//! ```

use super::weights::{CellWeights, PackedContextInput, PackedModel};
use crate::attention::cpu::{BackwardPass, ForwardTape, RaggedMemory, TapeStep};
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::gru::{GruStep, gru_backward, gru_forward};
use crate::kernels::matrix::{PackedWeight, WriteMode};
use crate::model::Architecture;

/// The loop as far as it has gone. A "step" is one target unit of all rows.
pub struct DecoderLoop<'w> {
    weights: &'w PackedModel<'w>,
    rows: usize,
    /// E_y[y_{t-1}]: `[steps × rows, e]`
    pub embedded: Buffer,
    /// s: the state before the first step and the one after each, `[(steps + 1) × rows, n]`
    states: Buffer,
    /// c: `[steps × rows, n]`
    pub contexts: Buffer,
    /// The cell that takes in the word.
    pub word: CellTape<'w>,
    /// The way of the context into the state.
    pub context: ContextTape<'w>,
}

/// What each step leaves of the way by which the context enters the state.
pub enum ContextTape<'w> {
    /// It has a share in the gates of the word's cell, by these weights.
    Gates(&'w PackedWeight),
    /// It has a cell of its own.
    Cell {
        /// u, the state intermediate the cells: `[steps × rows, n]`
        intermediate: Buffer,
        /// The cell.
        cell: CellTape<'w>,
    },
}

/// What one recurrent cell leaves of each step.
pub struct CellTape<'w> {
    weights: &'w CellWeights<'w>,
    /// `[steps × rows, 3n]`: before a step the inputs' share, see [`GruStep`]; after the way back the derivatives by it
    pub gates: Buffer,
    /// `[steps × rows, n]`, see [`GruStep`]
    candidates: Buffer,
    /// W_hh s of the step that is taken, `[rows, 3n]`; on the way back derivatives by those of all, `[steps × rows, 3n]`
    pub state_gates: Buffer,
}

impl<'w> CellTape<'w> {
    /// Room for so many rows a step; the inputs' share of the gates of all steps is given.
    fn new(weights: &'w CellWeights<'w>, gates: Buffer, rows: usize) -> Self {
        let candidates = Buffer::scratch(gates.len() / 3);
        Self { weights, gates, candidates, state_gates: Buffer::scratch(rows * weights.bias_hh.len()) }
    }

    /// The gates of one step, of states of `size` numbers in all.
    fn gates(&mut self, step: usize, size: usize) -> &mut [f32] {
        &mut self.gates[step * 3 * size..][..3 * size]
    }

    /// One step from states `[rows, n]` to those after it.
    fn forward(&mut self, step: usize, before: &[f32], after: &mut [f32]) {
        let Self { weights, gates, candidates, state_gates } = self;
        let size = before.len();
        weights.state.forward(state_gates, weights.bias_hh.len(), before, WriteMode::Overwrite);
        let gates = &mut gates[step * 3 * size..][..3 * size];
        let candidate = &mut candidates[step * size..][..size];
        gru_forward(GruStep { gates, candidate }, state_gates, weights.bias_hh, before, after);
    }

    /// One step back as far as the gates: `d_state` is the derivative by the state after it, `[rows, n]`, and becomes
    /// what the state before it gets without a product.
    fn backward(&mut self, step: usize, before: &[f32], d_state: &mut [f32]) {
        let Self { weights, gates, candidates, state_gates } = self;
        let size = before.len();
        state_gates.resize_scratch(gates.len());
        let gates = &mut gates[step * 3 * size..][..3 * size];
        let candidate = &mut candidates[step * size..][..size];
        let d_state_gates = &mut state_gates[step * 3 * size..][..3 * size];
        gru_backward(GruStep { gates, candidate }, before, d_state, d_state_gates, weights.bias_hh.len() / 3);
    }

    /// Adds what the state before a step gets by way of the gates, after [`Self::backward`].
    fn add_state_grads(&self, step: usize, d_state: &mut [f32]) {
        let size = d_state.len();
        self.weights.state.backward(d_state, &self.state_gates[step * 3 * size..][..3 * size], WriteMode::Accumulate);
    }
}

impl<'w> DecoderLoop<'w> {
    /// Room for as many steps as there are embeddings of last words, `[steps × rows, e]`, with their share of the gates,
    /// `[steps × rows, 3n]`; `initial` writes the state that the first one begins with, `[rows, n]`.
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

    /// Takes a step. `sentences` names the sentence of each row; `draws` is what attention leaves to chance.
    pub fn forward_step(
        &mut self,
        memory: &RaggedMemory,
        tape: &mut ForwardTape,
        step: usize,
        sentences: impl Iterator<Item = usize>,
        draws: Option<&[f32]>,
    ) {
        let (n, size) = (self.weights.architecture.hidden_size, self.size());
        let (before, after) = self.states.split_at_mut((step + 1) * size);
        let (before, after) = (&before[step * size..], &mut after[..size]);
        let contexts = &mut self.contexts[step * size..][..size];
        let into = TapeStep { tape, step, contexts: &mut *contexts };
        match &mut self.context {
            ContextTape::Gates(input) => {
                self.weights.attention.attend(memory, sentences, before, draws, into);
                input.forward(self.word.gates(step, size), 3 * n, contexts, WriteMode::Accumulate);
                self.word.forward(step, before, after);
            }
            ContextTape::Cell { intermediate, cell } => {
                let intermediate = &mut intermediate[step * size..][..size];
                self.word.forward(step, before, intermediate);
                self.weights.attention.attend(memory, sentences, intermediate, draws, into);
                let bias = WriteMode::AddBias(cell.weights.bias_ih);
                cell.weights.input.forward(cell.gates(step, size), 3 * n, contexts, bias);
                cell.forward(step, intermediate, after);
            }
        }
    }

    /// Takes a step back: `d_state` is the derivative by the state after it, `[rows, n]`, and becomes the one by the state
    /// before it.
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

    /// How many numbers the states of a step have.
    fn size(&self) -> usize {
        self.rows * self.weights.architecture.hidden_size
    }

    /// The state that the first step begins with: `[rows, n]`.
    pub fn initial_state(&self) -> &[f32] {
        &self.states[..self.size()]
    }

    /// The states before all steps and after the last: `[(steps + 1) × rows, n]`.
    pub fn states(&self) -> &[f32] {
        &self.states
    }

    /// The states that asked: `[steps × rows, n]`, or more.
    pub fn queries(&self) -> &[f32] {
        match &self.context {
            ContextTape::Gates(_) => &self.states,
            ContextTape::Cell { intermediate, .. } => intermediate,
        }
    }

    /// The readout's input for a row of a step, [s_t ; E_y ; c_t]: `[n + e + n]`.
    pub fn readout_input(&self, step: usize, row: usize, input: &mut [f32]) {
        let Architecture { embedding_size: e, hidden_size: n, .. } = *self.weights.architecture;
        let cell = step * self.rows + row;
        input[..n].copy_from_slice(&self.states[(cell + self.rows) * n..][..n]);
        input[n..n + e].copy_from_slice(&self.embedded[cell * e..][..e]);
        input[n + e..].copy_from_slice(&self.contexts[cell * n..][..n]);
    }

    /// The state after the last step, `[rows, n]`, when nothing else is wanted any more.
    pub fn into_last_state(self) -> Buffer {
        Buffer::from_slice(&self.states[self.states.len() - self.size()..])
    }
}
