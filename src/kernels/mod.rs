//! Tensor operations, each headed by its equations.
//!
//! [`reference`] and [`cpu`] hold the same operations under the same file names: [`reference`] in candle's terms, which
//! is the specification, the test oracle and the GPU path; [`cpu`] on slices, with forward and hand-written backward
//! functions. [`Backend`] names the choice between them. The CPU side builds on [`matrix`] products, [`simd`] loops for
//! the processor's vector width, and [`buffer_pool`]. Text, vocabularies and training are unknown here.
//!
//! The module is public for the benchmarks and examples only; it is no part of the library's interface.

mod backend;
pub mod buffer_pool;
pub mod cpu;
pub mod matrix;
pub mod reference;
pub mod simd;
pub mod tensor_mut;

pub use backend::Backend;
