//! A user's own words: the pieces between white space, by their place in the text.

use std::ops::Range;

/// The byte ranges of the words of a text, split at white space.
pub fn word_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut start = None;
    for (index, character) in text.char_indices() {
        match (character.is_whitespace(), start) {
            (true, Some(begin)) => {
                spans.push(begin..index);
                start = None;
            }
            (false, None) => start = Some(index),
            _ => {}
        }
    }
    spans.extend(start.map(|begin| begin..text.len()));
    spans
}

/// The word that a unit at `span` belongs to: the one it lies in, or the next one for a unit of white space, or the last
/// one where no word follows. `words` must not be empty.
pub fn word_of_span(words: &[Range<usize>], span: &Range<usize>) -> usize {
    words.partition_point(|word| word.end <= span.start).min(words.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found() {
        assert!(word_spans("").is_empty());
        assert!(word_spans(" \u{a0}").is_empty());
        assert_eq!(word_spans(" l'été  vient"), [1..8, 10..15]);
    }

    #[test]
    fn units_fall_into_words() {
        let words = word_spans("ab  c ");
        let word = |start, end| word_of_span(&words, &(start..end));
        assert_eq!([word(0, 1), word(1, 2), word(2, 3), word(3, 5), word(5, 6)], [0, 0, 1, 1, 1]);
    }
}
