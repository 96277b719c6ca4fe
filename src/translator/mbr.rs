//! Minimum Bayes risk decoding with chrF as utility (Kumar & Byrne 2004, "Minimum Bayes-Risk Decoding for Statistical
//! Machine Translation"), over samples (Eikema & Aziz 2020).

use crate::metrics::{ChrfStats, ChrfText, SufficientStats};

/// Indices of the `n_best` distinct samples with the highest expected utility, best first, with the latter: the mean chrF
/// with each sample as reference.
pub fn rank_by_utility(samples: &[&str], n_best: usize) -> Vec<(usize, f64)> {
    let mut distinct: Vec<DistinctSample> = Vec::new();
    for (index, sample) in samples.iter().enumerate() {
        match distinct.iter_mut().find(|other| samples[other.index] == *sample) {
            Some(other) => other.count += 1,
            None => distinct.push(DistinctSample { index, count: 1, text: ChrfText::new(sample) }),
        }
    }
    let expected_utility = |one: &DistinctSample| -> f64 {
        let utility =
            |other: &DistinctSample| other.count as f64 * ChrfStats::from_texts(&one.text, &other.text).score();
        distinct.iter().map(utility).sum::<f64>() / samples.len() as f64
    };
    let mut ranked: Vec<(usize, f64)> = distinct.iter().map(|one| (one.index, expected_utility(one))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked.truncate(n_best);
    ranked
}

struct DistinctSample {
    /// Index of its first occurrence.
    index: usize,
    count: usize,
    text: ChrfText,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::chrf;

    #[test]
    fn ranks_distinct_samples_by_mean_chrf() {
        let samples = ["a red fox", "the fox", "the red fox", "a dog", "the fox"];
        let mean =
            |text: &str| samples.iter().map(|other| chrf(&[text], &[*other])).sum::<f64>() / samples.len() as f64;
        let all = rank_by_utility(&samples, 9);
        assert_eq!(all.len(), 4, "duplicates count but are returned once");
        assert!(all.windows(2).all(|two| two[0].1 >= two[1].1));
        assert!(all.iter().all(|&(index, score)| (score - mean(samples[index])).abs() < 1e-9));
        assert_eq!(rank_by_utility(&samples, 1), all[..1]);
        assert_eq!(rank_by_utility(&[""], 1), [(0, 0.0)]);
        assert!(rank_by_utility(&[], 1).is_empty());
    }
}
