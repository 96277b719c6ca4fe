//! Distributions over the next token, one for each row.

use std::sync::Arc;

use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::cross_entropy::{add_softmax, log_sum_exp};
use crate::model::StepOutput;
use crate::random::SeededRng;
use crate::text::{BEGIN, PADDING};

/// Candidate for the next token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenCandidate {
    /// Token id.
    pub token: u32,
    /// log p(token | source, prefix), in nats.
    pub log_probability: f32,
}

/// Predictions of a scorer for its rows.
pub struct Predictions {
    /// Logits of each row, or sums of probabilities: V, or one for each of its tokens.
    values: Buffer,
    /// Tokens of each row in increasing order, none where all tokens have a value; empty if no row is restricted.
    tokens: Vec<Option<Arc<[u32]>>>,
    /// Start of each row's values, and the end of the last.
    starts: Vec<usize>,
    /// Number of models whose probabilities are summed; `None` for logits.
    summed: Option<usize>,
    /// Attention weights α of each row, one for each source token, with `</s>` last.
    pub attention: Vec<Vec<f32>>,
    /// Attention weights of each row by head, model after model: `[rows][heads]`; empty unless the scorer was asked for
    /// them.
    pub heads: Vec<Vec<Vec<f32>>>,
}

impl Predictions {
    /// Returns the predictions of one model from its logits, `[rows, V]`.
    pub fn from_logits(logits: Buffer, attention: Vec<Vec<f32>>) -> Self {
        Self::from(StepOutput { logits, tokens: Vec::new(), attention })
    }

    /// Adds each head's weights, `[rows][heads]`.
    #[must_use]
    pub fn with_heads(self, heads: Vec<Vec<Vec<f32>>>) -> Self {
        Self { heads, ..self }
    }

    /// Returns the mean probabilities and mean attention of several models.
    pub fn ensemble_mean(models: &[Self]) -> Self {
        let Self { starts, tokens, .. } = &models[0];
        let rows = models[0].attention.len();
        let mut values = Buffer::zeros(models[0].values.len());
        for model in models {
            for row in starts.windows(2).map(|ends| ends[0]..ends[1]) {
                add_softmax(&mut values[row.clone()], &model.values[row]);
            }
        }
        let attention = (0..rows).map(|row| Self::mean_attention(models, row)).collect();
        let rows_with_heads = if models[0].heads.is_empty() { 0 } else { rows };
        let mut heads = Vec::with_capacity(rows_with_heads);
        for row in 0..rows_with_heads {
            heads.push(models.iter().filter_map(|model| model.heads.get(row)).flatten().cloned().collect());
        }
        let (tokens, starts) = (tokens.clone(), starts.clone());
        Self { values, tokens, starts, summed: Some(models.len()), attention, heads }
    }

    /// Returns the mean attention weights of a row, `[length]`.
    fn mean_attention(models: &[Self], row: usize) -> Vec<f32> {
        let mut mean = Vec::with_capacity(models[0].attention[row].len());
        for position in 0..models[0].attention[row].len() {
            let sum: f32 = models.iter().map(|model| model.attention[row][position]).sum();
            mean.push(sum / models.len() as f32);
        }
        mean
    }

    /// Returns the distribution of a row.
    pub fn row(&self, row: usize) -> Distribution<'_> {
        let values = &self.values[self.starts[row]..self.starts[row + 1]];
        let scale = match self.summed {
            None => Scale::Logits { log_sum: log_sum_exp(values) },
            Some(models) => Scale::Sums { models: models as f32 },
        };
        Distribution { values, tokens: self.tokens.get(row).and_then(Option::as_deref), scale }
    }
}

impl From<StepOutput> for Predictions {
    fn from(StepOutput { logits, tokens, attention }: StepOutput) -> Self {
        let restricted: usize = tokens.iter().flatten().map(|tokens| tokens.len()).sum();
        let open = attention.len() - tokens.iter().flatten().count();
        let vocabulary = (logits.len() - restricted) / open.max(1);
        let mut end = 0;
        let mut starts = vec![end];
        for row in 0..attention.len() {
            end += tokens.get(row).and_then(Option::as_ref).map_or(vocabulary, |tokens| tokens.len());
            starts.push(end);
        }
        Self { values: logits, tokens, starts, summed: None, attention, heads: Vec::new() }
    }
}

/// Interpretation of the values of a row.
#[derive(Clone, Copy, Debug)]
enum Scale {
    Logits { log_sum: f32 },
    Sums { models: f32 },
}

