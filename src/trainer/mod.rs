//! Training of a model from sentence pairs to a model directory.

mod api;
mod auxiliary;
mod data;
mod recorder;
mod run_context;
mod session;
mod sources;
mod synthetic_corpus;
mod user_alignments;
mod vocabularies;
mod warm_start;

pub use api::Trainer;
pub use auxiliary::{recorded_options, resume, train};
pub use run_context::RunContext;
pub use session::{TrainingOutcome, TrainingSpec};
pub use sources::{MonolingualText, SourceOptions, TrainingSources, WeightedFile};
pub use warm_start::{InitFrom, InitVocabulary};
