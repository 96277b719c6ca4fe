//! Training of a model from sentence pairs to a model directory.

mod api;
mod auxiliary;
mod builder;
mod data;
mod locks;
mod model_quality;
mod monolingual_text;
mod new_session;
mod outcome;
mod planned_teachers;
mod preparation;
mod recorder;
mod resumed_session;
mod resumed_sources;
mod run_context;
mod session;
mod source_options;
mod sources;
mod spec;
mod synthetic_corpus;
mod training_pairs;
mod unseen_words;
mod user_alignments;
mod vocabularies;
mod warm_start;

pub use api::{recorded_options, resume, train};
pub use builder::Trainer;
pub use model_quality::ModelQuality;
pub use monolingual_text::MonolingualText;
pub use outcome::TrainingOutcome;
pub use resumed_sources::ResumedSources;
pub use run_context::RunContext;
pub use source_options::{AttentionFiles, SourceOptions, WeightedFile};
pub use sources::TrainingSources;
pub use spec::{GivenCommand, TrainingSpec};
pub use warm_start::{InitFrom, InitVocabulary};
