//! Of many translations those that the others agree with most: minimum Bayes risk, with chrF as what is gained (Kumar &
//! Byrne 2004, "Minimum Bayes-Risk Decoding for Statistical Machine Translation"; Eikema & Aziz 2020 by draws).

use super::Translation;
use crate::metrics::{ChrfCounts, Counts};

/// The `best` of a sentence's draws, the best first and equal ones once. Their score is the mean chrF that they have if each
/// of the draws in turn is taken for what would be right.
pub fn consensus(draws: Vec<Translation>, best: usize) -> Vec<Translation> {
    let total = draws.len() as f64;
    let mut different: Vec<(Translation, f64)> = Vec::new();
    for draw in draws {
        match different.iter_mut().find(|(other, _)| other.text == draw.text) {
            Some((_, count)) => *count += 1.0,
            None => different.push((draw, 1.0)),
        }
    }
    let gain = |text: &str| -> f64 {
        let gains = different.iter().map(|(other, count)| count * ChrfCounts::of(text, &other.text).score());
        gains.sum::<f64>() / total
    };
    let gains: Vec<f64> = different.iter().map(|(draw, _)| gain(&draw.text)).collect();
    let scored = different.into_iter().zip(gains).map(|((draw, _), score)| Translation { score, ..draw });
    let mut scored: Vec<Translation> = scored.collect();
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.log_probability.total_cmp(&a.log_probability)));
    scored.truncate(best.max(1));
    scored
}
