//! Byte ranges of the words of a text.
//!
//! One rule says what a word is, for links and for all that is decided by the data: words are separated by white space, and
//! each character of a script without spaces is a word, unless spaces separate the words of the text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

/// Maximum length of words, and thus of tokens, in BPE training, in characters. Longer words are split, since training
/// takes quadratic time.
pub const LONGEST_WORD: usize = 1000;

/// Scripts without spaces between words: ideographs, syllables and the scripts of South East Asia (the classes ID and SA of
/// UAX #14), and Tibetan.
const UNSPACED_SCRIPTS: [Script; 17] = [
    Script::Bopomofo,
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Khitan_Small_Script,
    Script::Khmer,
    Script::Lao,
    Script::Myanmar,
    Script::Nushu,
    Script::New_Tai_Lue,
    Script::Tai_Le,
    Script::Tai_Tham,
    Script::Tai_Viet,
    Script::Tangut,
    Script::Thai,
    Script::Tibetan,
    Script::Yi,
];
/// Maximum mean number of characters of a script without spaces between the spaces of a text whose words spaces separate.
/// Words of Japanese and Chinese have about 2, those of Thai, Khmer and Burmese about 3; phrases of Thai have 8 and more.
const MAX_MEAN_SPACED_WORD: usize = 4;
/// Maximum mean number of characters of single words in scripts without spaces. Sentences have 10 and more.
const MAX_MEAN_SINGLE_WORD: usize = 8;

/// Definition of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum WordSplitting {
    /// Split at whitespace; each character of a script without spaces, such as Han, kana or Thai, is a word, unless spaces
    /// separate the words of the text.
    #[default]
    Script,
    /// Split at whitespace only.
    Whitespace,
    /// As script, and split punctuation and symbols off both ends of words, not inside, as in `l'été` or `well-known`.
    Punctuation,
    /// Each character other than white space, together with its marks.
    Characters,
    /// As [`Self::Punctuation`], but each character of scripts without spaces is always a word; for terminology.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", value(skip))]
    Terms,
    /// Each code point other than white space, for copying unknown ones.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", value(skip))]
    CodePoints,
}

/// Returns true if no text has white space between words, and the texts are too short for sentences of a script without
/// spaces.
pub fn are_single_words(texts: impl IntoIterator<Item = impl AsRef<str>>) -> bool {
    let (mut count, mut characters) = (0, 0);
    for text in texts {
        let text = text.as_ref();
        if split_whitespace(text).len() > 1 {
            return false;
        }
        count += 1;
        characters += unspaced_characters(text);
    }
    are_short_enough(count, characters)
}

/// Returns true if so many texts with so many characters of scripts without spaces may be single words.
pub(super) fn are_short_enough(texts: usize, characters: usize) -> bool {
    characters <= MAX_MEAN_SINGLE_WORD * texts
}

/// Returns the number of characters of scripts without spaces.
pub(super) fn unspaced_characters(text: &str) -> usize {
    if text.is_ascii() {
        return 0;
    }
    text.graphemes(true).filter(|grapheme| grapheme.starts_with(is_unspaced_letter)).count()
}

/// Returns the scripts of the characters that are words of their own, since no spaces separate words. Empty if spaces do.
pub fn scripts_without_spaces(text: &str) -> Vec<Script> {
    if !has_unspaced_words(text, &split_whitespace(text)) {
        return Vec::new();
    }
    let first = text.graphemes(true).filter_map(|grapheme| grapheme.chars().next());
    first.filter(|&character| is_unspaced_letter(character)).map(|character| character.script()).collect()
}

/// Returns the byte ranges of the words of a text.
pub fn word_spans(text: &str, words: WordSplitting) -> Vec<Range<usize>> {
    let chunks = split_whitespace(text);
    match words {
        WordSplitting::Whitespace => chunks,
        WordSplitting::Script if has_unspaced_words(text, &chunks) => {
            chunks.into_iter().flat_map(|span| split_unspaced(text, span)).collect()
        }
        WordSplitting::Script => chunks,
        WordSplitting::Punctuation if has_unspaced_words(text, &chunks) => word_spans(text, WordSplitting::Terms),
        WordSplitting::Punctuation => chunks.into_iter().flat_map(|span| split_punctuation(text, span)).collect(),
        WordSplitting::Terms => {
            let words = chunks.into_iter().flat_map(|span| split_unspaced(text, span));
            words.flat_map(|span| split_punctuation(text, span)).collect()
        }
        WordSplitting::Characters => characters(text),
        WordSplitting::CodePoints => code_points(text),
    }
}

