//! `softalign train` and the models it writes.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/lexicon.rs"]
mod lexicon;

mod attention;
mod auto_config;
mod auxiliary;
mod average;
mod checkpoints;
mod config;
mod crash_recovery;
mod data_parallel;
mod end_to_end;
mod features;
mod init_from;
mod model_dirs;
mod multi_corpus;
mod resume;
mod retention;
mod signals;
mod tensorboard;
mod training_artifacts;
mod training_log;
mod user_alignments;
mod validation;
