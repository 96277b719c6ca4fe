//! The two implementations of every operation, and the optimizer's choice between them.

use candle_core::{Device, Result, Tensor};

use super::reference::adam::{AdamState, AdamStep};
use super::{cpu, reference};

/// Implementation that computes a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Kernels on slices with hand-written derivatives, for CPUs.
    Cpu,
    /// candle's operations with automatic differentiation, for GPUs and as the oracle in tests.
    Reference,
}

impl Backend {
    /// Returns the backend for parameters on `device`: [`Self::Cpu`] on a CPU, else [`Self::Reference`].
    pub fn for_device(device: &Device) -> Self {
        if device.is_cpu() { Self::Cpu } else { Self::Reference }
    }

    /// Performs one Adam step on one parameter, in place.
    ///
    /// # Errors
    /// The shapes differ, or a tensor is not on this backend's device.
    pub fn adam_step(self, state: &mut AdamState, parameter: &Tensor, gradient: &Tensor, step: AdamStep) -> Result<()> {
        match self {
            Self::Cpu => cpu::adam::adam_step(state, parameter, gradient, step),
            Self::Reference => reference::adam::adam_step(state, parameter, gradient, step),
        }
    }

    /// Updates a parameter's exponential moving average in place: θ̄ ← d θ̄ + (1 − d) θ with d = `decay`.
    ///
    /// # Errors
    /// The shapes differ, or a tensor is not on this backend's device.
    pub fn update_ema(self, average: &Tensor, parameter: &Tensor, decay: f64) -> Result<()> {
        match self {
            Self::Cpu => cpu::adam::update_ema(average, parameter, decay),
            Self::Reference => reference::adam::update_ema(average, parameter, decay),
        }
    }

    /// Returns Σ g² over all gradients. On a CPU the sum is in double precision, in an order that depends on the sizes alone.
    ///
    /// # Errors
    /// A tensor is not on this backend's device.
    pub fn sum_of_squares(self, gradients: &[&Tensor]) -> Result<f64> {
        match self {
            Self::Cpu => gradients.iter().try_fold(0.0, |sum, gradient| Ok(sum + cpu::adam::sum_of_squares(gradient)?)),
            Self::Reference => reference::adam::sum_of_squares(gradients),
        }
    }
}

/// Opens an NVIDIA GPU, counted from 0, for training and translating.
///
/// # Errors
/// There is no such GPU, or the library was built without the feature `cuda`.
pub fn gpu(ordinal: usize) -> Result<Device> {
    #[cfg(feature = "cuda")]
    return super::cuda::open(ordinal);
    #[cfg(not(feature = "cuda"))]
    Device::new_cuda(ordinal)
}

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;

    /// More numbers than one thread's block holds, and a remainder.
    const COUNT: usize = (1 << 17) + 5;

    fn waves(shift: f32) -> Tensor {
        let values: Vec<f32> = (0..COUNT).map(|i| (i as f32 * 0.01 + shift).sin()).collect();
        Tensor::from_vec(values, COUNT, &Device::Cpu).unwrap()
    }

    #[test]
    fn adam_step_on_cpu_equals_reference() {
        let backends = [Backend::Cpu, Backend::Reference];
        let parameters = backends.map(|_| Var::from_tensor(&waves(0.0)).unwrap().into_inner());
        let mut state = [(); 2].map(|()| AdamState::zeros(&parameters[0]).unwrap());
        for number in 1..5u64 {
            let gradient = waves(number as f32);
            let step = AdamStep { number, rate: 0.01, scale: 0.7 };
            for ((backend, state), parameter) in backends.into_iter().zip(&mut state).zip(&parameters) {
                backend.adam_step(state, parameter, &gradient, step).unwrap();
            }
        }
        let pairs = [
            (&parameters[0], &parameters[1]),
            (&state[0].first, &state[1].first),
            (&state[0].second, &state[1].second),
        ];
        for (cpu, reference) in pairs {
            let [cpu, reference] = [cpu, reference].map(|tensor| tensor.to_vec1::<f32>().unwrap());
            assert!(cpu.iter().zip(&reference).all(|(a, b)| (a - b).abs() < 1e-6));
        }
    }

    fn constant(value: f32) -> Tensor {
        Tensor::full(value, COUNT, &Device::Cpu).unwrap()
    }

    #[test]
    fn ema_moves_toward_the_parameter_on_both_backends() {
        for backend in [Backend::Cpu, Backend::Reference] {
            let average = constant(1.0);
            backend.update_ema(&average, &constant(3.0), 0.75).unwrap();
            backend.update_ema(&average, &constant(3.5), 0.5).unwrap();
            assert!(average.to_vec1::<f32>().unwrap().iter().all(|&value| value == 2.5), "{backend:?}");
        }
    }

    #[test]
    fn sum_of_squares_on_cpu_equals_reference() {
        let [cpu, reference] =
            [Backend::Cpu, Backend::Reference].map(|one| one.sum_of_squares(&[&waves(0.3)]).unwrap());
        assert!((cpu - reference).abs() < 1e-4 * reference, "{cpu} {reference}");
    }
}
