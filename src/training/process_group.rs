//! Data parallelism: each process computes the gradient of a share of every batch, and all apply the sum.
//!
//! The processes stay alike because they take the same steps: the first one alone reads the clock, validates, saves and
//! receives signals, and the others take over its state.

use anyhow::Result;
use candle_core::Tensor;

use super::TrainState;
use crate::communicator::Communicator;
use crate::kernels::tensor_mut::with_slice_mut;
use crate::model::BatchLoss;
use crate::parameters::Gradients;
use crate::text::BatchShare;

/// The processes of a training, as one of them sees them. Nothing is communicated where there is only one.
pub struct ProcessGroup<'a> {
    communicator: &'a dyn Communicator,
    /// All gradients and losses in one row.
    values: Vec<f32>,
}

impl<'a> ProcessGroup<'a> {
    /// Returns the group of a communicator's processes.
    pub fn new(communicator: &'a dyn Communicator) -> Self {
        Self { communicator, values: Vec::new() }
    }

    /// True for the process that reads the clock, validates and saves.
    pub fn is_root(&self) -> bool {
        self.communicator.rank() == 0
    }

    fn is_single(&self) -> bool {
        self.communicator.size() == 1
    }

    /// Returns the share of each batch that this process computes.
    pub fn share(&self) -> BatchShare {
        BatchShare { index: self.communicator.rank(), count: self.communicator.size() }
    }

    /// Replaces gradients by their sums over all processes. Returns the sum of the losses.
    ///
    /// # Errors
    /// The gradients are not on the CPU.
    pub fn all_reduce(&mut self, gradients: &Gradients, loss: BatchLoss) -> Result<BatchLoss> {
        if self.is_single() {
            return Ok(loss);
        }
        let values = &mut self.values;
        values.clear();
        values
            .extend([loss.smoothed, loss.negative_log_likelihood, loss.guidance, loss.units as f64].map(|x| x as f32));
        for (_, gradient) in gradients.iter() {
            with_slice_mut(gradient, |own| {
                values.extend_from_slice(own);
                Ok(())
            })?;
        }
        self.communicator.all_reduce(values);
        let (losses, mut rest) = values.split_at(4);
        for (_, gradient) in gradients.iter() {
            with_slice_mut(gradient, |own| {
                let (sums, others) = rest.split_at(own.len());
                own.copy_from_slice(sums);
                rest = others;
                Ok(())
            })?;
        }
        Ok(BatchLoss {
            smoothed: f64::from(losses[0]),
            negative_log_likelihood: f64::from(losses[1]),
            guidance: f64::from(losses[2]),
            units: losses[3] as usize,
        })
    }

    /// Returns the first process' state, and whether it should stop.
    ///
    /// # Errors
    /// The state cannot be serialized.
    pub fn broadcast_state(&self, progress: &TrainState, should_stop: bool) -> Result<(TrainState, bool)> {
        Ok(self.communicator.broadcast_value((progress.clone(), should_stop))?)
    }

    /// Replaces the values of tensors by the first process'.
    ///
    /// # Errors
    /// A tensor is not on the CPU.
    pub fn broadcast_tensors<'t>(&self, tensors: impl IntoIterator<Item = &'t Tensor>) -> Result<()> {
        if self.is_single() {
            return Ok(());
        }
        for tensor in tensors {
            with_slice_mut(tensor, |values| {
                let values: &mut [u8] = bytemuck::cast_slice_mut(values);
                let mut bytes = values.to_vec();
                self.communicator.broadcast(&mut bytes);
                values.copy_from_slice(&bytes);
                Ok(())
            })?;
        }
        Ok(())
    }
}
