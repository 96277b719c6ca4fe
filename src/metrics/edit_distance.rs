//! Levenshtein distance, word and character error rate, and exact match.

use super::sufficient_stats::{SufficientStats, ratio, segments};
use super::whitespace::words;
use crate::text::{WordSplitting, scripts_without_spaces, word_spans};

/// Sufficient statistics of an error rate: edits in percent of the reference tokens. Without reference tokens, the rate is 0
/// for no edits and 100 otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditStats {
    /// Number of edits.
    pub edits: usize,
    /// Number of tokens in the references.
    pub reference_length: usize,
}

impl EditStats {
    fn new<T: PartialEq>(hypothesis: &[T], reference: &[T]) -> Self {
        Self { edits: edit_distance(hypothesis, reference), reference_length: reference.len() }
    }

    /// Edits of words, separated by whitespace; or of characters where no spaces separate the words of the reference, as in
    /// Chinese.
    pub fn of_words(hypothesis: &str, reference: &str) -> Self {
        if scripts_without_spaces(reference).is_empty() {
            return Self::new(&words(hypothesis), &words(reference));
        }
        let [hypothesis, reference] = [hypothesis, reference].map(|text| {
            let spans = word_spans(text, WordSplitting::Terms);
            spans.into_iter().map(|span| &text[span]).collect::<Vec<&str>>()
        });
        Self::new(&hypothesis, &reference)
    }

    /// Edits of Unicode scalar values, whitespace included.
    pub fn of_characters(hypothesis: &str, reference: &str) -> Self {
        let [hypothesis, reference] = [hypothesis, reference].map(|text| text.chars().collect::<Vec<char>>());
        Self::new(&hypothesis, &reference)
    }

    /// One edit for a hypothesis that differs from its reference, which counts as one token.
    pub fn of_whole(hypothesis: &str, reference: &str) -> Self {
        Self { edits: usize::from(hypothesis != reference), reference_length: 1 }
    }
}

impl SufficientStats for EditStats {
    fn add(&mut self, other: &Self) {
        self.edits += other.edits;
        self.reference_length += other.reference_length;
    }

    fn score(&self) -> f64 {
        if self.reference_length == 0 && self.edits > 0 {
            return 100.0;
        }
        100.0 * ratio(self.edits, self.reference_length)
    }
}

/// Levenshtein distance (1966): the minimum number of insertions, deletions and substitutions that turn one sequence
/// into the other.
///
/// O(m n) time and O(min(m, n)) memory.
pub fn edit_distance<T: PartialEq>(left: &[T], right: &[T]) -> usize {
    let (long, short) = if left.len() < right.len() { (right, left) } else { (left, right) };
    // Rows of the prefix distance table: `previous[j]` is the distance of the tokens of `long` read so far to `short[..j]`.
    let mut previous: Vec<usize> = (0..=short.len()).collect();
    let mut current = previous.clone();
    for (i, token) in long.iter().enumerate() {
        current[0] = i + 1;
        for (j, other) in short.iter().enumerate() {
            let substituted = previous[j] + usize::from(token != other);
            let inserted_or_deleted = previous[j + 1].min(current[j]) + 1;
            current[j + 1] = substituted.min(inserted_or_deleted);
        }
        std::mem::swap(&mut previous, &mut current);
    }
    previous[short.len()]
}

