//! The attention's parameters, and what some sentences offer to be looked at.

use super::pooling::Sentences;
use crate::attention::config::{Dimensions, KEY, Layout, OUTPUT, QUERY, Settings, VALUE, own_name};
use crate::attention::scores::ScoreName;
use crate::attention::selection::Choice;
use crate::kernels::buffer::Buffer;
use crate::kernels::matrix::{PackedWeight, Store};
use crate::parameters::Slices;

/// The attention's parameters while a batch runs.
pub struct Weights<'a> {
    pub(super) layout: Layout,
    pub(super) score: ScoreName,
    pub(super) choice: Choice,
    pub(super) shown: Option<usize>,
    /// W_q, W_k, W_v, W_o, where there are such
    pub(super) query: Option<PackedWeight>,
    pub(super) key: Option<PackedWeight>,
    pub(super) value: Option<PackedWeight>,
    pub(super) output: Option<PackedWeight>,
    /// The score's own
    pub(super) own: &'a [f32],
}

/// What some sentences offer to be looked at. It is made once and cannot be forgotten, since attending takes it.
pub struct Memory {
    /// `[cells, n]`, sentence by sentence
    pub(super) annotations: Buffer,
    /// W_k h: `[cells, d]`, where keys are projected
    pub(super) keys: Option<Buffer>,
    /// W_v h: `[cells, n]`, where values are
    pub(super) values: Option<Buffer>,
    /// Where each sentence's cells begin, and the end of the last.
    pub(super) starts: Vec<usize>,
    pub(super) longest: usize,
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

    pub(super) fn sentences(&self, layout: &Layout) -> Sentences<'_> {
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
