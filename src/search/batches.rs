//! Search over any number of sentences: like lengths together, results in the order of the input.

use std::sync::Mutex;

use candle_core::Result;

use super::ensemble_scorer::map_batches;
use super::{DecodingConstraints, Hypothesis, Scorer, Search, SearchInput, sample, search};
use crate::model::RnnSearch;
use crate::model::cpu::PackingMode;
use crate::text::PaddedBatch;

/// Units in one batch of sources, padding counted: bounds memory, whatever the sentences' lengths.
const BATCH_UNITS: usize = 2048;
/// Sentences in one batch, at most, and hypotheses: a wide beam takes memory for each of its own.
const BATCH_SENTENCES: usize = 64;
const BATCH_HYPOTHESES: usize = 2048;

/// A sentence that is to be translated.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Its unit ids.
    pub units: Vec<u32>,
    /// What its translation has to keep to.
    pub constraints: DecodingConstraints,
}

impl From<Vec<u32>> for Source {
    fn from(units: Vec<u32>) -> Self {
        Self { units, constraints: DecodingConstraints::default() }
    }
}

/// Translates sources by one model or by several over the same units together: for each as many hypotheses as `settings`
/// say, best first, drawn ones in the order in which they were drawn. An empty source gets one empty hypothesis.
/// `on_progress` is told after each batch how many sentences it held.
///
/// # Errors
/// The model's own.
pub fn search_all(
    models: &[&RnnSearch],
    sources: &[Source],
    settings: &Search,
    on_progress: &mut (dyn FnMut(usize) + Send),
) -> Result<Vec<Vec<Hypothesis>>> {
    let mut results: Vec<Vec<Hypothesis>> = vec![vec![Hypothesis::empty()]; sources.len()];
    let most = (BATCH_HYPOTHESES / settings.width().max(1)).clamp(1, BATCH_SENTENCES);
    let batches = batches(sources, rayon::current_num_threads(), most);
    on_progress(sources.len() - batches.iter().map(Vec::len).sum::<usize>());
    let progress = Mutex::new(on_progress);
    let pad = |batch: &Vec<usize>| PaddedBatch::new(batch.iter().map(|&index| sources[index].units.as_slice()));
    let translate = |batch: &Vec<usize>, padded: &PaddedBatch, scorer: &mut dyn Scorer| {
        let input = |(&number, &units): (&usize, &usize)| SearchInput {
            number,
            units,
            constraints: &sources[number].constraints,
        };
        let input: Vec<SearchInput> = batch.iter().zip(&padded.lengths).map(input).collect();
        let found = match settings {
            Search::Beam(settings) => search(scorer, &input, settings)?,
            Search::Draws(settings) => sample(scorer, &input, settings)?,
        };
        if let Ok(mut on_progress) = progress.lock() {
            on_progress(padded.batch());
        }
        Ok(found)
    };
    let found = map_batches(models, purpose(models[0], sources, settings), &batches, pad, translate)?;
    for (batch, found) in batches.iter().zip(found) {
        for (&index, hypotheses) in batch.iter().zip(found) {
            results[index] = hypotheses;
        }
    }
    Ok(results)
}

/// Translations are about as long as their sources, so that this tells how many rows there will be.
fn purpose(model: &RnnSearch, sources: &[Source], settings: &Search) -> PackingMode {
    let rows = settings.width() * sources.iter().map(|source| source.units.len()).sum::<usize>();
    if rows > 2 * model.architecture().target_vocabulary { PackingMode::LongInference } else { PackingMode::Inference }
}

/// The sources that are not empty, in batches of like length, `most` in one at most, and in no fewer than there are cores to
/// work on them. The longest come first, so that no core is left alone with them at the end.
fn batches(sources: &[Source], cores: usize, most: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..sources.len()).filter(|&index| !sources[index].units.is_empty()).collect();
    order.sort_by_key(|&index| (sources[index].units.len(), index));
    let most = order.len().div_ceil(cores).min(most);
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for index in order {
        // Sorted by length, so the newcomer is the longest.
        let fits = |batch: &Vec<usize>| {
            batch.len() < most && (batch.len() + 1) * (sources[index].units.len() + 1) <= BATCH_UNITS
        };
        match batches.last_mut().filter(|batch| fits(batch)) {
            Some(batch) => batch.push(index),
            None => batches.push(vec![index]),
        }
    }
    batches.reverse();
    batches
}
