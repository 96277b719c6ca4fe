//! Attention in candle's operations, with automatic differentiation: the specification, the oracle in tests of the CPU
//! backend, and the path on a GPU.

mod forward;
pub(super) mod guided_alignment;
mod pooling;

pub use forward::{Attention, AttentionOutput, Memory, SoftAdditive};
pub use guided_alignment::guided_alignment_loss;
pub use pooling::{Pooled, pool};