/// Returns the words of a text as spaces and punctuation separate them in every script.
pub(super) fn spaced_words(text: &str) -> impl Iterator<Item = &str> {
    split_whitespace(text).into_iter().flat_map(|span| split_punctuation(text, span)).map(|span| &text[span])
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

/// Returns true if a text, split at white space into chunks, has characters of a script without spaces, whose words spaces do
/// not separate. Spaces around other scripts, and after punctuation, separate no words.
fn has_unspaced_words(text: &str, chunks: &[Range<usize>]) -> bool {
    let characters = unspaced_characters(text);
    if characters == 0 {
        return false;
    }
    let mut spaces = 0;
    for pair in chunks.windows(2) {
        let [before, after] = [&text[pair[0].clone()], &text[pair[1].clone()]];
        let is_space = ends_unspaced(before) && (after.starts_with(is_unspaced_letter) || is_punctuation(after));
        spaces += usize::from(is_space);
    }
    spaces == 0 || characters > MAX_MEAN_SPACED_WORD * (spaces + 1)
}

/// Returns true if the last character of a text is of a script without spaces.
fn ends_unspaced(text: &str) -> bool {
    text.graphemes(true).next_back().is_some_and(|grapheme| grapheme.starts_with(is_unspaced_letter))
}

/// Splits a chunk between white space into the characters of scripts without spaces and what is between them, without
/// punctuation at its ends. A chunk without such characters stays whole.
fn split_unspaced(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    const ZERO_WIDTH_SPACE: &str = "\u{200b}";
    let chunk = &text[span.clone()];
    if chunk.is_ascii() || !chunk.contains(is_unspaced) {
        return vec![span];
    }
    let mut spans = Vec::new();
    let mut other = span.start;
    for (index, grapheme) in chunk.grapheme_indices(true) {
        let character = span.start + index..span.start + index + grapheme.len();
        let is_word = grapheme.starts_with(is_unspaced_letter);
        if is_word || grapheme == ZERO_WIDTH_SPACE {
            spans.extend(split_punctuation(text, other..character.start));
            other = character.end;
            spans.extend(is_word.then_some(character));
        }
    }
    spans.extend(split_punctuation(text, other..span.end));
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

/// As [`is_unspaced`], without marks, whose order at the beginning of a text normalization can change.
fn is_unspaced_letter(character: char) -> bool {
    is_unspaced(character) && character.general_category_group() != GeneralCategoryGroup::Mark
}

/// True for letters and marks that occur only in scripts without spaces between words. Digits form numbers in every script.
pub fn is_unspaced(character: char) -> bool {
    if character.is_ascii() || !is_of_word(character) {
        return false;
    }
    let scripts = character.script_extension();
    !scripts.is_empty()
        && scripts.iter().all(|script| UNSPACED_SCRIPTS.contains(&script))
        && character.general_category() != GeneralCategory::DecimalNumber
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
            ("我有3本(Rust)书。", &["我", "有", "3", "本", "(", "Rust", ")", "书", "。"][..]),
            ("ein Hund, ไทย가", &["ein", "Hund", ",", "ไ", "ท", "ย", "가"]),
            ("我 喜欢 你 。", &["我", "喜", "欢", "你", "。"]),
        ] {
            assert_eq!(split(text, WordSplitting::Terms), words);
        }
    }

    #[test]
    fn characters_of_scripts_without_spaces_are_words() {
        for (text, words) in [
            ("彼は。OKだ、(はい)", &["彼", "は", "。", "OK", "だ", "、", "(", "は", "い", ")"][..]),
            ("ラーメン々〇ﾊﾝ", &["ラ", "ー", "メ", "ン", "々", "〇", "ﾊ", "ﾝ"]),
            ("I love 日本, too.", &["I", "love", "日", "本", ",", "too."]),
            ("我用 Rust 写 3,000 行代码", &["我", "用", "Rust", "写", "3,000", "行", "代", "码"]),
            ("はい！　そうです。", &["は", "い", "！", "そ", "う", "で", "す", "。"]),
            ("東京 (Tokyo)", &["東", "京", "(Tokyo)"]),
            // Digits form numbers; marks belong to their characters; a zero-width space is none.
            ("น้ำ๒๕๖๒\u{200b}ตำ", &["น้ำ", "๒๕๖๒", "ตำ"]),
            // A space between phrases of Thai.
            ("ฉันรักคุณมากที่สุด เขาก็รักคุณเหมือนกัน", &[]),
            ("ខមក", &["ខ", "ម", "ក"]),
            ("ລາວ", &["ລ", "າ", "ວ"]),
            ("ကခဂ", &["က", "ခ", "ဂ"]),
        ] {
            let found = split(text, WordSplitting::Script);
            if words.is_empty() {
                assert_eq!(found.len(), unspaced_characters(text), "{text}");
            } else {
                assert_eq!(found, words);
                assert_eq!(split(text, WordSplitting::Whitespace), Vec::from_iter(text.split_whitespace()));
            }
        }
    }

    #[test]
    fn spaces_may_separate_words_of_every_script() {
        for text in [
            "彼 は つら い 人生 を 送 っ た 。",
            "はい 。",
            "私 は Rust が 好き",
            "ฉัน รัก คุณ มาก",
            "The cat's asleep, (isn't it?)",
            "나는 고양이를 좋아한다.",
            "قط ينام।",
            "un cafe\u{301}. maˊ, (e\u{300})",
        ] {
            assert_eq!(split(text, WordSplitting::Script), Vec::from_iter(text.split_whitespace()), "{text}");
            assert!(scripts_without_spaces(text).is_empty());
        }
        assert_eq!(split("私 は「Rust」 が 好き", WordSplitting::Punctuation), ["私", "は「Rust", "」", "が", "好き"]);
    }

    #[test]
    fn single_words_are_short_in_scripts_without_spaces() {
        assert!(are_single_words(["abandonner", "Donaudampfschifffahrtsgesellschaft", ""]));
        assert!(are_single_words(["とうきょう", "あいさつ", "しょうぼうしょのちかく", "猫"]));
        assert!(!are_single_words(["自分の事をしろ。", "彼はつらい人生を送った。"]));
        assert!(!are_single_words(["foxes", "two words"]));
    }

    #[test]
    fn splits_at_white_space() {
        for words in [WordSplitting::Script, WordSplitting::Whitespace, WordSplitting::Punctuation] {
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
            ("༄༅།བོད། ߞߎߡߊ߹ ܫܠܡܐ܀", &["༄", "༅", "།", "བོ", "ད", "།", "ߞߎߡߊ", "߹", "ܫܠܡܐ", "܀"]),
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
