//! Training: optimizer, schedule, validation and training loop.
//!
//! The loop prints nothing and writes no file. It passes events and snapshots to a [`Store`].

mod alignment_targets;
mod best_validations;
mod checkpoint_retention;
mod collapse_monitor;
mod config;
mod epoch_data;
mod hallucination;
mod kernel_width;
mod loss_monitor;
mod observer;
mod optimizer;
mod process_group;
mod schedule;
mod settings;
mod throughput_probe;
mod train_state;
mod training_loop;
mod unigram;
mod validation;
mod validation_score;

pub use alignment_targets::AlignmentTargets;
pub use best_validations::BestValidations;
pub use checkpoint_retention::{Retention, ValidatedModel};
pub use collapse_monitor::{CollapseMonitor, attention_line};
pub use config::{ModelConfig, Preset, ResolvedConfig, RunConfig, RunLimits, TrainConfig};
pub use epoch_data::{Augmentation, EpochData};
pub use kernel_width::learn_kernel_width;
pub use loss_monitor::{LossMonitor, is_guessing};
pub use observer::{Event, Observer, Snapshot, StepReport, StopReason, Store};
pub use optimizer::Optimizer;
pub use schedule::Schedule;
pub use settings::{Metric, TrainingSettings};
pub use throughput_probe::seconds_per_epoch;
pub use train_state::{TrainState, check_seconds};
pub use training_loop::{TrainingLoop, TrainingLoopParts};
pub use unigram::unigram_perplexity;
pub use validation::{Sample, ValidationReport, ValidationSet};
pub use validation_score::ValidationScore;
