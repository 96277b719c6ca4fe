//! Dot product score (Luong et al. 2015, section 3.1).
//!
//! ```text
//! e_j = q · k_j            dq = Σ_j de_j k_j            dk_j = de_j q
//! ```

use candle_core::{Result, Tensor};

use super::spec::{self, HeadSlice, Projections, ScoreSpec};
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
    fn head(self, _head: usize, _heads: usize) -> Self {
        self
    }

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

pub(super) struct DotDef;

impl spec::ScoreDef for DotDef {
    const SPEC: ScoreSpec = ScoreSpec::projections(Projections::IfMultiHead);
    type Cpu<'a> = CpuDot;

    fn reference(_param: Option<&Tensor>, _head: HeadSlice) -> Result<Box<dyn Score>> {
        Ok(Box::new(Dot))
    }

    fn cpu(_param: &[f32]) -> CpuDot {
        CpuDot
    }
}
