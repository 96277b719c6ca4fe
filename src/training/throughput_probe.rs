//! Estimate of the training speed on this machine.

use std::time::Instant;

use candle_core::{Device, Result};

use super::{Optimizer, TrainingSettings};
use crate::model::{Architecture, Dropout, RnnSearch, TrainingStep};
use crate::parameters::{Gradients, Parameters};
use crate::text::{Batch, Example};

/// Timed steps, after one untimed step that allocates memory.
const TIMED_STEPS: usize = 3;

/// Estimates the seconds per epoch over these examples by a few discarded steps. Guided alignment and the lexicon, which
/// take about 5 % of the time, are left out.
///
/// # Errors
/// Those of the device.
pub fn seconds_per_epoch(
    architecture: &Architecture,
    settings: &TrainingSettings,
    examples: &[Example],
    device: &Device,
) -> Result<f64> {
    let mut probe = Probe::new(architecture, settings, examples, device)?;
    probe.step(0)?;
    let began = Instant::now();
    let mut tokens = 0;
    for number in 1..=TIMED_STEPS {
        tokens += probe.step(number)?;
    }
    let total: usize = examples.iter().map(|example| example.target.len() + 1).sum();
    Ok(began.elapsed().as_secs_f64() * total as f64 / tokens as f64)
}

/// Model with random parameters that takes steps for their time.
struct Probe<'a> {
    model: RnnSearch,
    optimizer: Optimizer,
    gradients: Gradients,
    settings: &'a TrainingSettings,
    examples: &'a [Example],
    batches: Vec<Vec<usize>>,
}

impl<'a> Probe<'a> {
    fn new(
        architecture: &Architecture,
        settings: &'a TrainingSettings,
        examples: &'a [Example],
        device: &Device,
    ) -> Result<Self> {
        let parameters = Parameters::initialize(&architecture.parameter_spec(), settings.seed, device)?.with_grad()?;
        Ok(Self {
            optimizer: Optimizer::new(&parameters, settings.max_gradient_norm, settings.ema_decay)?,
            gradients: Gradients::zeros(&parameters)?,
            model: RnnSearch::new(architecture.clone(), parameters)?.with_precision(settings.precision),
            settings,
            examples,
            batches: settings.batches(examples, 0),
        })
    }

    /// Takes a step, and returns the number of target tokens in its batch.
    fn step(&mut self, number: usize) -> Result<usize> {
        let settings = self.settings;
        let batch = Batch::new(self.examples, &self.batches[number % self.batches.len()]);
        let dropout = Dropout::new(settings.dropout, settings.seed, number as u64);
        let step = TrainingStep::new(&batch, settings.label_smoothing, dropout);
        let loss = self.model.gradients(step, &mut self.gradients)?;
        self.optimizer.step(self.model.parameters(), &self.gradients, settings.learning_rate)?;
        Ok(loss.tokens)
    }
}
