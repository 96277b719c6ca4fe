//! The operations that the model's time goes into, each in a place that opens with its equations.
//!
//! Every one comes twice: in candle's operations, which is its specification, its test and its path on a GPU, and `fused`, on
//! plain slices with a derivative written by hand, which is its path on a CPU. They know nothing of text, vocabularies or
//! training.

pub mod adam;
pub mod attention;
pub mod buffer;
pub mod cross_entropy;
pub mod gru;
pub mod matrix;
pub mod simd;
pub mod values;
