//! Models as a [`Scorer`]: one decoder state per live hypothesis, all in one batch. An ensemble predicts the mean of its
//! models' probabilities and of their attention.

use candle_core::Result;
use rayon::prelude::*;

use super::{Predictions, Scorer};
use crate::kernels::Backend;
use crate::model::cpu::{Decoding, Purpose, Weights};
use crate::model::{IncrementalDecoder, RnnSearch, Said};
use crate::text::Padded;

/// One model, or several over the same vocabularies.
pub struct RnnScorer<'a> {
    decoders: Vec<IncrementalDecoder<'a>>,
}

impl<'a> RnnScorer<'a> {
    /// Encodes sources on the CPU backend.
    pub fn fused(models: &'a [Weights<'a>], source: &Padded) -> Self {
        let decoder = |weights| IncrementalDecoder::Cpu(Decoding::new(weights, source));
        Self { decoders: models.iter().map(decoder).collect() }
    }

    /// Encodes sources on the reference backend.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn plain(models: &[&'a RnnSearch], source: &Padded) -> Result<Self> {
        let decoder = |model: &&'a RnnSearch| Ok(IncrementalDecoder::Reference(model.reference_decoder(source)?));
        Ok(Self { decoders: models.iter().map(decoder).collect::<Result<_>>()? })
    }
}

impl Scorer for RnnScorer<'_> {
    fn advance(&mut self, parents: &[usize], units: &[u32]) -> Result<Predictions> {
        let step = |decoder: &mut IncrementalDecoder| {
            let Said { logits, attention } = decoder.step(parents, units)?;
            Ok(Predictions::of_logits(logits, attention))
        };
        let mut predictions: Vec<Predictions> = self.decoders.iter_mut().map(step).collect::<Result<_>>()?;
        Ok(if predictions.len() == 1 { predictions.remove(0) } else { Predictions::together(&predictions) })
    }
}

/// Decodes batches of sources and returns the results in order. `pad` makes the sources of a batch, `decode` searches
/// with a scorer over them.
///
/// # Errors
/// A model's own, and those of `decode`.
pub(super) fn map_batches<T: Sync, R: Send>(
    models: &[&RnnSearch],
    purpose: Purpose,
    batches: &[T],
    pad: impl Fn(&T) -> Padded + Sync,
    decode: impl Fn(&T, &Padded, &mut dyn Scorer) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if models.iter().all(|model| model.backend() == Backend::Cpu) {
        // One batch per core: the products of one batch are too small to divide.
        RnnSearch::with_weights(models, purpose, |weights| {
            let run = |batch: &T| {
                let source = pad(batch);
                decode(batch, &source, &mut RnnScorer::fused(weights, &source))
            };
            batches.par_iter().with_max_len(1).map(run).collect()
        })
    } else {
        let run = |batch: &T| {
            let source = pad(batch);
            decode(batch, &source, &mut RnnScorer::plain(models, &source)?)
        };
        batches.iter().map(run).collect()
    }
}
