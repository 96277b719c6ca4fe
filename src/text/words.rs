//! A user's own words, by their place in the text.

use std::ops::Range;

/// What counts as a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Words {
    /// Whatever stands between white space.
    #[default]
    Whitespace,
    /// What stands between white space without the punctuation at its ends, and each of those marks; what stands inside,
    /// as in `l'été` or `well-known`, stays.
    Punctuation,
    /// Each character but white space, where texts are cut into nothing larger.
    Characters,
}

/// The byte ranges of the words of a text.
pub fn word_spans(text: &str, words: Words) -> Vec<Range<usize>> {
    match words {
        Words::Whitespace => between_spaces(text),
        Words::Punctuation => between_spaces(text).into_iter().flat_map(|span| punctuation_apart(text, span)).collect(),
        Words::Characters => characters(text),
    }
}

fn characters(text: &str) -> Vec<Range<usize>> {
    let characters = text.char_indices().filter(|(_, character)| !character.is_whitespace());
    characters.map(|(start, character)| start..start + character.len_utf8()).collect()
}

/// Splits marks off the ends of a word, equal ones in a row as one.
fn punctuation_apart(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let word = &text[span.clone()];
    let core = word.trim_start_matches(is_punctuation);
    let first = span.end - core.len();
    let last = first + core.trim_end_matches(is_punctuation).len();
    let mut spans = marks(text, span.start..first);
    spans.extend((first < last).then_some(first..last));
    spans.extend(marks(text, last..span.end));
    spans
}

fn marks(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    for (index, mark) in text[span.clone()].char_indices() {
        let place = span.start + index;
        match spans.last_mut().filter(|_| before == Some(mark)) {
            Some(last) => last.end = place + mark.len_utf8(),
            None => spans.push(place..place + mark.len_utf8()),
        }
        before = Some(mark);
    }
    spans
}

/// Whether a character is a mark rather than part of a word: ASCII's, and those of the scripts' own blocks.
fn is_punctuation(character: char) -> bool {
    const BLOCKS: [std::ops::RangeInclusive<char>; 6] = [
        '\u{2010}'..='\u{2027}',
        '\u{2030}'..='\u{205e}',
        '\u{3001}'..='\u{3003}',
        '\u{3008}'..='\u{3020}',
        '\u{ff01}'..='\u{ff0f}',
        '\u{ff1a}'..='\u{ff20}',
    ];
    const SINGLE: &str = "¡¿«»§¶·;·՚՛՜՝՞՟։־׀׃׳״،؛؟٪٫٬٭۔।॥۰၊။፡።፣፤፥፦፧។៕";
    character.is_ascii_punctuation()
        || SINGLE.contains(character)
        || BLOCKS.iter().any(|block| block.contains(&character))
}

fn between_spaces(text: &str) -> Vec<Range<usize>> {
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

/// The word that a unit at `span` belongs to: the one it lies in, or the next one for a unit of white space, or the
/// last one where no word follows. `words` must not be empty.
pub fn word_of_span(words: &[Range<usize>], span: &Range<usize>) -> usize {
    words.partition_point(|word| word.end <= span.start).min(words.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found() {
        for words in [Words::Whitespace, Words::Punctuation] {
            assert!(word_spans("", words).is_empty());
            assert!(word_spans(" \u{a0}", words).is_empty());
            assert_eq!(word_spans(" l'été  vient", words), [1..8, 10..15]);
        }
    }

    #[test]
    fn punctuation_stands_apart() {
        let apart = |text: &'static str| -> Vec<&str> {
            word_spans(text, Words::Punctuation).into_iter().map(|span| &text[span]).collect()
        };
        assert_eq!(apart("«Well-known», he said..."), ["«", "Well-known", "»", ",", "he", "said", "..."]);
        assert_eq!(apart("?! – हिन्दी। مرحبا؟"), ["?", "!", "–", "हिन्दी", "।", "مرحبا", "؟"]);
    }

    #[test]
    fn characters_are_words_of_their_own() {
        assert_eq!(word_spans(" é a", Words::Characters), [1..3, 4..5]);
        assert!(word_spans(" \u{a0}", Words::Characters).is_empty());
    }

    #[test]
    fn units_fall_into_words() {
        let words = word_spans("ab  c ", Words::Whitespace);
        let word = |start, end| word_of_span(&words, &(start..end));
        assert_eq!([word(0, 1), word(1, 2), word(2, 3), word(3, 5), word(5, 6)], [0, 0, 1, 1, 1]);
    }
}
