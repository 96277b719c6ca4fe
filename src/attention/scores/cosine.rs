//! Cosine score (Graves, Wayne & Danihelka 2014, "Neural Turing Machines", equations 5 and 6).
//!
//! ```text
//! c_j = q · k_j / (‖q‖ ‖k_j‖)            e_j = g c_j            g a learned scalar per head
//!
//! dg = Σ_j de_j c_j      dq = Σ_j g de_j (k_j / (‖q‖ ‖k_j‖) − c_j q / ‖q‖²)      dk_j likewise, with q and k_j swapped
//! ```
//!
//! Norms are at least 1e-6, so that the cosine with a zero vector is 0.

use candle_core::{D, Result, Tensor};

use super::spec::{HeadSlice, Projections, ScoreParam, ScoreSpec, required_param};
use crate::attention::score_traits::{CpuScore, HeadRows, Score, ScoreGrads};
use crate::kernels::simd::{add_scaled, dot};
use crate::parameters::Init;

const MIN_NORM: f32 = 1e-6;
/// Initial g: weights then differ by at most a factor of e⁸.
const SHARPNESS: f32 = 4.0;

/// Cosine score in candle's operations.
pub struct Cosine {
    /// g: `[1]`
    pub sharpness: Tensor,
}

impl Score for Cosine {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        // [batch, m, length]
        let cosines = direction(queries)?.matmul(&direction(keys)?.transpose(1, 2)?.contiguous()?)?;
        cosines.broadcast_mul(&self.sharpness)
    }
}

/// Divides vectors `[batch, count, d]` by their norms.
fn direction(vectors: &Tensor) -> Result<Tensor> {
    let norms = vectors.sqr()?.sum_keepdim(D::Minus1)?.maximum(MIN_NORM * MIN_NORM)?.sqrt()?; // [batch, count, 1]
    vectors.broadcast_div(&norms)
}

/// Cosine score on slices.
#[derive(Clone, Copy)]
pub struct CpuCosine<'a> {
    /// g of every head
    sharpness: &'a [f32],
}

impl CpuScore for CpuCosine<'_> {
    #[inline(always)]
    fn head(self, head: usize, heads: usize) -> Self {
        Self { sharpness: HeadSlice { head, heads }.slice(self.sharpness) }
    }

    #[inline(always)]
    fn energies_forward(self, query: &[f32], keys: HeadRows, energies: &mut [f32]) {
        let (norm, _) = norm(query);
        for (energy, key) in energies.iter_mut().zip(keys.iter()) {
            *energy = self.sharpness[0] * (dot(query, key) / (norm * self::norm(key).0));
        }
    }

    #[inline(always)]
    fn energies_backward(self, query: &[f32], keys: HeadRows, d_energies: &[f32], mut grads: ScoreGrads) {
        grads.d_query.fill(0.0);
        let (query_norm, query_inverse_square) = norm(query);
        let mut weighted_cosines = 0.0;
        for ((&d_energy, key), d_key) in d_energies.iter().zip(keys.iter()).zip(grads.d_keys.iter_mut()) {
            let (key_norm, key_inverse_square) = norm(key);
            let scale = 1.0 / (query_norm * key_norm);
            let cosine = dot(query, key) * scale;
            grads.d_param[0] += d_energy * cosine;
            let d_cosine = self.sharpness[0] * d_energy;
            add_scaled(grads.d_query, d_cosine * scale, key);
            weighted_cosines += d_cosine * cosine;
            add_scaled(d_key, d_cosine * scale, query);
            add_scaled(d_key, -d_cosine * cosine * key_inverse_square, key);
        }
        add_scaled(grads.d_query, -weighted_cosines * query_inverse_square, query);
    }
}

/// max(‖x‖, 1e-6), and 1 / ‖x‖², or 0 if the bound applies.
#[inline(always)]
fn norm(x: &[f32]) -> (f32, f32) {
    let norm = dot(x, x).sqrt();
    if norm > MIN_NORM { (norm, 1.0 / (norm * norm)) } else { (MIN_NORM, 0.0) }
}

pub(super) const SPEC: ScoreSpec = ScoreSpec {
    param: Some(ScoreParam { name: "sharpness", shape: |_, heads| vec![heads], init: Init::Constant(SHARPNESS) }),
    ..ScoreSpec::projections(Projections::IfMultiHead)
};

pub(super) fn reference(param: Option<&Tensor>, head: HeadSlice) -> Result<Box<dyn Score>> {
    Ok(Box::new(Cosine { sharpness: head.narrow(required_param(param)?, 0)? }))
}

pub(super) fn cpu(param: &[f32]) -> CpuCosine<'_> {
    CpuCosine { sharpness: param }
}
