//! Linear layer in candle's operations.

use candle_core::{Result, Tensor};

use super::Parameters;

/// Linear layer y = x Wᵀ + b.
#[derive(Clone, Debug)]
pub struct Linear {
    /// W: `[outputs, inputs]`
    pub weight: Tensor,
    /// b: `[outputs]`
    pub bias: Tensor,
}

impl Linear {
    /// Selects `name.weight` and `name.bias`.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(parameters: &Parameters, name: &str) -> Result<Self> {
        let weight = parameters.get(&format!("{name}.weight"))?;
        Ok(Self { weight, bias: parameters.get(&format!("{name}.bias"))? })
    }

    /// y = x Wᵀ + b: `[rows, inputs]` to `[rows, outputs]`.
    ///
    /// # Errors
    /// The shapes do not match.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        rows.matmul(&self.weight.t()?)?.broadcast_add(&self.bias)
    }
}
