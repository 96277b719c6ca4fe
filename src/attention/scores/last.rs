//! Fixed context of a translator without attention: the final state of each encoder direction (Sutskever et al. 2014;
//! Cho et al. 2014).
//!
//! ```text
//! c = [→h_S ; ←h_1]
//! ```
//!
//! Two pools: the forward half of the annotations has all weight on the last position, the backward half on the first.
//! Energies that rise or fall steeply from position to position select them without knowing the length.

use candle_core::{Result, Tensor};

use super::spec::{HeadSlice, Projections, ScoreSpec};
use crate::attention::score_traits::{CpuScore, HeadRows, Score};

/// Difference of energies between neighboring positions, large enough for a one-hot softmax.
const STEEP: f32 = 1e3;

/// One pool, in both implementations.
#[derive(Clone, Copy)]
pub struct EdgeState {
    /// Change of the energy from one position to the next.
    rise: f32,
}

impl EdgeState {
    fn of_pool(pool: usize) -> Self {
        Self { rise: if pool == 0 { STEEP } else { -STEEP } }
    }
}

impl Score for EdgeState {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        let (batch, length, _) = keys.dims3()?;
        let row: Vec<f32> = (0..length).map(|position| position as f32 * self.rise).collect();
        let row = Tensor::from_vec(row, (1, 1, length), keys.device())?;
        row.broadcast_as((batch, queries.dim(1)?, length))?.contiguous()
    }
}

impl CpuScore for EdgeState {
    #[inline(always)]
    fn head(self, head: usize, _heads: usize) -> Self {
        Self::of_pool(head)
    }

    #[inline(always)]
    fn energies_forward(self, _query: &[f32], _keys: HeadRows, energies: &mut [f32]) {
        for (position, energy) in energies.iter_mut().enumerate() {
            *energy = position as f32 * self.rise;
        }
    }
}

pub(super) const SPEC: ScoreSpec = ScoreSpec { fixed: true, pools: 2, ..ScoreSpec::projections(Projections::None) };

pub(super) fn reference(_param: Option<&Tensor>, pool: HeadSlice) -> Result<Box<dyn Score>> {
    Ok(Box::new(EdgeState::of_pool(pool.head)))
}

pub(super) fn cpu(_param: &[f32]) -> EdgeState {
    EdgeState::of_pool(0)
}
