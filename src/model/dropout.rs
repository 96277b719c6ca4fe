//! Dropout (Srivastava et al. 2014) with counter-based masks.
//!
//! A mask is a pure function of seed, training step, site and position, so that the backward pass recomputes it instead
//! of storing it.

use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};

use crate::kernels::simd::vectorized;
use crate::random::CounterRng;

/// Dropout rates, in `0.0..1.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DropoutRates {
    /// Source and target embeddings.
    pub embeddings: f64,
    /// Annotations, and inputs of further encoder layers.
    pub annotations: f64,
    /// Decoder states as inputs of the readout.
    pub states: f64,
    /// Readout vectors.
    pub readout: f64,
}

/// Place of dropout in the model, and the layout in which positions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropoutSite {
    /// Source embeddings, `[source length, batch, e]`.
    Source,
    /// Output of an encoder layer, counted from 0, `[source length, batch, n]`.
    Annotations(usize),
    /// Embeddings of the previous words, `[target length, batch, e]`.
    Target,
    /// States before the readout, `[target tokens, n]`.
    States,
    /// Readout vectors, `[target tokens, e]`.
    Readout,
}

/// Randomness of one training step: dropout masks and sampled hard attention.
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    rates: DropoutRates,
    seed: u64,
    step: u64,
    /// False disables sampling as well.
    training: bool,
}

/// Dropout mask of one site.
#[derive(Clone, Copy, Debug)]
pub struct DropoutMask {
    positions: CounterRng,
    /// Values whose random bits are below this are dropped.
    threshold: u32,
    /// 1 / (1 − rate)
    keep: f32,
}

impl Dropout {
    /// Randomness of training step `step`.
    pub fn new(rates: DropoutRates, seed: u64, step: u64) -> Self {
        Self { rates, seed, step, training: true }
    }

    /// No dropout and no sampling.
    pub fn none() -> Self {
        Self { training: false, ..Self::new(DropoutRates::default(), 0, 0) }
    }

    /// Returns the random numbers of sampled hard attention, or `None` at inference.
    pub fn selection_draws(&self) -> Option<CounterRng> {
        self.training.then(|| CounterRng::new(self.seed, "choices", self.step))
    }

    /// Returns the mask of a site, or `None` at a rate of 0.
    pub fn mask(&self, site: DropoutSite) -> Option<DropoutMask> {
        let (name, rate) = match site {
            DropoutSite::Source => ("dropout of sources".to_owned(), self.rates.embeddings),
            DropoutSite::Annotations(layer) => (format!("dropout of annotations {layer}"), self.rates.annotations),
            DropoutSite::Target => ("dropout of targets".to_owned(), self.rates.embeddings),
            DropoutSite::States => ("dropout of states".to_owned(), self.rates.states),
            DropoutSite::Readout => ("dropout of readout".to_owned(), self.rates.readout),
        };
        (rate > 0.0).then(|| DropoutMask {
            positions: CounterRng::new(self.seed, &name, self.step),
            threshold: (rate * 2f64.powi(32)) as u32,
            keep: (1.0 / (1.0 - rate)) as f32,
        })
    }

    /// Applies the mask of a site to a tensor `[rows, ·]`, given the numbers of its rows where the mask is that of more rows.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn apply(&self, tensor: &Tensor, site: DropoutSite, rows: Option<&[u32]>) -> Result<Tensor> {
        let Some(mask) = self.mask(site) else { return Ok(tensor.clone()) };
        #[cfg(feature = "cuda")]
        if tensor.device().is_cuda() {
            return crate::kernels::cuda::dropout(tensor, rows, mask.positions.keys(), mask.threshold, mask.keep);
        }
        let mut factors = vec![1.0; tensor.elem_count()];
        let width = tensor.dim(1)?;
        match rows {
            Some(rows) => {
                let factors = factors.chunks_mut(width);
                rows.iter().zip(factors).for_each(|(&row, factors)| mask.apply(factors, row as usize * width));
            }
            None => mask.apply(&mut factors, 0),
        }
        tensor * Tensor::from_vec(factors, tensor.shape(), tensor.device())?
    }
}

impl DropoutMask {
    /// Multiplies each value by 0 or by 1 / (1 − rate); `first` is the position of the first value.
    pub fn apply(&self, values: &mut [f32], first: usize) {
        vectorized(
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

    fn factors(step: u64, site: DropoutSite) -> Vec<f32> {
        let rates = DropoutRates { embeddings: 0.3, annotations: 0.3, states: 0.3, readout: 0.0 };
        let mut factors = vec![1.0; 100_001];
        Dropout::new(rates, 1, step).mask(site).unwrap().apply(&mut factors, 0);
        factors
    }

    fn share(of: impl Iterator<Item = bool>) -> f64 {
        of.filter(|&dropped| dropped).count() as f64 / 100_001.0
    }

    #[test]
    fn dropout_has_the_given_rate_and_keeps_the_mean() {
        let mask = factors(5, DropoutSite::Source);
        let mean = mask.iter().map(|&factor| f64::from(factor)).sum::<f64>() / mask.len() as f64;
        assert!((share(mask.iter().map(|&factor| factor == 0.0)) - 0.3).abs() < 0.005 && (mean - 1.0).abs() < 0.01);
        assert!(Dropout::new(DropoutRates::default(), 1, 1).mask(DropoutSite::States).is_none());
    }

    #[test]
    fn masks_of_steps_sites_and_positions_are_independent() {
        let mask = factors(5, DropoutSite::Source);
        let others = [
            factors(6, DropoutSite::Source),
            factors(5, DropoutSite::Annotations(0)),
            factors(5, DropoutSite::Annotations(1)),
        ];
        for other in others.iter().map(|other| &other[..]).chain([1, 2, 16, 256, 512].map(|shift| &mask[shift..])) {
            let both = share(mask.iter().zip(other).map(|(a, b)| *a == 0.0 && *b == 0.0));
            assert!((both - 0.09).abs() < 0.006, "{both}");
        }
    }

    #[test]
    fn mask_of_a_slice_equals_slice_of_the_mask() {
        let whole = factors(3, DropoutSite::Target);
        let mut part = vec![1.0; 333];
        let rates = DropoutRates { embeddings: 0.3, ..DropoutRates::default() };
        Dropout::new(rates, 1, 3).mask(DropoutSite::Target).unwrap().apply(&mut part, 777);
        assert_eq!(part, whole[777..777 + 333]);
    }
}
