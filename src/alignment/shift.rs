//! Whether links would fit a gold standard better if all of them lay one word further.
//!
//! Attention is known to settle one word off now and then (Koehn & Knowles 2017, section 3.5): translations are good,
//! and every link is wrong. A gold file whose words are counted from the wrong number looks much the same.

use serde::Serialize;

use super::{AgreementCounts, Gold, Link};

/// Steps on the source and on the target side: along one of them as attention errs, along both as counting does.
const SHIFTS: [(isize, isize); 6] = [(0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, 1)];

/// How much lower the alignment error rate must be for a shift to be no accident.
const MUCH_BETTER: f64 = 0.1;

/// A shift of all links, and what comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shift {
    /// Words that each link is moved on the source side.
    pub source: isize,
    /// Words that each link is moved on the target side.
    pub target: isize,
    /// Alignment error rate of the moved links; those that fall outside their sentence are dropped.
    pub aer: f64,
}

/// Counts over a corpus, once for the links as they are and once for each shift.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShiftedCounts {
    unshifted: AgreementCounts,
    shifted: [AgreementCounts; SHIFTS.len()],
}

impl ShiftedCounts {
    /// Adds one sentence pair's links, which must hold no link twice, with the number of its source and target words.
    pub fn add(&mut self, links: &[Link], size: [usize; 2], gold: &Gold) {
        self.unshifted.add(links, gold);
        for (counts, (source, target)) in self.shifted.iter_mut().zip(SHIFTS) {
            let moved = links.iter().filter_map(|link| link.moved(source, target));
            let moved: Vec<Link> = moved.filter(|link| link.lies_within(size)).collect();
            counts.add(&moved, gold);
        }
    }

    /// The counts of the links as they are.
    pub fn unshifted(&self) -> AgreementCounts {
        self.unshifted
    }

    /// The best shift, if it is much better than none.
    pub fn much_better(&self) -> Option<Shift> {
        let shifts = self.shifted.iter().zip(SHIFTS);
        let shifts = shifts.map(|(counts, (source, target))| Shift { source, target, aer: counts.agreement().aer });
        let best = shifts.min_by(|a, b| a.aer.total_cmp(&b.aer))?;
        (best.aer < self.unshifted.agreement().aer - MUCH_BETTER).then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_gold_line;
    use super::*;

    fn counts(links: &[(usize, usize)], size: [usize; 2], gold: &str) -> ShiftedCounts {
        let links: Vec<Link> = links.iter().map(|&(source, target)| Link { source, target }).collect();
        let mut counts = ShiftedCounts::default();
        counts.add(&links, size, &parse_gold_line(gold).unwrap());
        counts
    }

    #[test]
    fn a_worked_example() {
        // Words change places in pairs, and each link lies one target word too late; the last has no place to go to.
        let counts = counts(&[(1, 1), (0, 2), (3, 3)], [4, 4], "1-0 0-1 3-2 2-3");
        // As they are, no link fits: 1 - 0 / (3 + 4).
        assert_eq!(counts.unshifted().agreement().aer, 1.0);
        // One target word earlier, they are 1-0, 0-1 and 3-2, and 2-3 is missed: 1 - (3 + 3) / (3 + 4).
        let shift = counts.much_better().unwrap();
        assert_eq!((shift.source, shift.target), (0, -1));
        assert!((shift.aer - 1.0 / 7.0).abs() < 1e-12, "{shift:?}");
    }

    #[test]
    fn every_shift_is_found() {
        // No diagonal, on which a step aside could be taken for one ahead.
        let gold = "2-5 5-1 3-3 6-6";
        let right = [(2, 5), (5, 1), (3, 3), (6, 6)];
        assert_eq!(counts(&right, [9, 9], gold).much_better(), None);
        for (source, target) in SHIFTS {
            let wrong =
                right.map(|(s, t): (usize, usize)| (s.wrapping_add_signed(-source), t.wrapping_add_signed(-target)));
            let expected = Shift { source, target, aer: 0.0 };
            assert_eq!(counts(&wrong, [9, 9], gold).much_better(), Some(expected));
        }
    }

    #[test]
    fn links_that_fall_outside_are_dropped() {
        // 1-1 would become 1-2, beyond the two target words.
        let counts = counts(&[(0, 0), (1, 1)], [2, 2], "0-1");
        assert_eq!(counts.much_better().map(|shift| (shift.target, shift.aer)), Some((1, 0.0)));
    }

    #[test]
    fn a_little_better_is_not_enough() {
        // 21 links, of which so many fit as they are and the others one target word later.
        let found = |fitting: usize| {
            let links: Vec<(usize, usize)> = (0..21).map(|word| (2 * word, 3 * word)).collect();
            let gold = |word: usize| format!("{}-{}", 2 * word, 3 * word + usize::from(word >= fitting));
            counts(&links, [50, 70], &(0..21).map(gold).collect::<Vec<_>>().join(" ")).much_better()
        };
        assert_eq!(found(10), None, "1 link of 21 is won");
        assert_eq!(found(8).map(|shift| shift.target), Some(1), "5 links of 21 are won");
        assert_eq!(counts(&[], [0, 0], "").much_better(), None);
    }
}
