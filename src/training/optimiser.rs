//! Adam over all parameters, with gradient clipping by global norm and moments that can be saved.

use std::collections::BTreeMap;

use candle_core::{Result, Tensor};

use crate::kernels::adam::{Moments, sum_of_squares};
use crate::kernels::values::all_finite;
use crate::parameters::{Gradients, Parameters};

/// The optimiser's state: both moments of every parameter, by name, and the number of steps taken.
pub struct Optimiser {
    moments: BTreeMap<String, Moments>,
    steps: u64,
    max_gradient_norm: f64,
}

impl Optimiser {
    /// An optimiser that has taken no step.
    pub fn new(parameters: &Parameters, max_gradient_norm: f64) -> Result<Self> {
        let mut moments = BTreeMap::new();
        for (name, parameter) in parameters.iter() {
            moments.insert(name.clone(), Moments::zeros(parameter)?);
        }
        Ok(Self { moments, steps: 0, max_gradient_norm })
    }

    /// An optimiser as it was after `steps` steps, from the tensors that [`Self::state`] gave.
    ///
    /// # Errors
    /// A moment is missing, has another shape than its parameter, or holds numbers that are not finite.
    pub fn restore(
        parameters: &Parameters,
        max_gradient_norm: f64,
        steps: u64,
        state: &mut BTreeMap<String, Tensor>,
    ) -> Result<Self> {
        let mut optimiser = Self { steps, ..Self::new(parameters, max_gradient_norm)? };
        for (name, moments) in &mut optimiser.moments {
            for (kind, moment) in [("first", &mut moments.first), ("second", &mut moments.second)] {
                match state.remove(&format!("{kind}_moment/{name}")) {
                    Some(saved) if saved.shape() == moment.shape() && all_finite(&saved)? => *moment = saved,
                    _ => candle_core::bail!("the {kind} moment of {name} is missing, misshapen or not finite"),
                }
            }
        }
        Ok(optimiser)
    }

    /// Both moments of every parameter, as `first_moment/NAME` and `second_moment/NAME`.
    pub fn state(&self) -> impl Iterator<Item = (String, &Tensor)> {
        self.moments.iter().flat_map(|(name, moments)| {
            [(format!("first_moment/{name}"), &moments.first), (format!("second_moment/{name}"), &moments.second)]
        })
    }

    /// Clips the gradients and moves every parameter one step. Returns the gradients' global norm before clipping;
    /// where it is not finite nothing is moved.
    pub fn step(&mut self, parameters: &Parameters, gradients: &Gradients, learning_rate: f64) -> Result<f64> {
        let mut square = 0.0;
        for (_, gradient) in gradients.iter() {
            square += sum_of_squares(gradient)?;
        }
        let norm = square.sqrt();
        if !norm.is_finite() {
            return Ok(norm);
        }
        // The small addend is PyTorch's, against division by zero.
        let scale = (self.max_gradient_norm / (norm + 1e-6)).min(1.0);
        self.steps += 1;
        for (name, parameter) in parameters.iter() {
            let Some(moments) = self.moments.get_mut(name) else { candle_core::bail!("no moments of {name}") };
            moments.step(parameter, gradients.get(name)?, scale, learning_rate, self.steps)?;
        }
        Ok(norm)
    }
}
