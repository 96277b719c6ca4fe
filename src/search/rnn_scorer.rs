//! The model as a [`Scorer`]: decoder states of all living hypotheses in one batch.

use candle_core::{Result, Tensor};

use super::{Candidate, Prediction, Scorer};
use crate::attention::Memory;
use crate::kernels::cross_entropy::fused::log_sum_exp;
use crate::model::fused::{Decoding, Said, Weights};
use crate::model::{Dropout, RnnSearch};
use crate::text::{BEGIN, PADDING, Padded};

/// Scores by candle's operations.
pub struct RnnScorer<'a> {
    model: &'a RnnSearch,
    /// The memory of every sentence of the batch.
    memory: Memory,
    /// Every source.
    source: Padded,
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
        let memory = model.remember(source, &Dropout::none())?;
        Ok(Self {
            model,
            state: model.decoder().initial_state(&memory)?,
            sentences: (0..source.batch()).collect(),
            source: source.clone(),
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

impl RnnScorer<'_> {
    /// The source units of each row: `[rows, length]`.
    fn sources(&self) -> Result<Tensor> {
        let length = self.source.length;
        let ids = self.sentences.iter().flat_map(|sentence| &self.source.ids[sentence * length..][..length]);
        Tensor::from_iter(ids.copied(), self.model.device())?.reshape((self.sentences.len(), length))
    }
}

impl Scorer for RnnScorer<'_> {
    fn advance(&mut self, parents: &[usize], units: &[u32], width: usize) -> Result<Vec<Prediction>> {
        self.select(parents)?;
        let decoder = self.model.decoder();
        let embedded = decoder.embed(&Tensor::new(units, self.model.device())?)?;
        let step = decoder.step(&self.row_memory, &decoder.input_gates(&embedded)?, &self.state, None)?;
        let logits = decoder.logits(&step.state, &embedded, &step.attended.context, &Dropout::none())?;
        let logits = match self.model.lexicon() {
            Some(lexicon) => {
                (logits + lexicon.bias(&step.attended.alphas.unsqueeze(1)?, &self.sources()?)?.squeeze(1)?)?
            }
            None => logits,
        };
        self.state = step.state;
        let logits = logits.to_vec2::<f32>()?;
        let attention = step.attended.shown.to_vec2::<f32>()?;
        let rows = logits.iter().zip(attention).zip(&self.sentences);
        Ok(rows
            .map(|((row, mut attention), &sentence)| {
                attention.truncate(self.source.lengths[sentence]);
                Prediction { candidates: best(row, width), attention }
            })
            .collect())
    }
}

/// The model as a [`Scorer`] on a CPU: the same by the fused path.
pub struct FusedScorer<'w> {
    decoding: Decoding<'w>,
}

impl<'w> FusedScorer<'w> {
    /// Encodes the sources.
    pub fn new(weights: &'w Weights<'w>, source: &Padded) -> Self {
        Self { decoding: Decoding::new(weights, source) }
    }
}

impl Scorer for FusedScorer<'_> {
    fn advance(&mut self, parents: &[usize], units: &[u32], width: usize) -> Result<Vec<Prediction>> {
        let Said { logits, attention } = self.decoding.advance(parents, units);
        let rows = logits.chunks_exact(logits.len() / parents.len()).zip(attention);
        Ok(rows.map(|(logits, attention)| Prediction { candidates: best(logits, width), attention }).collect())
    }
}

/// The `width` best units of a row of logits, with their log-probabilities: no softmax of the whole row is made.
/// Padding and the begin mark are never said.
fn best(logits: &[f32], width: usize) -> Vec<Candidate> {
    const BLOCK: usize = 64;
    let log_sum = log_sum_exp(logits);
    let mut best: Vec<(f32, u32)> = Vec::with_capacity(width + 1);
    for (first, block) in (0u32..).step_by(BLOCK).zip(logits.chunks(BLOCK)) {
        let worst = if best.len() == width { best[width - 1].0 } else { f32::NEG_INFINITY };
        // Most blocks hold nothing of interest; this comparison vectorises.
        if block.iter().fold(false, |any, &logit| any | (logit > worst)) {
            for (unit, &logit) in (first..).zip(block) {
                if unit != PADDING && unit != BEGIN {
                    let place = best.partition_point(|&(other, _)| other >= logit);
                    best.insert(place, (logit, unit));
                    best.truncate(width);
                }
            }
        }
    }
    best.into_iter().map(|(logit, unit)| Candidate { unit, log_probability: logit - log_sum }).collect()
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
        let total: f32 = best(&row[..], 99).iter().map(|candidate| candidate.log_probability.exp()).sum();
        assert!(total < 0.01, "padding and the begin mark have the rest");
        let long: Vec<f32> = (0..1000).map(|unit| ((unit * 37) % 1000) as f32 * 0.01).collect();
        assert_eq!(best(&long, 4).iter().map(|candidate| candidate.unit).collect::<Vec<_>>(), [27, 54, 81, 108]);
    }
}
