//! Surface forms of tokens, to find phrases in a hypothesis while it grows.

use std::ops::Range;

use super::composition::may_compose;
use super::word_spans::{is_of_word, is_unspaced};

/// Text of each token of a vocabulary.
#[derive(Clone, Debug, Default)]
pub struct SurfaceForms {
    /// By id, with spaces as spaces; empty for special tokens.
    texts: Vec<String>,
    boundaries: PhraseBoundaries,
}

/// Places where phrases begin and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhraseBoundaries {
    /// Between words.
    #[default]
    Words,
    /// Between characters, which may consist of several letters.
    Characters,
    /// Between any tokens.
    Tokens,
}

impl SurfaceForms {
    /// Returns the surface forms of tokens, given by id.
    pub fn new(texts: Vec<String>, boundaries: PhraseBoundaries) -> Self {
        Self { texts, boundaries }
    }

    /// Returns the text of a token.
    pub fn text(&self, token: u32) -> &str {
        self.texts.get(token as usize).map_or("", String::as_str)
    }

    /// Returns the number of characters of tokens.
    pub fn characters(&self, tokens: impl IntoIterator<Item = u32>) -> usize {
        tokens.into_iter().map(|token| self.text(token).chars().count()).sum()
    }

    /// Texts of all tokens by id.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// True if a token extends a word, or a character, that the tokens before it began.
    pub fn continues_word(&self, token: u32) -> bool {
        self.boundaries.may_continue(self.text(token))
    }

    /// As [`PhraseBoundaries::is_boundary`].
    pub(super) fn is_boundary(&self, before: &str, after: &str) -> bool {
        self.boundaries.is_boundary(before, after)
    }

    /// True if a text contains a phrase that ends after its first `from` bytes and is not part of longer words. The end
    /// of the text is a word boundary.
    pub fn contains_phrase(&self, text: &str, from: usize, phrase: &str) -> bool {
        self.ends_of_phrase(text, from, phrase).next().is_some()
    }

    /// As [`Self::contains_phrase`], but a word at the end of the text may continue, so that it counts only if no
    /// further character can change it.
    pub fn contains_complete_phrase(&self, text: &str, from: usize, phrase: &str) -> bool {
        let may_continue = self.boundaries.may_be_continued(phrase);
        self.ends_of_phrase(text, from, phrase).any(|end| end < text.len() || !may_continue)
    }

    /// Byte ranges of a phrase in a text, where it is not part of longer words.
    pub fn spans_of_phrase(&self, text: &str, phrase: &str) -> impl Iterator<Item = Range<usize>> {
        self.ends_of_phrase(text, 0, phrase).map(move |end| end - phrase.len()..end)
    }

    fn ends_of_phrase(&self, text: &str, from: usize, phrase: &str) -> impl Iterator<Item = usize> {
        ends(text, from).filter(move |&end| {
            let before = text[..end].strip_suffix(phrase);
            before.is_some_and(|before| self.is_boundary(before, phrase) && self.is_boundary(phrase, &text[end..]))
        })
    }

    /// True if a text ends with a phrase, or with a beginning of it that lacks only the rest of its last word, so that
    /// further tokens decide whether the phrase stands there. False if phrases end at any token.
    pub fn approaches_phrase(&self, text: &str, phrase: &str) -> bool {
        let last_word = self.boundaries.start_of_last(phrase);
        last_word.is_some_and(|start| self.rests(text, phrase, start).next().is_some())
    }

    /// Iterates over the rests of a phrase that a text lacks which ends with more than the first `from` bytes of it.
    pub fn rests<'a>(&self, text: &'a str, phrase: &'a str, from: usize) -> impl Iterator<Item = &'a str> {
        let boundaries = self.boundaries;
        ends(phrase, from).filter_map(move |end| {
            let before = text.strip_suffix(&phrase[..end])?;
            boundaries.is_boundary(before, phrase).then_some(&phrase[end..])
        })
    }
}

impl PhraseBoundaries {
    /// True if no word, or no character, spans the boundary between two texts.
    pub(super) fn is_boundary(self, before: &str, after: &str) -> bool {
        !(self.may_be_continued(before) && self.may_continue(after))
    }

    /// True if a text may continue the word, or the character, before it.
    fn may_continue(self, text: &str) -> bool {
        match self {
            Self::Words => text.starts_with(joins_words),
            Self::Characters => text.starts_with(may_compose),
            Self::Tokens => false,
        }
    }

    /// True if the last word, or the last character, of a text may continue.
    fn may_be_continued(self, text: &str) -> bool {
        match self {
            Self::Words => text.ends_with(joins_words),
            Self::Characters => !text.is_empty(),
            Self::Tokens => false,
        }
    }

    /// Length of a phrase without the word, or the character, that may continue after it. None if none may.
    fn start_of_last(self, phrase: &str) -> Option<usize> {
        match self {
            Self::Words => Some(phrase.trim_end_matches(joins_words).len()),
            Self::Characters => {
                let start = phrase.char_indices().rev().find(|&(_, character)| !may_compose(character));
                Some(start.map_or(0, |(start, _)| start))
            }
            Self::Tokens => None,
        }
    }
}

