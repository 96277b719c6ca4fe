//! Dot product scores: dot and general (Luong et al. 2015, section 3.1), scaled dot (Vaswani et al. 2017, section 3.2.1).
//!
//! ```text
//! dot            e_j = q · k_j
//! scaled dot     e_j = q · k_j / √d                  the variance does not grow with the dimension
//! general        e_j = s M h_j = s · k_j             k_j = W_k h_j, so that W_k is M; each head has its slice of s
//!
//! dq = Σ_j de_j k_j            dk_j = de_j q
//! ```

use candle_core::{Result, Tensor};

use super::spec::{HeadSlice, Projections, ScoreSpec};
use crate::attention::score_traits::{CpuScore, HeadRows, Score, ScoreGrads};
use crate::kernels::simd::{add_scaled, dot};

/// Dot product score in candle's operations.
pub struct Dot;

impl Score for Dot {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        queries.contiguous()?.matmul(&keys.transpose(1, 2)?.contiguous()?)
    }
}

/// Dot product score on slices.
#[derive(Clone, Copy)]
pub struct CpuDot;

impl CpuScore for CpuDot {
    #[inline(always)]
    fn energies_forward(self, query: &[f32], keys: HeadRows, energies: &mut [f32]) {
        for (energy, key) in energies.iter_mut().zip(keys.iter()) {
            *energy = dot(query, key);
        }
    }

    #[inline(always)]
    fn energies_backward(self, query: &[f32], keys: HeadRows, d_energies: &[f32], mut grads: ScoreGrads) {
        grads.d_query.fill(0.0);
        for ((&d_energy, key), d_key) in d_energies.iter().zip(keys.iter()).zip(grads.d_keys.iter_mut()) {
            add_scaled(grads.d_query, d_energy, key);
            add_scaled(d_key, d_energy, query);
        }
    }
}

pub(super) const PLAIN: ScoreSpec = ScoreSpec::projections(Projections::IfMultiHead);
pub(super) const SCALED: ScoreSpec = ScoreSpec { temperature: |size| (size as f64).sqrt(), ..PLAIN };
pub(super) const GENERAL: ScoreSpec = ScoreSpec::projections(Projections::Keys);

pub(super) fn reference(_param: Option<&Tensor>, _head: HeadSlice) -> Result<Box<dyn Score>> {
    Ok(Box::new(Dot))
}

pub(super) fn cpu(_param: &[f32]) -> CpuDot {
    CpuDot
}
