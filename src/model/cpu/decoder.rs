//! The decoder over one part of a batch, forward and backward.
//!
//! A [`DecoderPass`] carries the attention's own account of how far it has come: a trace on the way forward, guided,
//! then on the way back. Each is made from the one before, so that nothing can be done out of turn.

use candle_core::Result;

use super::decoder_loop::{CellSteps, ContextSteps, Steps};
use super::output_layer::{Decoded, HandedDown};
use super::shard::Part;
use super::weights::{ContextInput, Weights};
use crate::attention::cpu::{Guided, Memory, Passed, Trace, WayBack};
use crate::kernels::buffer::Buffer;
use crate::kernels::cpu::embedding::{gather, scatter};
use crate::kernels::matrix::{Matrix, Store, bias_gradient, weight_gradient};
use crate::kernels::simd::{add_scaled, tanh, vectorised};
use crate::model::architecture::{context_cell_part, word_cell_part};
use crate::model::{Dropout, InitialState, Place};
use crate::parameters::Gradients;

/// What the decoder leaves of one part.
pub struct DecoderPass<'w, Attention> {
    /// The word before each unit, step by step.
    previous: Vec<u32>,
    memory: Memory,
    /// What s_0 is made from: `[rows, n]`, or `[rows, n/2]`
    summary: Buffer,
    /// The loop.
    pub steps: Steps<'w>,
    attention: Attention,
}

/// A decoder that has gone back, with what the gradients of its parameters are made from.
pub struct DecoderBack<'w> {
    pass: DecoderPass<'w, WayBack>,
    /// By the embeddings: `[steps × rows, e]`
    d_embedded: Buffer,
    /// By W_init m + b: `[rows, n]`
    d_initial: Buffer,
}

impl<'w> DecoderPass<'w, Trace> {
    /// Runs the loop over annotations `[cells, n]`, row by row.
    pub fn forward(weights: &'w Weights<'w>, part: &Part, dropout: &Dropout, annotations: Buffer) -> Self {
        let e = weights.architecture.embedding_size;
        let previous = part.previous_ids();
        let mut embedded = Buffer::any(previous.len() * e);
        gather(&mut embedded, weights.get("target_embedding.weight"), &previous, e);
        part.drop_of_target(&mut embedded, dropout.mask(Place::Target), e);
        let gates = weights.gates_of_units(&previous, &embedded);
        let memory = weights.attention.remember(annotations, part.source.row_starts());
        let summary = summary(weights, part, memory.annotations());
        let rows = part.size();
        let mut steps = Steps::new(weights, rows, embedded, gates, |state| initial_state(weights, &summary, state));
        let mut attention = Trace::new(&weights.attention, &memory, rows, part.target_length);
        for step in 0..part.target_length {
            let draws = part.draws(dropout.choices(), step, weights.attention.draws(1));
            steps.take(&memory, &mut attention, step, 0..rows, draws.as_deref());
        }
        Self { previous, memory, summary, steps, attention }
    }

    /// What the output layer needs of it.
    pub fn decoded(&self) -> Decoded<'_> {
        Decoded { steps: &self.steps, trace: &self.attention }
    }

    /// α as it is reported, of each row: a row of weights for each of its target units.
    pub fn shown(&self, weights: &Weights, part: &Part) -> Vec<Vec<Vec<f32>>> {
        let mut shown = vec![Vec::new(); part.size()];
        for position in &part.positions {
            let length = part.source.length(position.row);
            shown[position.row].push(self.attention.shown(&weights.attention, position.step, position.row, length));
        }
        shown
    }

    /// Hears the part's guides: −Σ w log α over their looks, of which `scale` times the derivatives are kept.
    pub fn guided(self, part: &Part, scale: f32) -> (DecoderPass<'w, Guided>, f64) {
        let Self { previous, memory, summary, steps, attention } = self;
        let (attention, loss) = attention.guided(&memory, |row| part.guide(row), scale);
        (DecoderPass { previous, memory, summary, steps, attention }, loss)
    }
}

