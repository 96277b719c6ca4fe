//! The model: RNNsearch (Bahdanau, Cho & Bengio 2014) with its parameters.
//!
//! The crate's first page has the equations beside the files of this folder; `fused/` holds the same for a CPU, with
//! the derivatives written by hand. What attention is, [`crate::attention`] knows alone.
//!
//! This layer knows ids, not text. Sequences lie time-major, `[length, batch, ·]`, while the recurrences run, so that a
//! step's rows are neighbours; annotations and keys lie `[batch, length, ·]`, so that a sentence's are.

mod architecture;
mod decoder;
mod dropout;
mod encoder;
pub mod fused;
mod loss;
mod rnn_search;
mod unit_lexicon;

pub use architecture::{Architecture, DecoderKind, InitialState, LARGEST, MOST_LAYERS};
pub use decoder::{AttentionDecoder, DecoderStep};
pub use dropout::{Dropout, DropoutRates, Mask, Place};
pub use encoder::{Annotations, BidirectionalEncoder};
pub use loss::{BatchLoss, ForcedPair};
pub use rnn_search::RnnSearch;
pub use unit_lexicon::{UnitLexicon, lexical_bias};
