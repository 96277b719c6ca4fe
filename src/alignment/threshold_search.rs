//! Search for the link threshold of the lowest alignment error rate.

use serde::Serialize;

use super::{AerCounts, Gold, Link};

/// Thresholds tried: 0.05, 0.1 … 0.95.
const THRESHOLDS: usize = 19;

/// Best threshold and its AER.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BestThreshold {
    /// Minimum score of a link.
    #[serde(rename = "best_threshold")]
    pub threshold: f32,
    /// AER of its links.
    #[serde(rename = "best_threshold_aer")]
    pub aer: f64,
}

/// Corpus counts by threshold.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThresholdSearch {
    counts: [AerCounts; THRESHOLDS],
}

impl ThresholdSearch {
    /// Adds one sentence pair, given its links as a function of the threshold.
    pub fn add(&mut self, links_at: impl Fn(f32) -> Vec<Link>, gold: &Gold) {
        for (counts, threshold) in self.counts.iter_mut().zip(thresholds()) {
            counts.add(&links_at(threshold), gold);
        }
    }

    /// Threshold of the lowest AER, the lowest of ties.
    pub fn best(&self) -> Option<BestThreshold> {
        let tried = self.counts.iter().zip(thresholds());
        let tried = tried.map(|(counts, threshold)| BestThreshold { threshold, aer: counts.metrics().aer });
        tried.min_by(|a, b| a.aer.total_cmp(&b.aer))
    }
}

fn thresholds() -> impl Iterator<Item = f32> {
    (1..=THRESHOLDS).map(|step| step as f32 / 20.0)
}

#[cfg(test)]
mod tests {
    use super::super::{LinkScores, parse_gold_line};
    use super::*;

    fn search(rows: &[Vec<f32>], gold: &str) -> BestThreshold {
        let scores = LinkScores::from_directions(rows[0].len(), &rows.concat(), &rows.concat());
        let mut search = ThresholdSearch::default();
        search.add(|threshold| scores.links(threshold), &parse_gold_line(gold).unwrap());
        search.best().unwrap()
    }

    #[test]
    fn finds_threshold_of_worked_examples() {
        // Up to 0.15, the first row has a link too many; above 0.3, the second has one too few.
        let rows = [vec![0.75, 0.18], vec![0.32, 0.6]];
        assert_eq!(search(&rows, "0-0 0-1 1-1"), BestThreshold { threshold: 0.2, aer: 0.0 });
        // Without 0-1 in the gold standard, that link is also wrong.
        assert_eq!(search(&rows, "0-0 1-1"), BestThreshold { threshold: 0.35, aer: 0.0 });
        // All links are correct: the lowest of ties.
        assert_eq!(search(&rows, "0-0 1-0 0-1 1-1"), BestThreshold { threshold: 0.05, aer: 0.0 });
    }

    #[test]
    fn thresholds_print_as_round_numbers() {
        let written: Vec<String> = thresholds().map(|threshold| threshold.to_string()).collect();
        assert_eq!(written[..3], ["0.05", "0.1", "0.15"]);
        assert_eq!(written[18], "0.95");
        assert!(written.iter().all(|text| text.len() <= 4), "{written:?}");
    }
}
