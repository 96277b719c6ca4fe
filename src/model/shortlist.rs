//! Shortlists of target tokens at decoding (L'Hostis, Grangier & Auli 2016, "Vocabulary Selection Strategies for Neural Machine
//! Translation"): a sentence may have the most frequent tokens, the translations of its own tokens in the lexicon, and tokens that
//! occurred with them in training although no link leads to them. The probability of all others together is estimated from the
//! state (`cpu/unlisted.rs`) and given to padding, which no hypothesis has.

use std::iter::StepBy;
use std::ops::Range;
use std::sync::Arc;

use super::{FREQUENT_TOKENS, TokenLexicon, TokenRows};

/// Most tokens that stand for those that are not frequent.
const MAX_SAMPLE: usize = 4096;

/// Returns the tokens by which those that are not frequent are measured: all of them, or some at equal distances.
pub fn unlisted_sample(vocabulary: usize) -> StepBy<Range<usize>> {
    let frequent = FREQUENT_TOKENS as usize;
    (frequent..vocabulary).step_by((vocabulary - frequent).div_ceil(MAX_SAMPLE))
}

/// ln of the number of tokens without a logit of their own if `listed` of a vocabulary have one. Padding is one of them.
pub fn log_unlisted(vocabulary: usize, listed: usize) -> f32 {
    ((vocabulary - listed + 1) as f32).ln()
}

/// Target tokens that each sentence of a batch may have.
#[derive(Clone, Debug)]
pub struct Shortlist(Vec<Option<Arc<[u32]>>>);

impl Shortlist {
    /// Selects tokens for sentences that the models with these lexicons translate. A sentence given as `None` may have all tokens,
    /// and so have all if a lexicon does not know its unlinked tokens.
    pub fn new<'s>(lexicons: &[&TokenLexicon], sentences: impl Iterator<Item = Option<&'s [u32]>>) -> Self {
        let unlinked: Option<Vec<_>> = lexicons.iter().map(|lexicon| lexicon.unlinked()).collect();
        let Some((unlinked, first)) = unlinked.zip(lexicons.first()) else {
            return Self(sentences.map(|_| None).collect());
        };
        let rows: Vec<_> = lexicons.iter().map(|lexicon| lexicon.links().0).chain(unlinked).collect();
        assert!(first.target_vocabulary > FREQUENT_TOKENS as usize, "a shortlist would have the whole vocabulary");
        Self(sentences.map(|source| source.map(|source| select_tokens(&rows, source))).collect())
    }

    /// Tokens of a sentence in increasing order, the first ones of the vocabulary among them; none if it may have all tokens.
    pub fn tokens(&self, sentence: usize) -> Option<&Arc<[u32]>> {
        self.0[sentence].as_ref()
    }
}

/// Returns the tokens of a sentence, in increasing order: the frequent ones, and those in the rows of its source tokens.
fn select_tokens(rows: &[&TokenRows], source: &[u32]) -> Arc<[u32]> {
    let others = source.iter().flat_map(|&token| rows.iter().flat_map(move |rows| rows.row(token))).copied();
    let mut tokens: Vec<u32> = (0..FREQUENT_TOKENS).chain(others).collect();
    tokens.sort_unstable();
    tokens.dedup();
    tokens.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexicon(links: [Vec<u32>; 3], unlinked: Option<[Vec<u32>; 3]>) -> TokenLexicon {
        let links = TokenRows::new(links.into_iter());
        let unlinked = unlinked.map(|rows| TokenRows::new(rows.into_iter()));
        let probabilities = vec![0.5; links.tokens.len()];
        TokenLexicon::from_parts(links, probabilities, unlinked, [3, 3000]).unwrap()
    }

    #[test]
    fn selects_frequent_linked_and_unlinked_tokens() {
        let first = lexicon([vec![1600], vec![], vec![2, 1700]], Some([vec![1800], vec![], vec![]]));
        let second = lexicon([vec![1900], vec![], vec![1700, 2999]], Some([vec![], vec![2000], vec![]]));
        let sentences: [Option<&[u32]>; 4] = [Some(&[0, 1]), Some(&[2]), Some(&[]), None];
        let shortlist = Shortlist::new(&[&first, &second], sentences.into_iter());
        for (sentence, others) in [&[1600, 1800, 1900, 2000][..], &[1700, 2999], &[]].into_iter().enumerate() {
            let tokens = shortlist.tokens(sentence).unwrap();
            assert!(tokens.iter().copied().take(FREQUENT_TOKENS as usize).eq(0..FREQUENT_TOKENS));
            assert_eq!(&tokens[FREQUENT_TOKENS as usize..], others);
        }
        assert!(shortlist.tokens(3).is_none());
        let unknown = lexicon([vec![1600], vec![], vec![]], None);
        for lexicons in [&[][..], &[&first, &unknown]] {
            assert!(Shortlist::new(lexicons, sentences.into_iter()).tokens(0).is_none());
        }
    }
}
