//! Output bias of a [`TokenLexicon`], forward and backward.

use super::shard::{Shard, TargetPosition};
use super::weights::PackedModel;
use crate::attention::cpu::ForwardTape;
use crate::kernels::buffer_pool::Buffer;
use crate::model::TokenLexicon;
use crate::model::token_lexicon::EPSILON;

/// Working memory for the bias of one row at a time.
pub struct LexicalBias<'l> {
    lexicon: &'l TokenLexicon,
    /// l of the row, sparse: `[V]`, 0 except at `touched`
    l: Vec<f32>,
    /// Target tokens with l > 0.
    touched: Vec<u32>,
}

impl<'l> LexicalBias<'l> {
    /// Empty working memory.
    pub fn new(lexicon: &'l TokenLexicon) -> Self {
        Self { lexicon, l: vec![0.0; lexicon.target_vocabulary], touched: Vec::new() }
    }

    /// Sums the lexicon rows of the source tokens, weighted by α.
    fn mix(&mut self, alphas: &[f32], sources: impl Iterator<Item = u32>) {
        for (&alpha, source) in alphas.iter().zip(sources).filter(|(alpha, _)| **alpha > 0.0) {
            let (tokens, probabilities) = self.lexicon.row(source);
            for (&token, &probability) in tokens.iter().zip(probabilities) {
                let l = &mut self.l[token as usize];
                if *l == 0.0 {
                    self.touched.push(token);
                }
                *l += alpha * probability;
            }
        }
    }

    /// Forward pass: adds ln(1 + l / ε) to a row of logits, `[V]`, given its weights and source tokens.
    pub fn forward(&mut self, logits: &mut [f32], alphas: &[f32], sources: impl Iterator<Item = u32>) {
        self.mix(alphas, sources);
        for token in self.touched.drain(..) {
            logits[token as usize] += (std::mem::take(&mut self.l[token as usize]) / EPSILON).ln_1p();
        }
    }

    /// As [`Self::forward`], for the logits of these tokens alone, which are in increasing order.
    pub fn forward_selected(
        &mut self,
        tokens: &[u32],
        logits: &mut [f32],
        alphas: &[f32],
        sources: impl Iterator<Item = u32>,
    ) {
        self.mix(alphas, sources);
        for token in self.touched.drain(..) {
            let l = std::mem::take(&mut self.l[token as usize]);
            if let Ok(index) = tokens.binary_search(&token) {
                logits[index] += (l / EPSILON).ln_1p();
            }
        }
    }

    /// Backward pass: writes the derivatives with respect to the weights, given those with respect to the logits.
    pub fn backward(
        &mut self,
        d_logits: &[f32],
        alphas: &[f32],
        sources: impl Iterator<Item = u32> + Clone,
        d_alphas: &mut [f32],
    ) {
        self.mix(alphas, sources.clone());
        for (d_alpha, source) in d_alphas.iter_mut().zip(sources) {
            let (tokens, probabilities) = self.lexicon.row(source);
            let terms = tokens.iter().zip(probabilities).map(|(&token, probability)| {
                d_logits[token as usize] * probability / (EPSILON + self.l[token as usize])
            });
            *d_alpha = terms.sum();
        }
        self.touched.drain(..).for_each(|token| self.l[token as usize] = 0.0);
    }
}

/// Lexical bias at the positions of a shard.
pub struct ShardLexicalBias<'a> {
    bias: LexicalBias<'a>,
    shard: &'a Shard<'a>,
    tape: &'a ForwardTape,
    /// α of the current position.
    alphas: Vec<f32>,
}

impl<'a> ShardLexicalBias<'a> {
    /// Returns `None` without a lexicon.
    pub fn new(weights: &PackedModel<'a>, shard: &'a Shard<'a>, tape: &'a ForwardTape) -> Option<Self> {
        let bias = LexicalBias::new(weights.lexicon?);
        Some(Self { bias, shard, tape, alphas: Vec::new() })
    }

