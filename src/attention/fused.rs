//! The translator's attention on plain slices: forward step by step, guided, and back, with derivatives by hand.
//!
//! Three types stand for how far it has come, each made from the one before: a [`Trace`] grows while steps go forward,
//! [`Guided`] knows what the guides say, and a [`WayBack`] collects derivatives while the same steps are taken back.

use candle_core::Result;

use super::guidance::Heads;
use super::pooling::{AttentionStep, AttentionStepBack, Sentences};
use super::scores::ScoreName;
use super::settings::{Choice, Dimensions, KEY, Layout, OUTPUT, QUERY, Settings, VALUE, own_name};
use crate::kernels::buffer::Buffer;
use crate::kernels::matrix::{Matrix, PackedWeight, Store, bias_gradient, multiply, weight_gradient};
use crate::kernels::simd::{add_scaled, vectorised};
use crate::parameters::{Gradients, Slices};
use crate::text::Look;

/// The attention's parameters while a batch runs.
pub struct Weights<'a> {
    layout: Layout,
    score: ScoreName,
    choice: Choice,
    shown: Option<usize>,
    /// W_q, W_k, W_v, W_o, where there are such
    query: Option<PackedWeight>,
    key: Option<PackedWeight>,
    value: Option<PackedWeight>,
    output: Option<PackedWeight>,
    /// The score's own
    own: &'a [f32],
}

/// What some sentences offer to be looked at. It is made once and cannot be forgotten, since attending takes it.
pub struct Memory {
    /// `[cells, n]`, sentence by sentence
    annotations: Buffer,
    /// W_k h: `[cells, d]`, where keys are projected
    keys: Option<Buffer>,
    /// W_v h: `[cells, n]`, where values are
    values: Option<Buffer>,
    /// Where each sentence's cells begin, and the end of the last.
    starts: Vec<usize>,
    longest: usize,
}

/// What the steps so far leave for reports and for the way back. Lengths are those of the longest sentence.
pub struct Trace {
    rows: usize,
    layout: Layout,
    longest: usize,
    /// W_q s: `[steps × rows, d]`; empty where queries are the states
    queries: Buffer,
    /// α: `[steps × rows × heads, longest]`
    alphas: Buffer,
    /// What pooled where it was not α, shaped alike; else empty
    choices: Buffer,
    /// What W_o meets: `[steps × rows, n]`; empty where there is none
    pooled: Buffer,
}

/// A trace whose guides have spoken.
pub struct Guided {
    trace: Trace,
    /// By e / temperature: `[steps × rows × heads, longest]`
    d_energies: Buffer,
}

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

impl<'a> Weights<'a> {
    /// Lays out the parameters; `derivatives` says whether there is a way back.
    pub fn new(settings: &Settings, dimensions: Dimensions, parameters: &Slices<'a>, derivatives: bool) -> Self {
        let layout = settings.layout(dimensions);
        let pack = |there: bool, name| there.then(|| PackedWeight::new(parameters.matrix(name), derivatives));
        Self {
            score: settings.score,
            choice: settings.choice,
            shown: settings.shown,
            query: pack(layout.projects_queries, QUERY),
            key: pack(layout.projects_keys, KEY),
            value: pack(layout.projects_values, VALUE),
            output: pack(layout.projects_values, OUTPUT),
            own: layout.own.map(|own| parameters.get(&own_name(own))).unwrap_or_default(),
            layout,
        }
    }

    /// Computes keys and values of annotations `[cells, n]`. `starts` says where each sentence's cells begin, and where
    /// the last one's end.
    pub fn remember(&self, annotations: Buffer, starts: &[usize]) -> Memory {
        let project = |weight: &PackedWeight| {
            let mut projected = Buffer::any(annotations.len() / self.layout.hidden * weight.outputs());
            weight.apply(&mut projected, weight.outputs(), &annotations, Store::Replace);
            projected
        };
        let longest = starts.windows(2).map(|cells| cells[1] - cells[0]).max().unwrap_or(0);
        let (keys, values) = (self.key.as_ref().map(project), self.value.as_ref().map(project));
        Memory { keys, values, annotations, starts: starts.to_vec(), longest }
    }

    /// How many numbers in `0.0..1.0` a step of so many rows needs to draw its choices by.
    pub fn draws(&self, rows: usize) -> usize {
        if self.choice == Choice::Sampled { rows * self.layout.heads } else { 0 }
    }

