//! The library without the program: numbers, search, metrics and tokenizers.

#[path = "../common/golden.rs"]
mod golden;
#[path = "../common/lexicon.rs"]
mod lexicon;
#[path = "../common/paths.rs"]
mod paths;

mod aligner;
mod cpu_vs_reference;
#[cfg(feature = "cuda")]
mod cuda;
mod gradients;
mod hostile_vocabularies;
mod metrics;
mod numeric_limits;
mod reference;
mod search;