/// Options of sampling; by default ancestral sampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingConfig {
    /// Divisor of the log-probabilities; above 0.
    pub temperature: f64,
    /// Number of most probable tokens to sample from (Fan, Lewis & Dauphin 2018).
    pub top_k: Option<usize>,
    /// Probability mass of the most probable tokens to sample from: nucleus sampling (Holtzman et al. 2020).
    pub top_p: f64,
}

impl Default for SamplingConfig {
    fn default() -> Self {
        Self { temperature: 1.0, top_k: None, top_p: 1.0 }
    }
}

impl SamplingConfig {
    /// Truncates candidates to the nucleus.
    fn apply_top_p(&self, candidates: &mut Vec<TokenCandidate>) {
        if self.top_p >= 1.0 {
            return;
        }
        candidates.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability).then(a.token.cmp(&b.token)));
        let weights = self.weights(candidates);
        let mass = self.top_p * weights.iter().sum::<f64>();
        let (mut kept, mut sum) = (0, 0.0);
        while kept < weights.len() && sum < mass {
            sum += weights[kept];
            kept += 1;
        }
        candidates.truncate(kept.max(1));
    }

    /// Unnormalized probabilities at the temperature.
    fn weights(&self, candidates: &[TokenCandidate]) -> Vec<f64> {
        let largest = candidates.iter().map(|one| one.log_probability).fold(f32::NEG_INFINITY, f32::max);
        let log_ratios = candidates.iter().map(|one| f64::from(one.log_probability - largest));
        log_ratios.map(|log_ratio| (log_ratio / self.temperature).exp()).collect()
    }
}

/// Distribution over the next token of a row. Padding and `<s>` are never candidates.
#[derive(Clone, Copy, Debug)]
pub struct Distribution<'a> {
    values: &'a [f32],
    /// Tokens of the values, which begin as the vocabulary does; none if all tokens have a value.
    tokens: Option<&'a [u32]>,
    scale: Scale,
}

impl Distribution<'_> {
    /// Returns up to `width` most probable allowed tokens, best first, ties by token id.
    pub fn best(&self, width: usize, allowed: &dyn Fn(u32) -> bool) -> Vec<TokenCandidate> {
        self.candidates(largest(self.values, width, f32::NEG_INFINITY, &|index| allowed(self.token(index))))
    }

    /// Returns up to `width` most probable tokens whose log-probability is at least `floor`, give or take rounding, best
    /// first.
    pub fn best_above(&self, width: usize, floor: f64) -> Vec<TokenCandidate> {
        const ROUNDING: f64 = 1e-3;
        let value = match self.scale {
            Scale::Logits { log_sum } => floor + f64::from(log_sum) - ROUNDING * (1.0 + f64::from(log_sum).abs()),
            Scale::Sums { models } => (floor - ROUNDING).exp() * f64::from(models),
        };
        let is_bounded = floor.is_finite() && value.abs() > f64::from(f32::MIN_POSITIVE);
        let value = if is_bounded { value as f32 } else { f32::NEG_INFINITY };
        self.candidates(largest(self.values, width, value, &|_| true))
    }

    fn candidates(&self, indices: Vec<u32>) -> Vec<TokenCandidate> {
        let mut candidates = Vec::with_capacity(indices.len());
        for index in indices {
            let log_probability = self.log_probability(self.values[index as usize]);
            candidates.push(TokenCandidate { token: self.token(index), log_probability });
        }
        candidates
    }

    /// Token of a value.
    fn token(&self, index: u32) -> u32 {
        self.tokens.map_or(index, |tokens| tokens[index as usize])
    }

    /// Returns a token with its log-probability.
    pub fn candidate(&self, token: u32) -> TokenCandidate {
        let index = self.tokens.map_or(Some(token as usize), |tokens| tokens.binary_search(&token).ok());
        let log_probability = index.map_or(f32::NEG_INFINITY, |index| self.log_probability(self.values[index]));
        TokenCandidate { token, log_probability }
    }

    /// Returns the entropy of the distribution in nats. All tokens outside a shortlist count as one.
    pub fn entropy(&self) -> f64 {
        let log_probabilities = self.values.iter().map(|&value| f64::from(self.log_probability(value)));
        log_probabilities.map(|log| if log == f64::NEG_INFINITY { 0.0 } else { -log.exp() * log }).sum()
    }

    /// Samples one of the allowed tokens; `None` if there is none.
    pub fn sample(
        &self,
        config: &SamplingConfig,
        allowed: &dyn Fn(u32) -> bool,
        rng: &mut SeededRng,
    ) -> Option<TokenCandidate> {
        let mut candidates = match config.top_k {
            Some(k) => self.best(k, allowed),
            None => {
                let indices = (0..self.values.len() as u32).filter(|&index| is_output_token(index));
                self.candidates(indices.filter(|&index| allowed(self.token(index))).collect())
            }
        };
        config.apply_top_p(&mut candidates);
        let weights = config.weights(&candidates);
        let mut rest = rng.uniform() * weights.iter().sum::<f64>();
        let drawn = candidates.iter().zip(&weights).find(|&(_, weight)| {
            rest -= weight;
            rest < 0.0
        });
        // Rounding can leave a rest.
        drawn.map(|(candidate, _)| *candidate).or(candidates.last().copied())
    }

    fn log_probability(&self, value: f32) -> f32 {
        match self.scale {
            Scale::Logits { log_sum } => value - log_sum,
            Scale::Sums { models } => (value / models).ln(),
        }
    }
}

