//! softalign: a small translator with attention, trained on your own sentence pairs.
//!
//! The model is RNNsearch (Bahdanau, Cho & Bengio 2014): see [`model`] for its equations.

pub mod alignment;
pub mod kernels;
pub mod metrics;
pub mod model;
pub mod random;
pub mod search;
pub mod text;
pub mod training;
