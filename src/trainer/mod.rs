//! Training of a model from sentence pairs to a model directory.

mod api;
mod data;
mod recorder;
mod session;
mod sources;
mod user_alignments;
mod vocabularies;
mod warm_start;

pub use api::Trainer;
pub use session::{Session, TrainingOutcome, TrainingSpec};
pub use sources::{SourceOptions, TrainingSources, WeightedFile};
pub use warm_start::{InitFrom, InitVocabulary};
