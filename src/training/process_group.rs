//! Data parallelism: each process computes the gradient of a share of every batch, and all apply the sum.
//!
//! The processes stay alike because they take the same steps: the first one alone reads the clock, validates, saves and
//! receives signals, and the others take over its state.

use anyhow::Result;
use candle_core::{DType, Device, Tensor};

use super::TrainState;
use crate::communicator::Communicator;
use crate::model::BatchLoss;
use crate::parameters::Gradients;
use crate::text::BatchShare;

/// The processes of a training, as one of them sees them. Nothing is communicated where there is only one.
pub struct ProcessGroup<'a> {
    communicator: &'a dyn Communicator,
    /// The loss and all gradients in one row, which is communicated at once.
    row: Option<Tensor>,
}

impl<'a> ProcessGroup<'a> {
    /// Returns the group of a communicator's processes.
    pub fn new(communicator: &'a dyn Communicator) -> Self {
        Self { communicator, row: None }
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
    /// Communication fails, or the device is out of memory.
    pub fn all_reduce(&mut self, gradients: &Gradients, loss: BatchLoss, device: &Device) -> Result<BatchLoss> {
        if self.is_single() {
            return Ok(loss);
        }
        let loss = [loss.smoothed, loss.negative_log_likelihood, loss.guidance, loss.tokens as f64];
        let loss = Tensor::new(&loss.map(|x| x as f32), device)?;
        let gradients = gradients.iter().map(|(_, gradient)| gradient.flatten_all());
        let parts = std::iter::once(Ok(loss.clone())).chain(gradients).collect::<candle_core::Result<Vec<Tensor>>>()?;
        let row = match &mut self.row {
            Some(row) => row,
            empty => {
                let count: usize = parts.iter().map(Tensor::elem_count).sum();
                empty.insert(Tensor::zeros(count, DType::F32, device)?)
            }
        };
        let mut start = 0;
        for part in &parts {
            row.slice_set(part, 0, start)?;
            start += part.elem_count();
        }
        self.communicator.all_reduce(row)?;
        let mut start = 0;
        for part in &parts {
            part.slice_set(&row.narrow(0, start, part.elem_count())?, 0, 0)?;
            start += part.elem_count();
        }
        let loss: Vec<f32> = loss.to_vec1()?;
        Ok(BatchLoss {
            smoothed: f64::from(loss[0]),
            negative_log_likelihood: f64::from(loss[1]),
            guidance: f64::from(loss[2]),
            tokens: loss[3] as usize,
        })
    }

    /// Returns the first process' state, and whether it should stop.
    ///
    /// # Errors
    /// Communication fails.
    pub fn broadcast_state(&self, progress: &TrainState, should_stop: bool) -> Result<(TrainState, bool)> {
        Ok(self.communicator.broadcast_value((progress.clone(), should_stop))?)
    }

    /// Replaces the values of tensors by the first process'.
    ///
    /// # Errors
    /// Communication fails, or the device is out of memory.
    pub fn broadcast_tensors<'t>(&self, tensors: impl IntoIterator<Item = &'t Tensor>) -> Result<()> {
        if self.is_single() {
            return Ok(());
        }
        for tensor in tensors {
            let row = tensor.detach().flatten_all()?;
            let mut values = row.to_vec1::<f32>()?;
            let own: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
            let mut bytes = own.to_vec();
            self.communicator.broadcast(&mut bytes)?;
            own.copy_from_slice(&bytes);
            row.slice_set(&Tensor::from_vec(values, row.shape(), row.device())?, 0, 0)?;
        }
        Ok(())
    }
}
