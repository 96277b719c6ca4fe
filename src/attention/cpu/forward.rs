//! Forward pass step by step, with the guided alignment loss.

use super::guided_alignment::HeadAlphas;
use super::pooling::AttentionForward;
use super::weights::{PackedAttention, RaggedMemory};
use crate::attention::config::AttentionLayout;
use crate::attention::mode::AttentionWeights;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::matrix::WriteMode;
use crate::kernels::simd::add_scaled;
use crate::text::GuideWeight;

/// Forward tape: values of each step for reports and the backward pass. Rows are padded to the longest sentence.
pub struct ForwardTape {
    pub(super) rows: usize,
    pub(super) layout: AttentionLayout,
    pub(super) longest: usize,
    /// W_q s: `[steps × rows, d]`; empty if queries are the states
    pub(super) queries: Buffer,
    /// α: `[steps × rows × heads, longest]`
    pub(super) alphas: Buffer,
    /// Weights that pooled under hard attention, shaped like `alphas`; else empty
    pub(super) selected: Buffer,
    /// Input of W_o: `[steps × rows, n]`; empty without a W_o
    pub(super) pooled: Buffer,
}

/// Forward tape plus the guided alignment gradient.
pub struct GuidedTape {
    pub(super) tape: ForwardTape,
    /// Derivative of the guided alignment loss with respect to e / temperature: `[steps × rows × heads, longest]`
    pub(super) d_energies: Buffer,
}

/// Destination of a step's results.
pub struct TapeStep<'a> {
    /// Tape of all steps.
    pub tape: &'a mut ForwardTape,
    /// Index of the step.
    pub step: usize,
    /// `[rows, n]`
    pub contexts: &'a mut [f32],
}

impl PackedAttention<'_> {
    /// Attends in one step for queries' states `[rows, n]`; writes contexts `[rows, n]`. `sentences` yields the
    /// sentence of each row.
    pub fn attend(
        &self,
        memory: &RaggedMemory,
        sentences: impl Iterator<Item = usize>,
        states: &[f32],
        weights: AttentionWeights,
        into: TapeStep,
    ) {
        let TapeStep { tape, step, contexts } = into;
        let [d, n] = [self.layout.query, self.layout.hidden];
        let queries = match &self.query {
            Some(weight) => {
                let queries = step_slice(&mut tape.queries, step, tape.rows * d);
                weight.forward(queries, d, states, WriteMode::Overwrite);
                &*queries
            }
            None => states,
        };
        let alphas = tape.rows * self.layout.heads * memory.longest;
        let pooled = step_slice(&mut tape.pooled, step, tape.rows * n);
        let attention = AttentionForward {
            key_values: memory.key_values(&self.layout),
            rows: sentences,
            queries,
            pooling_weights: self.mode.pooling_weights(weights),
            alphas: step_slice(&mut tape.alphas, step, alphas),
            selected: step_slice(&mut tape.selected, step, alphas),
            pooled: if self.output.is_some() { &mut *pooled } else { &mut *contexts },
        };
        self.score.attention_forward(self.param, attention);
        if let Some(weight) = &self.output {
            weight.forward(contexts, n, pooled, WriteMode::Overwrite);
        }
    }
}

/// One step's slice of the numbers of all steps; empty if `all` is.
pub(super) fn step_slice(all: &mut [f32], step: usize, size: usize) -> &mut [f32] {
    if all.is_empty() { all } else { &mut all[step * size..][..size] }
}

impl ForwardTape {
    /// Tape for `steps` steps of `rows` rows.
    pub fn new(weights: &PackedAttention, memory: &RaggedMemory, rows: usize, steps: usize) -> Self {
        let PackedAttention { layout, .. } = *weights;
        let alphas = layout.heads * memory.longest;
        let queries = if layout.projects_queries { layout.query } else { 0 };
        let selected = if weights.mode.is_hard() { alphas } else { 0 };
        let pooled = if layout.projects_values { layout.hidden } else { 0 };
        Self {
            rows,
            layout,
            longest: memory.longest,
            queries: Buffer::scratch(steps * rows * queries),
            alphas: Buffer::scratch(steps * rows * alphas),
            selected: Buffer::scratch(steps * rows * selected),
            pooled: Buffer::scratch(steps * rows * pooled),
        }
    }

