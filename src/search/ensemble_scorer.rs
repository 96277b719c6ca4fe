//! Models as a [`Scorer`]: one decoder state per live hypothesis, all in one batch.

use candle_core::Result;

use super::{Predictions, Scorer};
use crate::model::cpu::{CpuIncrementalDecoder, PackedModel};
use crate::model::{IncrementalDecoder, RnnSearch, Shortlist};
use crate::text::PaddedBatch;

/// One model, or several over the same vocabularies.
pub struct EnsembleScorer<'a> {
    decoders: Vec<IncrementalDecoder<'a>>,
}

impl<'a> EnsembleScorer<'a> {
    /// Encodes sources on the CPU backend.
    pub fn cpu(models: &'a [PackedModel<'a>], source: &PaddedBatch) -> Self {
        let decoders = models.iter().map(|model| CpuIncrementalDecoder::new(model, source));
        Self { decoders: decoders.map(IncrementalDecoder::Cpu).collect() }
    }

    /// Encodes sources on the reference backend.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn reference(models: &[&'a RnnSearch], source: &PaddedBatch) -> Result<Self> {
        let mut decoders = Vec::with_capacity(models.len());
        for model in models {
            decoders.push(IncrementalDecoder::Reference(model.reference_decoder(source)?));
        }
        Ok(Self { decoders })
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
        let mut models = Vec::with_capacity(self.decoders.len());
        for (decoder, given) in self.decoders.iter_mut().zip(given) {
            let (output, heads) = decoder.inspect_step(parents, tokens, given)?;
            models.push(Predictions::from(output).with_heads(heads));
        }
        Ok(mean(models))
    }
}

/// Returns the predictions of one model, or the mean of several.
fn mean(mut models: Vec<Predictions>) -> Predictions {
    if models.len() == 1 { models.remove(0) } else { Predictions::ensemble_mean(&models) }
}

impl Scorer for EnsembleScorer<'_> {
    fn step(&mut self, parents: &[usize], tokens: &[u32]) -> Result<Predictions> {
        let mut models = Vec::with_capacity(self.decoders.len());
        for decoder in &mut self.decoders {
            models.push(Predictions::from(decoder.step(parents, tokens)?));
        }
        Ok(mean(models))
    }
}
