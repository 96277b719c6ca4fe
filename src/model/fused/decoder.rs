//! The decoder's loop over one part of a batch, forward and backward.

use candle_core::Result;

use super::super::{Dropout, Gradients, InitialState, Place};
use super::output::ByOutput;
use super::part::Part;
use super::products::{bias_gradient, gather, scatter, weight_gradient};
use super::weights::Weights;
use crate::kernels::attention::fused::Keys;
use crate::kernels::buffer::Buffer;
use crate::kernels::gru::fused::{Step, backward, forward};
use crate::kernels::matrix::{Into, Matrix, multiply};
use crate::kernels::simd::{add_scaled, tanh, vectorised};

/// What the forward pass leaves behind, and later the backward pass. A "step" below is one of `target length`.
pub struct DecoderPass {
    sizes: Sizes,
    /// The word before each unit, step by step.
    previous: Vec<u32>,
    /// Its embedding: `[steps × rows, e]`
    pub embedded: Buffer,
    /// W_k h: `[cells, a]`, row by row
    keys: Buffer,
    /// What s_0 is made from: `[rows, n]`, or `[rows, n/2]`
    summary: Buffer,
    /// s_0 and the state after each step: `[(steps + 1) × rows, n]`
    states: Buffer,
    /// W_q s_{t-1}: `[steps × rows, a]`
    queries: Buffer,
    /// α: `[steps × rows, source length]`
    weights: Buffer,
    /// c: `[steps × rows, n]`
    pub contexts: Buffer,
    /// `[steps × rows, 3n]`, see [`Step`]; after the backward pass the derivatives by the input gates
    gates: Buffer,
    /// `[steps × rows, n]`
    candidates: Buffer,
    by: Derivatives,
}

/// What the backward pass leaves for the weights' gradients.
#[derive(Default)]
struct Derivatives {
    /// By W_q s: `[steps × rows, a]`
    queries: Buffer,
    /// By W_hh s: `[steps × rows, 3n]`
    state_gates: Buffer,
    /// By the energies, `[steps × rows, source length]`: at first what the guides say of them
    energies: Buffer,
    /// By the keys, shaped as they are
    keys: Buffer,
    /// By v: `[a]`
    energy: Buffer,
    /// By the embeddings: `[steps × rows, e]`
    embedded: Buffer,
    /// By W_init m + b: `[rows, n]`
    initial: Buffer,
}

/// Weights below this are taken for it in a guide's logarithm.
pub const LEAST_WEIGHT: f32 = 1e-10;

#[derive(Clone, Copy)]
struct Sizes {
    a: usize,
    e: usize,
    n: usize,
    /// Rows of a step.
    rows: usize,
    /// Target length.
    steps: usize,
    /// The longest source's length.
    length: usize,
}

impl DecoderPass {
    /// Runs the loop over annotations `[cells, n]`, row by row.
    pub fn forward(weights: &Weights, part: &Part, dropout: &Dropout, annotations: &[f32]) -> Self {
        let model = weights.architecture;
        let sizes = Sizes {
            a: model.attention_size,
            e: model.embedding_size,
            n: model.hidden_size,
            rows: part.size(),
            steps: part.target_length,
            length: part.source.steps(),
        };
        let Sizes { a, e, n, rows, steps, length } = sizes;
        let previous = part.previous_ids();
        let mut embedded = Buffer::any(previous.len() * e);
        gather(&mut embedded, weights.get("target_embedding.weight"), &previous, e);
        part.drop_of_target(&mut embedded, dropout.mask(Place::Target), e);
        let mut gates = Buffer::any(steps * rows * 3 * n);
        weights.embedding_gates.apply(&mut gates, 3 * n, &embedded, Into::Row(weights.get("decoder.cell.bias_ih")));
        let summary = summary(weights, part, annotations);
        let mut states = Buffer::any((steps + 1) * rows * n);
        initial_state(weights, &summary, &mut states[..rows * n]);
        let mut pass = Self {
            sizes,
            previous,
            embedded,
            keys: keys(weights, annotations),
            summary,
            states,
            queries: Buffer::any(steps * rows * a),
            weights: Buffer::any(steps * rows * length),
            contexts: Buffer::any(steps * rows * n),
            gates,
            candidates: Buffer::any(steps * rows * n),
            by: Derivatives::default(),
        };
        let mut state_gates = Buffer::any(rows * 3 * n);
        for step in 0..steps {
            pass.step(part, weights, annotations, step, &mut state_gates);
        }
        pass
    }

