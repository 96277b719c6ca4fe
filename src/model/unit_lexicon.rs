//! Translations of units that are known beforehand, as a bias on the output through attention (Arthur, Neubig & Nakamura
//! 2016, "Incorporating Discrete Translation Lexicons into Neural Machine Translation").
//!
//! ```text
//! l_t(y) = Σ_j α_tj L[x_j, y]              how the units looked at are translated
//! z_t(y) = E_out r_t + b + ln(1 + l_t(y) / ε)
//!
//! dα_tj = Σ_y dz_t(y) L[x_j, y] / (ε + l_t(y))
//! ```
//!
//! L is not learnt with the model. Its rows are sparse: what a unit is never translated by is not there.

use std::collections::BTreeMap;

use crate::text::{END, Example};

/// ε: how much of a translation by nothing in L is believed in; the paper's value.
pub(super) const EPSILON: f32 = 1e-3;
/// Shares below this are not worth their place.
const MIN_SHARE: f32 = 5e-3;

/// L: for each source unit the target units that translate it, each with its share.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitLexicon {
    /// Where each source unit's entries begin, and the end of the last: `[source vocabulary + 1]`
    starts: Vec<u32>,
    /// The target units, in order within a row.
    units: Vec<u32>,
    /// L[x, y] of each, above 0 and at most 1.
    shares: Vec<f32>,
    pub(super) target_vocabulary: usize,
}

