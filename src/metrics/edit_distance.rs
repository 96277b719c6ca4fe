//! The edit distance, and the error rates and exact matches of a corpus.

use super::counts::{segments, share};
use super::words::words;

/// The Levenshtein distance (1966): the smallest number of insertions, deletions and
/// substitutions of single units that turn one sequence into the other.
///
/// Takes time in proportion to the product of the lengths, and memory to the smaller one.
pub fn edit_distance<T: PartialEq>(left: &[T], right: &[T]) -> usize {
    let (long, short) = if left.len() < right.len() { (right, left) } else { (left, right) };
    // Rows of the table of distances between prefixes: `previous[j]` is from the units of `long`
    // read so far to the first j of `short`.
    let mut previous: Vec<usize> = (0..=short.len()).collect();
    let mut current = previous.clone();
    for (i, unit) in long.iter().enumerate() {
        current[0] = i + 1;
        for (j, other) in short.iter().enumerate() {
            let substituted = previous[j] + usize::from(unit != other);
            let inserted_or_deleted = previous[j + 1].min(current[j]) + 1;
            current[j + 1] = substituted.min(inserted_or_deleted);
        }
        std::mem::swap(&mut previous, &mut current);
    }
    previous[short.len()]
}

/// Word error rate: the word edits between hypotheses and references, in percent of the words in
/// the references. Words are what white space separates.
///
/// Hypotheses that are too long can bring it above 100. Where the references have no words, it is
/// 0 for hypotheses without words and 100 for others.
pub fn word_error_rate(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    error_rate(hypotheses, references, words)
}

/// Character error rate: like [`word_error_rate`] in characters (Unicode scalar values), white
/// space included.
pub fn character_error_rate(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    error_rate(hypotheses, references, |text| text.chars().collect())
}

/// The percentage of hypotheses that equal their references to the character; 0 if there are none.
pub fn exact_match(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    let matches = segments(hypotheses, references).filter(|(hypothesis, reference)| hypothesis == reference).count();
    100.0 * share(matches, references.len())
}

fn error_rate<'a, T: PartialEq>(
    hypotheses: &'a [impl AsRef<str>],
    references: &'a [impl AsRef<str>],
    units: impl Fn(&'a str) -> Vec<T>,
) -> f64 {
    let (mut edits, mut reference_length) = (0, 0);
    for (hypothesis, reference) in segments(hypotheses, references) {
        let reference = units(reference);
        edits += edit_distance(&units(hypothesis), &reference);
        reference_length += reference.len();
    }
    if reference_length == 0 && edits > 0 {
        return 100.0;
    }
    100.0 * share(edits, reference_length)
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
    fn distances_by_hand() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("Saturday", "Sunday"), 3);
        assert_eq!(distance("abcdef", "azced"), 3);
        assert_eq!(distance("ab", "ba"), 2);
    }

    #[test]
    fn distances_of_nothing_and_single_units() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("a", ""), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("a", "a"), 0);
        assert_eq!(distance("a", "b"), 1);
    }

    #[test]
    fn the_distance_is_symmetric() {
        for (left, right) in [("flaw", "lawn"), ("a", "banana"), ("", "x")] {
            assert_eq!(distance(left, right), distance(right, left));
        }
    }

    #[test]
    fn units_need_only_compare() {
        assert_eq!(edit_distance(&["a", "b"], &["b"]), 1);
        assert_eq!(edit_distance(&[0.5, 1.5, 2.5], &[0.5, 2.5]), 1);
    }

    #[test]
    fn word_errors_are_summed_before_they_are_divided() {
        // 1 edit on 1 word and none on 4; the mean of the two rates would be 50.
        let rate = word_error_rate(&["no", "a b  c d"], &["yes", "a b c d"]);
        assert_close(rate, 20.0);
    }

    #[test]
    fn long_hypotheses_exceed_one_hundred() {
        assert_close(word_error_rate(&["a b c"], &["x"]), 300.0);
    }

    #[test]
    fn character_errors_count_spaces() {
        assert_close(character_error_rate(&["ab"], &["a b"]), 100.0 / 3.0);
        assert_close(character_error_rate(&["ü"], &["u"]), 100.0);
    }

    #[test]
    fn empty_references_divide_nothing_by_zero() {
        assert_close(word_error_rate(&[""], &[""]), 0.0);
        assert_close(word_error_rate(&["a b"], &[" "]), 100.0);
        assert_close(character_error_rate(&["abc"], &[""]), 100.0);
        assert_close(character_error_rate(&[""; 0], &[""; 0]), 0.0);
    }

    #[test]
    fn exact_matches_are_to_the_character() {
        assert_close(exact_match(&["a", "b", "c ", ""], &["a", "B", "c", ""]), 50.0);
        assert_close(exact_match(&[""; 0], &[""; 0]), 0.0);
    }
}
