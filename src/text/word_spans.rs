//! A user's own words, by their place in the text.

use std::ops::Range;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

/// Characters of a word that byte-pair encoding is learned from together. A longer word counts as several, since learning
/// takes quadratic time in a word's length; no unit is longer, nor is any word of a language.
pub const LONGEST_WORD: usize = 1000;

/// What counts as a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordSplitting {
    /// Whatever stands between white space.
    #[default]
    Whitespace,
    /// What stands between white space without the punctuation and symbols at its ends, and each of those marks; what
    /// stands inside, as in `l'été` or `well-known`, stays.
    Punctuation,
    /// As [`Self::Punctuation`], but each character of scripts that are written without spaces: what terms are made of.
    Terms,
    /// Each character but white space, where texts are cut into nothing larger.
    Characters,
}

/// The byte ranges of the words of a text.
pub fn word_spans(text: &str, words: WordSplitting) -> Vec<Range<usize>> {
    match words {
        WordSplitting::Whitespace => between_spaces(text),
        WordSplitting::Punctuation => {
            between_spaces(text).into_iter().flat_map(|span| punctuation_apart(text, span)).collect()
        }
        WordSplitting::Terms => {
            word_spans(text, WordSplitting::Punctuation).into_iter().flat_map(|span| words_alone(text, span)).collect()
        }
        WordSplitting::Characters => characters(text),
    }
}

/// Takes the characters of a word apart that are words alone.
fn words_alone(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut alone = true;
    for (index, grapheme) in text[span.clone()].grapheme_indices(true) {
        let place = span.start + index..span.start + index + grapheme.len();
        let before = std::mem::replace(&mut alone, grapheme.starts_with(is_word_alone));
        match spans.last_mut().filter(|_| !before && !alone) {
            Some(last) => last.end = place.end,
            None => spans.push(place),
        }
    }
    spans
}

fn characters(text: &str) -> Vec<Range<usize>> {
    let characters = text.char_indices().filter(|(_, character)| !character.is_whitespace());
    characters.map(|(start, character)| start..start + character.len_utf8()).collect()
}

/// Splits punctuation off the ends of a word, equal marks in a row as one.
fn punctuation_apart(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let word = &text[span.clone()];
    let length = |mark: &str| mark.len();
    let first: usize = word.graphemes(true).take_while(|mark| is_mark(mark)).map(length).sum();
    let core = &word[first..];
    let behind: usize = core.graphemes(true).rev().take_while(|mark| is_mark(mark)).map(length).sum();
    let core = span.start + first..span.end - behind;
    let mut spans = marks(text, span.start..core.start);
    spans.extend((!core.is_empty()).then_some(core.clone()));
    spans.extend(marks(text, core.end..span.end));
    spans
}

fn marks(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    for (index, mark) in text[span.clone()].grapheme_indices(true) {
        let place = span.start + index;
        match spans.last_mut().filter(|_| before == Some(mark)) {
            Some(last) => last.end = place + mark.len(),
            None => spans.push(place..place + mark.len()),
        }
        before = Some(mark);
    }
    spans
}

/// Whether a text is of punctuation and symbols alone.
pub fn is_punctuation(text: &str) -> bool {
    !text.is_empty() && text.graphemes(true).all(is_mark)
}

/// Whether a character, with what combines with it (UAX #29), is punctuation or a symbol by Unicode's general categories P
/// and S. The character decides: an accent belongs to its letter, and the stroke of a not-equal sign to the sign.
fn is_mark(grapheme: &str) -> bool {
    use GeneralCategoryGroup::{Punctuation, Symbol};
    grapheme.chars().next().is_some_and(|character| match character {
        '\0'..='\x7f' => character.is_ascii_punctuation(),
        _ => matches!(character.general_category_group(), Punctuation | Symbol),
    })
}

/// Whether a character is of a word wherever it stands: a letter, a number, or what combines with them (category M), as an
/// accent that no composed letter has, or the tone of a Thai syllable.
pub fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character.general_category_group() == GeneralCategoryGroup::Mark
}

