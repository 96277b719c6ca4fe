//! Decoder over one shard of a batch, forward and backward.
//!
//! [`DecoderPass`] is generic over the attention's typestate: forward tape, guided tape, backward pass.

use std::ops::Range;

use candle_core::Result;

use super::cell::CellBackward;
use super::decoder_loop::{DecoderLoop, DecoderOutput};
use super::output_layer::OutputGrads;
use super::shard::Shard;
use super::weights::PackedModel;
use crate::attention::cpu::{BackwardPass, ForwardTape, GradientInputs, GuidedTape, RaggedMemory};
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::embedding::{RowGrads, gather_backward, gather_forward};
use crate::kernels::matrix::{MatrixView, WeightFactors, WriteMode, add_row_sums, bias_gradient, weight_gradient};
use crate::kernels::simd::{add_scaled, tanh, vectorized};
use crate::model::architecture::{context_cell_param, word_cell_param};
use crate::model::{Dropout, DropoutSite, InitialState};
use crate::parameters::Gradients;

/// Decoder over one shard, in one of attention's typestates.
pub struct DecoderPass<'w, Attention> {
    /// y_{t-1} of each target position, step by step.
    previous: Vec<u32>,
    memory: RaggedMemory,
    /// m, the summary of s_0 = tanh(W_init m + b): `[rows, n]`, or `[rows, n/2]`
    summary: Buffer,
    /// States of all steps.
    steps: DecoderLoop<'w>,
    attention: Attention,
}

/// Finished backward pass of one shard, with the inputs of the parameter gradients.
pub struct DecoderBackward<'w> {
    pass: DecoderPass<'w, BackwardPass>,
    /// With respect to the embeddings: `[steps × rows, e]`
    d_embedded: Buffer,
    /// With respect to W_init m + b: `[rows, n]`
    d_initial: Buffer,
}

impl<'w> DecoderPass<'w, ForwardTape> {
    /// Forward pass over annotations `[positions, n]`, row by row.
    pub fn forward(weights: &'w PackedModel<'w>, shard: &Shard, dropout: &Dropout, annotations: Buffer) -> Self {
        let e = weights.architecture.embedding_size;
        let previous = shard.previous_ids();
        let mut embedded = Buffer::scratch(previous.len() * e);
        gather_forward(&mut embedded, weights.get("target_embedding.weight"), &previous, e);
        shard.apply_target_dropout(&mut embedded, dropout.mask(DropoutSite::Target), e);
        let gates = weights.input_gates(&previous, &embedded);
        let memory = weights.attention.project_memory(annotations, shard.source.row_starts());
        let summary = summary(weights, shard, memory.annotations());
        let rows = shard.size();
        let mut steps =
            DecoderLoop::new(weights, rows, embedded, gates, |state| initial_state(weights, &summary, state));
        let mut attention = ForwardTape::new(&weights.attention, &memory, rows, shard.target_length);
        for step in 0..shard.target_length {
            let draws = shard.draws(dropout.selection_draws(), step, weights.attention.draw_count(1));
            steps.forward_step(&memory, &mut attention, step, 0..rows, draws.as_deref().into());
        }
        Self { previous, memory, summary, steps, attention }
    }

    /// Returns the inputs of the output layer.
    pub fn output(&self) -> DecoderOutput<'_> {
        DecoderOutput { steps: &self.steps, tape: &self.attention, memory: &self.memory }
    }

    /// Reported α of each row: one row of weights per target token.
    pub fn reported(&self, weights: &PackedModel, shard: &Shard) -> Vec<Vec<Vec<f32>>> {
        let mut reported = vec![Vec::new(); shard.size()];
        for position in &shard.positions {
            let length = shard.source.length(position.row);
            let alphas = self.attention.reported(&weights.attention, position.step, position.row, length);
            reported[position.row].push(alphas);
        }
        reported
    }

    /// Computes the guided alignment loss −Σ w log α of the shard and `scale` times its gradient.
    pub fn guided(self, shard: &Shard, scale: f32) -> (DecoderPass<'w, GuidedTape>, f64) {
        let Self { previous, memory, summary, steps, attention } = self;
        let (attention, loss) = attention.guided(&memory, |row| shard.guide(row), scale);
        (DecoderPass { previous, memory, summary, steps, attention }, loss)
    }
}

