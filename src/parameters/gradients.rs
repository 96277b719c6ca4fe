//! Gradients of the loss with respect to the parameters.

use std::collections::BTreeMap;

use candle_core::{Result, Tensor, bail};
use rayon::prelude::*;

use super::Parameters;
use crate::kernels::tensor_mut::with_slice_mut;

/// Numbers per rayon task when zeroing.
const BLOCK: usize = 1 << 16;

/// One gradient per parameter, of the same shape. Each training step overwrites those of the step before.
#[derive(Clone, Debug)]
pub struct Gradients(BTreeMap<String, Tensor>);

impl Gradients {
    /// Zero gradients for `parameters`.
    pub fn zeros(parameters: &Parameters) -> Result<Self> {
        let zeros = parameters.iter().map(|(name, parameter)| Ok((name.clone(), parameter.detach().zeros_like()?)));
        Ok(Self(zeros.collect::<Result<_>>()?))
    }

    /// Gradients of a scalar loss by automatic differentiation; 0 for a parameter that it does not depend on. The
    /// parameters must be variables; see [`Parameters::with_grad`].
    pub fn from_loss(loss: &Tensor, parameters: &Parameters) -> Result<Self> {
        let store = loss.backward()?;
        let mut gradients = BTreeMap::new();
        for (name, parameter) in parameters.iter() {
            let gradient = match store.get(parameter) {
                Some(gradient) => gradient.contiguous()?,
                None => parameter.detach().zeros_like()?,
            };
            gradients.insert(name.clone(), gradient);
        }
        Ok(Self(gradients))
    }

    /// Returns the gradient with respect to the parameter `name`.
    ///
    /// # Errors
    /// There is no such parameter.
    pub fn get(&self, name: &str) -> Result<&Tensor> {
        match self.0.get(name) {
            Some(gradient) => Ok(gradient),
            None => bail!("no gradient of {name}"),
        }
    }

    /// Passes a gradient's values, on the CPU, to `work` for modification in place.
    ///
    /// # Errors
    /// There is no such parameter, or its gradient is not a contiguous f32 tensor on the CPU.
    pub fn with_slice_mut(&mut self, name: &str, work: impl FnOnce(&mut [f32])) -> Result<()> {
        with_slice_mut(self.get(name)?, |values| {
            work(values);
            Ok(())
        })
    }

    /// Sets a gradient to zero.
    ///
    /// # Errors
    /// As [`Self::with_slice_mut`].
    pub fn zero(&mut self, name: &str) -> Result<()> {
        self.with_slice_mut(name, |values| values.par_chunks_mut(BLOCK).for_each(|values| values.fill(0.0)))
    }

    /// Sets all gradients to zero.
    ///
    /// # Errors
    /// A gradient is not a contiguous f32 tensor on the CPU.
    pub fn zero_all(&mut self) -> Result<()> {
        let names: Vec<String> = self.0.keys().cloned().collect();
        names.iter().try_for_each(|name| self.zero(name))
    }

    /// Iterates over all gradients by parameter name, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Tensor)> {
        self.0.iter()
    }
}
