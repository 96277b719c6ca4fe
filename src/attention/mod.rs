//! Attention: queries ask, keys answer, and the values are pooled by how well they fit.
//!
//! ```text
//! Attention(q, K, V) = Σ_j α(q, k_j) v_j        α = softmax_j(a(q, k_j) / temperature)
//!
//! q, k_j      W_q s_{t-1}, W_k h_j, or the state and the annotations themselves     layer.rs, fused/
//! a           the score: a comparison, in a file of its own                         scores/
//! softmax, Σ  masks, weights, pooled values, hard choices                           pooling.rs
//! heads       c = W_o [c_1 ; … ; c_N], each over its own part of W_v h_j            layer.rs, fused/
//! guides      −Σ w log α over given looks                                           guidance.rs
//! positions   what tells one place of a sequence from another                       position.rs
//! ```
//!
//! [`pool`] is the equation in candle's operations, for any score and any shapes. [`Attention`] is the translator's
//! layer made of it; [`fused`] is the same layer on plain slices with derivatives by hand, which is what runs on a CPU.
//! Nothing here knows an encoder, a decoder or a word.

pub mod fused;
mod guidance;
mod layer;
pub mod pooling;
mod position;
mod score;
mod scores;
mod settings;

pub use guidance::guidance;
pub use layer::{Attended, Attention, Memory};
pub use pooling::{Pooled, pool};
pub use position::sinusoids;
pub use score::{Score, Tempered};
pub use scores::{Additive, Cosine, Dot, Even, Kernel, KernelShape, ScoreName};
pub use settings::{Choice, Dimensions, Reading, Settings};
