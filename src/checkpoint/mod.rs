//! Model directories: all files of a model, its training state and logs.
//!
//! ```text
//! config.json            architecture, text and training settings, versions, training data
//! tokenizer.json         the joint vocabulary, or
//! source.tokenizer.json, target.tokenizer.json
//! model.safetensors      the best parameters
//! aligner.safetensors    the statistical aligner
//! lexicon.safetensors    translation probabilities of tokens, which bias the output layer
//! resume.safetensors     the last parameters and optimizer moments; its metadata holds the progress
//! resume.json            the progress in readable form
//! log.jsonl              training log, one object per line
//! training.svg           curves of the log
//! attention.jsonl        with --keep-attention: attention on some pairs at each validation
//! attention.html         the same as a page
//! events.out.tfevents.*  with --tensorboard: the log for TensorBoard, a file per run
//! kept/step-000123/ …    with --keep-best or --keep-last: further models of the run
//! auxiliary/             with --teachers or --monolingual-target: plan.json, a directory per auxiliary model, synthetic pairs
//! training.lock          during training: its process
//! ```
//!
//! Files are written atomically, apart from the logs, which grow line by line. Safetensors files carry a fingerprint of
//! the config.json and vocabularies that they belong to. A training locks its directory. A new training removes what a
//! run without a model left there, and archives a model as a whole.

mod aligner;
mod atomic_file;
mod auxiliary;
mod averaging;
mod config;
mod dir_state;
mod identity;
mod jsonl;
mod lexicon;
mod load;
mod lock;
mod model_dir;
mod resume;
mod retention;
mod safetensors_io;
mod save;
mod tfevents;
mod trained_pairs;

pub use atomic_file::{PendingFile, open_own_file, remove_abandoned, remove_pending, write_atomically};
pub use averaging::average;
pub use config::{
    BaseModel, ConfidenceCalibration, Config, CorpusSource, DataSummary, DoubtLimits, FORMAT_VERSION, GuideSummary,
    Invocation, SyntheticCorpus, VocabOverlap, fingerprint, fingerprint_of_text,
};
pub use dir_state::DirState;
pub use identity::Checkpoint;
pub use jsonl::JsonlLog;
pub use lock::Lock;
pub use model_dir::ModelDir;
pub use resume::Resume;
pub use tfevents::EventFile;
pub use trained_pairs::TrainedPairs;