/// Returns, for each token of a hypothesis, whether a minimum sequence of edits to the reference keeps it.
pub fn unedited<T: PartialEq>(hypothesis: &[T], reference: &[T]) -> Vec<bool> {
    let width = reference.len() + 1;
    // Distances of all prefixes: `[hypothesis + 1, reference + 1]`.
    let mut distances: Vec<usize> = (0..width).collect();
    for (i, token) in hypothesis.iter().enumerate() {
        distances.push(i + 1);
        for (j, other) in reference.iter().enumerate() {
            let above = &distances[i * width + j..];
            let substituted = above[0] + usize::from(token != other);
            let distance = substituted.min(above[1] + 1).min(above[width] + 1);
            distances.push(distance);
        }
    }
    let mut kept = vec![false; hypothesis.len()];
    let (mut i, mut j) = (hypothesis.len(), reference.len());
    while i > 0 && j > 0 {
        let distance = distances[i * width + j];
        let is_equal = hypothesis[i - 1] == reference[j - 1];
        if distances[(i - 1) * width + j - 1] + usize::from(!is_equal) == distance {
            kept[i - 1] = is_equal;
            (i, j) = (i - 1, j - 1);
        } else if distances[(i - 1) * width + j] + 1 == distance {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    kept
}

/// Word error rate: word edits in percent of the reference words, see [`EditStats::of_words`].
///
/// Long hypotheses can exceed 100. Without reference words, the rate is 0 for empty hypotheses and 100 otherwise.
pub fn word_error_rate(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    error_rate(hypotheses, references, EditStats::of_words)
}

/// Character error rate: [`word_error_rate`] over Unicode scalar values, whitespace included.
pub fn character_error_rate(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    error_rate(hypotheses, references, EditStats::of_characters)
}

/// Percentage of hypotheses identical to their reference; 0 if there are none.
pub fn exact_match(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    let matches = segments(hypotheses, references).filter(|(hypothesis, reference)| hypothesis == reference).count();
    100.0 * ratio(matches, references.len())
}

/// Edits over all segments in percent of the reference tokens.
pub(super) fn error_rate(
    hypotheses: &[impl AsRef<str>],
    references: &[impl AsRef<str>],
    stats: fn(&str, &str) -> EditStats,
) -> f64 {
    let mut sum = EditStats::default();
    segments(hypotheses, references).for_each(|(hypothesis, reference)| sum.add(&stats(hypothesis, reference)));
    sum.score()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(left: &str, right: &str) -> usize {
        let left: Vec<char> = left.chars().collect();
        let right: Vec<char> = right.chars().collect();
        edit_distance(&left, &right)
    }

    fn assert_close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual} instead of {expected}");
    }

    #[test]
    fn tokens_that_a_minimum_of_edits_keeps() {
        for (hypothesis, reference, expected) in [
            ("the red fox", "the red fox", "the red fox"),
            ("kitten", "sitting", "-itt-n"),
            ("abcd", "bcd", "-bcd"),
            ("", "ab", ""),
            ("ab", "", "--"),
        ] {
            let [left, right] = [hypothesis, reference].map(|text| text.chars().collect::<Vec<char>>());
            let kept = unedited(&left, &right);
            assert_eq!(
                kept.iter().filter(|kept| **kept).count() + edit_distance(&left, &right),
                left.len().max(right.len())
            );
            let kept: String = left.iter().zip(kept).map(|(token, kept)| if kept { *token } else { '-' }).collect();
            assert_eq!(kept, expected);
        }
    }

    #[test]
    fn computes_known_distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("Saturday", "Sunday"), 3);
        assert_eq!(distance("abcdef", "azced"), 3);
        assert_eq!(distance("ab", "ba"), 2);
    }

    #[test]
    fn handles_empty_and_single_token_sequences() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("a", ""), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("a", "a"), 0);
        assert_eq!(distance("a", "b"), 1);
    }

    #[test]
    fn is_symmetric() {
        for (left, right) in [("flaw", "lawn"), ("a", "banana"), ("", "x")] {
            assert_eq!(distance(left, right), distance(right, left));
        }
    }

    #[test]
    fn accepts_any_comparable_tokens() {
        assert_eq!(edit_distance(&["a", "b"], &["b"]), 1);
        assert_eq!(edit_distance(&[0.5, 1.5, 2.5], &[0.5, 2.5]), 1);
    }

    #[test]
    fn sums_word_errors_before_dividing() {
        // 1 edit on 1 word and none on 4; the mean of the two rates would be 50.
        let rate = word_error_rate(&["no", "a b  c d"], &["yes", "a b c d"]);
        assert_close(rate, 20.0);
    }

    #[test]
    fn exceeds_one_hundred_for_long_hypotheses() {
        assert_close(word_error_rate(&["a b c"], &["x"]), 300.0);
    }

    #[test]
    fn characters_of_unspaced_scripts_are_words() {
        assert_close(word_error_rate(&["猫が好きだ。"], &["猫が好きです。"]), 100.0 * 2.0 / 7.0);
        assert_close(word_error_rate(&["猫 が 好き だ 。"], &["猫 が 好き です 。"]), 20.0);
    }

    #[test]
    fn counts_spaces_as_characters() {
        assert_close(character_error_rate(&["ab"], &["a b"]), 100.0 / 3.0);
        assert_close(character_error_rate(&["ü"], &["u"]), 100.0);
    }

    #[test]
    fn does_not_divide_by_zero_for_empty_references() {
        assert_close(word_error_rate(&[""], &[""]), 0.0);
        assert_close(word_error_rate(&["a b"], &[" "]), 100.0);
        assert_close(character_error_rate(&["abc"], &[""]), 100.0);
        assert_close(character_error_rate(&[""; 0], &[""; 0]), 0.0);
    }

    #[test]
    fn requires_exact_matches_to_be_identical() {
        assert_close(exact_match(&["a", "b", "c ", ""], &["a", "B", "c", ""]), 50.0);
        assert_close(exact_match(&[""; 0], &[""; 0]), 0.0);
    }
}