impl<'w> DecoderPass<'w, Guided> {
    /// What the output layer needs of it.
    pub fn decoded(&self) -> Decoded<'_> {
        Decoded { steps: &self.steps, trace: self.attention.trace() }
    }

    /// Takes what the output layer hands down back to the annotations; returns the derivatives by them, `[cells, n]`.
    pub fn backward(
        self,
        weights: &Weights,
        part: &Part,
        dropout: &Dropout,
        by: HandedDown,
    ) -> (DecoderBack<'w>, Buffer) {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let rows = part.size();
        let HandedDown { mut d_states, d_contexts, mut d_embedded, d_alphas } = by;
        let Self { previous, memory, summary, mut steps, mut attention } = self;
        if let Some(d_alphas) = d_alphas {
            attention.hear(&memory, &d_alphas);
        }
        let mut attention = attention.back(&weights.attention, &memory, d_contexts);
        // By the state that a step begins with, of which the last step's has no more to say.
        let mut carried = Buffer::zeros(rows * n);
        for step in (0..part.target_length).rev() {
            let d_state = &mut d_states[step * rows * n..][..rows * n];
            vectorised(
                #[inline(always)]
                || add_scaled(d_state, 1.0, &carried),
            );
            carried.copy_from_slice(d_state);
            steps.take_back(&memory, &mut attention, step, &mut carried);
        }
        weights.word_cell.input.apply_back(&mut d_embedded, &steps.word.gates, Store::Add);
        part.drop_of_target(&mut d_embedded, dropout.mask(Place::Target), e);
        let mut d_annotations = attention.annotations(&weights.attention, &memory);
        let pass = DecoderPass { previous, memory, summary, steps, attention };
        let d_initial = pass.initial_back(weights, part, carried, &mut d_annotations);
        (DecoderBack { pass, d_embedded, d_initial }, d_annotations)
    }
}

impl DecoderPass<'_, WayBack> {
    /// Takes the derivative by s_0 = tanh(W_init m + b) to the annotations that m was made from; returns the one by
    /// W_init m + b, `[rows, n]`.
    fn initial_back(&self, weights: &Weights, part: &Part, mut d_state: Buffer, d_annotations: &mut [f32]) -> Buffer {
        let n = weights.architecture.hidden_size;
        d_state.iter_mut().zip(self.steps.initial()).for_each(|(d_state, state)| *d_state *= 1.0 - state * state);
        let mut d_summary = Buffer::any(self.summary.len());
        weights.initial.apply_back(&mut d_summary, &d_state, Store::Replace);
        let width = weights.architecture.summary_size();
        for (row, d_summary) in d_summary.chunks_exact(width).enumerate() {
            for (position, share) in summary_shares(weights, part, row) {
                let d_annotation = &mut d_annotations[(part.source.row(row).start + position) * n..][..n];
                add_scaled(&mut d_annotation[n - width..], share, d_summary);
            }
        }
        d_state
    }
}

impl<'w> DecoderBack<'w> {
    /// The gradients of the decoder's parameters but those of the output, when all parts have gone back. The target
    /// embedding's is added to, the others are written over.
    pub fn gradients(parts: &[Self], weights: &Weights, gradients: &mut Gradients) -> Result<()> {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let embedded: Vec<_> = parts.iter().map(|part| (&*part.pass.previous, &*part.d_embedded)).collect();
        gradients.fill("target_embedding.weight", |values| scatter(values, e, &embedded))?;
        let passed: Vec<Passed> = parts.iter().map(Self::passed).collect();
        WayBack::gradients(&passed, &weights.attention, gradients)?;

        Self::cell_gradients(parts, weights, gradients)?;
        let width = weights.architecture.summary_size();
        let initial = factors(parts, n, |part| &part.d_initial, width, |part| &part.pass.summary);
        gradients.fill("decoder.initial.weight", |out| weight_gradient(out, width, &initial, Store::Replace))?;
        gradients.fill("decoder.initial.bias", |out| bias_gradient(out, &all(parts, |part| &part.d_initial)))
    }

    /// The gradients of the cells.
    fn cell_gradients(parts: &[Self], weights: &Weights, gradients: &mut Gradients) -> Result<()> {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let embedded = factors(parts, 3 * n, |part| &part.pass.steps.word.gates, e, |part| &part.pass.steps.embedded);
        let d_context = |part| &*Self::context_cell(part).gates;
        let contexts = factors(parts, 3 * n, d_context, n, |part| &part.pass.steps.contexts);
        match weights.context {
            ContextInput::Gates(_) => gradients.fill(&word_cell_part("weight_ih"), |out| {
                weight_gradient(out, e + n, &embedded, Store::Replace);
                weight_gradient(&mut out[e..], e + n, &contexts, Store::Replace);
            })?,
            ContextInput::Cell(_) => {
                let mut write = |name: &str, width, factors: &[_]| {
                    gradients.fill(name, |out| weight_gradient(out, width, factors, Store::Replace))
                };
                write(&word_cell_part("weight_ih"), e, &embedded)?;
                write(&context_cell_part("weight_ih"), n, &contexts)?;
                state_gradients(
                    parts,
                    n,
                    Self::context_cell,
                    |part| part.pass.steps.asking(),
                    context_cell_part,
                    gradients,
                )?;
            }
        }
        state_gradients(
            parts,
            n,
            |part| &part.pass.steps.word,
            |part| part.pass.steps.states(),
            word_cell_part,
            gradients,
        )
    }

