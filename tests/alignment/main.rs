//! Word alignment, evaluation and cleaning.

#[path = "../common/mod.rs"]
mod common;

mod by_length;
mod clean;
mod evaluate;
mod gold;
mod links;
mod saved_aligner;
