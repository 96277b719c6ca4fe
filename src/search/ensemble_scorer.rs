//! Models as a [`Scorer`]: one decoder state per live hypothesis, all in one batch.

use candle_core::Result;
use rayon::prelude::*;

use super::{Predictions, Scorer};
use crate::kernels::Backend;
use crate::model::cpu::{CpuIncrementalDecoder, PackedModel, PackingMode};
use crate::model::{IncrementalDecoder, RnnSearch, Shortlist};
use crate::text::PaddedBatch;

/// One model, or several over the same vocabularies.
pub struct EnsembleScorer<'a> {
    decoders: Vec<IncrementalDecoder<'a>>,
}

impl<'a> EnsembleScorer<'a> {
    /// Encodes sources on the CPU backend.
    pub fn cpu(models: &'a [PackedModel<'a>], source: &PaddedBatch) -> Self {
        let decoder = |weights| IncrementalDecoder::Cpu(CpuIncrementalDecoder::new(weights, source));
        Self { decoders: models.iter().map(decoder).collect() }
    }

    /// Encodes sources on the reference backend.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn reference(models: &[&'a RnnSearch], source: &PaddedBatch) -> Result<Self> {
        let decoder = |model: &&'a RnnSearch| Ok(IncrementalDecoder::Reference(model.reference_decoder(source)?));
        Ok(Self { decoders: models.iter().map(decoder).collect::<Result<_>>()? })
    }

    /// Restricts each sentence to the tokens of a shortlist, if there is one.
    #[must_use]
    pub fn restricted(mut self, shortlist: Option<&Shortlist>) -> Self {
        shortlist.iter().for_each(|shortlist| self.decoders.iter_mut().for_each(|decoder| decoder.restrict(shortlist)));
        self
    }

    /// As [`Scorer::step`], with each head's weights. `given` yields the weights that replace each model's own, if any.
    ///
    /// # Errors
    /// A model fails.
    pub(super) fn inspect_step<'g>(
        &mut self,
        parents: &[usize],
        tokens: &[u32],
        given: impl Iterator<Item = Option<&'g [f32]>>,
    ) -> Result<Predictions> {
        let step = |(decoder, given): (&mut IncrementalDecoder, Option<&[f32]>)| {
            let (output, heads) = decoder.inspect_step(parents, tokens, given)?;
            Ok(Predictions::from(output).with_heads(heads))
        };
        mean(self.decoders.iter_mut().zip(given).map(step).collect::<Result<_>>()?)
    }
}

/// Returns the predictions of one model, or the mean of several.
fn mean(mut models: Vec<Predictions>) -> Result<Predictions> {
    Ok(if models.len() == 1 { models.remove(0) } else { Predictions::ensemble_mean(&models) })
}

impl Scorer for EnsembleScorer<'_> {
    fn step(&mut self, parents: &[usize], tokens: &[u32]) -> Result<Predictions> {
        let step = |decoder: &mut IncrementalDecoder| Ok(Predictions::from(decoder.step(parents, tokens)?));
        mean(self.decoders.iter_mut().map(step).collect::<Result<_>>()?)
    }
}

/// Decodes batches of sources and returns the results in order. `pad` returns a batch's sources, with a shortlist of their
/// tokens if there is one; `decode` searches with a scorer over them.
///
/// # Errors
/// The first error of a model or of `decode`.
pub(super) fn map_batches<T: Sync, R: Send>(
    models: &[&RnnSearch],
    mode: PackingMode,
    batches: &[T],
    pad: impl Fn(&T) -> (PaddedBatch, Option<Shortlist>) + Sync,
    decode: impl Fn(&T, &PaddedBatch, &mut dyn Scorer) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if models.iter().all(|model| model.backend() == Backend::Cpu) {
        // One batch per core: the matrix products of one batch are too small to parallelize.
        RnnSearch::with_packed(models, mode, |weights| {
            let run = |batch: &T| {
                let (source, shortlist) = pad(batch);
                decode(batch, &source, &mut EnsembleScorer::cpu(weights, &source).restricted(shortlist.as_ref()))
            };
            batches.par_iter().with_max_len(1).map(run).collect()
        })
    } else {
        let run = |batch: &T| {
            let (source, shortlist) = pad(batch);
            decode(batch, &source, &mut EnsembleScorer::reference(models, &source)?.restricted(shortlist.as_ref()))
        };
        batches.iter().map(run).collect()
    }
}
