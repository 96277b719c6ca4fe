//! Precision, recall and alignment error rate (AER) of links against a gold standard (Och & Ney 2003, section 6).

use serde::Serialize;

use super::{Gold, Link};

/// Corpus counts, summed before any ratio is taken, so that sentences weigh by their links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AerCounts {
    /// |A|: proposed links.
    proposed: usize,
    /// |S|: sure gold links.
    sure: usize,
    /// |A ∩ S|.
    sure_hits: usize,
    /// |A ∩ P|.
    possible_hits: usize,
}

/// Alignment quality of a corpus, each value in 0..=1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AlignmentMetrics {
    /// |A ∩ P| / |A|.
    pub precision: f64,
    /// |A ∩ S| / |S|.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
    /// Alignment error rate: 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|). Lower is better.
    pub aer: f64,
}

impl AerCounts {
    /// Adds the links of one sentence pair, which must be distinct.
    pub fn add(&mut self, links: &[Link], gold: &Gold) {
        self.proposed += links.len();
        self.sure += gold.sure.len();
        self.sure_hits += links.iter().filter(|link| gold.sure.contains(link)).count();
        self.possible_hits += links.iter().filter(|link| gold.possible.contains(link)).count();
    }

    /// Computes the ratios; perfect if there are neither gold nor proposed links.
    pub fn metrics(&self) -> AlignmentMetrics {
        let precision = ratio(self.possible_hits, self.proposed);
        let recall = ratio(self.sure_hits, self.sure);
        let sum = precision + recall;
        AlignmentMetrics {
            precision,
            recall,
            f1: if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum },
            aer: 1.0 - ratio(self.sure_hits + self.possible_hits, self.proposed + self.sure),
        }
    }
}

/// `hits / all`; 1 if `all` is 0.
fn ratio(hits: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { hits as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::parse_gold_line;
    use super::*;

    fn counts(links: &[(usize, usize)], gold: &str) -> AerCounts {
        let links: Vec<Link> = links.iter().map(|&(source, target)| Link { source, target }).collect();
        let mut counts = AerCounts::default();
        counts.add(&links, &parse_gold_line(gold).unwrap());
        counts
    }

    #[test]
    fn computes_worked_example() {
        // A = {0-0, 1-1, 2-2, 3-3}; S = {0-0, 1-1, 4-4}; P adds 2-2.
        let metrics = counts(&[(0, 0), (1, 1), (2, 2), (3, 3)], "0-0 1-1 4-4 2?2").metrics();
        assert!((metrics.precision - 0.75).abs() < 1e-12);
        assert!((metrics.recall - 2.0 / 3.0).abs() < 1e-12);
        assert!((metrics.aer - (1.0 - 5.0 / 7.0)).abs() < 1e-12);
    }

    #[test]
    fn handles_empty_and_perfect_alignments() {
        assert_eq!(counts(&[], "").metrics().aer, 0.0);
        assert_eq!(counts(&[], "0-0").metrics().aer, 1.0);
        assert_eq!(
            counts(&[(0, 0)], "0-0").metrics(),
            AlignmentMetrics { precision: 1.0, recall: 1.0, f1: 1.0, aer: 0.0 }
        );
        assert_eq!(counts(&[(1, 0)], "0-0").metrics().f1, 0.0);
    }
}
