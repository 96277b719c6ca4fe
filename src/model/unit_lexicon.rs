//! Bilingual unit lexicon that biases the output through attention (Arthur, Neubig & Nakamura 2016, "Incorporating
//! Discrete Translation Lexicons into Neural Machine Translation").
//!
//! ```text
//! l_t(y) = Σ_j α_tj L[x_j, y]              translation probabilities of the attended units
//! z_t(y) = E_out r_t + b + ln(1 + l_t(y) / ε)
//!
//! dα_tj = Σ_y dz_t(y) L[x_j, y] / (ε + l_t(y))
//! ```
//!
//! L is estimated before training and not updated by it. Its rows are sparse.

use std::collections::BTreeMap;

use crate::text::{END, Example};

/// ε: smoothing of the lexicon's probabilities; the paper's value.
pub(super) const EPSILON: f32 = 1e-3;
/// Probabilities below this are omitted.
const MIN_PROBABILITY: f32 = 5e-3;

/// L: for each source unit the probabilities of its translations, in rows of a sparse matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitLexicon {
    /// First entry of each row, and the end of the last: `[source vocabulary + 1]`
    starts: Vec<u32>,
    /// Target units, in increasing order within a row.
    units: Vec<u32>,
    /// L[x, y] of each entry, above 0 and at most 1.
    probabilities: Vec<f32>,
    pub(super) target_vocabulary: usize,
}

