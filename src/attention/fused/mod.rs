//! The translator's attention on plain slices: forward step by step, guided, and back, with derivatives by hand.
//!
//! Three types stand for how far it has come, each made from the one before: a [`Trace`] grows while steps go forward,
//! [`Guided`] knows what the guides say, and a [`WayBack`] collects derivatives while the same steps are taken back.

mod trace;
mod way_back;

use super::pooling::{AttentionStep, Sentences};
use super::scores::ScoreName;
use super::settings::{Choice, Dimensions, KEY, Layout, OUTPUT, QUERY, Settings, VALUE, own_name};
use crate::kernels::buffer::Buffer;
use crate::kernels::matrix::{PackedWeight, Store};
use crate::parameters::Slices;
pub use trace::{Guided, Trace, TraceStep};
pub use way_back::{Passed, WayBack};

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

/// A step's numbers among those of all steps; nothing of nothing.
fn of_step(all: &mut [f32], step: usize, size: usize) -> &mut [f32] {
    if all.is_empty() { all } else { &mut all[step * size..][..size] }
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