impl<'w> DecoderPass<'w, GuidedTape> {
    /// Returns the inputs of the output layer.
    pub fn output(&self) -> DecoderOutput<'_> {
        DecoderOutput { steps: &self.steps, tape: self.attention.tape(), memory: &self.memory }
    }

    /// Backward pass from the output layer's derivatives; returns those with respect to the annotations, `[positions, n]`.
    pub fn backward(
        self,
        weights: &PackedModel,
        shard: &Shard,
        dropout: &Dropout,
        grads: OutputGrads,
    ) -> (DecoderBackward<'w>, Buffer) {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let rows = shard.size();
        let OutputGrads { mut d_states, d_contexts, mut d_embedded, d_alphas, d_annotations: by_output } = grads;
        let Self { previous, memory, summary, mut steps, mut attention } = self;
        if let Some(d_alphas) = d_alphas {
            attention.add_alpha_grads(&memory, &d_alphas);
        }
        let mut attention = attention.into_backward(&weights.attention, &memory, d_contexts);
        // With respect to the state before the step that follows; nothing follows the last one.
        let mut carried = Buffer::zeros(rows * n);
        for step in (0..shard.target_length).rev() {
            let d_state = &mut d_states[step * rows * n..][..rows * n];
            add_row_sums(d_state, &carried);
            carried.copy_from_slice(d_state);
            steps.backward_step(&memory, &mut attention, step, &mut carried);
        }
        steps.add_embedding_grads(&mut d_embedded);
        shard.apply_target_dropout(&mut d_embedded, dropout.mask(DropoutSite::Target), e);
        let mut d_annotations = attention.finish(&weights.attention, &memory);
        if let Some(by_output) = by_output {
            add_scaled(&mut d_annotations, 1.0, &by_output);
        }
        let pass = DecoderPass { previous, memory, summary, steps, attention };
        let d_initial = pass.initial_backward(weights, shard, carried, &mut d_annotations);
        (DecoderBackward { pass, d_embedded, d_initial }, d_annotations)
    }
}

impl DecoderPass<'_, BackwardPass> {
    /// Backward pass of s_0 = tanh(W_init m + b). Adds to the derivatives with respect to the annotations and returns
    /// those with respect to W_init m + b, `[rows, n]`.
    fn initial_backward(
        &self,
        weights: &PackedModel,
        shard: &Shard,
        mut d_state: Buffer,
        d_annotations: &mut [f32],
    ) -> Buffer {
        let n = weights.architecture.hidden_size;
        d_state.iter_mut().zip(self.steps.initial_state()).for_each(|(d_state, state)| *d_state *= 1.0 - state * state);
        let mut d_summary = Buffer::scratch(self.summary.len());
        weights.initial.backward(&mut d_summary, &d_state, WriteMode::Overwrite);
        let width = weights.architecture.summary_size();
        for (row, d_summary) in d_summary.chunks_exact(width).enumerate() {
            let share = summary_share(weights, shard, row);
            for position in share.positions {
                add_scaled(&mut d_annotations[position * n..][n - width..n], share.weight, d_summary);
            }
        }
        d_state
    }
}

