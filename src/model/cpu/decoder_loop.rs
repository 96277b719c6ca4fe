//! The decoder's loop: one step forward, written once for training and for search, and one step back.
//!
//! ```text
//! in one cell (Bahdanau)          c_t = attention(s_{t-1})      s_t = GRU([E_y[y_{t-1}] ; c_t], s_{t-1})
//! in two (conditional)            u_t = GRU(E_y[y_{t-1}], s_{t-1})
//!                                 c_t = attention(u_t)          s_t = GRU'(c_t, u_t)
//! ```

use super::weights::{CellWeights, ContextInput, Weights};
use crate::attention::cpu::{Memory, Trace, TraceStep, WayBack};
use crate::kernels::buffer::Buffer;
use crate::kernels::cpu::gru::{Step, backward, forward};
use crate::kernels::matrix::{PackedWeight, Store};
use crate::model::Architecture;

/// The loop as far as it has gone. A "step" is one target unit of all rows.
pub struct Steps<'w> {
    weights: &'w Weights<'w>,
    rows: usize,
    /// E_y[y_{t-1}]: `[steps × rows, e]`
    pub embedded: Buffer,
    /// s: the state before the first step and the one after each, `[(steps + 1) × rows, n]`
    states: Buffer,
    /// c: `[steps × rows, n]`
    pub contexts: Buffer,
    /// The cell that takes in the word.
    pub word: CellSteps<'w>,
    /// The way of the context into the state.
    pub context: ContextSteps<'w>,
}

/// What each step leaves of the way by which the context enters the state.
pub enum ContextSteps<'w> {
    /// It has a share in the gates of the word's cell, by these weights.
    Gates(&'w PackedWeight),
    /// It has a cell of its own.
    Cell {
        /// u, the state between the cells: `[steps × rows, n]`
        between: Buffer,
        /// The cell.
        cell: CellSteps<'w>,
    },
}

/// What one recurrent cell leaves of each step.
pub struct CellSteps<'w> {
    weights: &'w CellWeights<'w>,
    /// `[steps × rows, 3n]`: before a step the inputs' share, see [`Step`]; after the way back the derivatives by it
    pub gates: Buffer,
    /// `[steps × rows, n]`, see [`Step`]
    candidates: Buffer,
    /// W_hh s of the step that is taken, `[rows, 3n]`; on the way back derivatives by those of all, `[steps × rows, 3n]`
    pub state_gates: Buffer,
}

impl<'w> CellSteps<'w> {
    /// Room for so many rows a step; the inputs' share of the gates of all steps is given.
    fn new(weights: &'w CellWeights<'w>, gates: Buffer, rows: usize) -> Self {
        let candidates = Buffer::any(gates.len() / 3);
        Self { weights, gates, candidates, state_gates: Buffer::any(rows * weights.bias_hh.len()) }
    }

    /// The gates of one step, of states of `size` numbers in all.
    fn gates(&mut self, step: usize, size: usize) -> &mut [f32] {
        &mut self.gates[step * 3 * size..][..3 * size]
    }

    /// One step from states `[rows, n]` to those after it.
    fn forward(&mut self, step: usize, before: &[f32], after: &mut [f32]) {
        let Self { weights, gates, candidates, state_gates } = self;
        let size = before.len();
        weights.state.apply(state_gates, weights.bias_hh.len(), before, Store::Replace);
        let gates = &mut gates[step * 3 * size..][..3 * size];
        let candidate = &mut candidates[step * size..][..size];
        forward(Step { gates, candidate }, state_gates, weights.bias_hh, before, after);
    }

    /// One step back as far as the gates: `d_state` is the derivative by the state after it, `[rows, n]`, and becomes
    /// what the state before it gets without a product.
    fn backward(&mut self, step: usize, before: &[f32], d_state: &mut [f32]) {
        let Self { weights, gates, candidates, state_gates } = self;
        let size = before.len();
        state_gates.make(gates.len());
        let gates = &mut gates[step * 3 * size..][..3 * size];
        let candidate = &mut candidates[step * size..][..size];
        let d_state_gates = &mut state_gates[step * 3 * size..][..3 * size];
        backward(Step { gates, candidate }, before, d_state, d_state_gates, weights.bias_hh.len() / 3);
    }

    /// Adds what the state before a step gets by way of the gates, after [`Self::backward`].
    fn add_by_gates(&self, step: usize, d_state: &mut [f32]) {
        let size = d_state.len();
        self.weights.state.apply_back(d_state, &self.state_gates[step * 3 * size..][..3 * size], Store::Add);
    }
}