    /// Attends in one step for states `[rows, n]`; writes contexts `[rows, n]`. `sentences` names the sentence of each
    /// row; without `draws` nothing is left to chance.
    pub fn attend(
        &self,
        memory: &Memory,
        sentences: impl Iterator<Item = usize>,
        states: &[f32],
        draws: Option<&[f32]>,
        into: TraceStep,
    ) {
        let TraceStep { trace, step, contexts } = into;
        let [d, n] = [self.layout.query, self.layout.hidden];
        let queries = match &self.query {
            Some(weight) => {
                let queries = of_step(&mut trace.queries, step, trace.rows * d);
                weight.apply(queries, d, states, Store::Replace);
                &*queries
            }
            None => states,
        };
        let weights = trace.rows * self.layout.heads * memory.longest;
        let pooled = of_step(&mut trace.pooled, step, trace.rows * n);
        let attention = AttentionStep {
            sentences: memory.sentences(&self.layout),
            rows: sentences,
            queries,
            chosen: self.choice.with(draws),
            alphas: of_step(&mut trace.alphas, step, weights),
            choices: of_step(&mut trace.choices, step, weights),
            pooled: if self.output.is_some() { &mut *pooled } else { &mut *contexts },
        };
        self.score.attend(self.own, attention);
        if let Some(weight) = &self.output {
            weight.apply(contexts, n, pooled, Store::Replace);
        }
    }
}

/// Where a step's results go.
pub struct TraceStep<'a> {
    /// What keeps them.
    pub trace: &'a mut Trace,
    /// The step's number.
    pub step: usize,
    /// `[rows, n]`
    pub contexts: &'a mut [f32],
}

/// A step's numbers among those of all steps; nothing of nothing.
fn of_step(all: &mut [f32], step: usize, size: usize) -> &mut [f32] {
    if all.is_empty() { all } else { &mut all[step * size..][..size] }
}

impl Memory {
    /// `[cells, n]`, sentence by sentence.
    pub fn annotations(&self) -> &[f32] {
        &self.annotations
    }

    /// A sentence's cells.
    pub fn cells(&self, sentence: usize) -> std::ops::Range<usize> {
        self.starts[sentence]..self.starts[sentence + 1]
    }

    fn sentences(&self, layout: &Layout) -> Sentences<'_> {
        Sentences {
            keys: self.keys.as_ref().unwrap_or(&self.annotations),
            values: self.values.as_ref().unwrap_or(&self.annotations),
            sizes: [layout.query, layout.hidden],
            heads: layout.heads,
            starts: &self.starts,
            longest: self.longest,
            sharpness: layout.sharpness as f32,
        }
    }
}

impl Trace {
    /// Room for so many steps of so many rows.
    pub fn new(weights: &Weights, memory: &Memory, rows: usize, steps: usize) -> Self {
        let Weights { layout, .. } = *weights;
        let all = |there: bool, size: usize| Buffer::any(if there { steps * rows * size } else { 0 });
        let alphas = layout.heads * memory.longest;
        Self {
            rows,
            layout,
            longest: memory.longest,
            queries: all(layout.projects_queries, layout.query),
            alphas: all(true, alphas),
            choices: all(weights.choice != Choice::Soft, alphas),
            pooled: all(layout.projects_values, layout.hidden),
        }
    }

    /// The weights that are reported of one row at one step, over the `length` units of its sentence: those that
    /// pooled, as the mean over the heads or of the one that is asked for.
    pub fn shown(&self, weights: &Weights, step: usize, row: usize, length: usize) -> Vec<f32> {
        let all = if self.choices.is_empty() { &self.alphas } else { &self.choices };
        if let Some(head) = weights.shown {
            return all[self.place(step, row) + head * self.longest..][..length].to_vec();
        }
        let mut mean = vec![0.0; length];
        self.mean(all, step, row, &mut mean);
        mean
    }

    /// Writes α of one row at one step as the mean over the heads, whatever was chosen, over the units of its sentence.
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
    pub fn guided<'g>(self, memory: &Memory, guide: impl Fn(usize) -> &'g [Look], scale: f32) -> (Guided, f64) {
        let mut d_energies = Buffer::zeros(self.alphas.len());
        let mut loss = 0.0;
        for row in 0..self.rows {
            let Layout { heads, .. } = self.layout;
            let heads = Heads { heads, length: memory.cells(row).len(), longest: self.longest };
            for look in guide(row) {
                let place = self.place(look.target as usize, row);
                let (alphas, d_energies) = (&self.alphas[place..], &mut d_energies[place..]);
                loss += heads.guide(alphas, look.source as usize, look.weight, scale, d_energies);
            }
        }
        (Guided { trace: self, d_energies }, loss)
    }
}

impl Guided {
    /// The trace, for reports.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Hears derivatives by the weights, by their mean over the heads: `[steps × rows, longest]`.
    pub fn hear(&mut self, memory: &Memory, d_alphas: &[f32]) {
        let Layout { heads, .. } = self.trace.layout;
        for (cell, d_alphas) in d_alphas.chunks_exact(self.trace.longest.max(1)).enumerate() {
            let length = memory.cells(cell % self.trace.rows).len();
            for head in 0..heads {
                let place = (cell * heads + head) * self.trace.longest;
                let alphas = &self.trace.alphas[place..][..length];
                let mean: f32 = alphas.iter().zip(d_alphas).map(|(alpha, d_alpha)| alpha * d_alpha).sum();
                for ((d_energy, alpha), d_alpha) in self.d_energies[place..].iter_mut().zip(alphas).zip(d_alphas) {
                    *d_energy += alpha * (d_alpha - mean) / heads as f32;
                }
            }
        }
    }

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

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::super::layer;
    use super::*;
    use crate::parameters::{Parameters, Plan};
    use crate::random::Stream;