    fn step(&mut self, part: &Part, weights: &Weights, annotations: &[f32], step: usize, state_gates: &mut [f32]) {
        let Sizes { a, n, rows, length, .. } = self.sizes;
        let (before, after) = self.states.split_at_mut((step + 1) * rows * n);
        let state = &before[step * rows * n..];
        let queries = &mut self.queries[step * rows * a..][..rows * a];
        weights.query.apply(queries, a, state, Into::Replace);
        let contexts = &mut self.contexts[step * rows * n..][..rows * n];
        let shares = &mut self.weights[step * rows * length..][..rows * length];
        memory(&self.keys, annotations, weights, part).attend(0..rows, queries, shares, contexts);
        let gates = &mut self.gates[step * rows * 3 * n..][..rows * 3 * n];
        weights.context_gates.apply(gates, 3 * n, contexts, Into::Add);
        let candidate = &mut self.candidates[step * rows * n..][..rows * n];
        weights.state_gates.apply(state_gates, 3 * n, state, Into::Replace);
        let bias = weights.get("decoder.cell.bias_hh");
        forward(Step { gates, candidate }, state_gates, bias, state, &mut after[..rows * n]);
    }

    /// The state after each step: `[steps × rows, n]`.
    pub fn states_after(&self) -> &[f32] {
        &self.states[self.sizes.rows * self.sizes.n..]
    }

    /// α of one row at one step, over its real source units.
    pub fn attention(&self, part: &Part, step: usize, row: usize) -> &[f32] {
        &self.weights[(step * self.sizes.rows + row) * self.sizes.length..][..part.source.length(row)]
    }

    /// −Σ w log α over the looks w of the part's guides; `scale` times its derivatives by the energies are kept for the
    /// way back: with W the sum of a step's looks, de_j = W α_j − w_j.
    pub fn guide(&mut self, part: &Part, scale: f32) -> f64 {
        let Sizes { rows, steps, length, .. } = self.sizes;
        self.by.energies = Buffer::zeros(steps * rows * length);
        let mut loss = 0.0;
        for row in 0..rows {
            for look in part.guide(row) {
                let cell = (look.target as usize * rows + row) * length;
                let weights = &self.weights[cell..][..part.source.length(row)];
                loss -= f64::from(look.weight) * f64::from(weights[look.source as usize].max(LEAST_WEIGHT).ln());
                let by_energies = &mut self.by.energies[cell..][..weights.len()];
                add_scaled(by_energies, look.weight * scale, weights);
                by_energies[look.source as usize] -= look.weight * scale;
            }
        }
        loss
    }

    /// Takes derivatives by states, contexts and embeddings back to the annotations, after [`Self::guide`]; returns
    /// those by the annotations, `[cells, n]`.
    pub fn backward(
        &mut self,
        weights: &Weights,
        part: &Part,
        dropout: &Dropout,
        annotations: &[f32],
        mut by: ByOutput,
    ) -> Buffer {
        let Sizes { a, e, n, rows, steps, .. } = self.sizes;
        self.by.queries = Buffer::any(steps * rows * a);
        self.by.state_gates = Buffer::any(steps * rows * 3 * n);
        self.by.keys = Buffer::zeros(self.keys.len());
        self.by.energy = Buffer::zeros(a);
        let mut carried = Buffer::zeros(rows * n);
        for step in (0..steps).rev() {
            self.step_back(weights, part, annotations, step, &mut by, &mut carried);
        }
        weights.embedding_gates.apply_back(&mut by.embedded, &self.gates, Into::Add);
        part.drop_of_target(&mut by.embedded, dropout.mask(Place::Target), e);
        self.by.embedded = by.embedded;
        let mut by_annotations = self.by_attended(part, &by.contexts);
        weights.key.apply_back(&mut by_annotations, &self.by.keys, Into::Add);
        self.initial_back(weights, part, carried, &mut by_annotations);
        by_annotations
    }

