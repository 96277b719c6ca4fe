//! Beam search and ancestral sampling over a [`Scorer`]; greedy search is a beam of 1.

mod avoided_phrases;
mod batches;
mod beam;
mod cancellation;
mod constraint_state;
mod constraints;
mod distribution;
mod ensemble_scorer;
#[cfg(test)]
mod exhaustive_tests;
mod expected_length;
mod hypothesis_arena;
mod inspection;
mod observer;
mod sampling;
mod settings;
#[cfg(test)]
mod table_scorer;
mod token_mask;

pub use avoided_phrases::AvoidedPhrases;
pub use batches::{Source, search_all};
pub use beam::{SearchInput, search};
pub use cancellation::Cancellation;
pub use constraint_state::ConstraintState;
pub use constraints::{DecodingConstraints, MAX_REQUIRED_PHRASES, MAX_REQUIRED_TOKENS, RequiredPhrase};
pub use distribution::{Distribution, Predictions, SamplingConfig, TokenCandidate};
pub use ensemble_scorer::EnsembleScorer;
pub use expected_length::ExpectedLength;
pub use hypothesis_arena::Hypothesis;
pub use inspection::{Intervention, inspect};
pub use observer::{KeptExtension, SearchObserver};
pub use sampling::sample;
pub use settings::{BeamOptions, Coverage, HypothesisScoring, LengthFormula, LengthLimits, SamplingOptions, Search};
pub use token_mask::TokenMask;

use candle_core::Result;

/// Model that predicts the next token. It keeps a decoder state for each row, which is a live hypothesis.
pub trait Scorer {
    /// Replaces the rows: row `i` extends the former row `parents[i]` by `tokens[i]`. Initially there is one row per
    /// sentence.
    ///
    /// # Errors
    /// A model fails.
    fn step(&mut self, parents: &[usize], tokens: &[u32]) -> Result<Predictions>;
}
