//! Statistical word aligner, trained on sentence pairs alone in seconds.
//!
//! One HMM alignment model per direction (Vogel, Ney & Tillmann 1996), trained jointly (Liang, Taskar & Klein 2006,
//! "Alignment by Agreement"): expected counts are products of both directions' posteriors. Model 1 (Brown et al. 1993)
//! with the diagonal prior of fast_align (Dyer, Chahuneau & Smith 2013) initializes the HMMs.

mod cognates;
mod em;
mod hmm;
mod id_corpus;
mod jump_convolution;
mod padded_rows;
mod pair_posteriors;
mod prior;
mod serialized;
mod translation_table;
mod vocab;
mod word_aligner;

pub use em::{EM_ITERATIONS, train, train_with_prior};
pub use serialized::SerializedAligner;
pub use word_aligner::{Posteriors, WordAligner};