    /// Takes one step back: `carried` holds the derivative by the state after it that later steps give, and then the
    /// one by the state before it.
    fn step_back(
        &mut self,
        weights: &Weights,
        part: &Part,
        annotations: &[f32],
        step: usize,
        by: &mut ByOutput,
        carried: &mut [f32],
    ) {
        let Sizes { a, n, rows, length, .. } = self.sizes;
        let by_state = &mut by.states[step * rows * n..][..rows * n];
        vectorised(
            #[inline(always)]
            || add_scaled(by_state, 1.0, carried),
        );
        let gates = &mut self.gates[step * rows * 3 * n..][..rows * 3 * n];
        let candidate = &mut self.candidates[step * rows * n..][..rows * n];
        let before = &self.states[step * rows * n..][..rows * n];
        let by_state_gates = &mut self.by.state_gates[step * rows * 3 * n..][..rows * 3 * n];
        backward(Step { gates: &mut *gates, candidate }, before, by_state, by_state_gates, n);
        let by_context = &mut by.contexts[step * rows * n..][..rows * n];
        weights.context_gates.apply_back(by_context, gates, Into::Add);
        let by_queries = &mut self.by.queries[step * rows * a..][..rows * a];
        memory(&self.keys, annotations, weights, part).backward(
            &self.queries[step * rows * a..][..rows * a],
            &self.weights[step * rows * length..][..rows * length],
            by_context,
            &mut self.by.keys,
            &mut self.by.energy,
            by_queries,
            &mut self.by.energies[step * rows * length..][..rows * length],
        );
        carried.copy_from_slice(by_state);
        weights.query.apply_back(carried, by_queries, Into::Add);
        weights.state_gates.apply_back(carried, by_state_gates, Into::Add);
    }

    /// dh_j = Σ_t α_tj dc_t: `[cells, n]`.
    fn by_attended(&self, part: &Part, by_contexts: &[f32]) -> Buffer {
        let Sizes { n, rows, steps, length, .. } = self.sizes;
        let mut by_annotations = Buffer::any(part.source.cells() * n);
        for row in 0..rows {
            let cells = part.source.row(row);
            let out = &mut by_annotations[cells.start * n..cells.end * n];
            let shares = Matrix::strided(&self.weights[row * length..], steps, part.source.length(row), rows * length);
            let by_contexts = Matrix::strided(&by_contexts[row * n..], steps, n, rows * n);
            multiply(out, n, shares.t(), by_contexts, Into::Replace);
        }
        by_annotations
    }

    /// Takes the derivative by s_0 = tanh(W_init m + b) to the annotations that m was made from.
    fn initial_back(&mut self, weights: &Weights, part: &Part, mut by_state: Buffer, by_annotations: &mut [f32]) {
        let Sizes { n, rows, .. } = self.sizes;
        by_state.iter_mut().zip(&*self.states).for_each(|(by_state, state)| *by_state *= 1.0 - state * state);
        let mut by_summary = Buffer::any(self.summary.len());
        weights.initial.apply_back(&mut by_summary, &by_state, Into::Replace);
        let width = self.summary.len() / rows;
        for (row, by_summary) in by_summary.chunks_exact(width).enumerate() {
            for (position, share) in summary_shares(weights, part, row) {
                let annotation = &mut by_annotations[(part.source.row(row).start + position) * n..][..n];
                add_scaled(&mut annotation[n - width..], share, by_summary);
            }
        }
        self.by.initial = by_state;
    }

