//! Adam (Kingma & Ba 2015), one parameter at a time.
//!
//! ```text
//! m ← β₁ m + (1 − β₁) g          v ← β₂ v + (1 − β₂) g²
//! θ ← θ − η (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)
//! ```
//!
//! An exponential moving average of the parameters may accompany it, θ̄ ← d θ̄ + (1 − d) θ (Polyak & Juditsky 1992).

use candle_core::{DType, Result, Tensor, Var};

/// β₁: decay of the first moment, the paper's value.
pub(in crate::kernels) const BETA_1: f64 = 0.9;
/// β₂: decay of the second moment, the paper's value.
pub(in crate::kernels) const BETA_2: f64 = 0.999;
/// ε: guard against division by zero, the paper's value.
pub(in crate::kernels) const EPSILON: f64 = 1e-8;

/// Moving averages of one parameter's gradient and of its square, shaped like the parameter.
#[derive(Clone, Debug)]
pub struct AdamState {
    /// m: moving average of the gradient
    pub first: Tensor,
    /// v: moving average of the squared gradient
    pub second: Tensor,
}

/// One optimizer step.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// t, counted from 1.
    pub number: u64,
    /// η, the learning rate.
    pub rate: f64,
    /// Factor on the gradient, from clipping.
    pub scale: f64,
}

impl AdamState {
    /// Zero moments, as before the first step.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn zeros(parameter: &Tensor) -> Result<Self> {
        Ok(Self { first: parameter.zeros_like()?, second: parameter.zeros_like()? })
    }
}

/// Updates the moments and the parameter.
pub(in crate::kernels) fn adam_step(
    state: &mut AdamState,
    parameter: &Tensor,
    gradient: &Tensor,
    step: AdamStep,
) -> Result<()> {
    let steps = step.number as f64;
    #[cfg(feature = "cuda")]
    if parameter.device().is_cuda() {
        let corrections = [step.rate / (1.0 - BETA_1.powf(steps)), 1.0 / (1.0 - BETA_2.powf(steps))];
        let numbers = [step.scale, BETA_1, BETA_2, EPSILON, corrections[0], corrections[1]];
        return crate::kernels::cuda::adam_step(parameter, [&state.first, &state.second], gradient, numbers);
    }
    let gradient = (gradient * step.scale)?;
    state.first = ((&state.first * BETA_1)? + (&gradient * (1.0 - BETA_1))?)?;
    state.second = ((&state.second * BETA_2)? + (gradient.sqr()? * (1.0 - BETA_2))?)?;
    let step = step.rate / (1.0 - BETA_1.powf(steps));
    let root = (&state.second / (1.0 - BETA_2.powf(steps)))?.sqrt()?;
    let moved = (parameter.detach() - ((&state.first * step)? / (root + EPSILON)?)?)?;
    Var::from_tensor(parameter)?.set(&moved)
}

/// θ̄ ← d θ̄ + (1 − d) θ with d = `decay`.
pub(in crate::kernels) fn update_ema(average: &Tensor, parameter: &Tensor, decay: f64) -> Result<()> {
    #[cfg(feature = "cuda")]
    if parameter.device().is_cuda() {
        return crate::kernels::cuda::update_ema(average, parameter, decay);
    }
    let updated = ((average * decay)? + (parameter.detach() * (1.0 - decay))?)?;
    average.slice_set(&updated, 0, 0)
}

/// Σ g² of all gradients.
pub(in crate::kernels) fn sum_of_squares(gradients: &[&Tensor]) -> Result<f64> {
    #[cfg(feature = "cuda")]
    if gradients.iter().any(|gradient| gradient.device().is_cuda()) {
        return crate::kernels::cuda::sum_of_squares(gradients);
    }
    let squares = gradients.iter().map(|gradient| gradient.sqr()?.sum_all()?.to_dtype(DType::F64)?.to_scalar::<f64>());
    squares.sum()
}
