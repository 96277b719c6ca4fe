//! No score at all: what each direction of the encoder read last, the fixed context of a translator without attention
//! (Sutskever et al. 2014; Cho et al. 2014).
//!
//! ```text
//! c = [→h_S ; ←h_1]
//! ```
//!
//! It is a pooling in two parts: the forward half of the annotations has all its weight on the last word, the backward
//! half on the first, since ←h_S has seen nothing but the sentence's end. Energies that rise or fall steeply from word
//! to word say so without knowing where the sentence ends.

use candle_core::{Result, Tensor};

use super::spec::{self, Needs, Part, Projections};
use crate::attention::score_traits::{Rows, Score, ScoreDerivatives, SentenceScore};

/// By how much energies differ from word to word: enough for a softmax to give all to one.
const STEEP: f32 = 1e3;

/// One part of the annotations, in both forms.
#[derive(Clone, Copy)]
pub struct Sentence {
    /// How energies change from word to word.
    rise: f32,
}

impl Sentence {
    fn of_part(part: usize) -> Self {
        Self { rise: if part == 0 { STEEP } else { -STEEP } }
    }
}

impl Score for Sentence {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        let (batch, length, _) = keys.dims3()?;
        let row: Vec<f32> = (0..length).map(|position| position as f32 * self.rise).collect();
        let row = Tensor::from_vec(row, (1, 1, length), keys.device())?;
        row.broadcast_as((batch, queries.dim(1)?, length))?.contiguous()
    }
}

impl SentenceScore for Sentence {
    #[inline(always)]
    fn head(self, head: usize, _heads: usize) -> Self {
        Self::of_part(head)
    }

    #[inline(always)]
    fn energies(self, _query: &[f32], _keys: Rows, energies: &mut [f32]) {
        for (position, energy) in energies.iter_mut().enumerate() {
            *energy = position as f32 * self.rise;
        }
    }

    #[inline(always)]
    fn backward(self, _query: &[f32], _keys: Rows, _d_energies: &[f32], d: ScoreDerivatives) {
        d.query.fill(0.0);
    }
}

pub(super) struct Family;

impl spec::Family for Family {
    const NEEDS: Needs = Needs { fixed: true, parts: 2, ..Needs::projections(Projections::None) };
    type Sentence<'a> = Sentence;

    fn plain(_own: Option<&Tensor>, part: Part) -> Result<Box<dyn Score>> {
        Ok(Box::new(Sentence::of_part(part.head)))
    }

    fn sentence(_own: &[f32]) -> Sentence {
        Sentence::of_part(0)
    }
}
