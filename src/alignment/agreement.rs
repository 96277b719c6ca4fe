//! How well links agree with a gold standard: precision, recall and alignment error rate.

use serde::Serialize;

use super::{Gold, Link};

/// Counts over a corpus. They are summed before any ratio is taken, so that long sentences weigh what they should.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgreementCounts {
    /// |A|: links proposed.
    proposed: usize,
    /// |S|: sure links in the gold standard.
    sure: usize,
    /// |A ∩ S|
    sure_hits: usize,
    /// |A ∩ P|
    possible_hits: usize,
}

/// Agreement of a corpus' links with its gold standard, each in 0..=1 (Och & Ney 2003, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// |A ∩ P| / |A|
    pub precision: f64,
    /// |A ∩ S| / |S|
    pub recall: f64,
    /// The harmonic mean of precision and recall.
    pub f1: f64,
    /// Alignment error rate: 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|). Lower is better.
    pub aer: f64,
}

impl AgreementCounts {
    /// Adds one sentence pair's links, which must hold no link twice.
    pub fn add(&mut self, links: &[Link], gold: &Gold) {
        self.proposed += links.len();
        self.sure += gold.sure.len();
        self.sure_hits += links.iter().filter(|link| gold.sure.contains(link)).count();
        self.possible_hits += links.iter().filter(|link| gold.possible.contains(link)).count();
    }

    /// The ratios. Where there is nothing to find and nothing was proposed, agreement is perfect.
    pub fn agreement(&self) -> Agreement {
        let ratio = |hits: usize, all: usize| if all == 0 { 1.0 } else { hits as f64 / all as f64 };
        let precision = ratio(self.possible_hits, self.proposed);
        let recall = ratio(self.sure_hits, self.sure);
        let sum = precision + recall;
        Agreement {
            precision,
            recall,
            f1: if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum },
            aer: 1.0 - ratio(self.sure_hits + self.possible_hits, self.proposed + self.sure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_gold_line;
    use super::*;

    fn counts(links: &[(usize, usize)], gold: &str) -> AgreementCounts {
        let links: Vec<Link> = links.iter().map(|&(source, target)| Link { source, target }).collect();
        let mut counts = AgreementCounts::default();
        counts.add(&links, &parse_gold_line(gold).unwrap());
        counts
    }

    #[test]
    fn a_worked_example() {
        // A = {0-0, 1-1, 2-2, 3-3}; S = {0-0, 1-1, 4-4}; P adds 2-2.
        let agreement = counts(&[(0, 0), (1, 1), (2, 2), (3, 3)], "0-0 1-1 4-4 2?2").agreement();
        assert!((agreement.precision - 0.75).abs() < 1e-12);
        assert!((agreement.recall - 2.0 / 3.0).abs() < 1e-12);
        assert!((agreement.aer - (1.0 - 5.0 / 7.0)).abs() < 1e-12);
    }

    #[test]
    fn nothing_and_everything() {
        assert_eq!(counts(&[], "").agreement().aer, 0.0);
        assert_eq!(counts(&[], "0-0").agreement().aer, 1.0);
        assert_eq!(counts(&[(0, 0)], "0-0").agreement(), Agreement { precision: 1.0, recall: 1.0, f1: 1.0, aer: 0.0 });
        assert_eq!(counts(&[(1, 0)], "0-0").agreement().f1, 0.0);
    }
}
