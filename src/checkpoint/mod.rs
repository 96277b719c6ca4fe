//! A model on disk: a directory that holds all there is to know of it.
//!
//! ```text
//! config.json            sizes, text and training settings, versions, what it was trained on
//! tokenizer.json         the joint vocabulary, or
//! source.tokenizer.json, target.tokenizer.json
//! model.safetensors      the best parameters
//! aligner.safetensors    what the statistical aligner has learnt
//! lexicon.safetensors    how units are translated, which weighs on the output beside the network
//! resume.safetensors     the last parameters with the optimiser's moments; its header holds the progress
//! resume.json            that progress, for reading
//! log.jsonl              one object for each report of training
//! training.svg           what it says, drawn
//! attention.jsonl        attention on some pairs at each validation, if that is to be kept
//! attention.html         the same to look at
//! events.out.tfevents.*  the log for TensorBoard, a file for each run, if that is asked for
//! kept/step-000123/ …    models of the run that are kept beside the best one, if such are to be kept
//! training.lock          who trains here, as long as somebody does
//! ```
//!
//! Every file is written beside its place, synced and renamed, but for the logs, which grow line by line. Files that could
//! be mixed up carry a fingerprint of what they belong to. A training holds its folder for itself, and begins in an empty
//! one: what it finds there of a run that left no model it clears away, and a model it moves aside, whole.

mod aligner;
mod atomic_file;
mod averaging;
mod config;
mod dir_state;
mod jsonl;
mod lexicon;
mod lock;
mod model_dir;
mod resume;
mod retention;
mod safetensors_io;
mod tfevents;

pub use atomic_file::{PendingFile, remove_abandoned, remove_growing, write_atomically};
pub use averaging::average;
pub use config::{
    BaseModel, Config, CorpusSource, DataSummary, FORMAT_VERSION, GuideSummary, Invocation, VocabOverlap, fingerprint,
    fingerprint_of_text,
};
pub use dir_state::DirState;
pub use jsonl::JsonlLog;
pub use lock::Lock;
pub use model_dir::{Checkpoint, ModelDir};
pub use resume::Resume;
pub use tfevents::EventFile;
