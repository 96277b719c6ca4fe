//! softalign: a small translator with attention, trained on your own sentence pairs.
//!
//! The model is RNNsearch (Bahdanau, Cho & Bengio 2014): see [`model`] for its equations and the file that holds each.
//! Data flows one way:
//!
//! ```text
//! text → batches → model → loss → optimiser → checkpoint
//! text → search  → translation with alignment → renderer
//! ```
//!
//! Each module may use only those that stand above it here; `tests/layering.rs` reads the `use` lines and sees to it.

#![warn(clippy::print_stderr, clippy::print_stdout, clippy::unwrap_used)]

pub mod alignment;
pub mod random;
pub mod text;

pub mod kernels;
pub mod model;

pub mod search;

pub mod metrics;

pub mod training;

pub mod checkpoint;

pub mod translator;

pub mod render;

pub mod cli;
pub mod commands;
