//! Search for the best translation: beam search over a [`Scorer`], of which greedy search is the beam of one; or
//! translations drawn by chance.

mod batches;
mod beam;
mod constraints;
mod distribution;
mod ensemble_scorer;
#[cfg(test)]
mod exhaustive_tests;
mod hypothesis_arena;
mod sampling;
mod settings;
#[cfg(test)]
mod table_scorer;

pub use batches::{Source, search_all};
pub use beam::{SearchInput, search};
pub use constraints::{
    AvoidedPhrase, ConstraintState, DecodingConstraints, MOST_REQUIRED, MOST_REQUIRED_UNITS, RequiredPhrase, TokenMask,
};
pub use distribution::{Distribution, Predictions, SamplingConfig, TokenCandidate};
pub use ensemble_scorer::EnsembleScorer;
pub use hypothesis_arena::Hypothesis;
pub use sampling::sample;
pub use settings::{BeamSearch, HypothesisScoring, LengthFormula, LengthLimits, SampleSearch, Search};

use candle_core::Result;

/// A model that scores what comes next. It keeps a state for each row, a row being one unfinished hypothesis.
pub trait Scorer {
    /// Makes new rows: row `i` goes on from the former row `parents[i]` by taking in `units[i]`. Rows that are nobody's
    /// parent are forgotten. Before the first call there is one row for each sentence.
    fn step(&mut self, parents: &[usize], units: &[u32]) -> Result<Predictions>;
}
