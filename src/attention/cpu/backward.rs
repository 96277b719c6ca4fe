//! Backward pass through the steps of a tape, from the last to the first.

use candle_core::Result;

use super::forward::{ForwardTape, GuidedTape, step_slice};
use super::pooling::AttentionBackward;
use super::weights::{PackedAttention, RaggedMemory};
use crate::attention::config::{
    AttentionLayout, KEY_WEIGHT, OUTPUT_WEIGHT, QUERY_WEIGHT, VALUE_WEIGHT, score_param_name,
};
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::matrix::{
    MatrixView, Precision, WeightFactors, WriteMode, add_row_sums, bias_gradient, multiply, weight_gradient,
};
use crate::parameters::Gradients;

/// Derivatives accumulated during the backward pass.
pub struct BackwardPass {
    tape: ForwardTape,
    /// Derivative with respect to e / temperature before a step's backward pass, and to e after it: `[steps × rows × heads,
    /// longest]`
    d_energies: Buffer,
    /// Derivative with respect to W_q s: `[steps × rows, d]`; of one step only if queries are the states
    d_queries: Buffer,
    /// Derivative with respect to the keys: `[cells, d]`
    d_keys: Buffer,
    /// Derivative with respect to the values: `[cells, n]`, set by [`Self::finish`]
    d_values: Buffer,
    /// Derivative with respect to the score's own parameter
    d_param: Buffer,
    /// Derivative with respect to the contexts: `[steps × rows, n]`. Callers add their own share before
    /// [`Self::backward_step`].
    pub d_contexts: Buffer,
    /// Derivative with respect to the input of W_o; empty without a W_o: `[steps × rows, n]`
    d_pooled: Buffer,
}

/// Inputs of the parameter gradients of one shard.
pub struct GradientInputs<'a> {
    /// Finished backward pass.
    pub back: &'a BackwardPass,
    /// Memory that was attended to.
    pub memory: &'a RaggedMemory,
    /// States that queried: `[steps × rows, n]`, or more
    pub states: &'a [f32],
}

impl GuidedTape {
    /// Starts the backward pass from the derivatives with respect to the contexts known so far, `[steps × rows, n]`.
    pub fn into_backward(self, weights: &PackedAttention, memory: &RaggedMemory, d_contexts: Buffer) -> BackwardPass {
        let Self { tape, d_energies } = self;
        let AttentionLayout { hidden: n, query: d, .. } = tape.layout;
        let queries = if tape.queries.is_empty() { tape.rows * d } else { tape.queries.len() };
        BackwardPass {
            d_energies,
            d_queries: Buffer::scratch(queries),
            d_keys: Buffer::zeros(memory.annotations.len() / n * d),
            d_values: Buffer::default(),
            d_param: Buffer::zeros(weights.param.len()),
            d_contexts,
            d_pooled: Buffer::scratch(tape.pooled.len()),
            tape,
        }
    }
}

impl BackwardPass {
    /// Backward pass of one step. `states`, `[rows, n]`, queried in it; adds the derivatives with respect to them to
    /// `d_states`.
    pub fn backward_step(
        &mut self,
        weights: &PackedAttention,
        memory: &RaggedMemory,
        step: usize,
        states: &[f32],
        d_states: &mut [f32],
    ) {
        let (rows, AttentionLayout { query: d, hidden: n, heads, .. }) = (self.tape.rows, self.tape.layout);
        let d_contexts = &self.d_contexts[step * rows * n..][..rows * n];
        let d_pooled = match &weights.output {
            Some(weight) => {
                let d_pooled = step_slice(&mut self.d_pooled, step, rows * n);
                weight.backward(d_pooled, d_contexts, WriteMode::Overwrite);
                &*d_pooled
            }
            None => d_contexts,
        };
        if weights.score.is_fixed() {
            return;
        }
        let energies = rows * heads * memory.longest;
        let projected = weights.query.is_some();
        let d_queries =
            if projected { step_slice(&mut self.d_queries, step, rows * d) } else { &mut self.d_queries[..] };
        let back = AttentionBackward {
            key_values: memory.key_values(&weights.layout),
            queries: if projected { &self.tape.queries[step * rows * d..][..rows * d] } else { states },
            alphas: &self.tape.alphas[step * energies..][..energies],
            d_pooled,
            d_energies: &mut self.d_energies[step * energies..][..energies],
            d_queries: &mut *d_queries,
            d_keys: &mut self.d_keys,
            d_param: &mut self.d_param,
        };
        weights.score.attention_backward(weights.param, back);
        match &weights.query {
            Some(weight) => weight.backward(d_states, d_queries, WriteMode::Accumulate),
            None => add_row_sums(d_states, d_queries),
        }
    }

