//! Byte ranges of the words of a text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

/// Maximum length of words, and thus of tokens, in BPE training, in characters. Longer words are split, since training
/// takes quadratic time.
pub const LONGEST_WORD: usize = 1000;

/// Definition of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum WordSplitting {
    /// Split at whitespace.
    #[default]
    Whitespace,
    /// Split at whitespace, and split punctuation and symbols off both ends of words, not inside, as in `l'été` or
    /// `well-known`.
    Punctuation,
    /// As [`Self::Punctuation`], but each character of scripts without spaces is a word; for terminology.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", value(skip))]
    Terms,
    /// Each character other than white space, together with its marks (a grapheme cluster, UAX #29), for texts in character
    /// tokens.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", value(skip))]
    Characters,
    /// Each code point other than white space, for copying unknown ones.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", value(skip))]
    CodePoints,
}

/// Returns true if no text has more than one word.
pub fn are_single_words(texts: impl IntoIterator<Item = impl AsRef<str>>) -> bool {
    texts.into_iter().all(|text| split_whitespace(text.as_ref()).len() <= 1)
}

/// Returns the byte ranges of the words of a text.
pub fn word_spans(text: &str, words: WordSplitting) -> Vec<Range<usize>> {
    match words {
        WordSplitting::Whitespace => split_whitespace(text),
        WordSplitting::Punctuation => {
            split_whitespace(text).into_iter().flat_map(|span| split_punctuation(text, span)).collect()
        }
        WordSplitting::Terms => word_spans(text, WordSplitting::Punctuation)
            .into_iter()
            .flat_map(|span| split_unspaced(text, span))
            .collect(),
        WordSplitting::Characters => characters(text),
        WordSplitting::CodePoints => code_points(text),
    }
}

/// Returns the byte ranges of the words of a text, in their order. Only white space is between them; words that are not there
/// have empty ranges.
pub fn locate_words(text: &str, words: &[String]) -> Vec<Range<usize>> {
    let mut spans = Vec::with_capacity(words.len());
    let mut end = 0;
    for word in words {
        let found = text[end..].find(word.as_str()).map(|start| end + start..end + start + word.len());
        let span = found.unwrap_or(end..end);
        end = span.end;
        spans.push(span);
    }
    spans
}

/// Splits off the characters of scripts without spaces.
fn split_unspaced(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut unspaced = true;
    for (index, grapheme) in text[span.clone()].grapheme_indices(true) {
        let range = span.start + index..span.start + index + grapheme.len();
        let before = std::mem::replace(&mut unspaced, grapheme.starts_with(is_unspaced));
        match spans.last_mut().filter(|_| !before && !unspaced) {
            Some(last) => last.end = range.end,
            None => spans.push(range),
        }
    }
    spans
}

fn characters(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for (start, grapheme) in text.grapheme_indices(true) {
        // A mark without a base of its own may follow white space.
        let character = grapheme.trim_start();
        let end = start + grapheme.len();
        spans.extend((!character.is_empty()).then(|| end - character.len()..end));
    }
    spans
}

fn code_points(text: &str) -> Vec<Range<usize>> {
    let characters = text.char_indices().filter(|(_, character)| !character.is_whitespace());
    characters.map(|(start, character)| start..start + character.len_utf8()).collect()
}

/// Splits punctuation off the ends of a word. Repeated marks stay together.
fn split_punctuation(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let word = &text[span.clone()];
    let leading: usize = word.graphemes(true).take_while(|mark| is_mark(mark)).map(str::len).sum();
    let core = &word[leading..];
    let trailing: usize = core.graphemes(true).rev().take_while(|mark| is_mark(mark)).map(str::len).sum();
    let core = span.start + leading..span.end - trailing;
    let mut spans = marks(text, span.start..core.start);
    spans.extend((!core.is_empty()).then_some(core.clone()));
    spans.extend(marks(text, core.end..span.end));
    spans
}

fn marks(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    for (index, mark) in text[span.clone()].grapheme_indices(true) {
        let start = span.start + index;
        match spans.last_mut().filter(|_| before == Some(mark)) {
            Some(last) => last.end = start + mark.len(),
            None => spans.push(start..start + mark.len()),
        }
        before = Some(mark);
    }
    spans
}

/// True if a text consists of punctuation and symbols.
pub fn is_punctuation(text: &str) -> bool {
    !text.is_empty() && text.graphemes(true).all(is_mark)
}

/// True if a grapheme (UAX #29) is punctuation or a symbol by the general category (P or S) of its first character, to
/// which combining marks belong.
fn is_mark(grapheme: &str) -> bool {
    use GeneralCategoryGroup::{Punctuation, Symbol};
    grapheme.chars().next().is_some_and(|character| match character {
        '\0'..='\x7f' => character.is_ascii_punctuation(),
        _ => matches!(character.general_category_group(), Punctuation | Symbol),
    })
}

/// True for letters, numbers and combining marks (category M), such as the tone marks of Thai.
pub fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character.general_category_group() == GeneralCategoryGroup::Mark
}

