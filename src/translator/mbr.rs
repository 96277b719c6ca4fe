//! Of many translations those that the others agree with most: minimum Bayes risk, with chrF as what is gained (Kumar &
//! Byrne 2004, "Minimum Bayes-Risk Decoding for Statistical Machine Translation"; Eikema & Aziz 2020 by draws).

use crate::metrics::{ChrfStats, ChrfText, SufficientStats};

/// The places of the `best` of a sentence's draws, the best first and equal ones once, each with the mean chrF that it has if
/// all the draws in turn are taken for what would be right.
pub fn consensus(draws: &[&str], best: usize) -> Vec<(usize, f64)> {
    let mut different: Vec<DistinctSamples> = Vec::new();
    for (place, draw) in draws.iter().enumerate() {
        match different.iter_mut().find(|other| draws[other.place] == *draw) {
            Some(other) => other.count += 1,
            None => different.push(DistinctSamples { place, count: 1, text: ChrfText::new(draw) }),
        }
    }
    let gain = |one: &DistinctSamples| -> f64 {
        let gain = |other: &DistinctSamples| other.count as f64 * ChrfStats::from_texts(&one.text, &other.text).score();
        different.iter().map(gain).sum::<f64>() / draws.len() as f64
    };
    let mut scored: Vec<(usize, f64)> = different.iter().map(|one| (one.place, gain(one))).collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    scored.truncate(best);
    scored
}

/// Equal draws.
struct DistinctSamples {
    /// Where the first of them is.
    place: usize,
    count: usize,
    text: ChrfText,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::chrf;

    #[test]
    fn what_is_most_like_all_comes_first() {
        let draws = ["a red fox", "the fox", "the red fox", "a dog", "the fox"];
        let mean = |text: &str| draws.iter().map(|other| chrf(&[text], &[*other])).sum::<f64>() / draws.len() as f64;
        let all = consensus(&draws, 9);
        assert_eq!(all.len(), 4, "equal ones count, but come once");
        assert!(all.windows(2).all(|two| two[0].1 >= two[1].1));
        assert!(all.iter().all(|&(place, score)| (score - mean(draws[place])).abs() < 1e-9));
        assert_eq!(consensus(&draws, 1), all[..1]);
        assert_eq!(consensus(&[""], 1), [(0, 0.0)]);
        assert!(consensus(&[], 1).is_empty());
    }
}
