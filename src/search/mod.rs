//! Search for the best translation: beam search over a [`Scorer`], of which greedy search is the beam of one; or
//! translations drawn by chance.

mod batches;
mod beam;
#[cfg(test)]
mod by_trying;
mod demands;
mod distribution;
mod drawing;
mod ensemble_scorer;
mod history;
mod settings;
#[cfg(test)]
mod table;

pub use batches::{Source, search_all};
pub use beam::{SearchInput, search};
pub use demands::{
    AvoidedPhrase, ConstraintState, DecodingConstraints, MOST_REQUIRED, MOST_REQUIRED_UNITS, RequiredPhrase, TokenMask,
};
pub use distribution::{Distribution, Predictions, SamplingConfig, TokenCandidate};
pub use drawing::draw;
pub use ensemble_scorer::EnsembleScorer;
pub use history::Hypothesis;
pub use settings::{BeamSearch, HypothesisScoring, LengthFormula, LengthLimits, SampleSearch, Search};

use candle_core::Result;

/// A model that scores what comes next. It keeps a state for each row, a row being one unfinished hypothesis.
pub trait Scorer {
    /// Makes new rows: row `i` goes on from the former row `parents[i]` by taking in `units[i]`. Rows that are nobody's
    /// parent are forgotten. Before the first call there is one row for each sentence.
    fn advance(&mut self, parents: &[usize], units: &[u32]) -> Result<Predictions>;
}