/// Iterates over the character boundaries after the first `from` bytes of a text.
pub(super) fn ends(text: &str, from: usize) -> impl Iterator<Item = usize> {
    (from + 1..=text.len()).filter(|&end| text.is_char_boundary(end))
}

/// True if a character forms words with its neighbors.
pub(super) fn joins_words(character: char) -> bool {
    is_of_word(character) && !is_unspaced(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface_forms(tokens: &[&str], boundaries: PhraseBoundaries) -> SurfaceForms {
        SurfaceForms::new(tokens.iter().map(|&token| token.to_owned()).collect(), boundaries)
    }

    #[test]
    fn finds_phrases_that_end_in_a_text() {
        let tokens =
            ["", " ein", " Hund", " Hu", "nd", "e", " (", "Hund", " Schäferhund", ".", "und", "d", " Hund's", "nd-"];
        let forms = surface_forms(&tokens, PhraseBoundaries::Words);
        for text in [" ein Hund", "Hund", " (Hund", "ein Hund's", "Hunde Hund"] {
            assert!(forms.contains_phrase(text, 0, "Hund"), "{text}");
        }
        for (text, from) in [(" ein Schäferhund", 0), ("xHund", 0), ("", 0), ("Hunde", 0), ("Hund", 4), ("Hund ein", 4)]
        {
            assert!(!forms.contains_phrase(text, from, "Hund"), "{text}");
        }
        assert!(forms.contains_phrase("a a a", 3, "a a"), "phrases overlap");
        assert_eq!(Vec::from_iter(forms.spans_of_phrase("ba a a", "a")), [3..4, 5..6]);
        let continues: Vec<u32> = (0..14).filter(|&token| forms.continues_word(token)).collect();
        assert_eq!(continues, [4, 5, 7, 10, 11, 13]);
        assert_eq!(forms.text(99), "");
    }

    #[test]
    fn approaches_phrases_within_their_last_word() {
        let forms = surface_forms(&[], PhraseBoundaries::Words);
        for text in [" ein Hund", " ein Hu", "ein H"] {
            assert!(forms.approaches_phrase(text, "ein Hund") && forms.approaches_phrase(text, "Hund"), "{text}");
        }
        for text in ["", " ein", " ein ", " einHu", " ein Hunde", " xHu"] {
            assert!(!forms.approaches_phrase(text, "ein Hund") && !forms.approaches_phrase(text, "Hund"), "{text}");
        }
        assert!(!forms.approaches_phrase(" a.", "a.") && !forms.approaches_phrase("一", "一本"));
        assert!(!surface_forms(&[], PhraseBoundaries::Tokens).approaches_phrase("Hu", "Hund"));
        for (text, phrase) in [("ein Hund.", "Hund"), ("ein Hund.", "."), ("一本", "本")] {
            assert!(forms.contains_complete_phrase(text, 0, phrase), "{text}");
        }
        for text in ["ein Hund", "ein Hunde."] {
            assert!(!forms.contains_complete_phrase(text, 0, "Hund"), "{text}");
        }
    }

    #[test]
    fn matches_phrases_anywhere_in_unspaced_scripts_and_characters() {
        let forms = surface_forms(&["一本", "书", " a"], PhraseBoundaries::Words);
        assert!(!forms.continues_word(1) && forms.contains_phrase("一本书", 6, "书"));
        let characters = surface_forms(&["a", "b"], PhraseBoundaries::Tokens);
        assert!(
            characters.contains_phrase("xab", 2, "ab")
                && characters.contains_complete_phrase("xab", 2, "ab")
                && !characters.continues_word(0)
        );
    }

    #[test]
    fn letters_of_one_character_are_not_apart() {
        // 가, and 각 with one more letter.
        let [phrase, longer] = ["\u{1100}\u{1161}", "\u{1100}\u{1161}\u{11a8}"];
        let forms = surface_forms(&["\u{1100}", "\u{1161}", "\u{11a8}", "n"], PhraseBoundaries::Characters);
        assert!(forms.contains_phrase(phrase, 0, phrase) && !forms.contains_phrase(longer, 0, phrase));
        assert!(!forms.contains_complete_phrase(phrase, 0, phrase));
        assert!(forms.contains_complete_phrase(&format!("{phrase}n"), 0, phrase));
        assert_eq!([0, 1, 2, 3].map(|token| forms.continues_word(token)), [false, true, true, false]);
        assert!(forms.approaches_phrase("n\u{1100}", phrase) && forms.approaches_phrase(phrase, phrase));
        assert!(!forms.approaches_phrase(longer, phrase) && !forms.approaches_phrase("n", phrase));
        assert!(!forms.approaches_phrase("e", "e\u{301}n") && forms.approaches_phrase("e\u{301}n", "e\u{301}n"));
    }
}