/// Returns a word without surrounding punctuation and symbols; a word of nothing else is kept.
pub fn strip_punctuation(word: &str) -> &str {
    let bare = word.trim_matches(|character| !is_of_word(character));
    if bare.is_empty() { word } else { bare }
}

/// True for characters of scripts written without spaces between words.
pub fn is_unspaced(character: char) -> bool {
    use Script::{Bopomofo, Han, Hiragana, Katakana, Khmer, Lao, Myanmar, Thai};
    !character.is_ascii()
        && matches!(character.script(), Bopomofo | Han | Hiragana | Katakana | Khmer | Lao | Myanmar | Thai)
}

fn split_whitespace(text: &str) -> Vec<Range<usize>> {
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

/// Returns the index of the word of a token at `span`: the word that contains it, the next one for white space, or the
/// last one if none follows. `words` must not be empty.
pub fn word_of_span(words: &[Range<usize>], span: &Range<usize>) -> usize {
    words.partition_point(|word| word.end <= span.start).min(words.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, words: WordSplitting) -> Vec<&str> {
        word_spans(text, words).into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn terms_split_unspaced_scripts() {
        for (text, words) in [
            ("我有3本(Rust)书。", &["我", "有", "3", "本", "(Rust)", "书", "。"][..]),
            ("ein Hund, ไทย가", &["ein", "Hund", ",", "ไ", "ท", "ย", "가"]),
        ] {
            assert_eq!(split(text, WordSplitting::Terms), words);
        }
    }

    #[test]
    fn splits_at_white_space() {
        for words in [WordSplitting::Whitespace, WordSplitting::Punctuation] {
            assert!(word_spans("", words).is_empty());
            assert!(word_spans(" \u{a0}", words).is_empty());
            assert_eq!(word_spans(" l'été  vient", words), [1..8, 10..15]);
        }
    }

    #[test]
    fn splits_off_punctuation() {
        for (text, words) in [
            ("«Well-known», he said...", &["«", "Well-known", "»", ",", "he", "said", "..."][..]),
            ("?! – हिन्दी। مرحبا؟", &["?", "!", "–", "हिन्दी", "।", "مرحبا", "؟"]),
            // Tibetan, N'Ko, Syriac.
            ("༄༅།བོད། ߞߎߡߊ߹ ܫܠܡܐ܀", &["༄", "༅", "།", "བོད", "།", "ߞߎߡߊ", "߹", "ܫܠܡܐ", "܀"]),
            // Digits are not punctuation.
            ("۱۹۹۰ «۲۰» 20€", &["۱۹۹۰", "«", "۲۰", "»", "20", "€"]),
            ("👍🏽👍🏽! 👩‍👩‍👧ok", &["👍🏽👍🏽", "!", "👩‍👩‍👧", "ok"]),
        ] {
            assert_eq!(split(text, WordSplitting::Punctuation), words);
        }
    }

    #[test]
    fn combining_marks_belong_to_their_base() {
        for (text, words) in [
            ("(cafe\u{301}) जगत्। दि", &["(", "cafe\u{301}", ")", "जगत्", "।", "दि"][..]),
            // The same sign composed.
            ("a=\u{338} \u{2260}", &["a", "=\u{338}", "\u{2260}"]),
            // Without a base.
            ("\u{301} \u{301}a", &["\u{301}", "\u{301}a"]),
        ] {
            assert_eq!(split(text, WordSplitting::Punctuation), words);
        }
    }

    #[test]
    fn punctuation_follows_unicode_categories() {
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
    fn each_character_is_a_word() {
        assert_eq!(word_spans(" é a", WordSplitting::Characters), [1..3, 4..5]);
        assert!(word_spans(" \u{a0}", WordSplitting::Characters).is_empty());
        for (text, characters) in [
            ("b\u{300}e\u{301}", &["b\u{300}", "e\u{301}"][..]),
            ("लाडा", &["ला", "डा"]),
            ("กำ น้ำ", &["กำ", "น้ำ"]),
            ("👩‍👩‍👧🇫🇷a", &["👩‍👩‍👧", "🇫🇷", "a"]),
            (" \u{301}a", &["\u{301}", "a"]),
            ("\u{1100}\u{1161}\u{11a8}각", &["\u{1100}\u{1161}\u{11a8}", "각"]),
            ("a\r\nb", &["a", "b"]),
        ] {
            assert_eq!(split(text, WordSplitting::Characters), characters);
        }
        assert_eq!(word_spans("b\u{300} e", WordSplitting::CodePoints), [0..1, 1..3, 4..5]);
    }

    #[test]
    fn finds_words_of_tokens() {
        let words = word_spans("ab  c ", WordSplitting::Whitespace);
        for (span, word) in [(0..1, 0), (1..2, 0), (2..3, 1), (3..5, 1), (5..6, 1)] {
            assert_eq!(word_of_span(&words, &span), word, "{span:?}");
        }
    }
}