    /// The cell that takes in the context, which is the word's where there is no other.
    fn context_cell(&self) -> &CellSteps<'w> {
        match &self.pass.steps.context {
            ContextSteps::Gates(_) => &self.pass.steps.word,
            ContextSteps::Cell { cell, .. } => cell,
        }
    }

    fn passed(&self) -> Passed<'_> {
        Passed { back: &self.pass.attention, memory: &self.pass.memory, states: self.pass.steps.asking() }
    }
}

/// The gradients of a cell of state size n but that of W_ih; `before` gives the states that its steps begin with.
fn state_gradients<'p, 'w: 'p>(
    parts: &'p [DecoderBack<'w>],
    n: usize,
    cell: impl Fn(&'p DecoderBack<'w>) -> &'p CellSteps<'w>,
    before: impl Fn(&'p DecoderBack<'w>) -> &'p [f32],
    name: fn(&str) -> String,
    gradients: &mut Gradients,
) -> Result<()> {
    let states = factors(parts, 3 * n, |part| &cell(part).state_gates, n, before);
    gradients.fill(&name("weight_hh"), |out| weight_gradient(out, n, &states, Store::Replace))?;
    gradients.fill(&name("bias_hh"), |out| bias_gradient(out, &all(parts, |part| &cell(part).state_gates)))?;
    gradients.fill(&name("bias_ih"), |out| bias_gradient(out, &all(parts, |part| &cell(part).gates)))
}

/// Some numbers of all parts.
fn all<'p, 'w: 'p>(parts: &'p [DecoderBack<'w>], of: impl Fn(&'p DecoderBack<'w>) -> &'p [f32]) -> Vec<&'p [f32]> {
    parts.iter().map(of).collect()
}

/// For each part, derivatives by the rows of y = x Wᵀ with the rows x.
fn factors<'p, 'w: 'p>(
    parts: &'p [DecoderBack<'w>],
    d_width: usize,
    d_y: impl Fn(&'p DecoderBack<'w>) -> &'p [f32],
    width: usize,
    x: impl Fn(&'p DecoderBack<'w>) -> &'p [f32],
) -> Vec<(Matrix<'p>, Matrix<'p>)> {
    let factor = |part| {
        let d_y = Matrix::rows_of(d_y(part), d_width);
        (d_y, Matrix::new(x(part), d_y.row_count(), width))
    };
    parts.iter().map(factor).collect()
}

/// s_0 of a part: `[rows, n]`.
pub fn first_state(weights: &Weights, part: &Part, annotations: &[f32]) -> Buffer {
    let mut state = Buffer::any(part.size() * weights.architecture.hidden_size);
    initial_state(weights, &summary(weights, part, annotations), &mut state);
    state
}

/// The positions whose annotations make the first state, each with its share.
fn summary_shares(weights: &Weights, part: &Part, row: usize) -> impl Iterator<Item = (usize, f32)> + use<> {
    let count = match weights.architecture.initial_state {
        InitialState::Mean => part.source.length(row),
        InitialState::BackwardFirst => 1,
    };
    (0..count).map(move |position| (position, 1.0 / count as f32))
}

/// m: the annotations' mean, `[rows, n]`, or the backward direction's half of the first one, `[rows, n/2]`.
fn summary(weights: &Weights, part: &Part, annotations: &[f32]) -> Buffer {
    let (n, width) = (weights.architecture.hidden_size, weights.architecture.summary_size());
    let mut summary = Buffer::zeros(part.size() * width);
    for (row, sum) in summary.chunks_exact_mut(width).enumerate() {
        for (position, share) in summary_shares(weights, part, row) {
            let annotation = &annotations[(part.source.row(row).start + position) * n..][..n];
            add_scaled(sum, share, &annotation[n - width..]);
        }
    }
    summary
}

/// s_0 = tanh(W_init m + b)
fn initial_state(weights: &Weights, summary: &[f32], state: &mut [f32]) {
    let n = weights.architecture.hidden_size;
    weights.initial.apply(state, n, summary, Store::Row(weights.get("decoder.initial.bias")));
    vectorised(
        #[inline(always)]
        || state.iter_mut().for_each(|value| *value = tanh(*value)),
    );
}
