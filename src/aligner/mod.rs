//! A statistical word aligner, learnt from sentence pairs alone in seconds.
//!
//! Two hidden Markov models, one for each direction, that are made to agree while they learn (Liang, Taskar & Klein
//! 2006, "Alignment by Agreement"): a link counts as much as both believe in it. First without an order of words (Brown
//! et al. 1993, Model 1) but for a leaning to the diagonal (Dyer, Chahuneau & Smith 2013), then with jumps.

mod band;
mod hmm;
mod kinship;
mod learn;
mod lexicon;
mod sentence;
mod tables;
mod word_aligner;
mod words;

pub use learn::{PASSES, learn};
pub use tables::Tables;
pub use word_aligner::{Posteriors, WordAligner};
pub use words::normalised;
