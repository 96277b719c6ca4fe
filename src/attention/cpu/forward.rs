//! What the steps forward leave, and what guides say of it.

use super::guided_alignment::HeadAlphas;
use super::pooling::AttentionForward;
use super::weights::{PackedAttention, RaggedMemory};
use crate::attention::config::AttentionLayout;
use crate::attention::selection::SelectionMode;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::matrix::WriteMode;
use crate::kernels::simd::add_scaled;
use crate::text::Look;

/// What the steps so far leave for reports and for the way back. Lengths are those of the longest sentence.
pub struct ForwardTape {
    pub(super) rows: usize,
    pub(super) layout: AttentionLayout,
    pub(super) longest: usize,
    /// W_q s: `[steps × rows, d]`; empty where queries are the states
    pub(super) queries: Buffer,
    /// α: `[steps × rows × heads, longest]`
    pub(super) alphas: Buffer,
    /// What pooled where it was not α, shaped alike; else empty
    pub(super) choices: Buffer,
    /// What W_o meets: `[steps × rows, n]`; empty where there is none
    pub(super) pooled: Buffer,
}

/// A tape whose guides have spoken.
pub struct GuidedTape {
    pub(super) tape: ForwardTape,
    /// By e / temperature: `[steps × rows × heads, longest]`
    pub(super) d_energies: Buffer,
}

/// Where a step's results go.
pub struct TapeStep<'a> {
    /// What keeps them.
    pub tape: &'a mut ForwardTape,
    /// The step's number.
    pub step: usize,
    /// `[rows, n]`
    pub contexts: &'a mut [f32],
}

impl PackedAttention<'_> {
    /// Attends in one step for states `[rows, n]`; writes contexts `[rows, n]`. `sentences` names the sentence of each
    /// row; without `draws` nothing is left to chance.
    pub fn attend(
        &self,
        memory: &RaggedMemory,
        sentences: impl Iterator<Item = usize>,
        states: &[f32],
        draws: Option<&[f32]>,
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
        let weights = tape.rows * self.layout.heads * memory.longest;
        let pooled = step_slice(&mut tape.pooled, step, tape.rows * n);
        let attention = AttentionForward {
            sentences: memory.sentences(&self.layout),
            rows: sentences,
            queries,
            selection: self.choice.resolve(draws),
            alphas: step_slice(&mut tape.alphas, step, weights),
            choices: step_slice(&mut tape.choices, step, weights),
            pooled: if self.output.is_some() { &mut *pooled } else { &mut *contexts },
        };
        self.score.attention_forward(self.param, attention);
        if let Some(weight) = &self.output {
            weight.forward(contexts, n, pooled, WriteMode::Overwrite);
        }
    }
}

/// A step's numbers among those of all steps; nothing of nothing.
pub(super) fn step_slice(all: &mut [f32], step: usize, size: usize) -> &mut [f32] {
    if all.is_empty() { all } else { &mut all[step * size..][..size] }
}

impl ForwardTape {
    /// Room for so many steps of so many rows.
    pub fn new(weights: &PackedAttention, memory: &RaggedMemory, rows: usize, steps: usize) -> Self {
        let PackedAttention { layout, .. } = *weights;
        let all = |there: bool, size: usize| Buffer::scratch(if there { steps * rows * size } else { 0 });
        let alphas = layout.heads * memory.longest;
        Self {
            rows,
            layout,
            longest: memory.longest,
            queries: all(layout.projects_queries, layout.query),
            alphas: all(true, alphas),
            choices: all(weights.choice != SelectionMode::Soft, alphas),
            pooled: all(layout.projects_values, layout.hidden),
        }
    }

    /// The weights that are reported of one row at one step, over the `length` units of its sentence: those that
    /// pooled, as the mean over the heads or of the one that is asked for.
    pub fn reported(&self, weights: &PackedAttention, step: usize, row: usize, length: usize) -> Vec<f32> {
        let all = if self.choices.is_empty() { &self.alphas } else { &self.choices };
        if let Some(head) = weights.reported_head {
            return all[self.place(step, row) + head * self.longest..][..length].to_vec();
        }
        let mut mean = vec![0.0; length];
        self.mean(all, step, row, &mut mean);
        mean
    }

    /// Writes α of one row at one step as the mean over the heads, whatever was selection, over the units of its sentence.
    pub fn mean_alphas(&self, step: usize, row: usize, mean: &mut [f32]) {
        self.mean(&self.alphas, step, row, mean);
    }

    fn mean(&self, all: &[f32], step: usize, row: usize, mean: &mut [f32]) {
        let of_heads = &all[self.place(step, row)..][..self.layout.heads * self.longest];
        mean.fill(0.0);
        for weights in of_heads.chunks_exact(self.longest) {
            add_scaled(mean, 1.0, &weights[..mean.len()]);
        }
        mean.iter_mut().for_each(|weight| *weight /= self.layout.heads as f32);
    }

    /// Where the weights of one row at one step begin.
    fn place(&self, step: usize, row: usize) -> usize {
        (step * self.rows + row) * self.layout.heads * self.longest
    }

    /// Hears the guides, given for each row: their loss, and `scale` times its derivatives. Row `r` is sentence `r`.
    pub fn guided<'g>(
        self,
        memory: &RaggedMemory,
        guide: impl Fn(usize) -> &'g [Look],
        scale: f32,
    ) -> (GuidedTape, f64) {
        let mut d_energies = Buffer::zeros(self.alphas.len());
        let mut loss = 0.0;
        for row in 0..self.rows {
            let AttentionLayout { heads, .. } = self.layout;
            let heads = HeadAlphas { heads, length: memory.cells(row).len(), longest: self.longest };
            for look in guide(row) {
                let place = self.place(look.target as usize, row);
                let (alphas, d_energies) = (&self.alphas[place..], &mut d_energies[place..]);
                loss += heads.guided_alignment_backward(alphas, look.source as usize, look.weight, scale, d_energies);
            }
        }
        (GuidedTape { tape: self, d_energies }, loss)
    }
}

impl GuidedTape {
    /// The tape, for reports.
    pub fn tape(&self) -> &ForwardTape {
        &self.tape
    }

    /// Hears derivatives by the weights, by their mean over the heads: `[steps × rows, longest]`.
    pub fn add_alpha_grads(&mut self, memory: &RaggedMemory, d_alphas: &[f32]) {
        let AttentionLayout { heads, .. } = self.tape.layout;
        for (cell, d_alphas) in d_alphas.chunks_exact(self.tape.longest.max(1)).enumerate() {
            let length = memory.cells(cell % self.tape.rows).len();
            for head in 0..heads {
                let place = (cell * heads + head) * self.tape.longest;
                let alphas = &self.tape.alphas[place..][..length];
                let mean: f32 = alphas.iter().zip(d_alphas).map(|(alpha, d_alpha)| alpha * d_alpha).sum();
                for ((d_energy, alpha), d_alpha) in self.d_energies[place..].iter_mut().zip(alphas).zip(d_alphas) {
                    *d_energy += alpha * (d_alpha - mean) / heads as f32;
                }
            }
        }
    }
}
