//! Perplexity of guessing: what a model that ignores its source and the words before reaches.

use crate::metrics::perplexity;
use crate::text::{END, Example};

/// Returns the perplexity per target token, `</s>` included, of held-out examples, if each token has its relative frequency in
/// the training examples (a unigram model with add-one smoothing). `vocabulary` is the number of target tokens.
pub fn unigram_perplexity(training: &[Example], held_out: &[Example], vocabulary: usize) -> f64 {
    let mut counts = vec![1.0; vocabulary];
    let mut total = vocabulary as f64;
    for token in tokens(training) {
        counts[token] += 1.0;
        total += 1.0;
    }
    let (mut loss, mut count) = (0.0, 0);
    for token in tokens(held_out) {
        loss -= f64::ln(counts[token] / total);
        count += 1;
    }
    perplexity(loss, count)
}

/// Returns the target tokens of all examples.
fn tokens(examples: &[Example]) -> impl Iterator<Item = usize> {
    examples.iter().flat_map(|example| example.target.iter().chain([&END])).map(|&token| token as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_by_frequency() {
        let training = [Example::new(vec![4], vec![4, 4, 5])];
        // Of six tokens, </s> and 5 were seen once, 4 twice: 2, 2 and 3 of 10 with one added to each.
        let expected = (-(0.3f64.ln() + 0.2f64.ln()) / 2.0).exp();
        assert!((unigram_perplexity(&training, &[Example::new(vec![9], vec![4])], 6) - expected).abs() < 1e-9);
        assert!((unigram_perplexity(&[], &training, 6) - 6.0).abs() < 1e-9);
    }
}
