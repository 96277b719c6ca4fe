//! Additive score (Bahdanau et al. 2014, appendix A.1.2).
//!
//! ```text
//! e_j = vᵀ tanh(q + k_j)                q = W_q s, k_j = W_k h_j
//!
//! with x_j = tanh(q + k_j), recomputed in the backward pass:
//! dv = Σ_j de_j x_j      dk_j = de_j v ∘ (1 − x_j²)      dq = Σ_j dk_j
//! ```

use std::array::from_fn;

use candle_core::{Result, Tensor};

use super::spec::{HeadSlice, Projections, ScoreParam, ScoreSpec, required_param};
use crate::attention::score_traits::{CpuScore, HeadRows, Score, ScoreGrads};
use crate::kernels::simd::{LANES, sum_of_lanes, tanh};
use crate::parameters::Init;

/// Dimensions whose derivatives are accumulated in registers.
const WIDTH: usize = 2 * LANES;

/// Additive score in candle's operations.
pub struct Additive {
    /// v: `[1, d]`
    pub v: Tensor,
}

impl Score for Additive {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        let (batch, length, size) = keys.dims3()?;
        let query_count = queries.dim(1)?;
        let hidden = keys.unsqueeze(1)?.broadcast_add(&queries.unsqueeze(2)?)?.tanh()?; // [batch, m, length, d]
        hidden.reshape((batch * query_count * length, size))?.matmul(&self.v.t()?)?.reshape((
            batch,
            query_count,
            length,
        ))
    }
}

/// Additive score on slices.
#[derive(Clone, Copy)]
pub struct CpuAdditive<'a> {
    /// v: `[d]`
    v: &'a [f32],
}

impl CpuScore for CpuAdditive<'_> {
    #[inline(always)]
    fn head(self, head: usize, heads: usize) -> Self {
        Self { v: HeadSlice { head, heads }.slice(self.v) }
    }

    #[inline(always)]
    fn energies_forward(self, query: &[f32], keys: HeadRows, energies: &mut [f32]) {
        for (energy, key) in energies.iter_mut().zip(keys.iter()) {
            *energy = self.energy(query, key);
        }
    }

    #[inline(always)]
    fn energies_backward(self, query: &[f32], keys: HeadRows, d_energies: &[f32], mut grads: ScoreGrads) {
        let whole = query.len() / WIDTH * WIDTH;
        for start in (0..whole).step_by(WIDTH) {
            self.block_backward::<WIDTH>(start, query, keys, d_energies, &mut grads);
        }
        for start in whole..query.len() {
            self.block_backward::<1>(start, query, keys, d_energies, &mut grads);
        }
    }
}

impl CpuAdditive<'_> {
    #[inline(always)]
    fn energy(self, query: &[f32], key: &[f32]) -> f32 {
        let mut lanes = [0.0f32; LANES];
        let [queries, keys, vs] = [query, key, self.v].map(<[f32]>::as_chunks::<LANES>);
        for ((query, key), v) in queries.0.iter().zip(keys.0).zip(vs.0) {
            for lane in 0..LANES {
                lanes[lane] += v[lane] * tanh(query[lane] + key[lane]);
            }
        }
        for (lane, ((query, key), v)) in lanes.iter_mut().zip(queries.1.iter().zip(keys.1).zip(vs.1)) {
            *lane += v * tanh(query + key);
        }
        sum_of_lanes(lanes)
    }

    /// Derivatives in `WIDTH` dimensions from `start`; the sums over positions stay in registers.
    #[inline(always)]
    fn block_backward<const WIDTH: usize>(
        self,
        start: usize,
        query: &[f32],
        keys: HeadRows,
        d_energies: &[f32],
        grads: &mut ScoreGrads,
    ) {
        let q: [f32; WIDTH] = from_fn(|i| query[start + i]);
        let v: [f32; WIDTH] = from_fn(|i| self.v[start + i]);
        let (mut sum_v, mut sum_query) = ([0.0; WIDTH], [0.0; WIDTH]);
        let blocks = keys.block(start, WIDTH).zip(grads.d_keys.block(start, WIDTH));
        for (&d_energy, (key, d_key)) in d_energies.iter().zip(blocks) {
            for i in 0..WIDTH {
                let x = tanh(q[i] + key[i]);
                sum_v[i] += d_energy * x;
                let dk = d_energy * v[i] * (1.0 - x * x);
                sum_query[i] += dk;
                d_key[i] += dk;
            }
        }
        grads.d_query[start..start + WIDTH].copy_from_slice(&sum_query);
        for (d_v, sum) in grads.d_param[start..].iter_mut().zip(sum_v) {
            *d_v += sum;
        }
    }
}

pub(super) const SPEC: ScoreSpec = ScoreSpec {
    param: Some(ScoreParam { name: "energy", shape: |size, _| vec![1, size], init: Init::Glorot }),
    ..ScoreSpec::projections(Projections::Both)
};

pub(super) fn reference(param: Option<&Tensor>, head: HeadSlice) -> Result<Box<dyn Score>> {
    Ok(Box::new(Additive { v: head.narrow(required_param(param)?, 1)? }))
}

pub(super) fn cpu(param: &[f32]) -> CpuAdditive<'_> {
    CpuAdditive { v: param }
}
