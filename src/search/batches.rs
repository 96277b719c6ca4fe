//! Search over any number of sentences: like lengths together, results in the order of the input.

use candle_core::Result;

use super::{BeamSettings, Hypothesis, RnnScorer, search};
use crate::model::RnnSearch;
use crate::text::Padded;

/// Units in one batch of sources, padding counted: bounds memory, whatever the sentences' lengths.
const BATCH_UNITS: usize = 2048;
/// Sentences in one batch.
const BATCH_SENTENCES: usize = 64;

/// Translates sources, given as unit ids, with up to `settings.beam` hypotheses each, best first. An empty source gets one
/// empty hypothesis. `on_progress` is told after each batch how many sentences it held.
///
/// # Errors
/// The model's own.
pub fn search_all(
    model: &RnnSearch,
    sources: &[Vec<u32>],
    settings: &BeamSettings,
    on_progress: &mut dyn FnMut(usize),
) -> Result<Vec<Vec<Hypothesis>>> {
    let mut results: Vec<Vec<Hypothesis>> = vec![vec![Hypothesis::empty()]; sources.len()];
    let mut order: Vec<usize> = (0..sources.len()).filter(|&index| !sources[index].is_empty()).collect();
    on_progress(sources.len() - order.len());
    order.sort_by_key(|&index| (sources[index].len(), index));
    let mut rest = order.as_slice();
    while !rest.is_empty() {
        let fits = |&count: &usize| count == 1 || count * (sources[rest[count - 1]].len() + 1) <= BATCH_UNITS;
        let size = (1..=rest.len().min(BATCH_SENTENCES)).take_while(fits).last().unwrap_or(1);
        let (batch, later) = rest.split_at(size);
        let padded = Padded::new(batch.iter().map(|&index| sources[index].as_slice()));
        let mut scorer = RnnScorer::new(model, &padded)?;
        let found = search(&mut scorer, &padded.lengths, settings)?;
        for (&index, hypotheses) in batch.iter().zip(found) {
            results[index] = hypotheses;
        }
        on_progress(size);
        rest = later;
    }
    Ok(results)
}