    fn load_alphas(&mut self, position: TargetPosition) {
        self.alphas.resize(self.shard.source.length(position.row), 0.0);
        self.tape.mean_alphas(position.step, position.row, &mut self.alphas);
    }

    /// Adds the bias to logits `[positions, V]`.
    pub fn forward(&mut self, positions: &[TargetPosition], logits: &mut [f32]) {
        let vocabulary = logits.len() / positions.len().max(1);
        for (&position, logits) in positions.iter().zip(logits.chunks_exact_mut(vocabulary)) {
            self.load_alphas(position);
            self.bias.forward(logits, &self.alphas, self.shard.source_of(position.row));
        }
    }

    /// Returns the derivatives with respect to α: `[positions, longest source]`.
    pub fn backward(&mut self, positions: &[TargetPosition], d_logits: &[f32]) -> Buffer {
        let (vocabulary, longest) = (d_logits.len() / positions.len().max(1), self.shard.source.steps());
        let mut d_alphas = Buffer::zeros(positions.len() * longest);
        let rows = d_logits.chunks_exact(vocabulary).zip(d_alphas.chunks_exact_mut(longest));
        for (&position, (d_logits, d_alphas)) in positions.iter().zip(rows) {
            self.load_alphas(position);
            self.bias.backward(d_logits, &self.alphas, self.shard.source_of(position.row), d_alphas);
        }
        d_alphas
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::*;
    use crate::model::TokenRows;
    use crate::model::reference::lexical_bias::{dense_rows, lexical_bias};
    use crate::text::{END, PaddedBatch};

    fn lexicon() -> TokenLexicon {
        let (starts, tokens) = (vec![0, 0, 2, 3, 4], vec![3, 5, 2, 4]);
        TokenLexicon::from_parts(TokenRows { starts, tokens }, vec![0.25, 0.75, 1.0, 1.0], None, [4, 6]).unwrap()
    }

    #[test]
    fn bias_equals_reference_and_gradient_matches_finite_differences() {
        let lexicon = lexicon();
        let mut bias = LexicalBias::new(&lexicon);
        let sources = [1u32, 3, END];
        let alphas = [0.5f32, 0.3, 0.2];
        let mut logits = [0.1f32; 6];
        bias.forward(&mut logits, &alphas, sources.into_iter());
        let tensor = Tensor::from_slice(&alphas, (1, 1, 3), &Device::Cpu).unwrap();
        let rows = dense_rows(&lexicon, &PaddedBatch::new([&sources[..2]].into_iter()), &Device::Cpu).unwrap();
        let reference = lexical_bias(&tensor, &rows).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert!(
            logits.iter().zip(&reference).all(|(logit, bias)| (logit - 0.1 - bias).abs() < 1e-4),
            "{logits:?} {reference:?}"
        );
        assert!(logits[5] > 5.0 && logits[0] == 0.1, "{logits:?}");

        let d_logits = [0.3f32, -0.1, 0.7, 0.2, -0.4, 0.5];
        let mut d_alphas = [9.0f32; 3];
        bias.backward(&d_logits, &alphas, sources.into_iter(), &mut d_alphas);
        for j in 0..3 {
            let [above, below] = [0.01, -0.01].map(|step| {
                let mut alphas = alphas;
                alphas[j] += step;
                let mut logits = [0.0f32; 6];
                LexicalBias::new(&lexicon).forward(&mut logits, &alphas, sources.into_iter());
                logits.iter().zip(d_logits).map(|(logit, d_logit)| f64::from(logit * d_logit)).sum::<f64>()
            });
            let slope = (above - below) / 0.02;
            assert!((slope - f64::from(d_alphas[j])).abs() < 1e-2 * (1.0 + slope.abs()), "{slope} {d_alphas:?}");
        }
        assert!(bias.l.iter().all(|&value| value == 0.0) && bias.touched.is_empty());
    }
}
