//! Outcome of a training and what users read about it.

use std::time::Duration;

use anyhow::Result;

use super::model_quality::ModelQuality;
use crate::checkpoint::{Config, ModelDir};
use crate::render::clock;
use crate::reporter::{Reporter, counted};
use crate::text::Pair;
use crate::training::{StopReason, TrainState, TrainingSettings};

/// The outcome of a run.
pub struct TrainingOutcome {
    /// Why training ended.
    pub reason: StopReason,
    /// Summary in one line.
    pub summary: String,
    /// Validation pairs.
    pub validation: Vec<Pair>,
    /// Quality of the model on pairs that it was not trained on; none if training was interrupted, and with too few pairs.
    pub quality: Option<ModelQuality>,
    /// Error of an optional file that could not be written.
    pub unrecorded: Result<()>,
}

impl TrainingOutcome {
    /// Returns the outcome of a training that was interrupted before that of the model itself.
    pub(super) fn interrupted() -> Self {
        Self {
            reason: StopReason::Interrupted,
            summary: "interrupted; --resume continues from here".to_owned(),
            validation: Vec::new(),
            quality: None,
            unrecorded: Ok(()),
        }
    }
}

/// Reports the sizes of data and model.
pub(super) fn describe(config: &Config, reporter: &dyn Reporter) {
    let (sizes, data) = (&config.architecture, &config.data);
    let synthetic = if data.synthetic.is_empty() { "" } else { " with the synthetic ones" };
    reporter.note(&format!(
        "{} training pairs{synthetic}, {} validation pairs; {} source and {} target tokens",
        data.training_pairs, data.validation_pairs, sizes.source_vocabulary, sizes.target_vocabulary
    ));
    reporter.note(&format!(
        "{:.2} million parameters: embedding {}, hidden {}, attention {} ({}); batches of {}{}",
        sizes.parameter_count() as f64 / 1e6,
        sizes.embedding_size,
        sizes.hidden_size,
        sizes.attention_size,
        sizes.attention,
        config.training.batch,
        config.training.describe_precision()
    ));
    if let Some(origin) = &config.from {
        reporter.note(&format!("initialized from {origin}"));
    }
    if !sizes.attention.is_fixed() {
        reporter.note(&format!("attention is {}", config.describe_guidance()));
    }
}

/// Describes why a run ended, and where the model is.
pub(super) fn summary(
    reason: StopReason,
    settings: &TrainingSettings,
    progress: &TrainState,
    model_dir: &ModelDir,
) -> String {
    let cause = match reason {
        StopReason::Epochs => format!("{} completed", counted(progress.epoch as usize, "epoch")),
        StopReason::Time if progress.step <= 1 => {
            "time limit reached after the first step; --resume with more --max-minutes continues".to_owned()
        }
        StopReason::Time => "time limit reached; --resume with more --max-minutes continues".to_owned(),
        StopReason::Patience => match settings.patience {
            Some(patience) => format!("no improvement for {}", counted(patience as usize, "validation")),
            None => "ended early, since validation stopped improving".to_owned(),
        },
        StopReason::Interrupted => "interrupted; --resume continues from here".to_owned(),
    };
    let kept = match settings.retention() {
        Some(retention) => format!(", {retention} in {}", model_dir.kept_path().display()),
        None => String::new(),
    };
    format!(
        "{cause}: {} in {}; the best model (step {}) is in {}{kept}",
        counted(progress.step as usize, "step"),
        clock(Duration::from_secs_f64(progress.seconds)),
        progress.best_step,
        model_dir.path().display()
    )
}