impl UnitLexicon {
    /// Estimates L from weighted alignment links by relative frequency. `</s>` translates `</s>`; otherwise the bias
    /// would always favor continuing.
    pub fn from_guides<'e>(
        examples: impl Iterator<Item = &'e Example>,
        [source_vocabulary, target_vocabulary]: [usize; 2],
    ) -> Self {
        let mut counts: Vec<BTreeMap<u32, f32>> = vec![BTreeMap::new(); source_vocabulary];
        for Example { source, target, guide } in examples {
            for link in guide {
                let unit = |units: &[u32], index: u32| units.get(index as usize).copied().unwrap_or(END);
                let (x, y) = (unit(source, link.source), unit(target, link.target));
                *counts[x as usize].entry(y).or_default() += link.weight;
            }
        }
        let probability = |row: BTreeMap<u32, f32>| {
            let sum: f32 = row.values().sum();
            row.into_iter().map(|(unit, count)| (unit, count / sum)).collect()
        };
        Self::from_rows(counts.into_iter().map(probability), target_vocabulary)
    }

    /// Returns the lexicon that translates each source unit by the target unit with its spelling, if there is one, so that
    /// attended units are copied.
    pub fn identity(target_units: &[Option<u32>], target_vocabulary: usize) -> Self {
        let row = |unit: &Option<u32>| unit.iter().map(|&unit| (unit, 1.0)).collect();
        Self::from_rows(target_units.iter().map(row), target_vocabulary)
    }

    /// Builds the rows from each source unit's translation probabilities.
    fn from_rows(rows: impl Iterator<Item = BTreeMap<u32, f32>>, target_vocabulary: usize) -> Self {
        let (mut starts, mut units, mut probabilities) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (unit, probability) in row {
                if probability >= MIN_PROBABILITY {
                    units.push(unit);
                    probabilities.push(probability.min(1.0));
                }
            }
            starts.push(units.len() as u32);
        }
        Self { starts, units, probabilities, target_vocabulary }
    }

    /// Remaps the lexicon to other vocabularies, given each new unit's old id, if any. Entries of removed units are
    /// dropped.
    pub fn remapped(&self, [sources, targets]: [&[Option<u32>]; 2]) -> Self {
        let new_ids: BTreeMap<u32, u32> = (0..).zip(targets).filter_map(|(new, old)| Some(((*old)?, new))).collect();
        let row = |source: &Option<u32>| {
            let (units, probabilities) = source.map_or((&[][..], &[][..]), |source| self.row(source));
            let remap = |(unit, &probability)| Some((*new_ids.get(unit)?, probability));
            units.iter().zip(probabilities).filter_map(remap).collect()
        };
        Self::from_rows(sources.iter().map(row), targets.len())
    }

    /// Merges two lexicons between the same vocabularies: averages rows that both have and copies the others. The bias is
    /// logarithmic, so that halving a probability changes little.
    pub fn merged(&self, other: &Self) -> Self {
        let row = |source: u32| -> BTreeMap<u32, f32> {
            let rows = [self.row(source), other.row(source)];
            let rows: Vec<_> = rows.into_iter().filter(|(units, _)| !units.is_empty()).collect();
            let mut mean = BTreeMap::new();
            for (&unit, probability) in rows.iter().flat_map(|(units, probabilities)| units.iter().zip(*probabilities))
            {
                *mean.entry(unit).or_default() += probability / rows.len() as f32;
            }
            mean
        };
        Self::from_rows((0..self.starts.len() as u32 - 1).map(row), self.target_vocabulary)
    }

    /// Rebuilds a lexicon from [`Self::parts`].
    ///
    /// # Errors
    /// Describes the first inconsistency.
    pub fn from_parts(
        [starts, units]: [Vec<u32>; 2],
        probabilities: Vec<f32>,
        [source_vocabulary, target_vocabulary]: [usize; 2],
    ) -> Result<Self, String> {
        let bounded = starts.first() == Some(&0) && starts.last().is_some_and(|&end| end as usize == units.len());
        if starts.len() != source_vocabulary + 1
            || !bounded
            || !starts.is_sorted()
            || units.len() != probabilities.len()
        {
            return Err("row starts do not match the source vocabulary".to_owned());
        }
        let lexicon = Self { starts, units, probabilities, target_vocabulary };
        let rows = (0..source_vocabulary as u32).map(|unit| lexicon.row(unit));
        let in_order = |(units, _): (&[u32], &[f32])| units.is_sorted_by(|a, b| a < b);
        if !rows.into_iter().all(in_order) || lexicon.units.iter().any(|&unit| unit as usize >= target_vocabulary) {
            return Err("target units are unsorted or outside the vocabulary".to_owned());
        }
        if lexicon.probabilities.iter().any(|&probability| !(probability > 0.0 && probability <= 1.0)) {
            return Err("probabilities are not between 0 and 1".to_owned());
        }
        Ok(lexicon)
    }

    /// Returns row starts and target units, and the units' probabilities.
    pub fn parts(&self) -> ([&[u32]; 2], &[f32]) {
        ([&self.starts, &self.units], &self.probabilities)
    }

    /// Number of entries.
    pub fn entry_count(&self) -> usize {
        self.units.len()
    }

    pub(super) fn row(&self, source: u32) -> (&[u32], &[f32]) {
        let range = self.starts[source as usize] as usize..self.starts[source as usize + 1] as usize;
        (&self.units[range.clone()], &self.probabilities[range])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::GuideWeight;

    fn lexicon() -> UnitLexicon {
        let link = |target, source, weight| GuideWeight { target, source, weight };
        let mut example = Example::new(vec![1, 3], vec![5, 3, 4]);
        // The last link is from `</s>` to `</s>`, unit 2.
        example.guide = vec![link(0, 0, 0.3), link(1, 0, 0.1), link(2, 1, 0.2), link(3, 2, 0.4)];
        UnitLexicon::from_guides([&example].into_iter(), [4, 6])
    }

    #[test]
    fn probabilities_are_relative_frequencies_of_links() {
        let lexicon = lexicon();
        assert_eq!(lexicon.starts, [0, 0, 2, 3, 4]);
        assert_eq!(lexicon.units, [3, 5, 2, 4]);
        assert!(
            lexicon
                .probabilities
                .iter()
                .zip([0.25, 0.75, 1.0, 1.0])
                .all(|(probability, expected)| (probability - expected).abs() < 1e-6)
        );
        let ([starts, units], probabilities) = lexicon.parts();
        let again = UnitLexicon::from_parts([starts.to_vec(), units.to_vec()], probabilities.to_vec(), [4, 6]).unwrap();
        assert_eq!(again, lexicon);
    }

    #[test]
    fn identity_has_one_entry_for_each_unit_that_the_target_has() {
        let lexicon = UnitLexicon::identity(&[Some(0), None, Some(2), Some(1)], 3);
        assert_eq!((&lexicon.starts[..], &lexicon.units[..]), (&[0, 1, 1, 2, 3][..], &[0, 2, 1][..]));
        assert_eq!(lexicon.probabilities, [1.0; 3]);
    }

    #[test]
    fn remapped_keeps_entries_of_surviving_units() {
        let before = lexicon();
        let all = |count| (0..count).map(Some).collect::<Vec<_>>();
        assert_eq!(before.remapped([&all(4), &all(6)]), before);
        // Source unit 1 becomes 0, 3 is removed, one is new; target unit 3 is removed, 5 becomes 1.
        let sources = [Some(1), None, Some(2)];
        let targets = [Some(0), Some(5), Some(2)];
        let now = before.remapped([&sources, &targets]);
        assert_eq!(
            (&now.starts[..], &now.units[..], &now.probabilities[..]),
            (&[0, 1, 1, 2][..], &[1, 2][..], &[0.75, 1.0][..])
        );
        assert_eq!(now.target_vocabulary, 3);
    }

    #[test]
    fn merged_averages_common_rows_and_copies_others() {
        let of = |units: &[u32], starts: &[u32], probabilities: &[f32]| {
            UnitLexicon::from_parts([starts.to_vec(), units.to_vec()], probabilities.to_vec(), [3, 6]).unwrap()
        };
        let old = of(&[3, 5, 2], &[0, 2, 2, 3], &[0.25, 0.75, 1.0]);
        let new = of(&[4, 5, 1], &[0, 2, 3, 3], &[0.5, 0.5, 1.0]);
        let expected = of(&[3, 4, 5, 1, 2], &[0, 3, 4, 5], &[0.125, 0.25, 0.625, 1.0, 1.0]);
        assert_eq!((old.merged(&new), new.merged(&old)), (expected.clone(), expected));
    }

    #[test]
    fn from_parts_rejects_inconsistent_parts() {
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
        for (parts, probabilities) in wrong {
            assert!(UnitLexicon::from_parts(parts.clone(), probabilities, [4, 6]).is_err(), "{parts:?}");
        }
    }
}
