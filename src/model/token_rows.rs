//! Target tokens of each source token.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::text::Example;

/// Minimum size of a target vocabulary that has shortlists. The output layer of a smaller one takes little time.
pub const MIN_SHORTLIST_VOCABULARY: usize = 3000;
/// Number of tokens at the beginning of the vocabulary that every sentence may have: the special tokens, the letters and the most
/// frequent subwords.
pub const FREQUENT_TOKENS: u32 = 1024;

/// For each source token some target tokens, in rows of a sparse matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRows {
    /// Start of each row, and the end of the last: `[source vocabulary + 1]`
    pub starts: Vec<u32>,
    /// Target tokens, in increasing order within a row.
    pub tokens: Vec<u32>,
}

impl TokenRows {
    /// Builds rows, each of which is in increasing order.
    pub fn new<R: IntoIterator<Item = u32>>(rows: impl Iterator<Item = R>) -> Self {
        let mut built = Self { starts: vec![0], tokens: Vec::new() };
        for row in rows {
            built.tokens.extend(row);
            built.starts.push(built.tokens.len() as u32);
        }
        built
    }

    /// Checks rows from a file. Returns the first inconsistency.
    pub(super) fn check(&self, [source_vocabulary, target_vocabulary]: [usize; 2]) -> Result<(), String> {
        let Self { starts, tokens } = self;
        let bounded = starts.first() == Some(&0) && starts.last().is_some_and(|&end| end as usize == tokens.len());
        if starts.len() != source_vocabulary + 1 || !bounded || !starts.is_sorted() {
            return Err("row starts do not match the source vocabulary".to_owned());
        }
        let mut sources = 0..source_vocabulary as u32;
        let are_in_order = sources.all(|source| self.row(source).is_sorted_by(|a, b| a < b));
        if !are_in_order || tokens.iter().any(|&token| token as usize >= target_vocabulary) {
            return Err("target tokens are unsorted or outside the vocabulary".to_owned());
        }
        Ok(())
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Target tokens of a source token.
    pub fn row(&self, source: u32) -> &[u32] {
        &self.tokens[self.range(source)]
    }

    /// Entries of a source token.
    pub(super) fn range(&self, source: u32) -> Range<usize> {
        self.starts[source as usize] as usize..self.starts[source as usize + 1] as usize
    }

    /// Returns rows that complete these. Together with the first [`FREQUENT_TOKENS`] tokens, the source tokens of each example then have
    /// all its target tokens. A missing token y is added to the source token x with the highest n(x, y)² / n(x), where n counts the
    /// examples with x, or with x and without another source token that has y.
    pub(super) fn missing_in<'e>(&self, examples: impl Iterator<Item = &'e Example>) -> Self {
        let mut counts = Cooccurrences { sources: vec![0; self.len()], together: Vec::new() };
        let mut missing: Vec<MissingToken> = Vec::new();
        for Example { source, target, .. } in examples {
            let sources: Box<[u32]> = BTreeSet::from_iter(source.iter().copied()).into_iter().collect();
            sources.iter().for_each(|&x| counts.sources[x as usize] += 1);
            let missing_here = target
                .iter()
                .copied()
                .filter(|y| *y >= FREQUENT_TOKENS && sources.iter().all(|&x| self.row(x).binary_search(y).is_err()));
            for token in BTreeSet::from_iter(missing_here) {
                counts.together.extend(sources.iter().map(|&x| (x, token)));
                missing.push(MissingToken { sources: sources.clone(), token });
            }
        }
        counts.together.sort_unstable();
        let mut rows = vec![BTreeSet::new(); self.len()];
        for MissingToken { sources, token } in &missing {
            if sources.iter().any(|&x| rows[x as usize].contains(token)) {
                continue;
            }
            let best = sources
                .iter()
                .copied()
                .max_by(|&one, &other| counts.association(one, *token).total_cmp(&counts.association(other, *token)));
            if let Some(best) = best {
                rows[best as usize].insert(*token);
            }
        }
        Self::new(rows.into_iter())
    }
}

/// Target token that no source token of its example has.
struct MissingToken {
    /// Source tokens of the example.
    sources: Box<[u32]>,
    token: u32,
}

/// Numbers of examples in which source tokens occur with missing target tokens.
struct Cooccurrences {
    /// n(x): examples with each source token.
    sources: Vec<u32>,
    /// Source token and target token, once for each example with both, sorted.
    together: Vec<(u32, u32)>,
}

impl Cooccurrences {
    /// n(x, y)² / n(x)
    fn association(&self, x: u32, y: u32) -> f64 {
        let first = self.together.partition_point(|pair| *pair < (x, y));
        let count = self.together[first..].partition_point(|pair| *pair == (x, y)) as f64;
        count * count / f64::from(self.sources[x as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_tokens_join_the_source_token_that_they_occur_with() {
        let links = TokenRows::new([vec![], vec![1600], vec![], vec![1700]].into_iter());
        let pairs = [
            ([1, 2], vec![1600, 1900]),
            ([2, 3], vec![1900, 1700, 1900]),
            ([3, 1], vec![1600, 1700, 4]),
            ([1, 3], vec![1800]),
        ];
        let examples = pairs.map(|(source, target)| Example::new(source.to_vec(), target));
        // 1900 occurs with 2 only, and 1800 with 1 and 3, the last of which is chosen. 4 is frequent.
        let missing = links.missing_in(examples.iter());
        assert_eq!([0, 1, 2, 3].map(|source| missing.row(source).to_vec()), [vec![], vec![], vec![1900], vec![1800]]);
        assert_eq!(missing.check([4, 1901]), Ok(()));
        assert!(missing.check([4, 1900]).is_err() && missing.check([3, 1901]).is_err());
        let empty = links.missing_in([Example::default()].iter());
        assert_eq!(empty, TokenRows::new(vec![BTreeSet::new(); 4].into_iter()));
    }
}
