//! Attention: values pooled by how well their keys match a query.
//!
//! ```text
//! Attention(q, K, V) = Σ_j α(q, k_j) v_j        α = softmax_j(a(q, k_j) / temperature)
//! ```
//!
//! | part | equation | files |
//! |---|---|---|
//! | projections, heads | q = W_q u_t, k_j = W_k h_j; c = W_o [c_1 ; … ; c_N], head i over its slice of W_v h_j | `{reference,cpu}/forward.rs`, `cpu/backward.rs` |
//! | score | a(q, k), one file each, with both implementations | `scores/` |
//! | pooling | softmax, masks, Σ_j α_j v_j | `{reference,cpu}/pooling.rs` |
//! | hard attention | one position in place of α | `mode.rs` |
//! | guided alignment | −Σ w log α over given links | `{reference,cpu}/guided_alignment.rs` |
//! | positional encoding | sinusoids | `positional_encoding.rs` |
//!
//! [`pool`] is the equation in candle's operations for any score and any shapes. [`Attention`] builds the translator's
//! layer on it; [`cpu`] is the same layer on slices with hand-written derivatives.

mod config;
pub mod cpu;
mod mode;
mod positional_encoding;
pub mod reference;
mod score_traits;
mod scores;

pub use config::{AttentionConfig, AttentionDims, InferenceOverrides};
pub use mode::{AttentionMode, AttentionWeights, PoolingWeights};
pub use positional_encoding::sinusoids;
pub use reference::{Attention, AttentionOutput, Memory, Pooled, SoftAdditive, guided_alignment_loss, pool};
pub use score_traits::{ScaledScore, Score};
pub use scores::{Additive, Cosine, Dot, Kernel, KernelShape, ScoreName, Uniform};
