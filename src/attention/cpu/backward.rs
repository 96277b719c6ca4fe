//! The derivatives, taken through the same steps from the last to the first.

use candle_core::Result;

use super::forward::{Guided, Trace, of_step};
use super::pooling::AttentionStepBack;
use super::weights::{Memory, Weights};
use crate::attention::config::{KEY, Layout, OUTPUT, QUERY, VALUE, own_name};
use crate::kernels::buffer::Buffer;
use crate::kernels::matrix::{Matrix, Store, bias_gradient, multiply, weight_gradient};
use crate::kernels::simd::{add_scaled, vectorised};
use crate::parameters::Gradients;

/// The way back through a trace.
pub struct WayBack {
    trace: Trace,
    d_energies: Buffer,
    /// By W_q s: `[steps × rows, d]`; of one step alone where queries are the states
    d_queries: Buffer,
    /// By the keys: `[cells, d]`
    d_keys: Buffer,
    /// By the values: `[cells, n]`, once all steps are taken back
    d_values: Buffer,
    /// By the score's own parameters
    d_own: Buffer,
    /// By the contexts: `[steps × rows, n]`. Whoever takes a step back first adds what it knows.
    pub d_contexts: Buffer,
    /// By what W_o meets; empty where there is none
    d_pooled: Buffer,
}

/// What the gradients of one part of a batch are made from.
pub struct Passed<'a> {
    /// The way back, all steps taken.
    pub back: &'a WayBack,
    /// What was looked at.
    pub memory: &'a Memory,
    /// The states that asked: `[steps × rows, n]`, or more
    pub states: &'a [f32],
}

impl Guided {
    /// Sets out on the way back, with what is known so far of the derivatives by the contexts, `[steps × rows, n]`.
    pub fn back(self, weights: &Weights, memory: &Memory, d_contexts: Buffer) -> WayBack {
        let Self { trace, d_energies } = self;
        let Layout { hidden: n, query: d, .. } = trace.layout;
        let queries = if trace.queries.is_empty() { trace.rows * d } else { trace.queries.len() };
        WayBack {
            d_energies,
            d_queries: Buffer::any(queries),
            d_keys: Buffer::zeros(memory.annotations.len() / n * d),
            d_values: Buffer::default(),
            d_own: Buffer::zeros(weights.own.len()),
            d_contexts,
            d_pooled: Buffer::any(trace.pooled.len()),
            trace,
        }
    }
}

impl WayBack {
    /// Takes one step back; `states` asked in it, `[rows, n]`, and the derivatives by them are added to `d_states`.
    pub fn step(&mut self, weights: &Weights, memory: &Memory, step: usize, states: &[f32], d_states: &mut [f32]) {
        let (rows, Layout { query: d, hidden: n, heads, .. }) = (self.trace.rows, self.trace.layout);
        let d_contexts = &self.d_contexts[step * rows * n..][..rows * n];
        let d_pooled = match &weights.output {
            Some(weight) => {
                let d_pooled = of_step(&mut self.d_pooled, step, rows * n);
                weight.apply_back(d_pooled, d_contexts, Store::Replace);
                &*d_pooled
            }
            None => d_contexts,
        };
        if weights.score.is_fixed() {
            return;
        }
        let energies = rows * heads * memory.longest;
        let projected = weights.query.is_some();
        let d_queries = if projected { of_step(&mut self.d_queries, step, rows * d) } else { &mut self.d_queries[..] };
        let back = AttentionStepBack {
            sentences: memory.sentences(&weights.layout),
            queries: if projected { &self.trace.queries[step * rows * d..][..rows * d] } else { states },
            alphas: &self.trace.alphas[step * energies..][..energies],
            d_pooled,
            d_energies: &mut self.d_energies[step * energies..][..energies],
            d_queries: &mut *d_queries,
            d_keys: &mut self.d_keys,
            d_own: &mut self.d_own,
        };
        weights.score.attend_back(weights.own, back);
        match &weights.query {
            Some(weight) => weight.apply_back(d_states, d_queries, Store::Add),
            None => add(d_states, d_queries),
        }
    }

    /// Ends the way back, when all steps are taken: the derivatives by the annotations, `[cells, n]`.
    pub fn annotations(&mut self, weights: &Weights, memory: &Memory) -> Buffer {
        self.d_values = self.by_values(memory);
        let mut d_annotations = match &weights.value {
            Some(weight) => {
                let mut d_annotations = Buffer::any(memory.annotations.len());
                weight.apply_back(&mut d_annotations, &self.d_values, Store::Replace);
                d_annotations
            }
            None => std::mem::take(&mut self.d_values),
        };
        match &weights.key {
            Some(weight) => weight.apply_back(&mut d_annotations, &self.d_keys, Store::Add),
            None => add(&mut d_annotations, &self.d_keys),
        }
        d_annotations
    }

    /// dv_j = Σ_t α_tj dc_t: `[cells, n]`.
    fn by_values(&self, memory: &Memory) -> Buffer {
        let Trace { rows, layout: Layout { hidden: n, heads, .. }, longest, .. } = self.trace;
        let steps = self.d_contexts.len() / (rows * n).max(1);
        let pooling = if self.trace.choices.is_empty() { &self.trace.alphas } else { &self.trace.choices };
        let d_pooled = if self.d_pooled.is_empty() { &self.d_contexts } else { &self.d_pooled };
        let mut d_values = Buffer::any(memory.annotations.len());
        let width = n / heads;
        for row in 0..rows {
            let cells = memory.cells(row);
            for head in 0..heads {
                let out = &mut d_values[cells.start * n..cells.end * n][head * width..];
                let weights = &pooling[(row * heads + head) * longest..];
                let weights = Matrix::strided(weights, steps, cells.len(), rows * heads * longest);
                let d_pooled = Matrix::strided(&d_pooled[row * n + head * width..], steps, width, rows * n);
                multiply(out, n, weights.t(), d_pooled, Store::Replace);
            }
        }
        d_values
    }

    /// Writes the gradients of the attention's parameters, when all parts of a batch have gone back.
    pub fn gradients(parts: &[Passed], weights: &Weights, gradients: &mut Gradients) -> Result<()> {
        let Layout { query: d, hidden: n, own, .. } = weights.layout;
        let mut write = |name: &str, width: usize, of: for<'p> fn(&'p Passed) -> (&'p [f32], &'p [f32])| {
            let factor = |part| {
                let (d_output, input) = of(part);
                let d_output = Matrix::rows_of(d_output, width);
                (d_output, Matrix::new(input, d_output.row_count(), n))
            };
            let factors: Vec<_> = parts.iter().map(factor).collect();
            gradients.fill(name, |out| weight_gradient(out, n, &factors, Store::Replace))
        };
        if weights.query.is_some() {
            write(QUERY, d, |part| (&part.back.d_queries, part.states))?;
        }
        if weights.key.is_some() {
            write(KEY, d, |part| (&part.back.d_keys, &part.memory.annotations))?;
        }
        if weights.value.is_some() {
            write(VALUE, n, |part| (&part.back.d_values, &part.memory.annotations))?;
            write(OUTPUT, n, |part| (&part.back.d_contexts, &part.back.trace.pooled))?;
        }
        if let Some(own) = own {
            let sums: Vec<&[f32]> = parts.iter().map(|part| &*part.back.d_own).collect();
            gradients.fill(&own_name(own), |out| bias_gradient(out, &sums))?;
        }
        Ok(())
    }
}

fn add(sums: &mut [f32], values: &[f32]) {
    vectorised(
        #[inline(always)]
        || add_scaled(sums, 1.0, values),
    );
}
