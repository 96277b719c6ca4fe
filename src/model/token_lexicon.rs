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
                let (x, y) = (token_or_end(source, link.source), token_or_end(target, link.target));
                *counts[x as usize].entry(y).or_default() += link.weight;
            }
        }
        for row in &mut counts {
            let sum: f32 = row.values().sum();
            row.values_mut().for_each(|count| *count /= sum);
        }
        let lexicon = Self::from_rows(counts.into_iter(), target_vocabulary);
        let unlinked = (target_vocabulary >= MIN_SHORTLIST_VOCABULARY).then(|| lexicon.links.missing_in(examples));
        Self { unlinked, ..lexicon }
    }

    /// Returns the lexicon that translates each source token by the target token with its spelling, if there is one, so that
    /// attended tokens are copied.
    pub fn identity(target_tokens: &[Option<u32>], target_vocabulary: usize) -> Self {
        let rows = target_tokens.iter().map(|token| token.iter().map(|&token| (token, 1.0)).collect());
        Self::from_rows(rows, target_vocabulary)
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
        let unlinked = self.unlinked.as_ref().map(|unlinked| {
            TokenRows::new(sources.iter().map(|source| {
                let tokens = source.map_or(&[][..], |source| unlinked.row(source)).iter();
                tokens.filter_map(|token| new_ids.get(token).copied()).collect::<BTreeSet<u32>>()
            }))
        });
        let rows = sources.iter().map(|source| {
            let (tokens, probabilities) = source.map_or((&[][..], &[][..]), |source| self.row(source));
            let links = tokens.iter().zip(probabilities);
            links.filter_map(|(token, &probability)| Some((*new_ids.get(token)?, probability))).collect()
        });
        Self { unlinked, ..Self::from_rows(rows, targets.len()) }
    }

    /// Merges two lexicons between the same vocabularies: averages rows that both have and copies the others. The bias is
    /// logarithmic, so that halving a probability changes little.
    pub fn merged(&self, other: &Self) -> Self {
        let sources = 0..self.links.len() as u32;
        let unlinked =
            self.unlinked.as_ref().zip(other.unlinked.as_ref()).map(|(one, other)| {
                TokenRows::new(sources.clone().map(|source| {
                    BTreeSet::from_iter([one, other].into_iter().flat_map(|rows| rows.row(source)).copied())
                }))
            });
        let rows = sources.map(|source| self.merged_row(other, source));
        Self { unlinked, ..Self::from_rows(rows, self.target_vocabulary) }
    }

    /// Returns the mean of the rows of two lexicons, or the one that is not empty.
    fn merged_row(&self, other: &Self, source: u32) -> BTreeMap<u32, f32> {
        let mut rows = vec![self.row(source), other.row(source)];
        rows.retain(|(tokens, _)| !tokens.is_empty());
        let mut mean = BTreeMap::new();
        for (tokens, probabilities) in &rows {
            for (&token, probability) in tokens.iter().zip(*probabilities) {
                *mean.entry(token).or_default() += probability / rows.len() as f32;
            }
        }
        mean
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

/// Returns the token at an index, or `</s>` after the last one.
fn token_or_end(tokens: &[u32], index: u32) -> u32 {
    tokens.get(index as usize).copied().unwrap_or(END)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::GuideWeight;

    fn lexicon() -> TokenLexicon {
        let mut example = Example::new(vec![1, 3], vec![5, 3, 4]);
        // The last link is from `</s>` to `</s>`, token 2.
        example.guide = [(0, 0, 0.3), (1, 0, 0.1), (2, 1, 0.2), (3, 2, 0.4)]
            .map(|(target, source, weight)| GuideWeight { target, source, weight })
            .to_vec();
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
        let [all_sources, all_targets] = [4, 6].map(|count| (0..count).map(Some).collect::<Vec<_>>());
        assert_eq!(before.remapped([&all_sources, &all_targets]), before);
        // Source token 1 becomes 0, 3 is removed, one is new; target tokens 1 and 3 are removed or moved, 5 becomes 1.
        let sources = [Some(1), None, Some(2)];
        let targets = [Some(1), Some(5), Some(2)];
        let now = before.remapped([&sources, &targets]);
        assert_eq!(now.links, TokenRows { starts: vec![0, 1, 1, 2], tokens: vec![1, 2] });
        assert_eq!(now.probabilities, [0.75, 1.0]);
        assert_eq!(now.unlinked, Some(TokenRows { starts: vec![0, 1, 1, 1], tokens: vec![0] }));
        assert_eq!(now.target_vocabulary, 3);
    }

    fn of_parts(starts: &[u32], tokens: &[u32], probabilities: &[f32], unlinked: &[u32]) -> TokenLexicon {
        let unlinked = TokenRows { starts: vec![0, 0, 0, unlinked.len() as u32], tokens: unlinked.to_vec() };
        let links = TokenRows { starts: starts.to_vec(), tokens: tokens.to_vec() };
        TokenLexicon::from_parts(links, probabilities.to_vec(), Some(unlinked), [3, 6]).unwrap()
    }

    #[test]
    fn merged_averages_common_rows_and_copies_others() {
        let old = of_parts(&[0, 2, 2, 3], &[3, 5, 2], &[0.25, 0.75, 1.0], &[0, 4]);
        let new = of_parts(&[0, 2, 3, 3], &[4, 5, 1], &[0.5, 0.5, 1.0], &[2, 4]);
        let expected = of_parts(&[0, 3, 4, 5], &[3, 4, 5, 1, 2], &[0.125, 0.25, 0.625, 1.0, 1.0], &[0, 2, 4]);
        assert_eq!((old.merged(&new), new.merged(&old)), (expected.clone(), expected));
        let unknown = TokenLexicon { unlinked: None, ..new };
        assert_eq!(old.merged(&unknown).unlinked, None);
    }

    #[test]
    fn from_parts_rejects_inconsistent_parts() {
        let good = TokenRows { starts: vec![0, 0, 2, 3, 3], tokens: vec![3, 5, 4] };
        for (starts, tokens, probabilities) in [
            (vec![0, 0, 2, 3], vec![3, 5, 4], vec![0.5; 3]),
            (vec![0, 0, 2, 1, 3], vec![3, 5, 4], vec![0.5; 3]),
            (vec![0, 0, 2, 3, 4], vec![3, 5, 4], vec![0.5; 3]),
            (vec![0, 0, 2, 3, 3], vec![5, 3, 4], vec![0.5; 3]),
            (vec![0, 0, 2, 3, 3], vec![3, 6, 4], vec![0.5; 3]),
            (vec![0, 0, 2, 3, 3], vec![3, 5, 4], vec![0.5, f32::NAN, 0.5]),
            (vec![0, 0, 2, 3, 3], vec![3, 5, 4], vec![0.5, 0.0, 0.5]),
            (vec![0, 0, 2, 3, 3], vec![3, 5, 4], vec![0.5; 2]),
            (Vec::new(), Vec::new(), Vec::new()),
        ] {
            let rows = TokenRows { starts, tokens };
            let parsed = TokenLexicon::from_parts(rows.clone(), probabilities.clone(), None, [4, 6]);
            assert!(parsed.is_err(), "{rows:?} {probabilities:?}");
            let parsed = TokenLexicon::from_parts(good.clone(), vec![0.5; 3], Some(rows.clone()), [4, 6]);
            assert_eq!(parsed.is_ok(), rows == good, "{rows:?}");
        }
    }
}
