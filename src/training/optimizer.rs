//! Adam over all parameters, with gradient clipping by global norm, moments that can be saved, and a running average of
//! the parameters.

use std::collections::BTreeMap;

use candle_core::{Result, Tensor};

use crate::kernels::Backend;
use crate::kernels::reference::adam::{AdamState, AdamStep};
use crate::kernels::tensor_mut::all_finite;
use crate::parameters::{Gradients, Parameters};

/// The optimiser's state: both moments of every parameter, by name, the average, and the number of steps taken.
pub struct Optimizer {
    backend: Backend,
    moments: BTreeMap<String, AdamState>,
    average: Option<Average>,
    steps: u64,
    max_gradient_norm: f64,
}

/// A running average of the parameters, which forgets the beginning (Polyak & Juditsky 1992).
struct Average {
    decay: f64,
    parameters: Parameters,
}

impl Average {
    /// Early on it forgets faster, so that the initial parameters do not linger.
    fn decay(&self, steps: u64) -> f64 {
        self.decay.min((1.0 + steps as f64) / (10.0 + steps as f64))
    }
}

impl Optimizer {
    /// An optimiser that has taken no step. `average` is how much of the parameters' average each step keeps, if there is
    /// to be one.
    pub fn new(parameters: &Parameters, max_gradient_norm: f64, average: Option<f64>) -> Result<Self> {
        let mut moments = BTreeMap::new();
        for (name, parameter) in parameters.iter() {
            moments.insert(name.clone(), AdamState::zeros(parameter)?);
        }
        let average =
            average.map(|decay| Ok::<_, candle_core::Error>(Average { decay, parameters: parameters.deep_copy()? }));
        Ok(Self { backend: parameters.backend(), moments, average: average.transpose()?, steps: 0, max_gradient_norm })
    }

    /// An optimiser as it was after `steps` steps, from the tensors that [`Self::state`] gave.
    ///
    /// # Errors
    /// A moment is missing, has another shape than its parameter, or holds numbers that are not finite.
    pub fn restore(
        parameters: &Parameters,
        max_gradient_norm: f64,
        average: Option<f64>,
        steps: u64,
        state: &mut BTreeMap<String, Tensor>,
    ) -> Result<Self> {
        let mut optimizer = Self { steps, ..Self::new(parameters, max_gradient_norm, average)? };
        let mut restore = |kind: &str, name: &str, held: &mut Tensor| match state.remove(&format!("{kind}/{name}")) {
            Some(saved) if saved.shape() == held.shape() && all_finite(&saved)? => {
                *held = saved;
                Ok(())
            }
            _ => candle_core::bail!("the {} of {name} is missing, misshapen or not finite", kind.replace('_', " ")),
        };
        // Gradients are clipped to a norm, so no mean of them or of their squares exceeds it; the factor is rounding's.
        let norm = 1.01 * max_gradient_norm as f32;
        let within = |kind: &str, name: &str, tensor: &Tensor, limits: std::ops::RangeInclusive<f32>| {
            let values = tensor.flatten_all()?.to_vec1::<f32>()?;
            match values.iter().find(|value| !limits.contains(value)) {
                None => Ok(()),
                Some(value) => candle_core::bail!(
                    "the {kind} moment of {name} holds {value:e}, which gradients clipped to a norm of \
                     {max_gradient_norm} cannot have given"
                ),
            }
        };
        for (name, moments) in &mut optimizer.moments {
            restore("first_moment", name, &mut moments.first)?;
            restore("second_moment", name, &mut moments.second)?;
            within("first", name, &moments.first, -norm..=norm)?;
            within("second", name, &moments.second, 0.0..=norm * norm)?;
        }
        if let Some(average) = &mut optimizer.average {
            for (name, parameter) in average.parameters.iter_mut() {
                restore("average", name, parameter)?;
            }
        }
        Ok(optimizer)
    }

    /// Both moments of every parameter, as `first_moment/NAME` and `second_moment/NAME`, and its average as
    /// `average/NAME`.
    pub fn state(&self) -> impl Iterator<Item = (String, &Tensor)> {
        let moments = self.moments.iter().flat_map(|(name, moments)| {
            [(format!("first_moment/{name}"), &moments.first), (format!("second_moment/{name}"), &moments.second)]
        });
        let averages = self.average.iter().flat_map(|average| average.parameters.iter());
        moments.chain(averages.map(|(name, average)| (format!("average/{name}"), average)))
    }

    /// The average of the parameters, if there is one: what to use of what was learnt.
    pub fn average(&self) -> Option<&Parameters> {
        self.average.as_ref().map(|average| &average.parameters)
    }

    /// Clips the gradients and moves every parameter one step. Returns the gradients' global norm before clipping;
    /// where it is not finite nothing is moved.
    pub fn step(&mut self, parameters: &Parameters, gradients: &Gradients, learning_rate: f64) -> Result<f64> {
        let mut square = 0.0;
        for (_, gradient) in gradients.iter() {
            square += self.backend.sum_of_squares(gradient)?;
        }
        let norm = square.sqrt();
        if !norm.is_finite() {
            return Ok(norm);
        }
        // The small addend is PyTorch's, against division by zero.
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
