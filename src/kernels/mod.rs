//! The operations that the model's time goes into, each in a place that opens with its equations.
//!
//! [`cross_entropy`], [`gru`] and [`adam`] come twice: in candle's operations, which is their
//! specification, their test and their path on a GPU, and on plain slices with a derivative written by hand, which is
//! their path on a CPU. Below them stand [`matrix`] products, [`simd`]'s loops for whatever vectors the processor has,
//! and the [`buffer`]s that they work in. They know nothing of text, vocabularies or training.

pub mod adam;
pub mod buffer;
pub mod cross_entropy;
pub mod embedding;
pub mod gru;
pub mod matrix;
pub mod simd;
pub mod values;
