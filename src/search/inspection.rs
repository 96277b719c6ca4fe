//! Search for one sentence under observation, with an intervention in its attention.

use candle_core::Result;
use serde::Deserialize;

use super::batches::{packing_mode, shortlist};
use super::beam::search_observed;
use super::ensemble_scorer::EnsembleScorer;
use super::{BeamOptions, Hypothesis, Predictions, Scorer, Search, SearchInput, SearchObserver, Source};
use crate::kernels::Backend;
use crate::model::{RnnSearch, Shortlist};
use crate::text::PaddedBatch;

/// Attention weights that replace those of the model in one step. The context is computed from them, and search goes on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Intervention {
    /// Index of the step, which is that of the target token.
    pub step: usize,
    /// Weights that pool, one for each source token and `</s>`: a row for each head of each model, or one row for all.
    pub weights: Vec<Vec<f32>>,
}

impl Intervention {
    /// Returns the weights of each model's heads.
    fn by_model(&self, models: &[&RnnSearch]) -> ModelIntervention {
        let mut weights = Vec::with_capacity(models.len());
        let mut first = 0;
        for model in models {
            let heads = model.architecture().attention.distributions();
            weights.push(self.of_heads(first, heads));
            first += heads;
        }
        ModelIntervention { step: self.step, weights }
    }

    /// Returns the weights of heads, `[heads × length]`, from an index on.
    fn of_heads(&self, first: usize, heads: usize) -> Vec<f32> {
        match &self.weights[..] {
            [row] => row.repeat(heads),
            rows => rows[first..first + heads].concat(),
        }
    }
}

/// Intervention with a row for each head of each model.
struct ModelIntervention {
    /// Index of the step.
    step: usize,
    /// Weights of each model, `[heads × length]`.
    weights: Vec<Vec<f32>>,
}

/// Scorer that keeps each head's weights and intervenes in one step.
struct InspectedScorer<'a> {
    scorer: EnsembleScorer<'a>,
    intervention: Option<ModelIntervention>,
    /// Index of the next step.
    step: usize,
}

impl Scorer for InspectedScorer<'_> {
    fn step(&mut self, parents: &[usize], tokens: &[u32]) -> Result<Predictions> {
        let given = match &self.intervention {
            Some(intervention) if intervention.step == self.step => &intervention.weights[..],
            _ => &[],
        };
        let given = given.iter().map(|weights| Some(&weights[..]));
        self.step += 1;
        self.scorer.inspect_step(parents, tokens, given.chain(std::iter::repeat(None)))
    }
}

/// Search for one sentence, less its scorer.
struct Inspection<'a> {
    input: SearchInput<'a>,
    options: &'a BeamOptions,
    shortlist: Option<Shortlist>,
    intervention: Option<ModelIntervention>,
}

impl Inspection<'_> {
    fn run(self, scorer: EnsembleScorer, observer: &mut impl SearchObserver) -> Result<Vec<Hypothesis>> {
        let scorer = scorer.restricted(self.shortlist.as_ref());
        let mut scorer = InspectedScorer { scorer, intervention: self.intervention, step: 0 };
        Ok(search_observed(&mut scorer, &[self.input], self.options, observer)?.swap_remove(0))
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
    settings: &BeamOptions,
    intervention: Option<&Intervention>,
    observer: &mut impl SearchObserver,
) -> Result<Vec<Hypothesis>> {
    if source.tokens.is_empty() {
        return Ok(vec![Hypothesis::empty()]);
    }
    let padded = PaddedBatch::new(std::iter::once(&source.tokens[..]));
    let Source { constraints, expected_length, cancellation, .. } = source;
    let input = SearchInput {
        seed_index: 0,
        source_tokens: padded.length,
        constraints,
        expected_length: expected_length.as_ref(),
        cancellation: Some(cancellation),
    };
    let search = Search::Beam(*settings);
    let inspection = Inspection {
        input,
        options: settings,
        shortlist: shortlist(models, std::iter::once(source), &search),
        intervention: intervention.map(|intervention| intervention.by_model(models)),
    };
    if models.iter().all(|model| model.backend() == Backend::Cpu) {
        let mode = packing_mode(models[0], std::slice::from_ref(source), &search);
        RnnSearch::with_packed(models, mode, |packed| inspection.run(EnsembleScorer::cpu(packed, &padded), observer))
    } else {
        inspection.run(EnsembleScorer::reference(models, &padded)?, observer)
    }
}
