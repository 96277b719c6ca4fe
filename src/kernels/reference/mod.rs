//! Operations in candle's terms, with automatic differentiation: the specification, the oracle of the CPU kernels'
//! tests, and the path on a GPU.

pub mod adam;
pub mod cross_entropy;
pub mod gru;
