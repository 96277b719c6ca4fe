//! Shortlists of target units at decoding (L'Hostis, Grangier & Auli 2016, "Vocabulary Selection Strategies for Neural Machine
//! Translation"): a sentence may have the most frequent units, the translations of its own units in the lexicon, and units that
//! occurred with them in training although no link leads to them. The probability of all others together is estimated from the
//! state (`cpu/unlisted.rs`) and given to padding, which no hypothesis has.

use std::iter::StepBy;
use std::ops::Range;
use std::sync::Arc;

use super::{FREQUENT_UNITS, UnitLexicon};

/// Most units that stand for those that are not frequent.
const MAX_SAMPLE: usize = 4096;

/// Returns the units by which those that are not frequent are measured: all of them, or some at equal distances.
pub fn unlisted_sample(vocabulary: usize) -> StepBy<Range<usize>> {
    let frequent = FREQUENT_UNITS as usize;
    (frequent..vocabulary).step_by((vocabulary - frequent).div_ceil(MAX_SAMPLE))
}

/// ln of the number of units without a logit of their own if `listed` of a vocabulary have one. Padding is one of them.
pub fn log_unlisted(vocabulary: usize, listed: usize) -> f32 {
    ((vocabulary - listed + 1) as f32).ln()
}

/// Target units that each sentence of a batch may have.
#[derive(Clone, Debug)]
pub struct Shortlist(Vec<Option<Arc<[u32]>>>);

impl Shortlist {
    /// Selects units for sentences that the models with these lexicons translate. A sentence given as `None` may have all units,
    /// and so have all if a lexicon does not know its unlinked units.
    pub fn new<'s>(lexicons: &[&UnitLexicon], sentences: impl Iterator<Item = Option<&'s [u32]>>) -> Self {
        let unlinked: Option<Vec<_>> = lexicons.iter().map(|lexicon| lexicon.unlinked()).collect();
        let Some((unlinked, first)) = unlinked.zip(lexicons.first()) else {
            return Self(sentences.map(|_| None).collect());
        };
        let rows: Vec<_> = lexicons.iter().map(|lexicon| lexicon.links().0).chain(unlinked).collect();
        assert!(first.target_vocabulary > FREQUENT_UNITS as usize, "a shortlist would have the whole vocabulary");
        let select = |source: &[u32]| -> Arc<[u32]> {
            let others = source.iter().flat_map(|&unit| rows.iter().flat_map(move |rows| rows.row(unit))).copied();
            let mut units: Vec<u32> = (0..FREQUENT_UNITS).chain(others).collect();
            units.sort_unstable();
            units.dedup();
            units.into()
        };
        Self(sentences.map(|source| source.map(select)).collect())
    }

    /// Units of a sentence in increasing order, the first ones of the vocabulary among them; none if it may have all units.
    pub fn units(&self, sentence: usize) -> Option<&Arc<[u32]>> {
        self.0[sentence].as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::UnitRows;

    #[test]
    fn selects_frequent_linked_and_unlinked_units() {
        let lexicon = |links: [Vec<u32>; 3], unlinked: Option<[Vec<u32>; 3]>| {
            let [links, unlinked] =
                [Some(links), unlinked].map(|rows| rows.map(|rows| UnitRows::new(rows.into_iter())));
            let links = links.unwrap();
            let probabilities = vec![0.5; links.units.len()];
            UnitLexicon::from_parts(links, probabilities, unlinked, [3, 3000]).unwrap()
        };
        let first = lexicon([vec![1600], vec![], vec![2, 1700]], Some([vec![1800], vec![], vec![]]));
        let second = lexicon([vec![1900], vec![], vec![1700, 2999]], Some([vec![], vec![2000], vec![]]));
        let sentences: [Option<&[u32]>; 4] = [Some(&[0, 1]), Some(&[2]), Some(&[]), None];
        let shortlist = Shortlist::new(&[&first, &second], sentences.into_iter());
        let others = |sentence: usize| -> Vec<u32> {
            let units = shortlist.units(sentence).unwrap();
            assert!(units.iter().copied().take(FREQUENT_UNITS as usize).eq(0..FREQUENT_UNITS));
            units[FREQUENT_UNITS as usize..].to_vec()
        };
        assert_eq!([0, 1, 2].map(others), [vec![1600, 1800, 1900, 2000], vec![1700, 2999], vec![]]);
        assert!(shortlist.units(3).is_none());
        let unknown = lexicon([vec![1600], vec![], vec![]], None);
        for lexicons in [&[][..], &[&first, &unknown]] {
            assert!(Shortlist::new(lexicons, sentences.into_iter()).units(0).is_none());
        }
    }
}
