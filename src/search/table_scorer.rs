//! A scorer that is a table, against which search is tested by trying everything.

use std::sync::LazyLock;

use candle_core::Result;

use super::{DecodingConstraints, Predictions, Scorer, SearchInput};
use crate::kernels::buffer_pool::Buffer;
use crate::random::SeededRng;
use crate::text::{BEGIN, END};

/// A bigram table over units 4.. and `</s>`: log p(next | last), the same for every sentence but for a preference.
pub struct TableScorer {
    /// For each row, its sentence.
    pub rows: Vec<usize>,
    /// `[sentence][last][next]`
    pub probabilities: Vec<Vec<Vec<f64>>>,
    pub rows_scored: usize,
}

impl TableScorer {
    pub fn new(sentences: usize, seed: u64) -> Self {
        let mut stream = SeededRng::new(seed, "table", 0);
        let mut row = |end: f64| -> Vec<f64> {
            let mut row: Vec<f64> =
                (0..8).map(|unit| if unit < 2 || unit == 3 { 0.0 } else { stream.uniform() }).collect();
            row[END as usize] *= end;
            let sum: f64 = row.iter().sum();
            row.iter().map(|p| p / sum).collect()
        };
        let probabilities = (0..sentences).map(|_| (0..8).map(|_| row(0.5)).collect()).collect();
        Self { rows: (0..sentences).collect(), probabilities, rows_scored: 0 }
    }

    /// log p of a finished sequence, by the table itself.
    pub fn log_probability(&self, sentence: usize, units: &[u32]) -> f64 {
        let mut last = BEGIN;
        let mut sum = 0.0;
        for &unit in units.iter().chain([&END]) {
            sum += self.probabilities[sentence][last as usize][unit as usize].ln();
            last = unit;
        }
        sum
    }
}

impl Scorer for TableScorer {
    fn step(&mut self, parents: &[usize], units: &[u32]) -> Result<Predictions> {
        self.rows = parents.iter().map(|&parent| self.rows[parent]).collect();
        self.rows_scored += parents.len();
        let row = |(&sentence, &unit): (&usize, &u32)| &self.probabilities[sentence][unit as usize];
        let logits: Vec<f32> =
            self.rows.iter().zip(units).flat_map(row).map(|probability| probability.ln() as f32).collect();
        // All on the position that is the unit taken in.
        let attention = |&unit: &u32| (0..8).map(|position| f32::from(u8::from(position == unit))).collect();
        Ok(Predictions::of_logits(Buffer::from_slice(&logits), units.iter().map(attention).collect()))
    }
}

/// What each of so many sentences of one unit is sought by: nothing is demanded.
pub fn free(sentences: usize) -> Vec<SearchInput<'static>> {
    static NOTHING: LazyLock<DecodingConstraints> = LazyLock::new(DecodingConstraints::default);
    (0..sentences).map(|number| SearchInput { number, units: number, constraints: &NOTHING }).collect()
}

/// All sequences of up to so many of the four words.
pub fn every_sequence(longest: usize) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for length in 0..longest {
        let longer: Vec<Vec<u32>> = all
            .iter()
            .filter(|units| units.len() == length)
            .flat_map(|units| (4..8).map(move |unit| [units.as_slice(), &[unit]].concat()))
            .collect();
        all.extend(longer);
    }
    all
}