    /// The gradients of the decoder's parameters but those of the output, when all parts have gone back. `passes` come
    /// with their annotations. The target embedding's is added to, the others are written over.
    pub fn gradients(passes: &[(&Self, &[f32])], gradients: &mut Gradients) -> Result<()> {
        let Sizes { a, e, n, .. } = passes[0].0.sizes;
        let all = |of: fn(&Self) -> &[f32]| -> Vec<&[f32]> { passes.iter().map(|(pass, _)| of(pass)).collect() };
        let factors = |by: fn(&Self) -> &[f32], by_width: usize, x: fn(&Self) -> &[f32], width: usize| -> Vec<_> {
            let factor = |(by, x)| {
                let by = Matrix::rows_of(by, by_width);
                (by, Matrix::new(x, by.row_count(), width))
            };
            all(by).into_iter().zip(all(x)).map(factor).collect()
        };
        let embedded: Vec<_> = passes.iter().map(|(pass, _)| (&*pass.previous, &*pass.by.embedded)).collect();
        gradients.fill("target_embedding.weight", |values| scatter(values, e, &embedded))?;

        let queries = factors(|pass| &pass.by.queries, a, |pass| &pass.states, n);
        gradients.fill("attention.query.weight", |out| weight_gradient(out, n, &queries, Into::Replace))?;
        let keys: Vec<_> = passes
            .iter()
            .map(|(pass, annotations)| (Matrix::rows_of(&pass.by.keys, a), Matrix::rows_of(annotations, n)))
            .collect();
        gradients.fill("attention.key.weight", |out| weight_gradient(out, n, &keys, Into::Replace))?;
        gradients.fill("attention.energy.weight", |out| bias_gradient(out, &all(|pass| &pass.by.energy)))?;

        let states = factors(|pass| &pass.by.state_gates, 3 * n, |pass| &pass.states, n);
        gradients.fill("decoder.cell.weight_hh", |out| weight_gradient(out, n, &states, Into::Replace))?;
        gradients.fill("decoder.cell.bias_hh", |out| bias_gradient(out, &all(|pass| &pass.by.state_gates)))?;
        let embedded = factors(|pass| &pass.gates, 3 * n, |pass| &pass.embedded, e);
        let contexts = factors(|pass| &pass.gates, 3 * n, |pass| &pass.contexts, n);
        gradients.fill("decoder.cell.weight_ih", |out| {
            weight_gradient(out, e + n, &embedded, Into::Replace);
            weight_gradient(&mut out[e..], e + n, &contexts, Into::Replace);
        })?;
        gradients.fill("decoder.cell.bias_ih", |out| bias_gradient(out, &all(|pass| &pass.gates)))?;

        let width = passes[0].0.summary.len() / passes[0].0.sizes.rows;
        let initial = factors(|pass| &pass.by.initial, n, |pass| &pass.summary, width);
        gradients.fill("decoder.initial.weight", |out| weight_gradient(out, width, &initial, Into::Replace))?;
        gradients.fill("decoder.initial.bias", |out| bias_gradient(out, &all(|pass| &pass.by.initial)))
    }
}

/// W_k h: annotations `[cells, n]` to keys `[cells, a]`.
pub fn keys(weights: &Weights, annotations: &[f32]) -> Buffer {
    let (a, n) = (weights.architecture.attention_size, weights.architecture.hidden_size);
    let mut keys = Buffer::any(annotations.len() / n * a);
    weights.key.apply(&mut keys, a, annotations, Into::Replace);
    keys
}

/// s_0 of a part: `[rows, n]`.
pub fn first_state(weights: &Weights, part: &Part, annotations: &[f32]) -> Buffer {
    let mut state = Buffer::any(part.size() * weights.architecture.hidden_size);
    initial_state(weights, &summary(weights, part, annotations), &mut state);
    state
}

fn memory<'k>(keys: &'k [f32], annotations: &'k [f32], weights: &Weights<'k>, part: &'k Part) -> Keys<'k> {
    let energy = weights.get("attention.energy.weight");
    Keys { keys, annotations, energy, starts: part.source.row_starts(), longest: part.source.steps() }
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
    let n = weights.architecture.hidden_size;
    let width = match weights.architecture.initial_state {
        InitialState::Mean => n,
        InitialState::BackwardFirst => n / 2,
    };
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
    weights.initial.apply(state, n, summary, Into::Row(weights.get("decoder.initial.bias")));
    vectorised(
        #[inline(always)]
        || state.iter_mut().for_each(|value| *value = tanh(*value)),
    );
}
