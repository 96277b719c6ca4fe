//! Surface forms of units, to find phrases in a hypothesis while it grows.

use super::word_spans::{is_of_word, is_unspaced};

/// Text of each unit of a vocabulary.
#[derive(Clone, Debug, Default)]
pub struct SurfaceForms {
    /// By id, with spaces as spaces; empty for special units.
    texts: Vec<String>,
    /// False if units are characters: then text between spaces is not a word.
    has_words: bool,
}

impl SurfaceForms {
    /// Returns the surface forms of units, given by id.
    pub fn new(texts: Vec<String>, has_words: bool) -> Self {
        Self { texts, has_words }
    }

    /// Returns the text of a unit.
    pub fn text(&self, unit: u32) -> &str {
        self.texts.get(unit as usize).map_or("", String::as_str)
    }

    /// Texts of all units by id.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// True if a unit extends a word that the units before it began.
    pub fn continues_word(&self, unit: u32) -> bool {
        self.has_words && self.text(unit).starts_with(joins_words)
    }

    /// True if no word spans the boundary between two texts.
    pub(super) fn is_boundary(&self, before: &str, after: &str) -> bool {
        !self.has_words || is_boundary(before, after)
    }

    /// True if a text contains a phrase that ends after its first `from` bytes and is not part of longer words. The end
    /// of the text is a word boundary.
    pub fn contains_phrase(&self, text: &str, from: usize, phrase: &str) -> bool {
        self.ends_of_phrase(text, from, phrase).next().is_some()
    }

    /// As [`Self::contains_phrase`], but a word at the end of the text may continue, so that it counts only if no
    /// further character can change it.
    pub fn contains_complete_phrase(&self, text: &str, from: usize, phrase: &str) -> bool {
        let may_continue = self.has_words && phrase.ends_with(joins_words);
        self.ends_of_phrase(text, from, phrase).any(|end| end < text.len() || !may_continue)
    }

    fn ends_of_phrase(&self, text: &str, from: usize, phrase: &str) -> impl Iterator<Item = usize> {
        ends(text, from).filter(move |&end| {
            let before = text[..end].strip_suffix(phrase);
            before.is_some_and(|before| self.is_boundary(before, phrase) && self.is_boundary(phrase, &text[end..]))
        })
    }

    /// True if a text ends with a phrase, or with a beginning of it that lacks only the rest of its last word, so that
    /// further units decide whether the phrase stands there. False if units are characters.
    pub fn approaches_phrase(&self, text: &str, phrase: &str) -> bool {
        let last_word = phrase.trim_end_matches(joins_words).len();
        self.has_words && self.rests(text, phrase, last_word).next().is_some()
    }

    /// Iterates over the rests of a phrase that a text lacks which ends with more than the first `from` bytes of it.
    pub fn rests<'a>(&self, text: &'a str, phrase: &'a str, from: usize) -> impl Iterator<Item = &'a str> {
        let has_words = self.has_words;
        let rest = move |end: usize| {
            let before = text.strip_suffix(&phrase[..end])?;
            (!has_words || is_boundary(before, phrase)).then_some(&phrase[end..])
        };
        ends(phrase, from).filter_map(rest)
    }
}

/// Iterates over the character boundaries after the first `from` bytes of a text.
pub(super) fn ends(text: &str, from: usize) -> impl Iterator<Item = usize> {
    (from + 1..=text.len()).filter(|&end| text.is_char_boundary(end))
}

/// True if no word spans the boundary between two texts.
pub(super) fn is_boundary(before: &str, after: &str) -> bool {
    !(before.ends_with(joins_words) && after.starts_with(joins_words))
}

/// True if a character forms words with its neighbors.
pub(super) fn joins_words(character: char) -> bool {
    is_of_word(character) && !is_unspaced(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface_forms(units: &[&str], has_words: bool) -> SurfaceForms {
        SurfaceForms::new(units.iter().map(|&unit| unit.to_owned()).collect(), has_words)
    }

    #[test]
    fn finds_phrases_that_end_in_a_text() {
        let units =
            ["", " ein", " Hund", " Hu", "nd", "e", " (", "Hund", " Schäferhund", ".", "und", "d", " Hund's", "nd-"];
        let forms = surface_forms(&units, true);
        for text in [" ein Hund", "Hund", " (Hund", "ein Hund's", "Hunde Hund"] {
            assert!(forms.contains_phrase(text, 0, "Hund"), "{text}");
        }
        for (text, from) in [(" ein Schäferhund", 0), ("xHund", 0), ("", 0), ("Hunde", 0), ("Hund", 4), ("Hund ein", 4)]
        {
            assert!(!forms.contains_phrase(text, from, "Hund"), "{text}");
        }
        assert!(forms.contains_phrase("a a a", 3, "a a"), "phrases overlap");
        let continues: Vec<u32> = (0..14).filter(|&unit| forms.continues_word(unit)).collect();
        assert_eq!(continues, [4, 5, 7, 10, 11, 13]);
        assert_eq!(forms.text(99), "");
    }

    #[test]
    fn approaches_phrases_within_their_last_word() {
        let forms = surface_forms(&[], true);
        for text in [" ein Hund", " ein Hu", "ein H"] {
            assert!(forms.approaches_phrase(text, "ein Hund") && forms.approaches_phrase(text, "Hund"), "{text}");
        }
        for text in ["", " ein", " ein ", " einHu", " ein Hunde", " xHu"] {
            assert!(!forms.approaches_phrase(text, "ein Hund") && !forms.approaches_phrase(text, "Hund"), "{text}");
        }
        assert!(!forms.approaches_phrase(" a.", "a.") && !forms.approaches_phrase("一", "一本"));
        assert!(!surface_forms(&[], false).approaches_phrase("Hu", "Hund"));
        let is_complete = |text: &str, phrase: &str| forms.contains_complete_phrase(text, 0, phrase);
        assert!(is_complete("ein Hund.", "Hund") && is_complete("ein Hund.", ".") && is_complete("一本", "本"));
        assert!(!is_complete("ein Hund", "Hund") && !is_complete("ein Hunde.", "Hund"));
    }

    #[test]
    fn finds_rests_of_phrases() {
        let forms = surface_forms(&[], true);
        let rests = |text| forms.rests(text, "ein Hund", 0).collect::<Vec<_>>();
        assert_eq!([rests(" ein"), rests("e"), rests("ein Hund")], [[" Hund"], ["in Hund"], [""]]);
        assert!(rests("kein").is_empty());
    }

    #[test]
    fn matches_phrases_anywhere_in_unspaced_scripts_and_characters() {
        let forms = surface_forms(&["一本", "书", " a"], true);
        assert!(!forms.continues_word(1) && forms.contains_phrase("一本书", 6, "书"));
        let characters = surface_forms(&["a", "b"], false);
        assert!(
            characters.contains_phrase("xab", 2, "ab")
                && characters.contains_complete_phrase("xab", 2, "ab")
                && !characters.continues_word(0)
        );
    }
}
