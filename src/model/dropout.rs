//! Dropout (Srivastava et al. 2014) with masks from seeded streams.

use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};

use crate::random::Stream;

/// The share of numbers set to zero at each place, in `0.0..1.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DropoutRates {
    /// Source and target embeddings.
    pub embeddings: f64,
    /// Annotations, and the input of each further encoder layer.
    pub annotations: f64,
    /// Decoder states on their way to the readout.
    pub states: f64,
    /// Readout vectors.
    pub readout: f64,
}

/// Dropout at one training step: rates, and the stream that the masks are drawn from in the order of use.
pub struct Dropout {
    /// The rates at each place.
    pub rates: DropoutRates,
    stream: Stream,
}

impl Dropout {
    /// The masks of training step `step`.
    pub fn new(rates: DropoutRates, seed: u64, step: u64) -> Self {
        Self { rates, stream: Stream::new(seed, "dropout", step) }
    }

    /// No dropout at all.
    pub fn none() -> Self {
        Self::new(DropoutRates::default(), 0, 0)
    }

    /// Sets a share of `rate` of the numbers to zero and scales the others, so that the expected value stays.
    pub fn apply(&mut self, tensor: &Tensor, rate: f64) -> Result<Tensor> {
        let factors = self.factors(tensor.elem_count(), rate);
        if factors.is_empty() {
            return Ok(tensor.clone());
        }
        tensor * Tensor::from_vec(factors, tensor.shape(), tensor.device())?
    }

    /// `count` factors, each 0 or 1 / (1 − rate); none at all if nothing is dropped. 16 random bits decide each: fine enough a grain for a rate.
    pub fn factors(&mut self, count: usize, rate: f64) -> Vec<f32> {
        if rate == 0.0 {
            return Vec::new();
        }
        let threshold = (rate * 65_536.0).round() as u64;
        let keep = (1.0 / (1.0 - rate)) as f32;
        let mut factors = Vec::with_capacity(count + 3);
        while factors.len() < count {
            let bits = self.stream.bits();
            for shift in [0, 16, 32, 48] {
                factors.push(if (bits >> shift) & 0xffff < threshold { 0.0 } else { keep });
            }
        }
        factors.truncate(count);
        factors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_right_and_the_mean_stays() {
        let mut dropout = Dropout::new(DropoutRates::default(), 1, 5);
        let mask = dropout.factors(100_001, 0.3);
        let zeros = mask.iter().filter(|&&factor| factor == 0.0).count() as f64 / mask.len() as f64;
        let mean = mask.iter().map(|&factor| f64::from(factor)).sum::<f64>() / mask.len() as f64;
        assert!((zeros - 0.3).abs() < 0.01 && (mean - 1.0).abs() < 0.02, "{zeros} {mean}");
    }
}