impl DecoderBackward<'_> {
    /// Writes the gradients of the decoder's parameters except the output layer's, from all shards. That of the target
    /// embedding is accumulated, the others are overwritten.
    pub fn gradients(shards: &[Self], weights: &PackedModel, gradients: &mut Gradients) -> Result<()> {
        let e = weights.architecture.embedding_size;
        let mut embedded = Vec::with_capacity(shards.len());
        for shard in shards {
            embedded.push(RowGrads { ids: &shard.pass.previous, d_rows: &shard.d_embedded });
        }
        gradients.with_slice_mut("target_embedding.weight", |values| gather_backward(values, e, &embedded))?;
        let attention: Vec<GradientInputs> = shards.iter().map(Self::gradient_inputs).collect();
        BackwardPass::gradients(&attention, &weights.attention, gradients)?;
        let word: Vec<CellBackward> = shards.iter().map(|shard| shard.pass.steps.word_backward()).collect();
        CellBackward::gradients(&word, word_cell_param, weights.precision, gradients)?;
        let context: Vec<CellBackward> =
            shards.iter().filter_map(|shard| shard.pass.steps.context_backward()).collect();
        if !context.is_empty() {
            CellBackward::gradients(&context, context_cell_param, weights.precision, gradients)?;
        }
        Self::initial_gradients(shards, weights, gradients)
    }

    /// Writes the gradients of W_init and b.
    fn initial_gradients(shards: &[Self], weights: &PackedModel, gradients: &mut Gradients) -> Result<()> {
        let (n, width) = (weights.architecture.hidden_size, weights.architecture.summary_size());
        let mut factors = Vec::with_capacity(shards.len());
        for shard in shards {
            let d_initial = MatrixView::rows_of(&shard.d_initial, n);
            let summary = MatrixView::new(&shard.pass.summary, d_initial.row_count(), width);
            factors.push(WeightFactors { d_output: d_initial, input: summary });
        }
        gradients.with_slice_mut("decoder.initial.weight", |out| {
            weight_gradient(out, width, &factors, weights.precision, WriteMode::Overwrite)
        })?;
        let d_initial: Vec<&[f32]> = shards.iter().map(|shard| &shard.d_initial[..]).collect();
        gradients.with_slice_mut("decoder.initial.bias", |out| bias_gradient(out, &d_initial))
    }

    fn gradient_inputs(&self) -> GradientInputs<'_> {
        GradientInputs { back: &self.pass.attention, memory: &self.pass.memory, states: self.pass.steps.queries() }
    }
}

/// s_0 of a shard: `[rows, n]`.
pub fn first_state(weights: &PackedModel, shard: &Shard, annotations: &[f32]) -> Buffer {
    let mut state = Buffer::scratch(shard.size() * weights.architecture.hidden_size);
    initial_state(weights, &summary(weights, shard, annotations), &mut state);
    state
}

/// Share of annotations in the summary of a row.
struct SummaryShare {
    /// Positions of the annotations that the summary averages.
    positions: Range<usize>,
    /// Weight of each.
    weight: f32,
}

fn summary_share(weights: &PackedModel, shard: &Shard, row: usize) -> SummaryShare {
    let Range { start, end } = shard.source.row(row);
    let positions = match weights.architecture.initial_state {
        InitialState::Mean => start..end,
        InitialState::BackwardFirst => start..start + 1,
    };
    SummaryShare { weight: 1.0 / positions.len() as f32, positions }
}

/// m: the mean annotation, `[rows, n]`, or the backward half of the first one, `[rows, n/2]`.
fn summary(weights: &PackedModel, shard: &Shard, annotations: &[f32]) -> Buffer {
    let (n, width) = (weights.architecture.hidden_size, weights.architecture.summary_size());
    let mut summary = Buffer::zeros(shard.size() * width);
    for (row, sum) in summary.chunks_exact_mut(width).enumerate() {
        let share = summary_share(weights, shard, row);
        for position in share.positions {
            add_scaled(sum, share.weight, &annotations[position * n..][n - width..n]);
        }
    }
    summary
}

/// s_0 = tanh(W_init m + b)
fn initial_state(weights: &PackedModel, summary: &[f32], state: &mut [f32]) {
    let n = weights.architecture.hidden_size;
    weights.initial.forward(state, n, summary, WriteMode::AddBias(weights.get("decoder.initial.bias")));
    vectorized(
        #[inline(always)]
        || state.iter_mut().for_each(|value| *value = tanh(*value)),
    );
}