impl UnitLexicon {
    /// Counts how often target units were guided to each source unit, each as much as the guide says. The end is translated
    /// by the end: without that, whatever is looked at would say that there is more to come.
    pub fn from_guides<'e>(
        examples: impl Iterator<Item = &'e Example>,
        [source_vocabulary, target_vocabulary]: [usize; 2],
    ) -> Self {
        let mut counts: Vec<BTreeMap<u32, f32>> = vec![BTreeMap::new(); source_vocabulary];
        for Example { source, target, guide } in examples {
            for look in guide {
                let unit = |units: &[u32], place: u32| units.get(place as usize).copied().unwrap_or(END);
                let (x, y) = (unit(source, look.source), unit(target, look.target));
                *counts[x as usize].entry(y).or_default() += look.weight;
            }
        }
        let share = |row: BTreeMap<u32, f32>| {
            let sum: f32 = row.values().sum();
            row.into_iter().map(|(unit, count)| (unit, count / sum)).collect()
        };
        Self::from_rows(counts.into_iter().map(share), target_vocabulary)
    }

    /// From each source unit's translations with their shares.
    fn from_rows(rows: impl Iterator<Item = BTreeMap<u32, f32>>, target_vocabulary: usize) -> Self {
        let (mut starts, mut units, mut shares) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (unit, share) in row {
                if share >= MIN_SHARE {
                    units.push(unit);
                    shares.push(share.min(1.0));
                }
            }
            starts.push(units.len() as u32);
        }
        Self { starts, units, shares, target_vocabulary }
    }

    /// The same between other vocabularies, of which each unit is told that it was before, if it was one: what is
    /// translated by a unit that is there no more keeps its other translations.
    pub fn remapped(&self, [sources, targets]: [&[Option<u32>]; 2]) -> Self {
        let now: BTreeMap<u32, u32> = (0..).zip(targets).filter_map(|(now, before)| Some(((*before)?, now))).collect();
        let row = |source: &Option<u32>| {
            let (units, shares) = source.map_or((&[][..], &[][..]), |source| self.row(source));
            let moved = |(unit, &share)| Some((*now.get(unit)?, share));
            units.iter().zip(shares).filter_map(moved).collect()
        };
        Self::from_rows(sources.iter().map(row), targets.len())
    }

    /// What either of two lexicons between the same vocabularies knows: where both know a source unit, the mean of their
    /// shares. Since shares weigh by their logarithm beside ε, half of one says nearly as much as the whole, and none says
    /// nothing: so neither what the one has met too rarely is lost, nor what is new in the other.
    pub fn merged(&self, other: &Self) -> Self {
        let row = |source: u32| -> BTreeMap<u32, f32> {
            let rows = [self.row(source), other.row(source)];
            let known: Vec<_> = rows.into_iter().filter(|(units, _)| !units.is_empty()).collect();
            let mut mean = BTreeMap::new();
            for (&unit, share) in known.iter().flat_map(|(units, shares)| units.iter().zip(*shares)) {
                *mean.entry(unit).or_default() += share / known.len() as f32;
            }
            mean
        };
        Self::from_rows((0..self.starts.len() as u32 - 1).map(row), self.target_vocabulary)
    }

    /// From the parts that [`Self::parts`] gave.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn from_parts(
        [starts, units]: [Vec<u32>; 2],
        shares: Vec<f32>,
        [source_vocabulary, target_vocabulary]: [usize; 2],
    ) -> Result<Self, String> {
        let bounded = starts.first() == Some(&0) && starts.last().is_some_and(|&end| end as usize == units.len());
        if starts.len() != source_vocabulary + 1 || !bounded || !starts.is_sorted() || units.len() != shares.len() {
            return Err("its rows are not those of the source units".to_owned());
        }
        let lexicon = Self { starts, units, shares, target_vocabulary };
        let rows = (0..source_vocabulary as u32).map(|unit| lexicon.row(unit));
        let in_order = |(units, _): (&[u32], &[f32])| units.is_sorted_by(|a, b| a < b);
        if !rows.into_iter().all(in_order) || lexicon.units.iter().any(|&unit| unit as usize >= target_vocabulary) {
            return Err("its target units are out of order, or beyond the vocabulary".to_owned());
        }
        if lexicon.shares.iter().any(|&share| !(share > 0.0 && share <= 1.0)) {
            return Err("its shares are not between 0 and 1".to_owned());
        }
        Ok(lexicon)
    }

    /// Where rows begin, their target units, and the units' shares.
    pub fn parts(&self) -> ([&[u32]; 2], &[f32]) {
        ([&self.starts, &self.units], &self.shares)
    }

    /// How many translations there are in all.
    pub fn entry_count(&self) -> usize {
        self.units.len()
    }

    pub(super) fn row(&self, source: u32) -> (&[u32], &[f32]) {
        let place = self.starts[source as usize] as usize..self.starts[source as usize + 1] as usize;
        (&self.units[place.clone()], &self.shares[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Look;

    fn lexicon() -> UnitLexicon {
        let look = |target, source, weight| Look { target, source, weight };
        let mut example = Example::new(vec![1, 3], vec![5, 3, 4]);
        // The last look is from end to end, which is unit 2.
        example.guide = vec![look(0, 0, 0.3), look(1, 0, 0.1), look(2, 1, 0.2), look(3, 2, 0.4)];
        UnitLexicon::from_guides([&example].into_iter(), [4, 6])
    }

    #[test]
    fn shares_are_those_of_the_looks() {
        let lexicon = lexicon();
        assert_eq!(lexicon.starts, [0, 0, 2, 3, 4]);
        assert_eq!(lexicon.units, [3, 5, 2, 4]);
        assert!(
            lexicon.shares.iter().zip([0.25, 0.75, 1.0, 1.0]).all(|(share, expected)| (share - expected).abs() < 1e-6)
        );
        let ([starts, units], shares) = lexicon.parts();
        let again = UnitLexicon::from_parts([starts.to_vec(), units.to_vec()], shares.to_vec(), [4, 6]).unwrap();
        assert_eq!(again, lexicon);
    }

    #[test]
    fn translations_go_along_to_other_vocabularies() {
        let before = lexicon();
        let all = |count| (0..count).map(Some).collect::<Vec<_>>();
        assert_eq!(before.remapped([&all(4), &all(6)]), before);
        // Source unit 1 is at 0 now, 3 is gone, and one is new; target unit 3 is gone, 5 is at 1.
        let sources = [Some(1), None, Some(2)];
        let targets = [Some(0), Some(5), Some(2)];
        let now = before.remapped([&sources, &targets]);
        assert_eq!(
            (&now.starts[..], &now.units[..], &now.shares[..]),
            (&[0, 1, 1, 2][..], &[1, 2][..], &[0.75, 1.0][..])
        );
        assert_eq!(now.target_vocabulary, 3);
    }

    #[test]
    fn what_either_lexicon_knows_is_known_to_both_together() {
        let of = |units: &[u32], starts: &[u32], shares: &[f32]| {
            UnitLexicon::from_parts([starts.to_vec(), units.to_vec()], shares.to_vec(), [3, 6]).unwrap()
        };
        let old = of(&[3, 5, 2], &[0, 2, 2, 3], &[0.25, 0.75, 1.0]);
        let new = of(&[4, 5, 1], &[0, 2, 3, 3], &[0.5, 0.5, 1.0]);
        let expected = of(&[3, 4, 5, 1, 2], &[0, 3, 4, 5], &[0.125, 0.25, 0.625, 1.0, 1.0]);
        assert_eq!((old.merged(&new), new.merged(&old)), (expected.clone(), expected));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let wrong = [
            ([vec![0, 0, 2, 3], vec![3, 5, 4]], vec![0.5; 3]),
            ([vec![0, 0, 2, 1, 3], vec![3, 5, 4]], vec![0.5; 3]),
            ([vec![0, 0, 2, 3, 4], vec![3, 5, 4]], vec![0.5; 3]),
            ([vec![0, 0, 2, 3, 3], vec![5, 3, 4]], vec![0.5; 3]),
            ([vec![0, 0, 2, 3, 3], vec![3, 6, 4]], vec![0.5; 3]),
            ([vec![0, 0, 2, 3, 3], vec![3, 5, 4]], vec![0.5, f32::NAN, 0.5]),
            ([vec![0, 0, 2, 3, 3], vec![3, 5, 4]], vec![0.5, 0.0, 0.5]),
            ([vec![0, 0, 2, 3, 3], vec![3, 5, 4]], vec![0.5; 2]),
            ([Vec::new(), Vec::new()], Vec::new()),
        ];
        for (parts, shares) in wrong {
            assert!(UnitLexicon::from_parts(parts.clone(), shares, [4, 6]).is_err(), "{parts:?}");
        }
    }
}
