//! The model: RNNsearch (Bahdanau, Cho & Bengio 2014) with its parameters.
//!
//! The crate's first page maps each equation to its file. [`mod@reference`] computes the model in candle's operations,
//! [`cpu`] on slices with hand-written derivatives, in files of the same names. [`RnnSearch`] chooses its
//! [`Backend`](crate::kernels::Backend) when it is built.
//!
//! The model maps ids to ids; attention is a layer from [`crate::attention`].

mod architecture;
mod candidates;
#[doc(hidden)]
pub mod cpu;
mod dropout;
mod incremental;
mod loss;
mod precision;
#[doc(hidden)]
pub mod reference;
mod rnn_search;
mod shortlist;
mod token_lexicon;
mod token_rows;
mod training_step;
mod view;

pub use architecture::{Architecture, DecoderKind, InitialState, MAX_LAYERS, MAX_SIZE};
pub use dropout::{Dropout, DropoutMask, DropoutRates, DropoutSite};
pub use incremental::IncrementalDecoder;
pub use loss::{BatchLoss, ForcedScores};
pub use precision::PrecisionOption;
pub use reference::StepOutput;
pub use rnn_search::RnnSearch;
pub use shortlist::Shortlist;
pub use token_lexicon::TokenLexicon;
pub use token_rows::TokenRows;
pub(crate) use token_rows::{FREQUENT_TOKENS, MIN_SHORTLIST_VOCABULARY};
pub use training_step::TrainingStep;
