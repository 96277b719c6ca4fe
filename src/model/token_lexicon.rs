//! Bilingual token lexicon that biases the output through attention (Arthur, Neubig & Nakamura 2016, "Incorporating
//! Discrete Translation Lexicons into Neural Machine Translation").
//!
//! ```text
//! l_t(y) = Σ_j α_tj L[x_j, y]              translation probabilities of the attended tokens
//! z_t(y) = E_out r_t + b + ln(1 + l_t(y) / ε)
//!
//! dα_tj = Σ_y dz_t(y) L[x_j, y] / (ε + l_t(y))
//! ```
//!
//! L is estimated before training and not updated by it. Its rows are sparse.

use std::collections::{BTreeMap, BTreeSet};

use super::{MIN_SHORTLIST_VOCABULARY, TokenRows};
use crate::text::{END, Example};

/// ε: smoothing of the lexicon's probabilities; the paper's value.
pub(super) const EPSILON: f32 = 1e-3;
/// Probabilities below this are omitted.
const MIN_PROBABILITY: f32 = 5e-3;

/// L: for each source token the probabilities of its translations, in rows of a sparse matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenLexicon {
    /// Translations of each source token.
    links: TokenRows,
    /// L[x, y] of each link, above 0 and at most 1.
    probabilities: Vec<f32>,
    /// Further tokens of a shortlist for each source token, if they are known.
    unlinked: Option<TokenRows>,
    pub(super) target_vocabulary: usize,
}

