//! LexicalBias of a unit lexicon on the output, forward and backward; see [`UnitLexicon`].

use crate::model::UnitLexicon;
use crate::model::unit_lexicon::EPSILON;

/// A lexicon at work on one row after the other, on plain slices.
pub struct LexicalBias<'l> {
    lexicon: &'l UnitLexicon,
    /// l of the row, 0 where nothing was touched: `[V]`
    mixed: Vec<f32>,
    /// The target units that were touched.
    touched: Vec<u32>,
}

impl<'l> LexicalBias<'l> {
    /// Room for a row.
    pub fn new(lexicon: &'l UnitLexicon) -> Self {
        Self { lexicon, mixed: vec![0.0; lexicon.target_vocabulary], touched: Vec::new() }
    }

    /// Mixes the rows of source units, each with its weight.
    fn mix(&mut self, alphas: &[f32], sources: impl Iterator<Item = u32>) {
        for (&alpha, source) in alphas.iter().zip(sources).filter(|(alpha, _)| **alpha > 0.0) {
            let (units, shares) = self.lexicon.row(source);
            for (&unit, &share) in units.iter().zip(shares) {
                let mixed = &mut self.mixed[unit as usize];
                if *mixed == 0.0 {
                    self.touched.push(unit);
                }
                *mixed += alpha * share;
            }
        }
    }

    /// Adds ln(1 + l / ε) to a row of logits, `[V]`, given the weights of its source units.
    pub fn forward(&mut self, logits: &mut [f32], alphas: &[f32], sources: impl Iterator<Item = u32>) {
        self.mix(alphas, sources);
        for unit in self.touched.drain(..) {
            logits[unit as usize] += (std::mem::take(&mut self.mixed[unit as usize]) / EPSILON).ln_1p();
        }
    }

    /// Writes the derivatives by the weights, given those by the logits.
    pub fn backward(
        &mut self,
        d_logits: &[f32],
        alphas: &[f32],
        sources: impl Iterator<Item = u32> + Clone,
        d_alphas: &mut [f32],
    ) {
        self.mix(alphas, sources.clone());
        for (d_alpha, source) in d_alphas.iter_mut().zip(sources) {
            let (units, shares) = self.lexicon.row(source);
            let by =
                |(&unit, share): (&u32, &f32)| d_logits[unit as usize] * share / (EPSILON + self.mixed[unit as usize]);
            *d_alpha = units.iter().zip(shares).map(by).sum();
        }
        self.touched.drain(..).for_each(|unit| self.mixed[unit as usize] = 0.0);
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::*;
    use crate::model::reference::lexical_bias::{dense_rows, lexical_bias};
    use crate::text::{END, Padded};

    fn lexicon() -> UnitLexicon {
        let (starts, units) = (vec![0, 0, 2, 3, 4], vec![3, 5, 2, 4]);
        UnitLexicon::from_parts([starts, units], vec![0.25, 0.75, 1.0, 1.0], [4, 6]).unwrap()
    }

    #[test]
    fn the_bias_is_the_plain_one_and_its_derivative_the_slope() {
        let lexicon = lexicon();
        let mut bias = LexicalBias::new(&lexicon);
        let sources = [1u32, 3, END];
        let alphas = [0.5f32, 0.3, 0.2];
        let mut logits = [0.1f32; 6];
        bias.forward(&mut logits, &alphas, sources.into_iter());
        let tensor = Tensor::from_slice(&alphas, (1, 1, 3), &Device::Cpu).unwrap();
        let rows = dense_rows(&lexicon, &Padded::new([&sources[..2]].into_iter()), &Device::Cpu).unwrap();
        let plain = lexical_bias(&tensor, &rows).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert!(
            logits.iter().zip(&plain).all(|(logit, bias)| (logit - 0.1 - bias).abs() < 1e-4),
            "{logits:?} {plain:?}"
        );
        assert!(logits[5] > 5.0 && logits[0] == 0.1, "{logits:?}");

        let d_logits = [0.3f32, -0.1, 0.7, 0.2, -0.4, 0.5];
        let mut d_alphas = [9.0f32; 3];
        bias.backward(&d_logits, &alphas, sources.into_iter(), &mut d_alphas);
        let value = |alphas: &[f32]| -> f64 {
            let mut logits = [0.0f32; 6];
            LexicalBias::new(&lexicon).forward(&mut logits, alphas, sources.into_iter());
            logits.iter().zip(d_logits).map(|(logit, by)| f64::from(logit * by)).sum()
        };
        for j in 0..3 {
            let moved =
                |by: f32| value(&std::array::from_fn::<f32, 3, _>(|i| alphas[i] + if i == j { by } else { 0.0 }));
            let slope = (moved(0.01) - moved(-0.01)) / 0.02;
            assert!((slope - f64::from(d_alphas[j])).abs() < 1e-2 * (1.0 + slope.abs()), "{slope} {d_alphas:?}");
        }
        assert!(bias.mixed.iter().all(|&left| left == 0.0) && bias.touched.is_empty());
    }
}
