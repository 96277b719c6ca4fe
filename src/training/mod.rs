//! Training: optimiser, schedule, validation, and the loop around them.
//!
//! The loop prints nothing and writes no file. It tells a [`Store`] what happens and hands it what should be saved.

mod collapse_monitor;
mod config;
mod examples;
mod guide;
mod keep;
mod merit;
mod observer;
mod optimiser;
mod progress;
mod rehearsal;
mod schedule;
mod settings;
mod training_loop;
mod validation;

pub use collapse_monitor::{CollapseMonitor, attention_line};
pub use config::{Preset, ResolvedConfig, TrainConfig};
pub use examples::{Augmentation, EpochData};
pub use guide::AlignmentTargets;
pub use keep::Retention;
pub use merit::ValidationScore;
pub use observer::{Event, Observer, Snapshot, StepReport, StopReason, Store};
pub use optimiser::Optimizer;
pub use progress::TrainState;
pub use rehearsal::seconds_of_epoch;
pub use schedule::Schedule;
pub use settings::{Metric, TrainingSettings};
pub use training_loop::{TrainerParts, TrainingLoop};
pub use validation::{Sample, ValidationReport, ValidationSet};
