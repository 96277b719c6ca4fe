//! Inputs of a training step.

use super::Dropout;
use crate::text::{Batch, BatchShare};

/// Share of a batch, with everything that its loss depends on beside the model.
#[derive(Clone, Copy, Debug)]
pub struct TrainingStep<'b> {
    /// Whole batch.
    pub batch: &'b Batch,
    /// Rows of the batch that are computed. The losses and gradients of all shares add up to those of the batch.
    pub share: BatchShare,
    /// ε of label smoothing.
    pub smoothing: f64,
    /// Dropout and sampling.
    pub dropout: Dropout,
}

impl<'b> TrainingStep<'b> {
    /// Returns the step of a whole batch.
    pub fn new(batch: &'b Batch, smoothing: f64, dropout: Dropout) -> Self {
        Self { batch, share: BatchShare::WHOLE, smoothing, dropout }
    }

    /// Returns the step of a share of the batch.
    #[must_use]
    pub fn of_share(self, share: BatchShare) -> Self {
        Self { share, ..self }
    }
}
