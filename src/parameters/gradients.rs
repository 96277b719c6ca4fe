//! The loss' derivative by every parameter.

use std::collections::BTreeMap;

use candle_core::{Result, Tensor, bail};
use rayon::prelude::*;

use super::Parameters;
use crate::kernels::tensor_mut::with_slice_mut;

/// Numbers that one thread clears at a time.
const BLOCK: usize = 1 << 16;

/// One tensor for each parameter, of the same shape. A step of training writes over what the step before it left.
#[derive(Clone, Debug)]
pub struct Gradients(BTreeMap<String, Tensor>);

impl Gradients {
    /// All zero.
    pub fn zeros(parameters: &Parameters) -> Result<Self> {
        let zeros = parameters.iter().map(|(name, parameter)| Ok((name.clone(), parameter.detach().zeros_like()?)));
        Ok(Self(zeros.collect::<Result<_>>()?))
    }

    /// The derivatives of a scalar by every parameter, by automatic differentiation; 0 where it does not depend on one.
    /// The parameters must be tracked.
    pub fn from_loss(loss: &Tensor, parameters: &Parameters) -> Result<Self> {
        let store = loss.backward()?;
        let gradient = |(name, parameter): (&String, &Tensor)| {
            let gradient = match store.get(parameter) {
                Some(gradient) => gradient.contiguous()?,
                None => parameter.detach().zeros_like()?,
            };
            Ok((name.clone(), gradient))
        };
        Ok(Self(parameters.iter().map(gradient).collect::<Result<_>>()?))
    }

    /// By the parameter of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, name: &str) -> Result<&Tensor> {
        match self.0.get(name) {
            Some(gradient) => Ok(gradient),
            None => bail!("no gradient by {name}"),
        }
    }

    /// Lends a gradient's numbers on the CPU to be written over.
    pub fn with_slice_mut(&mut self, name: &str, work: impl FnOnce(&mut [f32])) -> Result<()> {
        with_slice_mut(self.get(name)?, |values| {
            work(values);
            Ok(())
        })
    }

    /// Sets a gradient to zero.
    pub fn zero(&mut self, name: &str) -> Result<()> {
        self.with_slice_mut(name, |values| values.par_chunks_mut(BLOCK).for_each(|values| values.fill(0.0)))
    }

    /// All by parameter name, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Tensor)> {
        self.0.iter()
    }
}
