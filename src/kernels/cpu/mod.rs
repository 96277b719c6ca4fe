//! Operations on slices with hand-written derivatives, for CPUs.

pub mod adam;
pub mod cross_entropy;
pub(crate) mod embedding;
pub mod gru;
pub mod mixture;
