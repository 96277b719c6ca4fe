//! Uniform weights: the context is the mean of the annotations.
//!
//! ```text
//! e_j = 0            α_j = 1 / length
//! ```

use candle_core::{Result, Tensor};

use super::spec::{HeadSlice, Projections, ScoreSpec};
use crate::attention::score_traits::{CpuScore, HeadRows, Score};

/// Uniform weights in candle's operations.
pub struct Uniform;

impl Score for Uniform {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        let (batch, length, _) = keys.dims3()?;
        Tensor::zeros((batch, queries.dim(1)?, length), keys.dtype(), keys.device())
    }
}

/// Uniform weights on slices.
#[derive(Clone, Copy)]
pub struct CpuUniform;

impl CpuScore for CpuUniform {
    #[inline(always)]
    fn energies_forward(self, _query: &[f32], _keys: HeadRows, energies: &mut [f32]) {
        energies.fill(0.0);
    }
}

pub(super) const SPEC: ScoreSpec = ScoreSpec { fixed: true, ..ScoreSpec::projections(Projections::None) };

pub(super) fn reference(_param: Option<&Tensor>, _head: HeadSlice) -> Result<Box<dyn Score>> {
    Ok(Box::new(Uniform))
}

pub(super) fn cpu(_param: &[f32]) -> CpuUniform {
    CpuUniform
}
