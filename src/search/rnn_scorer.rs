//! Models as a [`Scorer`]: decoder states of all living hypotheses in one batch; of several models the mean of their
//! probabilities, and of their attention.

use candle_core::Result;

use super::plain_decoding::PlainDecoding;
use super::{Candidate, Prediction, Scorer};
use crate::kernels::cross_entropy::fused::{add_probabilities, log_sum_exp};
use crate::model::RnnSearch;
use crate::model::fused::{Decoding, Said, Weights};
use crate::text::{BEGIN, PADDING, Padded};

/// What decodes for one model.
enum Speaker<'a> {
    Fused(Decoding<'a>),
    Plain(PlainDecoding<'a>),
}

impl Speaker<'_> {
    fn advance(&mut self, parents: &[usize], units: &[u32]) -> Result<Said> {
        match self {
            Self::Fused(decoding) => Ok(decoding.advance(parents, units)),
            Self::Plain(decoding) => decoding.advance(parents, units),
        }
    }
}

/// One model, or several over the same units.
pub struct RnnScorer<'a> {
    speakers: Vec<Speaker<'a>>,
}

impl<'a> RnnScorer<'a> {
    /// Encodes the sources, by the fused path.
    pub fn fused(models: &'a [Weights<'a>], source: &Padded) -> Self {
        Self { speakers: models.iter().map(|weights| Speaker::Fused(Decoding::new(weights, source))).collect() }
    }

    /// Encodes the sources, by candle's operations.
    ///
    /// # Errors
    /// Candle's own.
    pub fn plain(models: &[&'a RnnSearch], source: &Padded) -> Result<Self> {
        let speaker = |model: &&'a RnnSearch| Ok(Speaker::Plain(PlainDecoding::new(model, source)?));
        Ok(Self { speakers: models.iter().map(speaker).collect::<Result<_>>()? })
    }
}

impl Scorer for RnnScorer<'_> {
    fn advance(&mut self, parents: &[usize], units: &[u32], width: usize) -> Result<Vec<Prediction>> {
        let advance = |speaker: &mut Speaker| speaker.advance(parents, units);
        let mut said: Vec<Said> = self.speakers.iter_mut().map(advance).collect::<Result<_>>()?;
        let attention = mean_attention(&mut said);
        let vocabulary = said[0].logits.len() / parents.len();
        let row = |(row, attention): (usize, Vec<f32>)| {
            let rows: Vec<&[f32]> = said.iter().map(|said| &said.logits[row * vocabulary..][..vocabulary]).collect();
            let candidates = match rows[..] {
                [alone] => best(alone, width),
                _ => best_together(&rows, width),
            };
            Prediction { candidates, attention }
        };
        Ok(attention.into_iter().enumerate().map(row).collect())
    }
}

/// For each row the mean of what the models looked at.
fn mean_attention(said: &mut [Said]) -> Vec<Vec<f32>> {
    let count = said.len() as f32;
    let mut mean = std::mem::take(&mut said[0].attention);
    for other in &said[1..] {
        for (mean, other) in mean.iter_mut().flatten().zip(other.attention.iter().flatten()) {
            *mean += other;
        }
    }
    if said.len() > 1 {
        mean.iter_mut().flatten().for_each(|weight| *weight /= count);
    }
    mean
}

/// The `width` best units of a row of logits, with their log-probabilities: no softmax of the whole row is made.
fn best(logits: &[f32], width: usize) -> Vec<Candidate> {
    let log_sum = log_sum_exp(logits);
    let candidate = |(logit, unit)| Candidate { unit, log_probability: logit - log_sum };
    largest(logits, width).into_iter().map(candidate).collect()
}

/// The same by the mean of several models' probabilities.
fn best_together(rows: &[&[f32]], width: usize) -> Vec<Candidate> {
    let mut sums = vec![0.0; rows[0].len()];
    rows.iter().for_each(|logits| add_probabilities(&mut sums, logits));
    let count = rows.len() as f32;
    let candidate = |(sum, unit): (f32, u32)| Candidate { unit, log_probability: (sum / count).ln() };
    largest(&sums, width).into_iter().map(candidate).collect()
}

/// The `width` units of the largest values in a row, largest first; of equals the lower unit first. Padding and the begin
/// mark are never said.
fn largest(row: &[f32], width: usize) -> Vec<(f32, u32)> {
    const BLOCK: usize = 64;
    let mut best: Vec<(f32, u32)> = Vec::with_capacity(width + 1);
    for (first, block) in (0u32..).step_by(BLOCK).zip(row.chunks(BLOCK)) {
        let worst = if best.len() == width { best[width - 1].0 } else { f32::NEG_INFINITY };
        // Most blocks hold nothing of interest; this comparison vectorises.
        if block.iter().fold(false, |any, &value| any | (value > worst)) {
            for (unit, &value) in (first..).zip(block) {
                if unit != PADDING && unit != BEGIN {
                    let place = best.partition_point(|&(other, _)| other >= value);
                    best.insert(place, (value, unit));
                    best.truncate(width);
                }
            }
        }
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
        let total: f32 = best(&row[..], 99).iter().map(|candidate| candidate.log_probability.exp()).sum();
        assert!(total < 0.01, "padding and the begin mark have the rest");
        let long: Vec<f32> = (0..1000).map(|unit| ((unit * 37) % 1000) as f32 * 0.01).collect();
        assert_eq!(best(&long, 4).iter().map(|candidate| candidate.unit).collect::<Vec<_>>(), [27, 54, 81, 108]);
    }

    #[test]
    fn several_models_say_the_mean_of_their_probabilities() {
        let rows: [[f32; 7]; 2] = [[0.0, 0.0, 1.0, 3.0, 2.0, -1.0, 0.5], [1.0, 0.0, 4.0, 0.0, 2.5, 0.0, 0.5]];
        let probability =
            |row: &[f32; 7], unit: usize| row[unit].exp() / row.iter().map(|logit| logit.exp()).sum::<f32>();
        let found = best_together(&[&rows[0], &rows[1]], 3);
        assert_eq!(found.iter().map(|candidate| candidate.unit).collect::<Vec<_>>(), [2, 3, 4]);
        for Candidate { unit, log_probability } in found {
            let mean = f32::midpoint(probability(&rows[0], unit as usize), probability(&rows[1], unit as usize));
            assert!((log_probability - mean.ln()).abs() < 1e-6, "{unit}");
        }
        let (alone, together) = (best(&rows[0], 4), best_together(&[&rows[0]], 4));
        for (a, b) in alone.iter().zip(together) {
            assert!(a.unit == b.unit && (a.log_probability - b.log_probability).abs() < 1e-6);
        }
    }
}
