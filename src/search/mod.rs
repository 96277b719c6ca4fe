//! Search for the best translation: beam search over a [`Scorer`], of which greedy search is the beam of one.

mod batches;
mod beam;
mod plain_decoding;
mod rnn_scorer;

pub use batches::search_all;
pub use beam::{BeamSettings, Hypothesis, search};
pub use rnn_scorer::RnnScorer;

use candle_core::Result;

/// One way to go on from a row: a unit and its log-probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The unit's id.
    pub unit: u32,
    /// log p(unit | source, units so far), in nats.
    pub log_probability: f32,
}

/// What a scorer says of one row.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The best candidates, best first; of equals the lower id first.
    pub candidates: Vec<Candidate>,
    /// α: the attention weights behind this prediction, one for each source unit, `</s>` the last.
    pub attention: Vec<f32>,
}

/// A model that scores what comes next. It keeps a state for each row, a row being one unfinished hypothesis.
pub trait Scorer {
    /// Makes new rows: row `i` goes on from the former row `parents[i]` by taking in `units[i]`. Rows that are nobody's
    /// parent are forgotten. Before the first call there is one row for each sentence. Returns for each new row its
    /// `width` best candidates, fewer where the vocabulary is smaller.
    fn advance(&mut self, parents: &[usize], units: &[u32], width: usize) -> Result<Vec<Prediction>>;
}
