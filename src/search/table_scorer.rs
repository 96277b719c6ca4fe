//! Scorer with a bigram table, for tests against exhaustive search.

use std::sync::LazyLock;

use candle_core::Result;

use super::{DecodingConstraints, Predictions, Scorer, SearchInput};
use crate::kernels::buffer_pool::Buffer;
use crate::random::SeededRng;
use crate::text::{BEGIN, END};

/// Random bigram tables p(next | last), one for each sentence, over tokens 4 to 7 and `</s>`.
pub struct TableScorer {
    /// Sentence of each row.
    pub rows: Vec<usize>,
    /// `[sentence][last][next]`
    pub probabilities: Vec<Vec<Vec<f64>>>,
}

impl TableScorer {
    pub fn new(sentences: usize, seed: u64) -> Self {
        let mut rng = SeededRng::new(seed, "table", 0);
        let probabilities = (0..sentences).map(|_| (0..8).map(|_| random_row(&mut rng)).collect()).collect();
        Self { rows: (0..sentences).collect(), probabilities }
    }

    /// log p of a finished sequence.
    pub fn log_probability(&self, sentence: usize, tokens: &[u32]) -> f64 {
        let mut last = BEGIN;
        let mut sum = 0.0;
        for &token in tokens.iter().chain([&END]) {
            sum += self.probabilities[sentence][last as usize][token as usize].ln();
            last = token;
        }
        sum
    }
}

/// Random p(next | last) of one token.
fn random_row(rng: &mut SeededRng) -> Vec<f64> {
    let mut row: Vec<f64> = (0..8).map(|token| if token < 2 || token == 3 { 0.0 } else { rng.uniform() }).collect();
    row[END as usize] *= 0.5;
    let sum: f64 = row.iter().sum();
    row.iter().map(|p| p / sum).collect()
}

impl Scorer for TableScorer {
    fn step(&mut self, parents: &[usize], tokens: &[u32]) -> Result<Predictions> {
        self.rows = parents.iter().map(|&parent| self.rows[parent]).collect();
        let (mut logits, mut attention) = (Vec::new(), Vec::new());
        for (&sentence, &token) in self.rows.iter().zip(tokens) {
            let row = &self.probabilities[sentence][token as usize];
            logits.extend(row.iter().map(|probability| probability.ln() as f32));
            // Attends to the position that equals the previous token.
            attention.push((0..8).map(|position| f32::from(u8::from(position == token))).collect());
        }
        Ok(Predictions::from_logits(Buffer::from_slice(&logits), attention))
    }
}

/// Search inputs without constraints.
pub fn unconstrained(sentences: usize) -> Vec<SearchInput<'static>> {
    static NONE: LazyLock<DecodingConstraints> = LazyLock::new(DecodingConstraints::default);
    (0..sentences)
        .map(|index| SearchInput {
            seed_index: index as u64,
            source_tokens: index,
            constraints: &NONE,
            expected_length: None,
            cancellation: None,
        })
        .collect()
}

/// All sequences of up to `max_tokens` of tokens 4 to 7.
pub fn every_sequence(max_tokens: usize) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for length in 0..max_tokens {
        let longer: Vec<Vec<u32>> = all
            .iter()
            .filter(|tokens| tokens.len() == length)
            .flat_map(|tokens| (4..8).map(move |token| [tokens.as_slice(), &[token]].concat()))
            .collect();
        all.extend(longer);
    }
    all
}
