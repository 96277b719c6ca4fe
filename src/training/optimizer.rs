//! Adam with gradient clipping by global norm and an exponential moving average (EMA) of the parameters.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use candle_core::{Result, Tensor};

use crate::kernels::Backend;
use crate::kernels::reference::adam::{AdamState, AdamStep};
use crate::kernels::tensor_mut::all_finite;
use crate::parameters::{Gradients, Parameters};

/// Optimizer with its state: both moments of every parameter, the moving average, and the number of steps.
pub struct Optimizer {
    backend: Backend,
    moments: BTreeMap<String, AdamState>,
    average: Option<Average>,
    steps: u64,
    max_gradient_norm: f64,
}

/// Exponential moving average of the parameters (Polyak & Juditsky 1992).
struct Average {
    decay: f64,
    parameters: Parameters,
}

impl Average {
    /// Returns the decay at a step. It is lower at first, so that the initial parameters do not linger.
    fn decay(&self, steps: u64) -> f64 {
        self.decay.min((1.0 + steps as f64) / (10.0 + steps as f64))
    }
}

impl Optimizer {
    /// Returns an optimizer at step 0. `ema_decay` is the decay of the moving average, if there is one.
    pub fn new(parameters: &Parameters, max_gradient_norm: f64, ema_decay: Option<f64>) -> Result<Self> {
        let mut moments = BTreeMap::new();
        for (name, parameter) in parameters.iter() {
            moments.insert(name.clone(), AdamState::zeros(parameter)?);
        }
        let average = match ema_decay {
            Some(decay) => Some(Average { decay, parameters: parameters.deep_copy()? }),
            None => None,
        };
        Ok(Self { backend: parameters.backend(), moments, average, steps: 0, max_gradient_norm })
    }

    /// Restores the optimizer after `steps` steps from the tensors of [`Self::state`].
    ///
    /// # Errors
    /// A tensor is missing, differs in shape from its parameter, or has values that are not finite or out of range.
    pub fn restore(
        parameters: &Parameters,
        max_gradient_norm: f64,
        ema_decay: Option<f64>,
        steps: u64,
        state: &mut BTreeMap<String, Tensor>,
    ) -> Result<Self> {
        let mut optimizer = Self { steps, ..Self::new(parameters, max_gradient_norm, ema_decay)? };
        // Clipping bounds the means of the gradients and of their squares; the factor allows for rounding.
        let norm = 1.01 * max_gradient_norm as f32;
        for (name, moments) in &mut optimizer.moments {
            for (kind, moment, range) in
                [("first", &mut moments.first, -norm..=norm), ("second", &mut moments.second, 0.0..=norm * norm)]
            {
                restore_tensor(moment, &format!("{kind}_moment"), name, state)?;
                if let Some(value) = value_outside(&range, moment)? {
                    candle_core::bail!(
                        "the {kind} moment of {name} has the value {value:e}, which is impossible with gradients clipped \
                         to norm {max_gradient_norm}"
                    );
                }
            }
        }
        if let Some(average) = &mut optimizer.average {
            for (name, parameter) in average.parameters.iter_mut() {
                restore_tensor(parameter, "average", name, state)?;
            }
        }
        Ok(optimizer)
    }

    /// Returns the tensors `first_moment/NAME`, `second_moment/NAME` and, with averaging, `average/NAME` of every parameter.
    pub fn state(&self) -> impl Iterator<Item = (String, &Tensor)> {
        let moments = self.moments.iter().flat_map(|(name, moments)| {
            [(format!("first_moment/{name}"), &moments.first), (format!("second_moment/{name}"), &moments.second)]
        });
        let averages = self.average.iter().flat_map(|average| average.parameters.iter());
        moments.chain(averages.map(|(name, average)| (format!("average/{name}"), average)))
    }

    /// Returns the moving average of the parameters, if there is one.
    pub fn average(&self) -> Option<&Parameters> {
        self.average.as_ref().map(|average| &average.parameters)
    }

    /// Sets the number of steps, if the state was taken over from elsewhere.
    pub fn set_steps(&mut self, steps: u64) {
        self.steps = steps;
    }

    /// Clips the gradients and updates the parameters. Returns the global norm before clipping; if it is not finite,
    /// nothing is updated.
    pub fn step(&mut self, parameters: &Parameters, gradients: &Gradients, learning_rate: f64) -> Result<f64> {
        let all: Vec<&Tensor> = gradients.iter().map(|(_, gradient)| gradient).collect();
        let norm = self.backend.sum_of_squares(&all)?.sqrt();
        if !norm.is_finite() {
            return Ok(norm);
        }
        // PyTorch's epsilon against division by zero.
        let scale = (self.max_gradient_norm / (norm + 1e-6)).min(1.0);
        self.steps += 1;
        let step = AdamStep { number: self.steps, rate: learning_rate, scale };
        for (name, parameter) in parameters.iter() {
            let Some(moments) = self.moments.get_mut(name) else { candle_core::bail!("no moments of {name}") };
            self.backend.adam_step(moments, parameter, gradients.get(name)?, step)?;
            if let Some(average) = &self.average {
                self.backend.update_ema(&average.parameters.get(name)?, parameter, average.decay(self.steps))?;
            }
        }
        Ok(norm)
    }
}

/// Replaces a tensor by the saved one of this kind and parameter.
fn restore_tensor(
    tensor: &mut Tensor,
    kind: &str,
    parameter: &str,
    saved: &mut BTreeMap<String, Tensor>,
) -> Result<()> {
    match saved.remove(&format!("{kind}/{parameter}")) {
        Some(found) if found.shape() == tensor.shape() && all_finite(&found)? => {
            *tensor = found;
            Ok(())
        }
        _ => candle_core::bail!(
            "the {} of {parameter} is missing, has the wrong shape or is not finite",
            kind.replace('_', " ")
        ),
    }
}

/// Returns the first value of a tensor that is not in a range, if any.
fn value_outside(range: &RangeInclusive<f32>, tensor: &Tensor) -> Result<Option<f32>> {
    let values = tensor.flatten_all()?.to_vec1::<f32>()?;
    Ok(values.into_iter().find(|value| !range.contains(value)))
}
