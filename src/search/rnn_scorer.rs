//! The model as a [`Scorer`]: decoder states of all living hypotheses in one batch.

use candle_core::{Result, Tensor};
use candle_nn::ops::log_softmax;

use super::{Candidate, Prediction, Scorer};
use crate::model::{Dropout, Memory, RnnSearch};
use crate::text::{BEGIN, PADDING, Padded};

/// Scores with a model over a batch of sources.
pub struct RnnScorer<'a> {
    model: &'a RnnSearch,
    /// The memory of every sentence of the batch.
    memory: Memory,
    /// Real length of every source.
    source_lengths: Vec<usize>,
    /// The sentence of each row.
    sentences: Vec<usize>,
    /// The memory of each row's sentence, as long as the rows' sentences stay the same.
    row_memory: Memory,
    /// s_{t-1}: `[rows, n]`
    state: Tensor,
}

impl<'a> RnnScorer<'a> {
    /// Encodes the sources.
    pub fn new(model: &'a RnnSearch, source: &Padded) -> Result<Self> {
        let memory = model.remember(source, &mut Dropout::none())?;
        Ok(Self {
            model,
            state: model.decoder().initial_state(&memory)?,
            sentences: (0..source.batch()).collect(),
            source_lengths: source.lengths.clone(),
            row_memory: memory.clone(),
            memory,
        })
    }

    /// Makes `parents` the rows.
    fn select(&mut self, parents: &[usize]) -> Result<()> {
        let device = self.model.device();
        let rows: Vec<u32> = parents.iter().map(|&row| row as u32).collect();
        self.state = self.state.index_select(&Tensor::new(rows, device)?, 0)?;
        let sentences: Vec<usize> = parents.iter().map(|&row| self.sentences[row]).collect();
        if sentences != self.sentences {
            let rows: Vec<u32> = sentences.iter().map(|&sentence| sentence as u32).collect();
            self.row_memory = self.memory.select(&Tensor::new(rows, device)?)?;
            self.sentences = sentences;
        }
        Ok(())
    }
}

impl Scorer for RnnScorer<'_> {
    fn advance(&mut self, parents: &[usize], units: &[u32], width: usize) -> Result<Vec<Prediction>> {
        self.select(parents)?;
        let decoder = self.model.decoder();
        let embedded = decoder.embed(&Tensor::new(units, self.model.device())?)?;
        let step = decoder.step(&self.row_memory, &decoder.input_gates(&embedded)?, &self.state)?;
        let logits = decoder.logits(&step.state, &embedded, &step.context, &mut Dropout::none())?;
        self.state = step.state;
        let log_probabilities = log_softmax(&logits, 1)?.to_vec2::<f32>()?;
        let attention = step.weights.to_vec2::<f32>()?;
        let rows = log_probabilities.iter().zip(attention).zip(&self.sentences);
        Ok(rows
            .map(|((row, mut attention), &sentence)| {
                attention.truncate(self.source_lengths[sentence]);
                Prediction { candidates: best(row, width), attention }
            })
            .collect())
    }
}

/// The `width` best units of a row of log-probabilities. Padding and the begin mark are never said.
fn best(row: &[f32], width: usize) -> Vec<Candidate> {
    let mut best: Vec<Candidate> = Vec::with_capacity(width + 1);
    for (unit, &log_probability) in (0u32..).zip(row) {
        let worst = best.last().filter(|_| best.len() == width);
        if unit == PADDING || unit == BEGIN || worst.is_some_and(|worst| log_probability <= worst.log_probability) {
            continue;
        }
        let place = best.partition_point(|candidate| candidate.log_probability >= log_probability);
        best.insert(place, Candidate { unit, log_probability });
        best.truncate(width);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_units_are_found_in_order() {
        let row = [9.0, 9.0, -1.0, -3.0, -0.5, -1.0, -9.0];
        let units = |width| best(&row, width).iter().map(|candidate| candidate.unit).collect::<Vec<_>>();
        assert_eq!(units(1), [4]);
        assert_eq!(units(3), [4, 2, 5]);
        assert_eq!(units(99), [4, 2, 5, 3, 6]);
    }
}
