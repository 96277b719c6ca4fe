//! Dropout (Srivastava et al. 2014) by masks that need no memory.
//!
//! Whether a number is dropped depends on the seed, the training step, the place in the model and the number's position
//! there, and on nothing else: a mask is a function, asked once on the way forward and again on the way back.

use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};

use crate::kernels::simd::vectorised;
use crate::random::CounterRng;

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

/// Where numbers are dropped, and in which order a position counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Source embeddings, `[source length, batch, e]`.
    Source,
    /// The output of an encoder layer, counted from 0, `[source length, batch, n]`.
    Annotations(usize),
    /// Embeddings of the words before, `[target length, batch, e]`.
    Target,
    /// States before the readout, `[target units, n]`.
    States,
    /// Readout vectors, `[target units, e]`.
    Readout,
}

/// Chance at one training step: what is dropped, and which choices attention draws.
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    rates: DropoutRates,
    seed: u64,
    step: u64,
    /// Whether there is any chance.
    training: bool,
}

/// The numbers that are dropped at one place.
#[derive(Clone, Copy, Debug)]
pub struct Mask {
    positions: CounterRng,
    /// A number whose bits are below this is dropped.
    threshold: u32,
    /// 1 / (1 − rate)
    keep: f32,
}

impl Dropout {
    /// Dropout of training step `step`.
    pub fn new(rates: DropoutRates, seed: u64, step: u64) -> Self {
        Self { rates, seed, step, training: true }
    }

    /// No chance at all.
    pub fn none() -> Self {
        Self { training: false, ..Self::new(DropoutRates::default(), 0, 0) }
    }

    /// What attention draws its choices by, while training.
    pub fn choices(&self) -> Option<CounterRng> {
        self.training.then(|| CounterRng::new(self.seed, "choices", self.step))
    }

    /// The mask at a place, if anything is dropped there.
    pub fn mask(&self, place: Place) -> Option<Mask> {
        let (name, rate) = match place {
            Place::Source => ("dropout of sources".to_owned(), self.rates.embeddings),
            Place::Annotations(layer) => (format!("dropout of annotations {layer}"), self.rates.annotations),
            Place::Target => ("dropout of targets".to_owned(), self.rates.embeddings),
            Place::States => ("dropout of states".to_owned(), self.rates.states),
            Place::Readout => ("dropout of readout".to_owned(), self.rates.readout),
        };
        (rate > 0.0).then(|| Mask {
            positions: CounterRng::new(self.seed, &name, self.step),
            threshold: (rate * 2f64.powi(32)) as u32,
            keep: (1.0 / (1.0 - rate)) as f32,
        })
    }

    /// Sets numbers to zero and scales the others, so that the expected value stays.
    pub fn apply(&self, tensor: &Tensor, place: Place) -> Result<Tensor> {
        let Some(mask) = self.mask(place) else { return Ok(tensor.clone()) };
        let mut factors = vec![1.0; tensor.elem_count()];
        mask.apply(&mut factors, 0);
        tensor * Tensor::from_vec(factors, tensor.shape(), tensor.device())?
    }
}

impl Mask {
    /// Multiplies each number by 0 or by 1 / (1 − rate); `first` is the position of the first.
    pub fn apply(&self, values: &mut [f32], first: usize) {
        vectorised(
            #[inline(always)]
            || {
                for (position, value) in (first as u32..).zip(values) {
                    *value *= if self.positions.bits(position) < self.threshold { 0.0 } else { self.keep };
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(step: u64, place: Place) -> Vec<f32> {
        let rates = DropoutRates { embeddings: 0.3, annotations: 0.3, states: 0.3, readout: 0.0 };
        let mut factors = vec![1.0; 100_001];
        Dropout::new(rates, 1, step).mask(place).unwrap().apply(&mut factors, 0);
        factors
    }

    fn share(of: impl Iterator<Item = bool>) -> f64 {
        of.filter(|&dropped| dropped).count() as f64 / 100_001.0
    }

    #[test]
    fn the_share_is_right_and_the_mean_stays() {
        let mask = factors(5, Place::Source);
        let mean = mask.iter().map(|&factor| f64::from(factor)).sum::<f64>() / mask.len() as f64;
        assert!((share(mask.iter().map(|&factor| factor == 0.0)) - 0.3).abs() < 0.005 && (mean - 1.0).abs() < 0.01);
        assert!(Dropout::new(DropoutRates::default(), 1, 1).mask(Place::States).is_none());
    }

    #[test]
    fn steps_places_and_neighbours_are_independent() {
        let mask = factors(5, Place::Source);
        let others = [factors(6, Place::Source), factors(5, Place::Annotations(0)), factors(5, Place::Annotations(1))];
        for other in others.iter().map(|other| &other[..]).chain([1, 2, 16, 256, 512].map(|shift| &mask[shift..])) {
            let both = share(mask.iter().zip(other).map(|(a, b)| *a == 0.0 && *b == 0.0));
            assert!((both - 0.09).abs() < 0.006, "{both}");
        }
    }

    #[test]
    fn a_part_of_a_mask_is_the_same() {
        let whole = factors(3, Place::Target);
        let mut part = vec![1.0; 333];
        let rates = DropoutRates { embeddings: 0.3, ..DropoutRates::default() };
        Dropout::new(rates, 1, 3).mask(Place::Target).unwrap().apply(&mut part, 777);
        assert_eq!(part, whole[777..777 + 333]);
    }
}
