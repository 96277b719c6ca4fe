//! Estimate of the training speed on this machine.

use std::time::Instant;

use candle_core::{Device, Result};

use super::{Optimizer, TrainingSettings};
use crate::model::{Architecture, Dropout, RnnSearch};
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
    let batches = settings.batches(examples, 0);
    let parameters = Parameters::initialize(&architecture.parameter_spec(), settings.seed, device)?.with_grad()?;
    let mut gradients = Gradients::zeros(&parameters)?;
    let mut optimizer = Optimizer::new(&parameters, settings.max_gradient_norm, settings.ema_decay)?;
    let model = RnnSearch::new(architecture.clone(), parameters)?.with_precision(settings.precision);
    let mut step = |number: usize| {
        let batch = Batch::new(examples, &batches[number % batches.len()]);
        let dropout = Dropout::new(settings.dropout, settings.seed, number as u64);
        let loss = model.gradients(&batch, settings.label_smoothing, &dropout, &mut gradients)?;
        optimizer.step(model.parameters(), &gradients, settings.learning_rate)?;
        Ok::<_, candle_core::Error>(loss.tokens)
    };
    step(0)?;
    let began = Instant::now();
    let tokens = (1..=TIMED_STEPS).map(&mut step).sum::<Result<usize>>()?;
    let total: usize = examples.iter().map(|example| example.target.len() + 1).sum();
    Ok(began.elapsed().as_secs_f64() * total as f64 / tokens as f64)
}
