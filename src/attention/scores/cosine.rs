//! The cosine (Graves, Wayne & Danihelka 2014, "Neural Turing Machines", equations 5 and 6).
//!
//! ```text
//! c_j = q · k_j / (‖q‖ ‖k_j‖)            e_j = g c_j            g a learnt number, one a head
//!
//! dg = Σ_j de_j c_j      dq = Σ_j g de_j (k_j / (‖q‖ ‖k_j‖) − c_j q / ‖q‖²)      dk_j likewise, q and k_j exchanged
//! ```
//!
//! Norms below a millionth are taken for one, so that a vector of zeros has no direction rather than any.

use candle_core::{D, Result, Tensor};

use super::spec::{self, Needs, Own, Part, Projections};
use crate::attention::score_traits::{Rows, Score, ScoreDerivatives, SentenceScore};
use crate::kernels::simd::{add_scaled, dot};
use crate::parameters::Start;

const LEAST_NORM: f32 = 1e-6;
/// g in the beginning: weights may then differ by a factor of e⁸.
const SHARPNESS: f32 = 4.0;

/// The plain form.
pub struct Cosine {
    /// g: `[1]`
    pub sharpness: Tensor,
}

impl Score for Cosine {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        let direction = |vectors: &Tensor| -> Result<Tensor> {
            let norms = vectors.sqr()?.sum_keepdim(D::Minus1)?.maximum(LEAST_NORM * LEAST_NORM)?.sqrt()?;
            vectors.broadcast_div(&norms)
        };
        let cosines = direction(queries)?.matmul(&direction(keys)?.transpose(1, 2)?.contiguous()?)?;
        cosines.broadcast_mul(&self.sharpness)
    }
}

/// The fast form.
#[derive(Clone, Copy)]
pub struct Sentence<'a> {
    /// g of each head
    sharpness: &'a [f32],
}

impl SentenceScore for Sentence<'_> {
    #[inline(always)]
    fn head(self, head: usize, heads: usize) -> Self {
        Self { sharpness: Part { head, heads }.of_slice(self.sharpness) }
    }

    #[inline(always)]
    fn energies(self, query: &[f32], keys: Rows, energies: &mut [f32]) {
        let (norm, _) = norm(query);
        for (energy, key) in energies.iter_mut().zip(keys.iter()) {
            *energy = self.sharpness[0] * (dot(query, key) / (norm * self::norm(key).0));
        }
    }

    #[inline(always)]
    fn backward(self, query: &[f32], keys: Rows, d_energies: &[f32], mut d: ScoreDerivatives) {
        d.query.fill(0.0);
        let (query_norm, query_turn) = norm(query);
        let mut along_query = 0.0;
        for ((&d_energy, key), d_key) in d_energies.iter().zip(keys.iter()).zip(d.keys.iter_mut()) {
            let (key_norm, key_turn) = norm(key);
            let scale = 1.0 / (query_norm * key_norm);
            let cosine = dot(query, key) * scale;
            d.own[0] += d_energy * cosine;
            let d_cosine = self.sharpness[0] * d_energy;
            add_scaled(d.query, d_cosine * scale, key);
            along_query += d_cosine * cosine;
            add_scaled(d_key, d_cosine * scale, query);
            add_scaled(d_key, -d_cosine * cosine * key_turn, key);
        }
        add_scaled(d.query, -along_query * query_turn, query);
    }
}

/// ‖x‖, and 1 / ‖x‖² where the norm moves with x.
#[inline(always)]
fn norm(x: &[f32]) -> (f32, f32) {
    let norm = dot(x, x).sqrt();
    if norm > LEAST_NORM { (norm, 1.0 / (norm * norm)) } else { (LEAST_NORM, 0.0) }
}

pub(super) struct Family;

impl spec::Family for Family {
    const NEEDS: Needs = Needs {
        own: Some(Own { name: "sharpness", shape: |_, heads| vec![heads], start: Start::Constant(SHARPNESS) }),
        ..Needs::projections(Projections::Heads)
    };
    type Sentence<'a> = Sentence<'a>;

    fn plain(own: Option<&Tensor>, head: Part) -> Result<Box<dyn Score>> {
        Ok(Box::new(Cosine { sharpness: head.of(spec::own(own)?, 0)? }))
    }

    fn sentence(own: &[f32]) -> Sentence<'_> {
        Sentence { sharpness: own }
    }
}