impl TokenLexicon {
    /// Estimates L from weighted alignment links by relative frequency. `</s>` translates `</s>`; otherwise the bias
    /// would always favor continuing.
    pub fn from_guides<'e>(
        examples: impl Iterator<Item = &'e Example> + Clone,
        [source_vocabulary, target_vocabulary]: [usize; 2],
    ) -> Self {
        let mut counts: Vec<BTreeMap<u32, f32>> = vec![BTreeMap::new(); source_vocabulary];
        for Example { source, target, guide } in examples.clone() {
            for link in guide {
                let token = |tokens: &[u32], index: u32| tokens.get(index as usize).copied().unwrap_or(END);
                let (x, y) = (token(source, link.source), token(target, link.target));
                *counts[x as usize].entry(y).or_default() += link.weight;
            }
        }
        let probability = |row: BTreeMap<u32, f32>| {
            let sum: f32 = row.values().sum();
            row.into_iter().map(|(token, count)| (token, count / sum)).collect()
        };
        let lexicon = Self::from_rows(counts.into_iter().map(probability), target_vocabulary);
        let unlinked = (target_vocabulary >= MIN_SHORTLIST_VOCABULARY).then(|| lexicon.links.missing_in(examples));
        Self { unlinked, ..lexicon }
    }

    /// Returns the lexicon that translates each source token by the target token with its spelling, if there is one, so that
    /// attended tokens are copied.
    pub fn identity(target_tokens: &[Option<u32>], target_vocabulary: usize) -> Self {
        let row = |token: &Option<u32>| token.iter().map(|&token| (token, 1.0)).collect();
        Self::from_rows(target_tokens.iter().map(row), target_vocabulary)
    }

    /// Builds the rows from each source token's translation probabilities.
    fn from_rows(rows: impl Iterator<Item = BTreeMap<u32, f32>>, target_vocabulary: usize) -> Self {
        let mut probabilities = Vec::new();
        let links = TokenRows::new(rows.map(|row| {
            let likely = row.into_iter().filter(|(_, probability)| *probability >= MIN_PROBABILITY);
            let (tokens, row): (Vec<u32>, Vec<f32>) =
                likely.map(|(token, probability)| (token, probability.min(1.0))).unzip();
            probabilities.extend(row);
            tokens
        }));
        Self { links, probabilities, unlinked: None, target_vocabulary }
    }

    /// Remaps the lexicon to other vocabularies, given each new token's old id, if any. Entries of removed tokens are
    /// dropped.
    pub fn remapped(&self, [sources, targets]: [&[Option<u32>]; 2]) -> Self {
        let new_ids: BTreeMap<u32, u32> = (0..).zip(targets).filter_map(|(new, old)| Some(((*old)?, new))).collect();
        let row = |source: &Option<u32>| {
            let (tokens, probabilities) = source.map_or((&[][..], &[][..]), |source| self.row(source));
            let remap = |(token, &probability)| Some((*new_ids.get(token)?, probability));
            tokens.iter().zip(probabilities).filter_map(remap).collect()
        };
        let unlinked = |rows: &TokenRows| {
            let row = |source: &Option<u32>| -> BTreeSet<u32> {
                let tokens = source.map_or(&[][..], |source| rows.row(source));
                tokens.iter().filter_map(|token| new_ids.get(token).copied()).collect()
            };
            TokenRows::new(sources.iter().map(row))
        };
        let unlinked = self.unlinked.as_ref().map(unlinked);
        Self { unlinked, ..Self::from_rows(sources.iter().map(row), targets.len()) }
    }

    /// Merges two lexicons between the same vocabularies: averages rows that both have and copies the others. The bias is
    /// logarithmic, so that halving a probability changes little.
    pub fn merged(&self, other: &Self) -> Self {
        let row = |source: u32| -> BTreeMap<u32, f32> {
            let rows = [self.row(source), other.row(source)];
            let rows: Vec<_> = rows.into_iter().filter(|(tokens, _)| !tokens.is_empty()).collect();
            let mut mean = BTreeMap::new();
            for (&token, probability) in rows.iter().flat_map(|(tokens, probabilities)| tokens.iter().zip(*probabilities))
            {
                *mean.entry(token).or_default() += probability / rows.len() as f32;
            }
            mean
        };
        let sources = 0..self.links.len() as u32;
        let unlinked = self.unlinked.as_ref().zip(other.unlinked.as_ref()).map(|(one, other)| {
            let both =
                |source| BTreeSet::from_iter([one, other].into_iter().flat_map(|rows| rows.row(source)).copied());
            TokenRows::new(sources.clone().map(both))
        });
        Self { unlinked, ..Self::from_rows(sources.clone().map(row), self.target_vocabulary) }
    }

    /// Rebuilds a lexicon from its parts.
    ///
    /// # Errors
    /// Describes the first inconsistency.
    pub fn from_parts(
        links: TokenRows,
        probabilities: Vec<f32>,
        unlinked: Option<TokenRows>,
        [source_vocabulary, target_vocabulary]: [usize; 2],
    ) -> Result<Self, String> {
        [&links]
            .into_iter()
            .chain(&unlinked)
            .try_for_each(|rows| rows.check([source_vocabulary, target_vocabulary]))?;
        if links.tokens.len() != probabilities.len() {
            return Err("target tokens and probabilities differ in number".to_owned());
        }
        if probabilities.iter().any(|&probability| !(probability > 0.0 && probability <= 1.0)) {
            return Err("probabilities are not between 0 and 1".to_owned());
        }
        Ok(Self { links, probabilities, unlinked, target_vocabulary })
    }

    /// Linked tokens and their probabilities.
    pub fn links(&self) -> (&TokenRows, &[f32]) {
        (&self.links, &self.probabilities)
    }

    /// Further tokens of a shortlist, if they are known.
    pub fn unlinked(&self) -> Option<&TokenRows> {
        self.unlinked.as_ref()
    }

    /// Number of links.
    pub fn entry_count(&self) -> usize {
        self.probabilities.len()
    }

    pub(super) fn row(&self, source: u32) -> (&[u32], &[f32]) {
        (self.links.row(source), &self.probabilities[self.links.range(source)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::GuideWeight;

    fn lexicon() -> TokenLexicon {
        let link = |target, source, weight| GuideWeight { target, source, weight };
        let mut example = Example::new(vec![1, 3], vec![5, 3, 4]);
        // The last link is from `</s>` to `</s>`, token 2.
        example.guide = vec![link(0, 0, 0.3), link(1, 0, 0.1), link(2, 1, 0.2), link(3, 2, 0.4)];
        TokenLexicon::from_guides([&example].into_iter(), [4, 6])
    }

    #[test]
    fn probabilities_are_relative_frequencies_of_links() {
        let lexicon = lexicon();
        let (TokenRows { starts, tokens }, probabilities) = lexicon.links();
        assert_eq!((&starts[..], &tokens[..]), (&[0, 0, 2, 3, 4][..], &[3, 5, 2, 4][..]));
        let expected = [0.25, 0.75, 1.0, 1.0];
        assert!(
            probabilities.iter().zip(expected).all(|(probability, expected)| (probability - expected).abs() < 1e-6)
        );
        assert_eq!(lexicon.unlinked(), None);
        let example = Example::new(vec![1, 3], vec![5, 2500]);
        let large = TokenLexicon::from_guides([&example].into_iter(), [4, 3000]);
        assert_eq!(large.unlinked().map(|unlinked| unlinked.tokens.clone()), Some(vec![2500]));
    }

    #[test]
    fn identity_has_one_entry_for_each_token_that_the_target_has() {
        let lexicon = TokenLexicon::identity(&[Some(0), None, Some(2), Some(1)], 3);
        let (TokenRows { starts, tokens }, probabilities) = lexicon.links();
        assert_eq!((&starts[..], &tokens[..]), (&[0, 1, 1, 2, 3][..], &[0, 2, 1][..]));
        assert_eq!(probabilities, [1.0; 3]);
    }

    #[test]
    fn remapped_keeps_entries_of_surviving_tokens() {
        let unlinked = TokenRows { starts: vec![0, 0, 2, 2, 2], tokens: vec![1, 3] };
        let before = TokenLexicon { unlinked: Some(unlinked), ..lexicon() };
        let all = |count| (0..count).map(Some).collect::<Vec<_>>();
        assert_eq!(before.remapped([&all(4), &all(6)]), before);
        // Source token 1 becomes 0, 3 is removed, one is new; target tokens 1 and 3 are removed or moved, 5 becomes 1.
        let sources = [Some(1), None, Some(2)];
        let targets = [Some(1), Some(5), Some(2)];
        let now = before.remapped([&sources, &targets]);
        assert_eq!(now.links, TokenRows { starts: vec![0, 1, 1, 2], tokens: vec![1, 2] });
        assert_eq!(now.probabilities, [0.75, 1.0]);
        assert_eq!(now.unlinked, Some(TokenRows { starts: vec![0, 1, 1, 1], tokens: vec![0] }));
        assert_eq!(now.target_vocabulary, 3);
    }

    #[test]
    fn merged_averages_common_rows_and_copies_others() {
        let of = |tokens: &[u32], starts: &[u32], probabilities: &[f32], unlinked: &[u32]| {
            let unlinked = TokenRows { starts: vec![0, 0, 0, unlinked.len() as u32], tokens: unlinked.to_vec() };
            let links = TokenRows { starts: starts.to_vec(), tokens: tokens.to_vec() };
            TokenLexicon::from_parts(links, probabilities.to_vec(), Some(unlinked), [3, 6]).unwrap()
        };
        let old = of(&[3, 5, 2], &[0, 2, 2, 3], &[0.25, 0.75, 1.0], &[0, 4]);
        let new = of(&[4, 5, 1], &[0, 2, 3, 3], &[0.5, 0.5, 1.0], &[2, 4]);
        let expected = of(&[3, 4, 5, 1, 2], &[0, 3, 4, 5], &[0.125, 0.25, 0.625, 1.0, 1.0], &[0, 2, 4]);
        assert_eq!((old.merged(&new), new.merged(&old)), (expected.clone(), expected));
        let unknown = TokenLexicon { unlinked: None, ..new };
        assert_eq!(old.merged(&unknown).unlinked, None);
    }

    #[test]
    fn from_parts_rejects_inconsistent_parts() {
        let rows = |[starts, tokens]: [Vec<u32>; 2]| TokenRows { starts, tokens };
        let good = [vec![0, 0, 2, 3, 3], vec![3, 5, 4]];
        let wrong = [
            ([vec![0, 0, 2, 3], vec![3, 5, 4]], vec![0.5; 3]),
            ([vec![0, 0, 2, 1, 3], vec![3, 5, 4]], vec![0.5; 3]),
            ([vec![0, 0, 2, 3, 4], vec![3, 5, 4]], vec![0.5; 3]),
            ([vec![0, 0, 2, 3, 3], vec![5, 3, 4]], vec![0.5; 3]),
            ([vec![0, 0, 2, 3, 3], vec![3, 6, 4]], vec![0.5; 3]),
            (good.clone(), vec![0.5, f32::NAN, 0.5]),
            (good.clone(), vec![0.5, 0.0, 0.5]),
            (good.clone(), vec![0.5; 2]),
            ([Vec::new(), Vec::new()], Vec::new()),
        ];
        for (parts, probabilities) in wrong {
            let parsed = TokenLexicon::from_parts(rows(parts.clone()), probabilities.clone(), None, [4, 6]);
            assert!(parsed.is_err(), "{parts:?} {probabilities:?}");
            let parsed = TokenLexicon::from_parts(rows(good.clone()), vec![0.5; 3], Some(rows(parts.clone())), [4, 6]);
            assert_eq!(parsed.is_ok(), parts == good, "{parts:?}");
        }
    }
}
