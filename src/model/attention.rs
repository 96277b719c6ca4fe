//! Additive attention over the encoder's annotations (Bahdanau et al. 2014, section 3.1).

use candle_core::{Result, Tensor};

use super::{Annotations, Parameters};
use crate::kernels::attention;

/// What the decoder looks at: the annotations with their keys, which are computed once for each sentence and cannot be
/// forgotten, since attending takes a `Memory`.
#[derive(Clone, Debug)]
pub struct Memory {
    /// `[batch, length, n]`
    annotations: Tensor,
    /// W_k h_j: `[batch, length, a]`
    keys: Tensor,
    /// `[batch, length]`
    mask: Tensor,
}

impl Memory {
    /// The memory of chosen sentences, in that order; one sentence may be chosen often.
    pub fn select(&self, rows: &Tensor) -> Result<Self> {
        Ok(Self {
            annotations: self.annotations.index_select(rows, 0)?,
            keys: self.keys.index_select(rows, 0)?,
            mask: self.mask.index_select(rows, 0)?,
        })
    }

    /// The annotations' mean over real positions: `[batch, n]`.
    pub fn mean(&self) -> Result<Tensor> {
        let lengths = self.mask.sum_keepdim(1)?;
        attention::context(&self.mask.broadcast_div(&lengths)?, &self.annotations)
    }

    /// The backward direction's state at the first position: `[batch, n/2]`.
    pub fn backward_first(&self) -> Result<Tensor> {
        let half = self.annotations.dim(2)? / 2;
        self.annotations.narrow(1, 0, 1)?.squeeze(1)?.narrow(1, half, half)
    }
}

/// The score's parameters.
pub struct AdditiveAttention {
    query: Tensor,
    key: Tensor,
    energy: Tensor,
}

impl AdditiveAttention {
    /// Picks the attention's parameters.
    pub fn new(parameters: &Parameters) -> Result<Self> {
        Ok(Self {
            query: parameters.get("attention.query.weight")?,
            key: parameters.get("attention.key.weight")?,
            energy: parameters.get("attention.energy.weight")?,
        })
    }

    /// Computes the keys of all annotations, in one product.
    pub fn remember(&self, annotations: Annotations) -> Result<Memory> {
        let (batch, length, size) = annotations.values.dims3()?;
        let keys = annotations.values.reshape((batch * length, size))?.matmul(&self.key.t()?)?;
        Ok(Memory {
            keys: keys.reshape((batch, length, self.key.dim(0)?))?,
            annotations: annotations.values,
            mask: annotations.mask,
        })
    }

    /// Weights `[batch, length]` and context `[batch, n]` for decoder states `[batch, n]`.
    pub fn attend(&self, memory: &Memory, state: &Tensor) -> Result<(Tensor, Tensor)> {
        let query = state.matmul(&self.query.t()?)?;
        let weights = attention::weights(&query, &memory.keys, &self.energy, &memory.mask)?;
        let context = attention::context(&weights, &memory.annotations)?;
        Ok((weights, context))
    }
}