impl<'w> Steps<'w> {
    /// Room for as many steps as there are embeddings of last words, `[steps × rows, e]`, with their share of the gates,
    /// `[steps × rows, 3n]`; `initial` writes the state that the first one begins with, `[rows, n]`.
    pub fn new(
        weights: &'w Weights<'w>,
        rows: usize,
        embedded: Buffer,
        gates: Buffer,
        initial: impl FnOnce(&mut [f32]),
    ) -> Self {
        let (states, size) = (gates.len() / 3, rows * weights.architecture.hidden_size);
        let context = match &weights.context {
            ContextInput::Gates(input) => ContextSteps::Gates(input),
            ContextInput::Cell(cell) => ContextSteps::Cell {
                between: Buffer::any(states),
                cell: CellSteps::new(cell, Buffer::any(gates.len()), rows),
            },
        };
        let mut steps = Self {
            weights,
            rows,
            embedded,
            states: Buffer::any(states + size),
            contexts: Buffer::any(states),
            word: CellSteps::new(&weights.word_cell, gates, rows),
            context,
        };
        initial(&mut steps.states[..size]);
        steps
    }

    /// Takes a step. `sentences` names the sentence of each row; `draws` is what attention leaves to chance.
    pub fn take(
        &mut self,
        memory: &Memory,
        trace: &mut Trace,
        step: usize,
        sentences: impl Iterator<Item = usize>,
        draws: Option<&[f32]>,
    ) {
        let (n, size) = (self.weights.architecture.hidden_size, self.size());
        let (before, after) = self.states.split_at_mut((step + 1) * size);
        let (before, after) = (&before[step * size..], &mut after[..size]);
        let contexts = &mut self.contexts[step * size..][..size];
        let into = TraceStep { trace, step, contexts: &mut *contexts };
        match &mut self.context {
            ContextSteps::Gates(input) => {
                self.weights.attention.attend(memory, sentences, before, draws, into);
                input.apply(self.word.gates(step, size), 3 * n, contexts, Store::Add);
                self.word.forward(step, before, after);
            }
            ContextSteps::Cell { between, cell } => {
                let between = &mut between[step * size..][..size];
                self.word.forward(step, before, between);
                self.weights.attention.attend(memory, sentences, between, draws, into);
                let bias = Store::Row(cell.weights.bias_ih);
                cell.weights.input.apply(cell.gates(step, size), 3 * n, contexts, bias);
                cell.forward(step, between, after);
            }
        }
    }

    /// Takes a step back: `d_state` is the derivative by the state after it, `[rows, n]`, and becomes the one by the state
    /// before it.
    pub fn take_back(&mut self, memory: &Memory, attention: &mut WayBack, step: usize, d_state: &mut [f32]) {
        let size = self.size();
        let before = &self.states[step * size..][..size];
        let weights = &self.weights.attention;
        match &mut self.context {
            ContextSteps::Gates(input) => {
                self.word.backward(step, before, d_state);
                let d_context = &mut attention.d_contexts[step * size..][..size];
                input.apply_back(d_context, self.word.gates(step, size), Store::Add);
                attention.step(weights, memory, step, before, d_state);
                self.word.add_by_gates(step, d_state);
            }
            ContextSteps::Cell { between, cell } => {
                let between = &between[step * size..][..size];
                cell.backward(step, between, d_state);
                let d_context = &mut attention.d_contexts[step * size..][..size];
                cell.weights.input.apply_back(d_context, cell.gates(step, size), Store::Add);
                attention.step(weights, memory, step, between, d_state);
                cell.add_by_gates(step, d_state);
                self.word.backward(step, before, d_state);
                self.word.add_by_gates(step, d_state);
            }
        }
    }

    /// How many numbers the states of a step have.
    fn size(&self) -> usize {
        self.rows * self.weights.architecture.hidden_size
    }

    /// The state that the first step begins with: `[rows, n]`.
    pub fn initial(&self) -> &[f32] {
        &self.states[..self.size()]
    }

    /// The states before all steps and after the last: `[(steps + 1) × rows, n]`.
    pub fn states(&self) -> &[f32] {
        &self.states
    }

    /// The states that asked: `[steps × rows, n]`, or more.
    pub fn asking(&self) -> &[f32] {
        match &self.context {
            ContextSteps::Gates(_) => &self.states,
            ContextSteps::Cell { between, .. } => between,
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
    pub fn into_last(self) -> Buffer {
        Buffer::copy_of(&self.states[self.states.len() - self.size()..])
    }
}
