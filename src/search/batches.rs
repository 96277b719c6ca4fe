//! Batched search: sources are bucketed by length, and results keep the order of the input.

use std::sync::Mutex;

use candle_core::Result;
use rayon::prelude::*;

use super::{
    Cancellation, DecodingConstraints, EnsembleScorer, ExpectedLength, Hypothesis, Search, SearchInput, sample, search,
};
use crate::kernels::Backend;
use crate::model::cpu::PackingMode;
use crate::model::{MIN_SHORTLIST_VOCABULARY, RnnSearch, Shortlist, TokenLexicon};
use crate::text::PaddedBatch;

/// Maximum source tokens of a batch, with padding.
const BATCH_TOKENS: usize = 2048;
const BATCH_SENTENCES: usize = 64;
const BATCH_HYPOTHESES: usize = 2048;

/// Source sentence.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Token ids.
    pub tokens: Vec<u32>,
    /// Constraints on the translation.
    pub constraints: DecodingConstraints,
    /// Expected length of the translation, if it is known.
    pub expected_length: Option<ExpectedLength>,
    /// Cancels the search of this source.
    pub cancellation: Cancellation,
    /// Index in the seed of sampling, by default that among the sources.
    pub seed_index: Option<u64>,
}

impl From<Vec<u32>> for Source {
    fn from(tokens: Vec<u32>) -> Self {
        Self { tokens, ..Self::default() }
    }
}

/// Decodes sources with a model or an ensemble over the same vocabularies. Returns the hypotheses of each source, best
/// first, or samples in the order drawn. An empty source has one empty hypothesis, a cancelled one has a degenerate one.
/// `on_progress` receives the number of sentences of each finished batch.
///
/// # Errors
/// A model fails.
pub fn search_all(
    models: &[&RnnSearch],
    sources: &[Source],
    settings: &Search,
    on_progress: &mut (dyn FnMut(usize) + Send),
) -> Result<Vec<Vec<Hypothesis>>> {
    let mut results: Vec<Vec<Hypothesis>> = vec![vec![Hypothesis::empty()]; sources.len()];
    let max_sentences = (BATCH_HYPOTHESES / settings.width().max(1)).clamp(1, BATCH_SENTENCES);
    let batches = batches(sources, rayon::current_num_threads(), max_sentences);
    on_progress(sources.len() - batches.iter().map(Vec::len).sum::<usize>());
    let search = BatchedSearch { models, sources, settings, on_progress: Mutex::new(on_progress) };
    for (batch, found) in batches.iter().zip(search.run(&batches)?) {
        for (&index, hypotheses) in batch.iter().zip(found) {
            results[index] = hypotheses;
        }
    }
    Ok(results)
}

/// Search for several batches of sources.
struct BatchedSearch<'a, 'p> {
    models: &'a [&'a RnnSearch],
    sources: &'a [Source],
    settings: &'a Search,
    /// Receives the number of sentences of each finished batch.
    on_progress: Mutex<&'a mut (dyn FnMut(usize) + Send + 'p)>,
}

impl BatchedSearch<'_, '_> {
    /// Decodes batches, which are indices of sources. Returns the hypotheses of each source of each batch.
    fn run(&self, batches: &[Vec<usize>]) -> Result<Vec<Vec<Vec<Hypothesis>>>> {
        let Self { models, sources, settings, .. } = *self;
        if models.iter().all(|model| model.backend() == Backend::Cpu) {
            // One batch per core: the matrix products of one batch are too small to parallelize.
            RnnSearch::with_packed(models, packing_mode(models[0], sources, settings), |packed| {
                let batches = batches.par_iter().with_max_len(1);
                batches.map(|batch| self.decode(batch, |source| Ok(EnsembleScorer::cpu(packed, source)))).collect()
            })
        } else {
            let batches = batches.iter();
            batches.map(|batch| self.decode(batch, |source| EnsembleScorer::reference(models, source))).collect()
        }
    }

    /// Decodes one batch with a scorer over its sources.
    fn decode<'s>(
        &self,
        batch: &[usize],
        scorer: impl FnOnce(&PaddedBatch) -> Result<EnsembleScorer<'s>>,
    ) -> Result<Vec<Vec<Hypothesis>>> {
        let sources = batch.iter().map(|&index| &self.sources[index]);
        let padded = PaddedBatch::new(sources.clone().map(|source| source.tokens.as_slice()));
        let mut inputs = Vec::with_capacity(batch.len());
        for (&index, &source_tokens) in batch.iter().zip(&padded.lengths) {
            let Source { constraints, expected_length, cancellation, seed_index, .. } = &self.sources[index];
            let (seed_index, cancellation) = (seed_index.unwrap_or(index as u64), Some(cancellation));
            let expected_length = expected_length.as_ref();
            inputs.push(SearchInput { seed_index, source_tokens, constraints, expected_length, cancellation });
        }
        let shortlist = shortlist(self.models, sources, self.settings);
        let mut scorer = scorer(&padded)?.restricted(shortlist.as_ref());
        let found = match self.settings {
            Search::Beam(options) => search(&mut scorer, &inputs, options)?,
            Search::Sample(options) => sample(&mut scorer, &inputs, options)?,
        };
        if let Ok(mut on_progress) = self.on_progress.lock() {
            on_progress(padded.batch());
        }
        Ok(found)
    }
}

/// Shortlist of the tokens of sources without constraints. Samples are drawn from all tokens.
pub(super) fn shortlist<'s>(
    models: &[&RnnSearch],
    sources: impl Iterator<Item = &'s Source>,
    settings: &Search,
) -> Option<Shortlist> {
    let is_restricted = match settings {
        Search::Beam(settings) => !settings.limits.restrict_tokens(),
        Search::Sample(_) => false,
    };
    let is_exact = models.iter().any(|model| model.architecture().attention.is_exact());
    let is_large = models[0].architecture().target_vocabulary >= MIN_SHORTLIST_VOCABULARY;
    let lexicons: Vec<&TokenLexicon> = models.iter().map(|model| Some(&**model.lexicon()?)).collect::<Option<_>>()?;
    if !is_restricted || !is_large || is_exact {
        return None;
    }
    let selected = sources.map(|source| source.constraints.is_empty().then_some(&source.tokens[..]));
    Some(Shortlist::new(&lexicons, selected))
}

pub(super) fn packing_mode(model: &RnnSearch, sources: &[Source], settings: &Search) -> PackingMode {
    // Translations are about as long as their sources.
    let rows = settings.width() * sources.iter().map(|source| source.tokens.len()).sum::<usize>();
    if rows > 2 * model.architecture().target_vocabulary { PackingMode::LongInference } else { PackingMode::Inference }
}

/// Batches of the indices of nonempty sources of similar length, if possible at least one for each core. The longest
/// come first, which balances the load.
fn batches(sources: &[Source], cores: usize, max_sentences: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..sources.len()).filter(|&index| !sources[index].tokens.is_empty()).collect();
    order.sort_by_key(|&index| (sources[index].tokens.len(), index));
    let max_sentences = order.len().div_ceil(cores).min(max_sentences);
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for index in order {
        // Sources are sorted by length: the new one is the longest.
        let length = sources[index].tokens.len() + 1;
        match batches.last_mut() {
            Some(batch) if batch.len() < max_sentences && (batch.len() + 1) * length <= BATCH_TOKENS => {
                batch.push(index);
            }
            _ => batches.push(vec![index]),
        }
    }
    batches.reverse();
    batches
}
