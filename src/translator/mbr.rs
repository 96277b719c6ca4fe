//! Minimum Bayes risk decoding with chrF as utility (Kumar & Byrne 2004, "Minimum Bayes-Risk Decoding for Statistical
//! Machine Translation"), over samples (Eikema & Aziz 2020).

use crate::metrics::{ChrfStats, ChrfText, SufficientStats};

/// Sample with its expected utility.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedSample {
    /// Index of the first occurrence of the sample.
    pub index: usize,
    /// Mean chrF, from 0 to 100, with each sample as reference.
    pub utility: f64,
}

/// Returns the `n_best` distinct samples with the highest expected utility, best first.
pub fn rank_by_utility(samples: &[&str], n_best: usize) -> Vec<RankedSample> {
    let mut distinct: Vec<DistinctSample> = Vec::new();
    for (index, sample) in samples.iter().enumerate() {
        match distinct.iter_mut().find(|other| samples[other.index] == *sample) {
            Some(other) => other.count += 1,
            None => distinct.push(DistinctSample { index, count: 1, text: ChrfText::new(sample) }),
        }
    }
    let mut ranked = Vec::with_capacity(distinct.len());
    for sample in &distinct {
        let utility = sample.total_chrf(&distinct) / samples.len() as f64;
        ranked.push(RankedSample { index: sample.index, utility });
    }
    ranked.sort_by(|a, b| b.utility.total_cmp(&a.utility));
    ranked.truncate(n_best);
    ranked
}

/// Text that occurs among the samples.
struct DistinctSample {
    /// Index of its first occurrence.
    index: usize,
    /// Number of its occurrences.
    count: usize,
    /// Counts of its n-grams.
    text: ChrfText,
}

impl DistinctSample {
    /// Returns the sum of chrF with each sample as reference.
    fn total_chrf(&self, references: &[Self]) -> f64 {
        references.iter().map(|reference| reference.count as f64 * self.chrf(reference)).sum()
    }

    fn chrf(&self, reference: &Self) -> f64 {
        ChrfStats::from_texts(&self.text, &reference.text).score()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::chrf;

    #[test]
    fn ranks_distinct_samples_by_mean_chrf() {
        let samples = ["a red fox", "the fox", "the red fox", "a dog", "the fox"];
        let all = rank_by_utility(&samples, 9);
        assert_eq!(all.len(), 4, "duplicates count but are returned once");
        assert!(all.windows(2).all(|two| two[0].utility >= two[1].utility));
        for RankedSample { index, utility } in &all {
            let total: f64 = samples.iter().map(|other| chrf(&[samples[*index]], &[*other])).sum();
            assert!((utility - total / samples.len() as f64).abs() < 1e-9);
        }
        assert_eq!(rank_by_utility(&samples, 1), all[..1]);
        assert_eq!(rank_by_utility(&[""], 1), [RankedSample { index: 0, utility: 0.0 }]);
        assert!(rank_by_utility(&[], 1).is_empty());
    }
}
