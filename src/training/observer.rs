//! What the training loop tells of itself, and to whom.

use anyhow::Result;
use candle_core::Tensor;
use serde::Serialize;

use super::{Optimizer, TrainState, ValidationReport};
use crate::parameters::Parameters;
use crate::reporter::{Reporter, Silent};

/// One step's figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepReport {
    /// Epoch, from 1.
    pub epoch: u64,
    /// Optimiser steps taken, this one included.
    pub step: u64,
    /// Mean smoothed loss for each target unit, over what this run has trained of the epoch so far.
    pub loss: f64,
    /// Share of the training that is done, as far as it is planned.
    pub done: f64,
    /// Learning rate of this step.
    pub learning_rate: f64,
    /// Target units (padding not counted) for each second that this run has trained of this epoch.
    pub tokens_per_second: f64,
    /// Seconds spent preparing, training and validating, over all runs.
    pub seconds: f64,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All epochs are done.
    Epochs,
    /// The time given is over.
    Time,
    /// The validation score has not improved for as long as patience lasts.
    Patience,
    /// The observer asked for it.
    Asked,
}

/// What the loop tells as it goes.
#[derive(Debug)]
pub enum Event<'a> {
    /// An epoch begins.
    Epoch {
        /// Epoch, from 1.
        epoch: u64,
        /// Batches in it.
        batches: usize,
        /// Batches of it that an earlier run has done.
        done: usize,
    },
    /// A step was taken.
    Step(StepReport),
    /// A step was taken that moved nothing: its loss or gradient was no finite number.
    Skipped {
        /// Optimiser steps taken, this one included.
        step: u64,
        /// How many of them moved nothing.
        skipped: u64,
    },
    /// A validation begins.
    Validating,
    /// A validation was held.
    Validation {
        /// Where training stands after it.
        progress: &'a TrainState,
        /// What was measured.
        report: &'a ValidationReport,
        /// Whether this is the best model so far.
        best: bool,
    },
}

/// What should be saved.
pub struct Snapshot<'a> {
    /// The parameters as the last step left them: what training goes on from.
    pub trained: &'a Parameters,
    /// Those that were validated: the average where there is one.
    pub used: &'a Parameters,
    /// The optimiser.
    pub optimizer: &'a Optimizer,
    /// Where training stands.
    pub progress: &'a TrainState,
}

impl Snapshot<'_> {
    /// Everything to save for resuming: parameters by name, and the optimiser's moments.
    pub fn tensors(&self) -> Vec<(String, &Tensor)> {
        let parameters = self.trained.iter().map(|(name, tensor)| (format!("parameter/{name}"), tensor));
        parameters.chain(self.optimizer.state()).collect()
    }
}

/// Watches a training. Every method has an empty body.
pub trait Observer: Reporter {
    /// Takes what happened.
    fn event(&self, _event: &Event) {}

    /// Returns true to stop after the current step.
    fn should_stop(&self) -> bool {
        false
    }
}

impl Observer for Silent {}

/// Storage of a run's reports, states and models.
pub trait Store {
    /// Records an event.
    fn event(&mut self, event: &Event) -> Result<()>;
    /// Saves the state that training can be resumed from.
    fn save_resume(&mut self, snapshot: &Snapshot) -> Result<()>;
    /// Saves the model that was validated, if it is the best so far or wanted beside that. This comes after
    /// [`Self::save_resume`] of the same parameters: should it fail, they are there all the same, and
    /// [`TrainState::is_validated`] and [`TrainState::is_best`] tell what they are.
    fn save_validated(&mut self, snapshot: &Snapshot, best: bool) -> Result<()>;
    /// Returns true to stop after the current step.
    fn should_stop(&self) -> bool;
}