    /// Reported weights of one row at one step over the `length` tokens of its sentence: those that pooled, mean over
    /// the heads or those of one head.
    pub fn reported(&self, weights: &PackedAttention, step: usize, row: usize, length: usize) -> Vec<f32> {
        let all = self.pooling();
        if let Some(head) = weights.reported_head {
            return all[self.offset(step, row) + head * self.longest..][..length].to_vec();
        }
        let mut mean = vec![0.0; length];
        self.mean(all, step, row, &mut mean);
        mean
    }

    /// Each head's weights of one row at one step over the `length` tokens of its sentence: those that pooled,
    /// `[heads][length]`.
    pub fn heads(&self, step: usize, row: usize, length: usize) -> Vec<Vec<f32>> {
        let heads = &self.pooling()[self.offset(step, row)..][..self.layout.heads * self.longest];
        heads.chunks_exact(self.longest).map(|weights| weights[..length].to_vec()).collect()
    }

    /// Weights that pooled, shaped like `alphas`.
    fn pooling(&self) -> &Buffer {
        if self.selected.is_empty() { &self.alphas } else { &self.selected }
    }

    /// Writes α of one row at one step, mean over the heads, whatever the mode.
    pub fn mean_alphas(&self, step: usize, row: usize, mean: &mut [f32]) {
        self.mean(&self.alphas, step, row, mean);
    }

    fn mean(&self, all: &[f32], step: usize, row: usize, mean: &mut [f32]) {
        let heads = &all[self.offset(step, row)..][..self.layout.heads * self.longest];
        mean.fill(0.0);
        for weights in heads.chunks_exact(self.longest) {
            add_scaled(mean, 1.0, &weights[..mean.len()]);
        }
        mean.iter_mut().for_each(|weight| *weight /= self.layout.heads as f32);
    }

    /// Offset of one row's weights at one step.
    fn offset(&self, step: usize, row: usize) -> usize {
        (step * self.rows + row) * self.layout.heads * self.longest
    }

    /// Computes the guided alignment loss of the links `links(row)` and `scale` times its gradient; row r is sentence r.
    pub fn guided<'g>(
        self,
        memory: &RaggedMemory,
        links: impl Fn(usize) -> &'g [GuideWeight],
        scale: f32,
    ) -> (GuidedTape, f64) {
        let mut d_energies = Buffer::zeros(self.alphas.len());
        let mut loss = 0.0;
        for row in 0..self.rows {
            let length = memory.cells(row).len();
            let heads = HeadAlphas { heads: self.layout.heads, length, longest: self.longest };
            for link in links(row) {
                let offset = self.offset(link.target as usize, row);
                let (alphas, d_energies) = (&self.alphas[offset..], &mut d_energies[offset..]);
                loss += heads.guided_alignment_backward(alphas, link.source as usize, link.weight, scale, d_energies);
            }
        }
        (GuidedTape { tape: self, d_energies }, loss)
    }
}

impl GuidedTape {
    /// Returns the tape, for reports.
    pub fn tape(&self) -> &ForwardTape {
        &self.tape
    }

    /// Adds derivatives with respect to the weights' mean over the heads, `[steps × rows, longest]`.
    pub fn add_alpha_grads(&mut self, memory: &RaggedMemory, d_alphas: &[f32]) {
        let heads = self.tape.layout.heads;
        for (index, d_alphas) in d_alphas.chunks_exact(self.tape.longest.max(1)).enumerate() {
            let length = memory.cells(index % self.tape.rows).len();
            for head in 0..heads {
                let offset = (index * heads + head) * self.tape.longest;
                let alphas = &self.tape.alphas[offset..][..length];
                let mean: f32 = alphas.iter().zip(d_alphas).map(|(alpha, d_alpha)| alpha * d_alpha).sum();
                for ((d_energy, alpha), d_alpha) in self.d_energies[offset..].iter_mut().zip(alphas).zip(d_alphas) {
                    *d_energy += alpha * (d_alpha - mean) / heads as f32;
                }
            }
        }
    }
}
