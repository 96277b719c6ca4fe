//! Words of held-out pairs that the training pairs do not have.

use std::collections::HashMap;

use crate::text::{Pair, WordSplitting, word_spans};

/// Words of held-out sources and targets, with their occurrence in the training pairs. Capitals do not matter.
pub(super) struct UnseenWords {
    sides: [HashMap<String, Seen>; 2],
}

/// Occurrence of a word in the training pairs.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// In any pair.
    anywhere: bool,
    /// In every other pair.
    in_half: bool,
}

/// Shares of the running words of held-out sources that never occur in training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UnseenShares {
    /// In any of the training pairs.
    pub all: f64,
    /// In half of the training pairs.
    pub half: f64,
}

impl UnseenWords {
    /// Looks for the words of the held-out pairs in the training pairs.
    pub fn new(training: &[Pair], held_out: &[Pair]) -> Self {
        let [sources, targets]: [fn(&Pair) -> &str; 2] = [|pair| &pair.source, |pair| &pair.target];
        Self { sides: [sources, targets].map(|side| occurrences(training.iter().map(side), held_out.iter().map(side))) }
    }

    /// Returns the shares of the running words of held-out sources that were not seen in training.
    pub fn source_shares<'t>(&self, sources: impl Iterator<Item = &'t str>) -> UnseenShares {
        let (mut count, mut unseen, mut unseen_in_half) = (0, 0, 0);
        for word in sources.flat_map(words) {
            let seen = self.sides[0].get(&word).copied().unwrap_or_default();
            count += 1;
            unseen += usize::from(!seen.anywhere);
            unseen_in_half += usize::from(!seen.in_half);
        }
        let [all, half] = [unseen, unseen_in_half].map(|part| part as f64 / count.max(1) as f64);
        UnseenShares { all, half }
    }

    /// Returns true for a word of a held-out target that no training pair has.
    pub fn is_unseen_target(&self, word: &str) -> bool {
        !self.sides[1].get(word).copied().unwrap_or_default().anywhere
    }
}

/// Returns the words of held-out texts with their occurrence in training texts.
fn occurrences<'t>(
    training: impl Iterator<Item = &'t str>,
    held_out: impl Iterator<Item = &'t str>,
) -> HashMap<String, Seen> {
    let mut occurrences: HashMap<String, Seen> = held_out.flat_map(words).map(|word| (word, Seen::default())).collect();
    for (number, text) in training.enumerate() {
        for word in words(text) {
            if let Some(seen) = occurrences.get_mut(&word) {
                seen.anywhere = true;
                seen.in_half |= number % 2 == 0;
            }
        }
    }
    occurrences
}

/// Returns the words of a text in lower case, without punctuation at their ends.
pub(super) fn words(text: &str) -> Vec<String> {
    let spans = word_spans(text, WordSplitting::Punctuation).into_iter();
    let words = spans.map(|span| text[span].to_lowercase());
    words.filter(|word| word.contains(char::is_alphanumeric)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_words_that_no_pair_or_half_of_the_pairs_lack() {
        let training = [Pair::new("A dog.", "Ein Hund."), Pair::new("a cat", "eine Katze")];
        let held_out = [Pair::new("a cat, a bird", "eine Katze, ein Vogel")];
        let unseen = UnseenWords::new(&training, &held_out);
        let shares = unseen.source_shares(held_out.iter().map(|pair| &*pair.source));
        assert_eq!(shares, UnseenShares { all: 0.25, half: 0.5 });
        assert!(unseen.is_unseen_target("vogel") && !unseen.is_unseen_target("ein"));
    }
}
