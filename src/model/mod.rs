//! The model: RNNsearch (Bahdanau, Cho & Bengio 2014) with its parameters.
//!
//! The crate's first page has the equations beside the files of this folder; `fused/` holds the same for a CPU, with
//! the derivatives written by hand.
//!
//! This layer knows ids, not text. Sequences lie time-major, `[length, batch, ·]`, while the recurrences run, so that a
//! step's rows are neighbours; annotations and keys lie `[batch, length, ·]`, so that a sentence's are.

mod attention;
mod decoder;
mod dropout;
mod encoder;
pub mod fused;
mod gradients;
mod parameters;
mod rnn_search;

pub use attention::{AdditiveAttention, Memory};
pub use decoder::{AttentionDecoder, DecoderStep};
pub use dropout::{Dropout, DropoutRates, Mask, Place};
pub use encoder::{Annotations, BidirectionalEncoder};
pub use gradients::Gradients;
pub use parameters::{Architecture, InitialState, Parameters};
pub use rnn_search::{BatchLoss, RnnSearch};
