//! No score at all: every word counts the same, so that the context is the mean of the annotations.
//!
//! ```text
//! e_j = 0            α_j = 1 / length
//! ```

use candle_core::{Result, Tensor};

use super::spec::{self, Needs, Part, Projections};
use crate::attention::score_traits::{Rows, Score, ScoreDerivatives, SentenceScore};

/// The plain form.
pub struct Even;

impl Score for Even {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        let (batch, length, _) = keys.dims3()?;
        Tensor::zeros((batch, queries.dim(1)?, length), keys.dtype(), keys.device())
    }
}

/// The fast form.
#[derive(Clone, Copy)]
pub struct Sentence;

impl SentenceScore for Sentence {
    #[inline(always)]
    fn head(self, _head: usize, _heads: usize) -> Self {
        self
    }

    #[inline(always)]
    fn energies(self, _query: &[f32], _keys: Rows, energies: &mut [f32]) {
        energies.fill(0.0);
    }

    #[inline(always)]
    fn backward(self, _query: &[f32], _keys: Rows, _d_energies: &[f32], d: ScoreDerivatives) {
        d.query.fill(0.0);
    }
}

pub(super) struct Family;

impl spec::Family for Family {
    const NEEDS: Needs = Needs { fixed: true, ..Needs::projections(Projections::None) };
    type Sentence<'a> = Sentence;

    fn plain(_own: Option<&Tensor>, _head: Part) -> Result<Box<dyn Score>> {
        Ok(Box::new(Even))
    }

    fn sentence(_own: &[f32]) -> Sentence {
        Sentence
    }
}
