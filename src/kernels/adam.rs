//! Adam (Kingma & Ba 2015), one parameter at a time and in place.
//!
//! ```text
//! m ← β₁ m + (1 − β₁) g          v ← β₂ v + (1 − β₂) g²
//! θ ← θ − η (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)
//! ```

use candle_core::{Result, Tensor};

/// Decay of the first moment, of the second moment, and the guard against division by zero: the paper's values.
const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Running averages of one parameter's gradient and of its square, shaped as the parameter.
#[derive(Clone, Debug)]
pub struct Moments {
    /// m
    pub first: Tensor,
    /// v
    pub second: Tensor,
}

impl Moments {
    /// Both averages at zero, as they are before the first step.
    pub fn zeros(parameter: &Tensor) -> Result<Self> {
        let zeros = || Tensor::zeros(parameter.shape(), parameter.dtype(), parameter.device());
        Ok(Self { first: zeros()?, second: zeros()? })
    }

    /// Takes step number `step` (from 1) and returns the parameter after it.
    pub fn step(&mut self, parameter: &Tensor, gradient: &Tensor, rate: f64, step: u64) -> Result<Tensor> {
        let steps = step as f64;
        self.first = ((&self.first * BETA_1)? + (gradient * (1.0 - BETA_1))?)?;
        self.second = ((&self.second * BETA_2)? + (gradient.sqr()? * (1.0 - BETA_2))?)?;
        let scale = rate / (1.0 - BETA_1.powf(steps));
        let root = (&self.second / (1.0 - BETA_2.powf(steps)))?.sqrt()?;
        parameter - ((&self.first * scale)? / (root + EPSILON)?)?
    }
}
