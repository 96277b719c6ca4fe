//! Events of the training loop, and the traits that receive them.

use anyhow::Result;
use candle_core::Tensor;
use serde::Serialize;

use super::{BestValidations, Optimizer, TrainState, TrainingSettings, ValidationReport};
use crate::parameters::Parameters;
use crate::reporter::{Reporter, Silent};
use crate::text::TextSettings;

/// Measurements of one optimizer step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepReport {
    /// Epoch, from 1.
    pub epoch: u64,
    /// Number of this optimizer step, from 1.
    pub step: u64,
    /// Mean label-smoothed loss per target token, in nats, over the part of the epoch that this run has trained.
    pub loss: f64,
    /// Perplexity per target token, without label smoothing but with dropout, over the same part of the epoch.
    pub perplexity: f64,
    /// Completed share of the planned training.
    pub done: f64,
    /// Learning rate of this step.
    pub learning_rate: f64,
    /// Global norm of the gradients of this step, before clipping.
    pub gradient_norm: f64,
    /// Target tokens per second without padding, over the part of the epoch that this run has trained.
    pub tokens_per_second: f64,
    /// Seconds spent preparing, training and validating, over all runs.
    pub seconds: f64,
    /// Estimate of the seconds left at the speed of this run, unless patience ends it earlier.
    #[serde(skip)]
    pub seconds_left: f64,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All epochs are completed.
    Epochs,
    /// The time limit is reached.
    Time,
    /// Patience has run out without improvement.
    Patience,
    /// The observer stopped it.
    Interrupted,
}

/// Event of the training loop.
#[derive(Debug)]
pub enum Event<'a> {
    /// Start of the training of a model.
    Model {
        /// Name of an auxiliary model; none for the model itself.
        name: Option<&'a str>,
        /// Settings of its text.
        text: &'a TextSettings,
        /// Settings of its training.
        settings: &'a TrainingSettings,
    },
    /// Start of an epoch.
    Epoch {
        /// Epoch, from 1.
        epoch: u64,
        /// Batches in it.
        batches: usize,
        /// Batches that earlier runs have completed.
        done: usize,
    },
    /// End of a step.
    Step(StepReport),
    /// Step without an update, since its loss or gradient is not finite.
    Skipped {
        /// Number of the step, from 1.
        step: u64,
        /// Skipped steps so far, including this one.
        skipped: u64,
    },
    /// Start of a validation.
    Validating,
    /// End of a validation.
    Validation {
        /// Training state after the validation.
        progress: &'a TrainState,
        /// Results of the validation.
        report: &'a ValidationReport,
        /// True if this is the best model so far.
        best: bool,
    },
    /// Begin of the decay of the learning rate before its time, since validations stopped improving.
    Shortened {
        /// Validations without improvement.
        validations: u64,
        /// Share of the planned training after which it ends.
        share: f64,
    },
}

/// State of a training to save.
pub struct Snapshot<'a> {
    /// Parameters after the last step, from which training resumes.
    pub trained: &'a Parameters,
    /// Validated parameters: the moving average if there is one, else `trained`.
    pub averaged: &'a Parameters,
    /// Optimizer.
    pub optimizer: &'a Optimizer,
    /// Training state.
    pub progress: &'a TrainState,
    /// Translations of the best validations.
    pub best_validations: &'a BestValidations,
}

impl Snapshot<'_> {
    /// Returns the tensors to save for resuming: parameters by name, and the optimizer's state.
    pub fn tensors(&self) -> Vec<(String, &Tensor)> {
        let parameters = self.trained.iter().map(|(name, tensor)| (format!("parameter/{name}"), tensor));
        parameters.chain(self.optimizer.state()).collect()
    }
}

/// Receiver of training events. No method has to be implemented.
pub trait Observer: Reporter {
    /// Receives an event.
    fn event(&self, _event: &Event) {}

    /// Returns true to stop after the current step.
    fn should_stop(&self) -> bool {
        false
    }
}

impl Observer for Silent {}

/// Storage of the reports, training states and models of a run.
pub trait Store {
    /// Records an event.
    fn event(&mut self, event: &Event) -> Result<()>;
    /// Saves the state that training can be resumed from.
    fn save_resume(&mut self, snapshot: &Snapshot) -> Result<()>;
    /// Saves the validated model if it is the best so far or to be retained. [`Self::save_resume`] with the same
    /// parameters comes first: if saving fails, they can be recovered from there by [`TrainState::is_validated`] and
    /// [`TrainState::is_best`].
    fn save_validated(&mut self, snapshot: &Snapshot, best: bool) -> Result<()>;
    /// Returns true to stop after the current step.
    fn should_stop(&self) -> bool;
}

/// Stores nothing, as in the processes that only compute.
impl Store for Silent {
    fn event(&mut self, _: &Event) -> Result<()> {
        Ok(())
    }

    fn save_resume(&mut self, _: &Snapshot) -> Result<()> {
        Ok(())
    }

    fn save_validated(&mut self, _: &Snapshot, _: bool) -> Result<()> {
        Ok(())
    }

    fn should_stop(&self) -> bool {
        false
    }
}
