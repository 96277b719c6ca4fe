//! N-gram counts and clipped matches.

use std::collections::HashMap;
use std::hash::Hash;

/// Number of n-grams of `order` ≥ 1 in a sequence of `length` tokens.
pub(super) fn ngram_total(length: usize, order: usize) -> usize {
    (length + 1).saturating_sub(order)
}

/// Clipped matches: n-grams of `order` ≥ 1 of the hypothesis found in the reference, each of whose occurrences can be
/// matched once (Papineni et al. 2002, section 2.1).
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
    fn totals_are_zero_for_sequences_shorter_than_the_order() {
        assert_eq!(ngram_total(0, 1), 0);
        assert_eq!(ngram_total(1, 1), 1);
        assert_eq!(ngram_total(1, 2), 0);
        assert_eq!(ngram_total(6, 4), 3);
    }

    #[test]
    fn clips_matches_of_repeated_words() {
        // The example of Papineni et al. (2002), section 2.1.
        let hypothesis = ["the"; 7];
        let reference = ["the", "cat", "is", "on", "the", "mat"];
        assert_eq!(clipped_matches(&hypothesis, &reference, 1), 2);
        assert_eq!(clipped_matches(&hypothesis, &reference, 2), 0);
    }

    #[test]
    fn finds_no_match_in_sequences_shorter_than_the_order() {
        assert_eq!(clipped_matches::<char>(&[], &[], 1), 0);
        assert_eq!(clipped_matches(&['a'], &['a'], 1), 1);
        assert_eq!(clipped_matches(&['a'], &['a'], 2), 0);
    }
}
