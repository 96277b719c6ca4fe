//! Tensor operations, each headed by its equations.
//!
//! [`mod@reference`] and [`cpu`] hold the same operations under the same file names. [`mod@reference`] uses candle's
//! operations: it is the specification, the test oracle and the GPU path. On an NVIDIA GPU it calls the fused kernels of
//! `cuda`. [`cpu`] has forward and hand-written backward functions on slices. [`Backend`] is the choice between them. The CPU
//! side builds on [`matrix`] products, [`simd`] loops for the processor's vector width, and [`buffer_pool`].
//!
//! The module is public for benchmarks, tests and examples only and is not part of the library's interface.

mod backend;
pub mod buffer_pool;
pub mod cpu;
#[cfg(feature = "cuda")]
pub(crate) mod cuda;
pub mod matrix;
pub mod reference;
pub mod simd;
pub(crate) mod tensor_mut;

pub use backend::{Backend, gpu};
