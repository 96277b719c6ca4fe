//! Operations in candle, with automatic differentiation: the specification, the oracle in tests of the CPU kernels, and
//! the path on a GPU.

pub mod adam;
pub mod cross_entropy;
pub(crate) mod embedding;
pub mod gru;
pub mod mixture;