fn is_output_token(token: u32) -> bool {
    token != PADDING && token != BEGIN
}

/// Indices of up to `width` allowed values, the largest ones above `floor`, largest first, ties by index. The first indices are
/// those of the special tokens.
fn largest(row: &[f32], width: usize, floor: f32, allowed: &dyn Fn(u32) -> bool) -> Vec<u32> {
    const BLOCK: usize = 64;
    let mut best: Vec<(f32, u32)> = Vec::with_capacity(width.min(row.len()) + 1);
    for (first, block) in (0u32..).step_by(BLOCK).zip(row.chunks(BLOCK)) {
        let worst = if best.len() == width { best[width - 1].0 } else { floor };
        // Most blocks have no candidate; this comparison vectorizes.
        if block.iter().fold(false, |any, &value| any | (value > worst)) {
            for (token, &value) in (first..).zip(block) {
                if is_output_token(token) && value > floor {
                    let rank = best.partition_point(|&(other, _)| other >= value);
                    if rank < width && allowed(token) {
                        best.insert(rank, (value, token));
                        best.truncate(width);
                    }
                }
            }
        }
    }
    best.into_iter().map(|(_, token)| token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::END;

    const ANY: &dyn Fn(u32) -> bool = &|_| true;

    fn from_logits(row: &[f32]) -> Predictions {
        Predictions::from_logits(Buffer::from_slice(row), vec![vec![1.0]])
    }

    fn tokens(candidates: &[TokenCandidate]) -> Vec<u32> {
        candidates.iter().map(|candidate| candidate.token).collect()
    }

    #[test]
    fn finds_the_best_tokens_in_order() {
        let predictions = from_logits(&[9.0, 9.0, -1.0, -3.0, -0.5, -1.0, -9.0]);
        let row = predictions.row(0);
        assert_eq!(tokens(&row.best(1, ANY)), [4]);
        assert_eq!(tokens(&row.best(3, ANY)), [4, 2, 5]);
        assert_eq!(tokens(&row.best(99, ANY)), [4, 2, 5, 3, 6]);
        assert_eq!(tokens(&row.best(2, &|token| token != 4 && token != 2)), [5, 3]);
        let total: f32 = row.best(99, ANY).iter().map(|candidate| candidate.log_probability.exp()).sum();
        assert!(total < 0.01, "padding and <s> have the rest");
        for predictions in [
            from_logits(&[9.0, 9.0, -1.0, -3.0, -0.5, -1.0, -9.0]),
            Predictions::ensemble_mean(&[from_logits(&[0.0, 0.5, 1.0, 3.0, -2.0])]),
        ] {
            let row = predictions.row(0);
            let best = row.best(99, ANY);
            assert_eq!(row.best_above(99, f64::NEG_INFINITY), best);
            for (rank, candidate) in best.iter().enumerate() {
                let above = row.best_above(99, f64::from(candidate.log_probability));
                assert!(above.len() > rank && above.len() <= rank + 2 && above[..] == best[..above.len()]);
            }
        }
        let long: Vec<f32> = (0..1000).map(|token| ((token * 37) % 1000) as f32 * 0.01).collect();
        assert_eq!(tokens(&from_logits(&long).row(0).best(4, ANY)), [27, 54, 81, 108]);
    }

    #[test]
    fn entropy_is_that_of_the_probabilities() {
        let half = [f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0, 0.0];
        assert!((from_logits(&half).row(0).entropy() - 2f64.ln()).abs() < 1e-6);
        let mean = Predictions::ensemble_mean(&[from_logits(&half), from_logits(&half)]);
        assert!((mean.row(0).entropy() - 2f64.ln()).abs() < 1e-6);
        assert!(from_logits(&[0.0, 0.0, 90.0, 0.0]).row(0).entropy().abs() < 1e-6);
    }

    #[test]
    fn ensemble_averages_probabilities() {
        let rows: [[f32; 7]; 2] = [[0.0, 0.0, 1.0, 3.0, 2.0, -1.0, 0.5], [1.0, 0.0, 4.0, 0.0, 2.5, 0.0, 0.5]];
        let sums = rows.map(|row| row.iter().map(|logit| logit.exp()).sum::<f32>());
        let ensemble = Predictions::ensemble_mean(&rows.map(|row| from_logits(&row)));
        let found = ensemble.row(0).best(3, ANY);
        assert_eq!(tokens(&found), [2, 3, 4]);
        for TokenCandidate { token, log_probability } in found {
            let [first, second] = [0, 1].map(|model| rows[model][token as usize].exp() / sums[model]);
            let mean = f32::midpoint(first, second);
            assert!((log_probability - mean.ln()).abs() < 1e-6, "{token}");
        }
        let alone = from_logits(&rows[0]);
        let of_one = Predictions::ensemble_mean(&[from_logits(&rows[0])]);
        for (a, b) in alone.row(0).best(4, ANY).iter().zip(of_one.row(0).best(4, ANY)) {
            assert!(a.token == b.token && (a.log_probability - b.log_probability).abs() < 1e-6);
        }
    }

    /// Relative frequency of each token.
    fn frequencies(row: &[f32], config: SamplingConfig, allowed: &dyn Fn(u32) -> bool) -> Vec<f64> {
        const SAMPLES: usize = 20_000;
        let (predictions, mut rng) = (from_logits(row), SeededRng::new(5, "draws", 0));
        let mut frequencies = vec![0.0; row.len()];
        for _ in 0..SAMPLES {
            let token = predictions.row(0).sample(&config, allowed, &mut rng).unwrap().token;
            frequencies[token as usize] += 1.0 / SAMPLES as f64;
        }
        frequencies
    }

    /// Compares frequencies of the tokens from 2 on.
    fn assert_close(found: &[f64], expected: [f64; 4]) {
        for (found, expected) in found[2..].iter().zip(expected) {
            assert!((found - expected).abs() < 0.015, "{found} {expected}");
        }
    }

    #[test]
    fn samples_follow_the_distribution() {
        // `</s>` has probability 0.1, the other candidates 0.2, 0.3 and 0.4.
        let row: Vec<f32> = [9.0, 9.0, 0.1f32.ln(), 0.2f32.ln(), 0.3f32.ln(), 0.4f32.ln()].into();
        let plain = SamplingConfig::default();
        assert_close(&frequencies(&row, plain, ANY), [0.1, 0.2, 0.3, 0.4]);
        assert_close(
            &frequencies(&row, SamplingConfig { top_k: Some(2), ..plain }, ANY),
            [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0],
        );
        assert_close(
            &frequencies(&row, SamplingConfig { top_p: 0.69, ..plain }, ANY),
            [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0],
        );
        assert_close(
            &frequencies(&row, SamplingConfig { top_p: 0.71, ..plain }, ANY),
            [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0],
        );
        assert_close(
            &frequencies(&row, SamplingConfig { temperature: 0.5, ..plain }, ANY),
            [1.0, 4.0, 9.0, 16.0].map(|x| x / 30.0),
        );
        assert_close(&frequencies(&row, plain, &|token| token != 5), [1.0 / 6.0, 2.0 / 6.0, 3.0 / 6.0, 0.0]);
        assert_close(&frequencies(&row, SamplingConfig { temperature: 1e-3, ..plain }, ANY), [0.0, 0.0, 0.0, 1.0]);
        let nothing = from_logits(&row).row(0).sample(&plain, &|_| false, &mut SeededRng::new(1, "draws", 0));
        assert!(nothing.is_none() && from_logits(&row).row(0).best(3, &|token| token == END).len() == 1);
    }
}