/// Whether a character is of a script that is written without spaces, where nothing but sense tells one word from the next.
pub fn is_word_alone(character: char) -> bool {
    use Script::{Bopomofo, Han, Hiragana, Katakana, Khmer, Lao, Myanmar, Thai};
    !character.is_ascii()
        && matches!(character.script(), Bopomofo | Han | Hiragana | Katakana | Khmer | Lao | Myanmar | Thai)
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
    fn terms_have_words_without_spaces() {
        let words = |text: &'static str| -> Vec<&str> {
            word_spans(text, WordSplitting::Terms).into_iter().map(|span| &text[span]).collect()
        };
        assert_eq!(words("我有3本(Rust)书。"), ["我", "有", "3", "本", "(Rust)", "书", "。"]);
        assert_eq!(words("ein Hund, ไทย가"), ["ein", "Hund", ",", "ไ", "ท", "ย", "가"]);
    }

    #[test]
    fn words_are_found() {
        for words in [WordSplitting::Whitespace, WordSplitting::Punctuation] {
            assert!(word_spans("", words).is_empty());
            assert!(word_spans(" \u{a0}", words).is_empty());
            assert_eq!(word_spans(" l'été  vient", words), [1..8, 10..15]);
        }
    }

    #[test]
    fn punctuation_stands_apart() {
        let apart = |text: &'static str| -> Vec<&str> {
            word_spans(text, WordSplitting::Punctuation).into_iter().map(|span| &text[span]).collect()
        };
        assert_eq!(apart("«Well-known», he said..."), ["«", "Well-known", "»", ",", "he", "said", "..."]);
        assert_eq!(apart("?! – हिन्दी। مرحبا؟"), ["?", "!", "–", "हिन्दी", "।", "مرحبا", "؟"]);
        // Tibetan, N'Ko, Syriac.
        assert_eq!(apart("༄༅།བོད། ߞߎߡߊ߹ ܫܠܡܐ܀"), ["༄", "༅", "།", "བོད", "།", "ߞߎߡߊ", "߹", "ܫܠܡܐ", "܀"]);
        assert_eq!(apart("۱۹۹۰ «۲۰» 20€"), ["۱۹۹۰", "«", "۲۰", "»", "20", "€"], "digits are none");
        assert_eq!(apart("👍🏽👍🏽! 👩‍👩‍👧ok"), ["👍🏽👍🏽", "!", "👩‍👩‍👧", "ok"]);
    }

    #[test]
    fn marks_belong_to_what_they_stand_on() {
        let apart = |text: &'static str| -> Vec<&str> {
            word_spans(text, WordSplitting::Punctuation).into_iter().map(|span| &text[span]).collect()
        };
        assert_eq!(apart("(cafe\u{301}) जगत्। दि"), ["(", "cafe\u{301}", ")", "जगत्", "।", "दि"]);
        assert_eq!(apart("a=\u{338} \u{2260}"), ["a", "=\u{338}", "\u{2260}"], "one sign in either form");
        assert_eq!(apart("\u{301} \u{301}a"), ["\u{301}", "\u{301}a"], "on nothing");
    }

    #[test]
    fn punctuation_is_what_unicode_calls_so() {
        assert!((0..128).map(char::from).all(|character| {
            is_punctuation(character.encode_utf8(&mut [0; 4])) == character.is_ascii_punctuation()
        }));
        for text in ["—", "?!", "。", "”\u{301}", "👍🏽", "€"] {
            assert!(is_punctuation(text), "{text}");
        }
        for text in ["", " ", "a.", "۰", "7", "दि", "\u{301}", "ʰ"] {
            assert!(!is_punctuation(text), "{text}");
        }
    }

    #[test]
    fn characters_are_words_of_their_own() {
        assert_eq!(word_spans(" é a", WordSplitting::Characters), [1..3, 4..5]);
        assert!(word_spans(" \u{a0}", WordSplitting::Characters).is_empty());
    }

    #[test]
    fn units_fall_into_words() {
        let words = word_spans("ab  c ", WordSplitting::Whitespace);
        let word = |start, end| word_of_span(&words, &(start..end));
        assert_eq!([word(0, 1), word(1, 2), word(2, 3), word(3, 5), word(5, 6)], [0, 0, 1, 1, 1]);
    }
}
