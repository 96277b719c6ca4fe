//! Models as a [`Scorer`]: decoder states of all living hypotheses in one batch; of several models the mean of their
//! probabilities, and of their attention.

use candle_core::Result;

use super::plain_decoding::PlainDecoding;
use super::{Predictions, Scorer};
use crate::model::RnnSearch;
use crate::model::fused::{Decoding, Said, Weights};
use crate::text::Padded;

/// What decodes for one model.
enum Speaker<'a> {
    Fused(Decoding<'a>),
    Plain(PlainDecoding<'a>),
}

impl Speaker<'_> {
    fn advance(&mut self, parents: &[usize], units: &[u32]) -> Result<Said> {
        match self {
            Self::Fused(decoding) => Ok(decoding.advance(parents, units)),
            Self::Plain(decoding) => decoding.advance(parents, units),
        }
    }
}

/// One model, or several over the same units.
pub struct RnnScorer<'a> {
    speakers: Vec<Speaker<'a>>,
}

impl<'a> RnnScorer<'a> {
    /// Encodes the sources, by the fused path.
    pub fn fused(models: &'a [Weights<'a>], source: &Padded) -> Self {
        Self { speakers: models.iter().map(|weights| Speaker::Fused(Decoding::new(weights, source))).collect() }
    }

    /// Encodes the sources, by candle's operations.
    ///
    /// # Errors
    /// Candle's own.
    pub fn plain(models: &[&'a RnnSearch], source: &Padded) -> Result<Self> {
        let speaker = |model: &&'a RnnSearch| Ok(Speaker::Plain(PlainDecoding::new(model, source)?));
        Ok(Self { speakers: models.iter().map(speaker).collect::<Result<_>>()? })
    }
}

impl Scorer for RnnScorer<'_> {
    fn advance(&mut self, parents: &[usize], units: &[u32]) -> Result<Predictions> {
        let advance = |speaker: &mut Speaker| {
            let Said { logits, attention } = speaker.advance(parents, units)?;
            Ok(Predictions::of_logits(logits, attention))
        };
        let mut said: Vec<Predictions> = self.speakers.iter_mut().map(advance).collect::<Result<_>>()?;
        Ok(if said.len() == 1 { said.remove(0) } else { Predictions::together(&said) })
    }
}
