//! Search for one sentence under observation, with an intervention in its attention.

use candle_core::Result;
use serde::Deserialize;

use super::batches::{packing_mode, shortlist};
use super::beam::search_observed;
use super::ensemble_scorer::EnsembleScorer;
use super::{BeamOptions, Hypothesis, Predictions, Scorer, Search, SearchInput, SearchObserver, Source};
use crate::kernels::Backend;
use crate::model::RnnSearch;
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
    fn step(&mut self, parents: &[usize], tokens: &[u32]) -> Result<Predictions> {
        let given = self.intervention.as_ref().filter(|(step, _)| *step == self.step);
        let given = given.map_or(&[][..], |(_, models)| models).iter().map(|weights| Some(&weights[..]));
        self.step += 1;
        self.scorer.inspect_step(parents, tokens, given.chain(std::iter::repeat(None)))
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
    let Source { constraints, cancellation, .. } = source;
    let input =
        SearchInput { seed_index: 0, source_tokens: padded.length, constraints, cancellation: Some(cancellation) };
    let intervention = intervention.map(|intervention| {
        let mut first = 0;
        let of_model = |model: &&RnnSearch| {
            let heads = model.architecture().attention.distributions();
            first += heads;
            intervention.of_model(first - heads, heads)
        };
        (intervention.step, models.iter().map(of_model).collect())
    });
    let search = Search::Beam(*settings);
    let shortlist = shortlist(models, std::iter::once(source), &search);
    let run = |scorer: EnsembleScorer| {
        let scorer = scorer.restricted(shortlist.as_ref());
        let mut scorer = InspectedScorer { scorer, intervention, step: 0 };
        Ok(search_observed(&mut scorer, &[input], settings, observer)?.swap_remove(0))
    };
    if models.iter().all(|model| model.backend() == Backend::Cpu) {
        let mode = packing_mode(models[0], std::slice::from_ref(source), &search);
        RnnSearch::with_packed(models, mode, |weights| run(EnsembleScorer::cpu(weights, &padded)))
    } else {
        run(EnsembleScorer::reference(models, &padded)?)
    }
}
