//! Training: optimiser, schedule, validation, and the loop around them.
//!
//! The loop prints nothing and writes no file. It tells an [`Observer`] what happens and hands it what should be saved.

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
mod trainer;
mod validation;

pub use examples::{Examples, Variation};
pub use guide::Guides;
pub use keep::Keep;
pub use merit::Merit;
pub use observer::{Event, Observer, Snapshot, StepReport, StopReason};
pub use optimiser::Optimiser;
pub use progress::Progress;
pub use rehearsal::seconds_of_epoch;
pub use schedule::Schedule;
pub use settings::{Metric, TrainingSettings};
pub use trainer::{Outset, Trainer};
pub use validation::{Sample, ValidationReport, ValidationSet};
