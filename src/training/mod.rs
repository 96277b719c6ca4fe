//! Training: optimiser, schedule, validation, and the loop around them.
//!
//! The loop prints nothing and writes no file. It tells an [`Observer`] what happens and hands it what should be saved.

mod examples;
mod guide;
mod optimiser;
mod settings;
mod trainer;
mod validation;

pub use examples::Examples;
pub use guide::Guides;
pub use optimiser::Optimiser;
pub use settings::{Metric, TrainingSettings};
pub use trainer::{Event, Observer, Pace, Progress, Snapshot, StepReport, StopReason, Trainer};
pub use validation::{Sample, ValidationReport, ValidationSet};