    /// Finishes the backward pass after all steps; returns the derivatives with respect to the annotations, `[cells,
    /// n]`.
    pub fn finish(&mut self, weights: &PackedAttention, memory: &RaggedMemory) -> Buffer {
        self.d_values = self.values_backward(memory);
        let mut d_annotations = match &weights.value {
            Some(weight) => {
                let mut d_annotations = Buffer::scratch(memory.annotations.len());
                weight.backward(&mut d_annotations, &self.d_values, WriteMode::Overwrite);
                d_annotations
            }
            None => std::mem::take(&mut self.d_values),
        };
        match &weights.key {
            Some(weight) => weight.backward(&mut d_annotations, &self.d_keys, WriteMode::Accumulate),
            None => add_row_sums(&mut d_annotations, &self.d_keys),
        }
        d_annotations
    }

    /// dv_j = Σ_t α_tj dc_t: `[cells, n]`.
    fn values_backward(&self, memory: &RaggedMemory) -> Buffer {
        let ForwardTape { rows, layout: AttentionLayout { hidden: n, heads, .. }, longest, .. } = self.tape;
        let steps = self.d_contexts.len() / (rows * n).max(1);
        let pooling = if self.tape.selected.is_empty() { &self.tape.alphas } else { &self.tape.selected };
        let d_pooled = if self.d_pooled.is_empty() { &self.d_contexts } else { &self.d_pooled };
        let mut d_values = Buffer::scratch(memory.annotations.len());
        let width = n / heads;
        for row in 0..rows {
            let cells = memory.cells(row);
            for head in 0..heads {
                let out = &mut d_values[cells.start * n..cells.end * n][head * width..];
                let weights = &pooling[(row * heads + head) * longest..];
                let weights = MatrixView::strided(weights, steps, cells.len(), rows * heads * longest);
                let d_pooled = MatrixView::strided(&d_pooled[row * n + head * width..], steps, width, rows * n);
                multiply(out, n, weights.t(), d_pooled, WriteMode::Overwrite);
            }
        }
        d_values
    }

    /// Writes the gradients of the attention's parameters from all shards of a batch.
    pub fn gradients(shards: &[GradientInputs], weights: &PackedAttention, gradients: &mut Gradients) -> Result<()> {
        let AttentionLayout { query: d, hidden: n, param, .. } = weights.layout;
        let precision = weights.precision;
        if weights.query.is_some() {
            let factors = shards.iter().map(|shard| [&*shard.back.d_queries, shard.states]);
            write_gradient(gradients, QUERY_WEIGHT, [d, n], factors, precision)?;
        }
        if weights.key.is_some() {
            let factors = shards.iter().map(|shard| [&*shard.back.d_keys, &*shard.memory.annotations]);
            write_gradient(gradients, KEY_WEIGHT, [d, n], factors, precision)?;
        }
        if weights.value.is_some() {
            let factors = shards.iter().map(|shard| [&*shard.back.d_values, &*shard.memory.annotations]);
            write_gradient(gradients, VALUE_WEIGHT, [n, n], factors, precision)?;
            let factors = shards.iter().map(|shard| [&*shard.back.d_contexts, &*shard.back.tape.pooled]);
            write_gradient(gradients, OUTPUT_WEIGHT, [n, n], factors, precision)?;
        }
        if let Some(param) = param {
            let sums: Vec<&[f32]> = shards.iter().map(|shard| &*shard.back.d_param).collect();
            gradients.with_slice_mut(&score_param_name(param), |out| bias_gradient(out, &sums))?;
        }
        Ok(())
    }
}

/// Writes the gradient of a weight `[outputs, inputs]` from each shard's derivatives with respect to the outputs, `[rows,
/// outputs]`, and its inputs, `[rows, inputs]` or more.
fn write_gradient<'s>(
    gradients: &mut Gradients,
    name: &str,
    [outputs, inputs]: [usize; 2],
    shards: impl Iterator<Item = [&'s [f32]; 2]>,
    precision: Precision,
) -> Result<()> {
    let mut factors = Vec::new();
    for [d_outputs, input] in shards {
        let d_output = MatrixView::rows_of(d_outputs, outputs);
        factors.push(WeightFactors { d_output, input: MatrixView::new(input, d_output.row_count(), inputs) });
    }
    gradients.with_slice_mut(name, |out| weight_gradient(out, inputs, &factors, precision, WriteMode::Overwrite))
}
