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

pub use collapse_monitor::{AttentionWatch, attention_line};
pub use config::{Preset, ResolvedConfig, TrainConfig};
pub use examples::{Examples, Variation};
pub use guide::Guides;
pub use keep::Keep;
pub use merit::Merit;
pub use observer::{Event, Observer, Snapshot, StepReport, StopReason, Store};
pub use optimiser::Optimiser;
pub use progress::Progress;
pub use rehearsal::seconds_of_epoch;
pub use schedule::Schedule;
pub use settings::{Metric, TrainingSettings};
pub use training_loop::{Outset, TrainingLoop};
pub use validation::{Sample, ValidationReport, ValidationSet};
