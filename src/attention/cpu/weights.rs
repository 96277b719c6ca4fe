//! Packed parameters of attention, and the memory that it attends to.

use std::sync::Arc;

use super::pooling::RaggedKeyValues;
use crate::attention::config::{
    AttentionConfig, AttentionDims, AttentionLayout, KEY_WEIGHT, OUTPUT_WEIGHT, QUERY_WEIGHT, VALUE_WEIGHT,
    score_param_name,
};
use crate::attention::mode::AttentionMode;
use crate::attention::scores::ScoreName;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::matrix::{PackedWeight, Precision, WriteMode};
use crate::parameters::ParameterViews;

/// Attention's parameters, packed for the CPU.
pub struct PackedAttention<'a> {
    pub(super) layout: AttentionLayout,
    pub(super) score: ScoreName,
    pub(super) mode: AttentionMode,
    pub(super) reported_head: Option<usize>,
    pub(super) precision: Precision,
    /// W_q, if used: `[d, n]`
    pub(super) query: Option<Arc<PackedWeight>>,
    /// W_k, if used: `[d, n]`
    pub(super) key: Option<Arc<PackedWeight>>,
    /// W_v, if used: `[n, n]`
    pub(super) value: Option<Arc<PackedWeight>>,
    /// W_o, if used: `[n, n]`
    pub(super) output: Option<Arc<PackedWeight>>,
    /// The score's own parameter
    pub(super) param: &'a [f32],
}

/// Annotations of several sentences with their keys and values, projected once.
pub struct RaggedMemory {
    /// `[cells, n]`, sentence by sentence
    pub(super) annotations: Buffer,
    /// W_k h: `[cells, d]`, if keys are projected
    pub(super) keys: Option<Buffer>,
    /// W_v h: `[cells, n]`, if values are projected
    pub(super) values: Option<Buffer>,
    /// First cell of each sentence, and the end of the last.
    pub(super) starts: Vec<usize>,
    pub(super) longest: usize,
}

impl<'a> PackedAttention<'a> {
    /// Packs the parameters; `derivatives` enables the backward pass.
    pub fn new(
        settings: &AttentionConfig,
        dimensions: AttentionDims,
        parameters: &ParameterViews<'a>,
        precision: Precision,
        derivatives: bool,
    ) -> Self {
        let layout = settings.layout(dimensions);
        Self {
            score: settings.score,
            mode: settings.mode,
            reported_head: settings.reported_head,
            precision,
            query: layout.projects_queries.then(|| parameters.pack(QUERY_WEIGHT, precision, derivatives)),
            key: layout.projects_keys.then(|| parameters.pack(KEY_WEIGHT, precision, derivatives)),
            value: layout.projects_values.then(|| parameters.pack(VALUE_WEIGHT, precision, derivatives)),
            output: layout.projects_values.then(|| parameters.pack(OUTPUT_WEIGHT, precision, derivatives)),
            param: layout.param.map(|param| parameters.get(&score_param_name(param))).unwrap_or_default(),
            layout,
        }
    }

    /// Projects annotations `[cells, n]` to keys and values. `starts` holds the first cell of each sentence and the end
    /// of the last.
    pub fn project_memory(&self, annotations: Buffer, starts: &[usize]) -> RaggedMemory {
        let longest = starts.windows(2).map(|cells| cells[1] - cells[0]).max().unwrap_or(0);
        let [keys, values] =
            [&self.key, &self.value].map(|weight| weight.as_ref().map(|weight| self.project(&annotations, weight)));
        RaggedMemory { keys, values, annotations, starts: starts.to_vec(), longest }
    }

    /// W h: annotations `[cells, n]` to `[cells, outputs]`.
    fn project(&self, annotations: &[f32], weight: &PackedWeight) -> Buffer {
        let mut projected = Buffer::scratch(annotations.len() / self.layout.hidden * weight.outputs());
        weight.forward(&mut projected, weight.outputs(), annotations, WriteMode::Overwrite);
        projected
    }

    /// Context of each token of a sentence if it has all the weight: `[tokens, n]`.
    pub fn contexts_of_tokens(&self, memory: &RaggedMemory, sentence: usize) -> Buffer {
        let n = self.layout.hidden;
        let cells = memory.cells(sentence);
        let values = memory.values.as_ref().unwrap_or(&memory.annotations);
        let values = &values[cells.start * n..cells.end * n];
        match &self.output {
            Some(weight) => {
                let mut contexts = Buffer::scratch(values.len());
                weight.forward(&mut contexts, n, values, WriteMode::Overwrite);
                contexts
            }
            None => Buffer::from_slice(values),
        }
    }

    /// Number of random numbers that one step with `rows` rows consumes.
    pub fn draw_count(&self, rows: usize) -> usize {
        if self.mode == AttentionMode::Sampled { rows * self.layout.heads } else { 0 }
    }
}

impl RaggedMemory {
    /// `[cells, n]`, sentence by sentence.
    pub fn annotations(&self) -> &[f32] {
        &self.annotations
    }

    /// Range of a sentence's cells.
    pub fn cells(&self, sentence: usize) -> std::ops::Range<usize> {
        self.starts[sentence]..self.starts[sentence + 1]
    }

    pub(super) fn key_values(&self, layout: &AttentionLayout) -> RaggedKeyValues<'_> {
        RaggedKeyValues {
            keys: self.keys.as_ref().unwrap_or(&self.annotations),
            values: self.values.as_ref().unwrap_or(&self.annotations),
            sizes: [layout.query, layout.hidden],
            heads: layout.heads,
            starts: &self.starts,
            longest: self.longest,
            inverse_temperature: layout.inverse_temperature as f32,
        }
    }
}