    const N: usize = 24;
    const DIMENSIONS: Dimensions = Dimensions { hidden: N, compared: 20 };
    const LENGTHS: [usize; 3] = [500, 7, 1];

    fn numbers(count: usize, purpose: &str) -> Vec<f32> {
        let mut stream = Stream::new(1, purpose, 0);
        (0..count).map(|_| stream.normal() as f32).collect()
    }

    fn all_settings() -> Vec<Settings> {
        let mut all = Vec::new();
        for &score in ScoreName::ALL {
            let heads = if score.is_fixed() { &[1][..] } else { &[1, 4] };
            for (&heads, choice) in heads.iter().flat_map(|heads| [(heads, Choice::Soft), (heads, Choice::Hardest)]) {
                // At a temperature of a ten-thousandth energies of a few are some ten thousands.
                let temperatures = if score.is_fixed() { &[1.0][..] } else { &[1.0, 1e-4, 1e4] };
                let with = |&temperature: &f64| Settings { score, heads, temperature, choice, ..Settings::default() };
                all.extend(temperatures.iter().map(with));
            }
        }
        all
    }

    /// Weights and contexts for one state of each sentence, by slices.
    fn fused(settings: &Settings, parameters: &Parameters, annotations: &[f32], states: &[f32]) -> [Vec<Vec<f32>>; 2] {
        let attend = |slices: &Slices| {
            let weights = Weights::new(settings, DIMENSIONS, slices, false);
            let starts: Vec<usize> = (0..=LENGTHS.len()).map(|end| LENGTHS[..end].iter().sum()).collect();
            let memory = weights.remember(Buffer::copy_of(annotations), &starts);
            let mut trace = Trace::new(&weights, &memory, LENGTHS.len(), 1);
            let mut contexts = vec![0.0; LENGTHS.len() * N];
            let into = TraceStep { trace: &mut trace, step: 0, contexts: &mut contexts };
            weights.attend(&memory, 0..LENGTHS.len(), states, None, into);
            let shown = |(row, &length)| trace.shown(&weights, 0, row, length);
            Ok([LENGTHS.iter().enumerate().map(shown).collect(), contexts.chunks(N).map(<[f32]>::to_vec).collect()])
        };
        Parameters::lend(&[parameters], |slices| attend(&slices[0])).unwrap()
    }

    /// The same for one sentence, by candle's operations.
    fn plain(settings: &Settings, parameters: &Parameters, annotations: &[f32], state: &[f32]) -> [Vec<f32>; 2] {
        let attention = layer::Attention::new(settings, DIMENSIONS, parameters).unwrap();
        let length = annotations.len() / N;
        let annotations = Tensor::from_slice(annotations, (1, length, N), &Device::Cpu).unwrap();
        let mask = Tensor::ones((1, length), candle_core::DType::F32, &Device::Cpu).unwrap();
        let memory = attention.remember(annotations, mask).unwrap();
        let state = Tensor::from_slice(state, (1, N), &Device::Cpu).unwrap();
        let attended = attention.attend(&memory, &state, None).unwrap();
        [attended.shown, attended.context].map(|tensor| tensor.flatten_all().unwrap().to_vec1().unwrap())
    }

    #[test]
    fn weights_sum_to_one_in_every_score_at_every_length_and_heat() {
        for settings in all_settings() {
            let mut plan = Plan::default();
            settings.plan(&mut plan, DIMENSIONS);
            let parameters = Parameters::initialise(&plan, 3, &Device::Cpu).unwrap();
            let cells: usize = LENGTHS.iter().sum();
            let (annotations, states) = (numbers(cells * N, "annotations"), numbers(LENGTHS.len() * N, "states"));
            let [weights, contexts] = fused(&settings, &parameters, &annotations, &states);
            let mut first = 0;
            for (row, length) in LENGTHS.into_iter().enumerate() {
                let sum: f32 = weights[row].iter().sum();
                assert!((sum - 1.0).abs() < 1e-4, "{settings:?} {length}: {sum}");
                assert!(
                    weights[row].iter().all(|&weight| weight >= 0.0) && contexts[row].iter().all(|c| c.is_finite())
                );
                let sentence = &annotations[first * N..(first + length) * N];
                let [weights_too, context_too] = plain(&settings, &parameters, sentence, &states[row * N..][..N]);
                let near = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-3);
                // What is nearly cold tells hardly any energies apart; rounding may.
                assert!(
                    near(&weights[row], &weights_too) && near(&contexts[row], &context_too),
                    "{settings:?} {length}"
                );
                first += length;
            }
        }
    }
}
