//! Counting the n-grams that a hypothesis shares with its reference.

use std::collections::HashMap;
use std::hash::Hash;

/// How many n-grams of `order` (at least 1) a sequence of `length` units has.
pub(super) fn ngram_total(length: usize, order: usize) -> usize {
    (length + 1).saturating_sub(order)
}

/// How many n-grams of `order` (at least 1) in the hypothesis occur in the reference, where each
/// occurrence in the reference can be matched only once.
pub(super) fn clipped_matches<T: Eq + Hash>(hypothesis: &[T], reference: &[T], order: usize) -> usize {
    let mut unmatched: HashMap<&[T], usize> = HashMap::new();
    for ngram in reference.windows(order) {
        *unmatched.entry(ngram).or_default() += 1;
    }
    let mut matches = 0;
    for ngram in hypothesis.windows(order) {
        if let Some(left) = unmatched.get_mut(ngram).filter(|left| **left > 0) {
            *left -= 1;
            matches += 1;
        }
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_short_sequences() {
        assert_eq!(ngram_total(0, 1), 0);
        assert_eq!(ngram_total(1, 1), 1);
        assert_eq!(ngram_total(1, 2), 0);
        assert_eq!(ngram_total(6, 4), 3);
    }

    #[test]
    fn a_repeated_word_matches_as_often_as_the_reference_has_it() {
        // Papineni et al. (2002), section 2.1: "the" stands twice in the reference.
        let hypothesis = ["the"; 7];
        let reference = ["the", "cat", "is", "on", "the", "mat"];
        assert_eq!(clipped_matches(&hypothesis, &reference, 1), 2);
        assert_eq!(clipped_matches(&hypothesis, &reference, 2), 0);
    }

    #[test]
    fn sequences_shorter_than_the_order_match_nothing() {
        assert_eq!(clipped_matches::<char>(&[], &[], 1), 0);
        assert_eq!(clipped_matches(&['a'], &['a'], 1), 1);
        assert_eq!(clipped_matches(&['a'], &['a'], 2), 0);
    }
}
