//! The dot product (Luong et al. 2015, section 3.1).
//!
//! ```text
//! e_j = q · k_j            dq = Σ_j de_j k_j            dk_j = de_j q
//! ```

use candle_core::{Result, Tensor};

use super::spec::{self, Needs, Part, Projections};
use crate::attention::score_traits::{Rows, Score, ScoreDerivatives, SentenceScore};
use crate::kernels::simd::{add_scaled, dot};

/// The plain form.
pub struct Dot;

impl Score for Dot {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        queries.contiguous()?.matmul(&keys.transpose(1, 2)?.contiguous()?)
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
    fn energies(self, query: &[f32], keys: Rows, energies: &mut [f32]) {
        for (energy, key) in energies.iter_mut().zip(keys.iter()) {
            *energy = dot(query, key);
        }
    }

    #[inline(always)]
    fn backward(self, query: &[f32], keys: Rows, d_energies: &[f32], mut d: ScoreDerivatives) {
        d.query.fill(0.0);
        for ((&d_energy, key), d_key) in d_energies.iter().zip(keys.iter()).zip(d.keys.iter_mut()) {
            add_scaled(d.query, d_energy, key);
            add_scaled(d_key, d_energy, query);
        }
    }
}

pub(super) struct Family;

impl spec::Family for Family {
    const NEEDS: Needs = Needs::projections(Projections::Heads);
    type Sentence<'a> = Sentence;

    fn plain(_own: Option<&Tensor>, _head: Part) -> Result<Box<dyn Score>> {
        Ok(Box::new(Dot))
    }

    fn sentence(_own: &[f32]) -> Sentence {
        Sentence
    }
}
