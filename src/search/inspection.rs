//! Search for one sentence under observation, with an intervention in its attention.

use std::ops::ControlFlow;

use candle_core::Result;

use super::batches::packing_mode;
use super::beam::search_observed;
use super::ensemble_scorer::EnsembleScorer;
use super::{BeamSearch, Hypothesis, Predictions, Scorer, Search, SearchInput, Source};
use crate::attention::StepWeights;
use crate::kernels::Backend;
use crate::model::RnnSearch;
use crate::text::PaddedBatch;

/// Observer of beam search. The methods are called in this order at each step and do nothing by default.
pub trait SearchObserver {
    /// Receives the predictions for the live hypotheses, one row each. At first there is one row, the empty hypothesis.
    fn on_predictions(&mut self, _predictions: &Predictions) {}

    /// Receives an extension that entered the beam. Those that do not end with `</s>` are the rows of the next step, in
    /// this order, unless the beam is complete.
    fn on_extension(&mut self, _extension: &KeptExtension) {}

    /// Called at the end of each step; the search stops on [`ControlFlow::Break`].
    fn on_step(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Observer that does nothing.
pub(super) struct Unobserved;

impl SearchObserver for Unobserved {}

/// Extension of a live hypothesis that entered the beam.
#[derive(Clone, Copy, Debug)]
pub struct KeptExtension {
    /// Row of the live hypothesis in the predictions.
    pub row: usize,
    /// Unit id.
    pub unit: u32,
    /// log p of the units up to this one, in nats.
    pub log_probability: f64,
}

/// Attention weights that replace those of the model in one step. The context is computed from them, and search goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervention {
    /// Index of the step, which is that of the target unit.
    pub step: usize,
    /// Weights that pool, one for each source unit and `</s>`: a row for each head of each model, or one row for all.
    pub weights: Vec<Vec<f32>>,
}

impl Intervention {
    /// Returns the weights of one model's heads, `[heads × length]`; `first` is the index of its first head.
    fn of_model(&self, first: usize, heads: usize) -> Vec<f32> {
        match &self.weights[..] {
            [row] => row.repeat(heads),
            rows => rows[first..first + heads].concat(),
        }
    }
}

/// Scorer that keeps each head's weights and intervenes in one step.
struct InspectedScorer<'a> {
    scorer: EnsembleScorer<'a>,
    /// Step of the intervention with each model's weights, `[heads × length]`.
    intervention: Option<(usize, Vec<Vec<f32>>)>,
    step: usize,
}

impl Scorer for InspectedScorer<'_> {
    fn step(&mut self, parents: &[usize], units: &[u32]) -> Result<Predictions> {
        let given = self.intervention.as_ref().filter(|(step, _)| *step == self.step);
        let given = given.map_or(&[][..], |(_, models)| models).iter().map(|weights| StepWeights::Given(weights));
        self.step += 1;
        self.scorer.inspect_step(parents, units, given.chain(std::iter::repeat(StepWeights::Model)))
    }
}

/// Beam search for one sentence with a model or an ensemble, as [`search_all`](super::search_all) does it. The predictions
/// that `observer` sees have each head's weights. The weights of an intervention are distributions of the right shape.
///
/// # Errors
/// A model fails.
pub fn inspect(
    models: &[&RnnSearch],
    source: &Source,
    settings: &BeamSearch,
    intervention: Option<&Intervention>,
    observer: &mut impl SearchObserver,
) -> Result<Vec<Hypothesis>> {
    if source.units.is_empty() {
        return Ok(vec![Hypothesis::empty()]);
    }
    let padded = PaddedBatch::new(std::iter::once(&source.units[..]));
    let input = SearchInput { index: 0, source_units: padded.length, constraints: &source.constraints };
    let intervention = intervention.map(|intervention| {
        let mut first = 0;
        let of_model = |model: &&RnnSearch| {
            let heads = model.architecture().attention.heads;
            first += heads;
            intervention.of_model(first - heads, heads)
        };
        (intervention.step, models.iter().map(of_model).collect())
    });
    let run = |scorer: EnsembleScorer| {
        let mut scorer = InspectedScorer { scorer, intervention, step: 0 };
        Ok(search_observed(&mut scorer, &[input], settings, observer)?.swap_remove(0))
    };
    if models.iter().all(|model| model.backend() == Backend::Cpu) {
        let mode = packing_mode(models[0], std::slice::from_ref(source), &Search::Beam(*settings));
        RnnSearch::with_packed(models, mode, |weights| run(EnsembleScorer::cpu(weights, &padded)))
    } else {
        run(EnsembleScorer::reference(models, &padded)?)
    }
}
