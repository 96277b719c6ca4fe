//! Detection of systematic offsets: links that fit a gold standard much better when all are moved by one word.
//!
//! Attention sometimes settles one word off (Koehn & Knowles 2017, section 3.5): translations are good, but every link
//! is wrong. A gold file with another index base looks much the same.

use serde::Serialize;

use super::{AerCounts, Gold, Link};

/// Offsets on the source and target side: along one side for attention errors, along both for index bases.
const OFFSETS: [(isize, isize); 6] = [(0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, 1)];

/// Minimum AER improvement of a significant offset.
const MIN_IMPROVEMENT: f64 = 0.1;

/// Offset of all links and the resulting AER.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkOffset {
    /// Offset in source words.
    pub source: isize,
    /// Offset in target words.
    pub target: isize,
    /// AER of the moved links; those outside their sentence are dropped.
    pub aer: f64,
}

/// Corpus counts without and with each offset.
#[derive(Clone, Copy, Debug, Default)]
pub struct OffsetCounts {
    unmoved: AerCounts,
    moved: [AerCounts; OFFSETS.len()],
}

impl OffsetCounts {
    /// Adds the links of one sentence pair, which must be distinct, with its numbers of source and target words.
    pub fn add(&mut self, links: &[Link], size: [usize; 2], gold: &Gold) {
        self.unmoved.add(links, gold);
        for (counts, (source, target)) in self.moved.iter_mut().zip(OFFSETS) {
            let moved = links.iter().filter_map(|link| link.moved(source, target));
            let moved: Vec<Link> = moved.filter(|link| link.in_bounds(size)).collect();
            counts.add(&moved, gold);
        }
    }

    /// Counts without an offset.
    pub fn unmoved(&self) -> AerCounts {
        self.unmoved
    }

    /// Best offset, if it lowers AER by more than 0.1.
    pub fn significant_offset(&self) -> Option<LinkOffset> {
        let offsets = self.moved.iter().zip(OFFSETS);
        let offsets =
            offsets.map(|(counts, (source, target))| LinkOffset { source, target, aer: counts.metrics().aer });
        let best = offsets.min_by(|a, b| a.aer.total_cmp(&b.aer))?;
        (best.aer < self.unmoved.metrics().aer - MIN_IMPROVEMENT).then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_gold_line;
    use super::*;

    fn counts(links: &[(usize, usize)], size: [usize; 2], gold: &str) -> OffsetCounts {
        let links: Vec<Link> = links.iter().map(|&(source, target)| Link { source, target }).collect();
        let mut counts = OffsetCounts::default();
        counts.add(&links, size, &parse_gold_line(gold).unwrap());
        counts
    }

    #[test]
    fn computes_worked_example() {
        // Words swap in pairs, and each link is one target word too late; the last has no counterpart.
        let counts = counts(&[(1, 1), (0, 2), (3, 3)], [4, 4], "1-0 0-1 3-2 2-3");
        // Unmoved, no link is correct: 1 - 0 / (3 + 4).
        assert_eq!(counts.unmoved().metrics().aer, 1.0);
        // One target word earlier, they are 1-0, 0-1 and 3-2; 2-3 is missed: 1 - (3 + 3) / (3 + 4).
        let offset = counts.significant_offset().unwrap();
        assert_eq!((offset.source, offset.target), (0, -1));
        assert!((offset.aer - 1.0 / 7.0).abs() < 1e-12, "{offset:?}");
    }

    #[test]
    fn finds_every_offset() {
        // Not diagonal, where a source offset would equal a target offset.
        let gold = "2-5 5-1 3-3 6-6";
        let right = [(2, 5), (5, 1), (3, 3), (6, 6)];
        assert_eq!(counts(&right, [9, 9], gold).significant_offset(), None);
        for (source, target) in OFFSETS {
            let wrong =
                right.map(|(s, t): (usize, usize)| (s.wrapping_add_signed(-source), t.wrapping_add_signed(-target)));
            let expected = LinkOffset { source, target, aer: 0.0 };
            assert_eq!(counts(&wrong, [9, 9], gold).significant_offset(), Some(expected));
        }
    }

    #[test]
    fn drops_links_moved_outside() {
        // 1-1 would become 1-2, beyond the two target words.
        let counts = counts(&[(0, 0), (1, 1)], [2, 2], "0-1");
        assert_eq!(counts.significant_offset().map(|offset| (offset.target, offset.aer)), Some((1, 0.0)));
    }

    #[test]
    fn ignores_small_improvements() {
        // 21 links: `fitting` of them are correct, the others one target word early.
        for (fitting, target_offset, reason) in [(10, None, "gains 1 link of 21"), (8, Some(1), "gains 5 links of 21")]
        {
            let mut links = Vec::new();
            let mut gold = Vec::new();
            for word in 0..21 {
                links.push((2 * word, 3 * word));
                gold.push(format!("{}-{}", 2 * word, 3 * word + usize::from(word >= fitting)));
            }
            let found = counts(&links, [50, 70], &gold.join(" ")).significant_offset();
            assert_eq!(found.map(|offset| offset.target), target_offset, "{reason}");
        }
        assert_eq!(counts(&[], [0, 0], "").significant_offset(), None);
    }
}
