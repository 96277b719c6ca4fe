//! The decoder's loop: one step, written once for training and for search.
//!
//! ```text
//! c_t = Σ_j α_tj v_j                         s_{t-1} asks
//! s_t = GRU([E_y[y_{t-1}] ; c_t], s_{t-1})
//! ```

use super::super::Architecture;
use super::weights::Weights;
use crate::attention::fused::{Memory, Trace, TraceStep};
use crate::kernels::buffer::Buffer;
use crate::kernels::gru::fused::{Step, backward, forward};
use crate::kernels::matrix::Store;

/// The loop as far as it has gone. A "step" is one target unit of all rows.
pub struct Steps {
    n: usize,
    rows: usize,
    /// E_y[y_{t-1}]: `[steps × rows, e]`
    pub embedded: Buffer,
    /// The state before the first step and the one after each: `[(steps + 1) × rows, n]`
    states: Buffer,
    /// c: `[steps × rows, n]`
    pub contexts: Buffer,
    /// `[steps × rows, 3n]`: before a step the last words' share, see [`Step`]
    gates: Buffer,
    /// `[steps × rows, n]`, see [`Step`]
    candidates: Buffer,
    /// W_hh s of the step that is taken: `[rows, 3n]`
    state_gates: Buffer,
}

/// Derivatives that a step takes back.
pub struct StepDerivatives<'a> {
    /// By the state after it: `[rows, n]`; afterwards what the cell hands to the state before it without a product
    pub state: &'a mut [f32],
    /// By W_hh s: `[rows, 3n]`, written
    pub state_gates: &'a mut [f32],
    /// By the context: `[rows, n]`, added to
    pub context: &'a mut [f32],
}

impl Steps {
    /// Room for as many steps as there are embeddings of last words, `[steps × rows, e]`, with their share of the gates,
    /// `[steps × rows, 3n]`; `initial` writes the state that the first one begins with, `[rows, n]`.
    pub fn new(
        weights: &Weights,
        rows: usize,
        embedded: Buffer,
        gates: Buffer,
        initial: impl FnOnce(&mut [f32]),
    ) -> Self {
        let n = weights.architecture.hidden_size;
        let cells = gates.len() / (3 * n);
        let mut states = Buffer::any((cells + rows) * n);
        initial(&mut states[..rows * n]);
        Self {
            n,
            rows,
            embedded,
            states,
            contexts: Buffer::any(cells * n),
            gates,
            candidates: Buffer::any(cells * n),
            state_gates: Buffer::any(rows * 3 * n),
        }
    }

    /// Takes a step. `sentences` names the sentence of each row; `draws` is what attention leaves to chance.
    pub fn take(
        &mut self,
        weights: &Weights,
        memory: &Memory,
        trace: &mut Trace,
        step: usize,
        sentences: impl Iterator<Item = usize>,
        draws: Option<&[f32]>,
    ) {
        let (n, rows) = (self.n, self.rows);
        let (before, after) = self.states.split_at_mut((step + 1) * rows * n);
        let state = &before[step * rows * n..];
        let contexts = &mut self.contexts[step * rows * n..][..rows * n];
        let into = TraceStep { trace, step, contexts: &mut *contexts };
        weights.attention.attend(memory, sentences, state, draws, into);
        let gates = &mut self.gates[step * rows * 3 * n..][..rows * 3 * n];
        weights.context_gates.apply(gates, 3 * n, contexts, Store::Add);
        weights.state_gates.apply(&mut self.state_gates, 3 * n, state, Store::Replace);
        let candidate = &mut self.candidates[step * rows * n..][..rows * n];
        let bias = weights.get("decoder.cell.bias_hh");
        forward(Step { gates, candidate }, &self.state_gates, bias, state, &mut after[..rows * n]);
    }

    /// Takes a step back as far as the context and the state's gates; the gates' own derivatives take their place.
    pub fn take_back(&mut self, weights: &Weights, step: usize, d: StepDerivatives) {
        let (n, rows) = (self.n, self.rows);
        let before = &self.states[step * rows * n..][..rows * n];
        let gates = &mut self.gates[step * rows * 3 * n..][..rows * 3 * n];
        let candidate = &mut self.candidates[step * rows * n..][..rows * n];
        backward(Step { gates: &mut *gates, candidate }, before, d.state, d.state_gates, n);
        weights.context_gates.apply_back(d.context, gates, Store::Add);
    }

    /// The state before a step: `[rows, n]`.
    pub fn before(&self, step: usize) -> &[f32] {
        &self.states[step * self.rows * self.n..][..self.rows * self.n]
    }

    /// The states before all steps and after the last: `[(steps + 1) × rows, n]`.
    pub fn states(&self) -> &[f32] {
        &self.states
    }

    /// After the way back: derivatives by the words' and the contexts' gates, `[steps × rows, 3n]`.
    pub fn d_gates(&self) -> &[f32] {
        &self.gates
    }

    /// The readout's input for a row of a step, [s_t ; E_y ; c_t]: `[n + e + n]`.
    pub fn readout_input(&self, weights: &Weights, step: usize, row: usize, input: &mut [f32]) {
        let Architecture { embedding_size: e, hidden_size: n, .. } = *weights.architecture;
        let cell = step * self.rows + row;
        input[..n].copy_from_slice(&self.states[(cell + self.rows) * n..][..n]);
        input[n..n + e].copy_from_slice(&self.embedded[cell * e..][..e]);
        input[n + e..].copy_from_slice(&self.contexts[cell * n..][..n]);
    }

    /// The state after the last step, `[rows, n]`, when nothing else is wanted any more.
    pub fn into_last(self) -> Buffer {
        Buffer::copy_of(&self.states[self.states.len() - self.rows * self.n..])
    }
}
