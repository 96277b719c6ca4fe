//! The model: RNNsearch (Bahdanau, Cho & Bengio 2014) with its parameters.
//!
//! ```text
//! annotations     h_j = [ →GRU(E_x[x_j]) ; ←GRU(E_x[x_j]) ]              encoder.rs
//! initial state   s_0 = tanh(W_init · m + b),  m = mean_j h_j or ←h_1     decoder.rs
//! energy          e_tj = vᵀ tanh(W_q s_{t-1} + W_k h_j)                  attention.rs
//! weights         α_t = softmax_j(e_t)                                   attention.rs
//! context         c_t = Σ_j α_tj h_j                                     attention.rs
//! state           s_t = GRU([E_y[y_{t-1}] ; c_t], s_{t-1})               decoder.rs
//! readout         r_t = tanh(W_r [s_t ; E_y[y_{t-1}] ; c_t] + b_r)       decoder.rs
//! output          p(y_t) = softmax(E_out r_t + b)                        decoder.rs
//! ```
//!
//! This layer knows ids, not text. Sequences lie time-major, `[length, batch, ·]`, while the recurrences run, so that a
//! step's rows are neighbours; annotations and keys lie `[batch, length, ·]`, so that a sentence's are.

mod attention;
mod decoder;
mod dropout;
mod encoder;
pub mod fused;
mod parameters;
mod rnn_search;

pub use attention::{AdditiveAttention, Memory};
pub use decoder::{AttentionDecoder, DecoderStep};
pub use dropout::{Dropout, DropoutRates};
pub use encoder::{Annotations, BidirectionalEncoder};
pub use parameters::{Architecture, Gradients, InitialState, Parameters};
pub use rnn_search::{BatchLoss, RnnSearch};
