//! How a vocabulary's units are spelt, for those who have to know what a row of units reads like while it grows.

use super::word_spans::{is_of_word, is_word_alone};

/// The text of each unit, and whether a unit can go on with a word.
#[derive(Clone, Debug, Default)]
pub struct SurfaceForms {
    /// By id, with spaces as spaces; nothing for the special units.
    texts: Vec<String>,
    /// Whether words are made of units at all: where units are characters, what is between spaces is no word.
    has_words: bool,
}

impl SurfaceForms {
    /// Of units by id.
    pub fn new(texts: Vec<String>, has_words: bool) -> Self {
        Self { texts, has_words }
    }

    /// A unit's text.
    pub fn text(&self, unit: u32) -> &str {
        self.texts.get(unit as usize).map_or("", String::as_str)
    }

    /// Whether a word that the units before have begun would be longer with this one.
    pub fn continues_word(&self, unit: u32) -> bool {
        self.has_words && self.text(unit).starts_with(joins)
    }

    /// The units with which a phrase may come to be said: those in which it ends.
    pub fn endings(&self, phrase: &str) -> Vec<u32> {
        let ends_within = |text: &str| {
            ends(text, 0)
                .any(|end| phrase.ends_with(&text[..end]) && (!self.has_words || are_apart(phrase, &text[end..])))
        };
        let ending = |text: &str| self.says(text, 0, phrase) || ends_within(text);
        (0..).zip(&self.texts).filter(|(_, text)| ending(text)).map(|(unit, _)| unit).collect()
    }

    /// Whether a phrase that ends after the first `from` bytes of a text stands there for itself, which at the end of the text
    /// it does whatever follows.
    pub fn says(&self, text: &str, from: usize, phrase: &str) -> bool {
        ends(text, from).any(|end| {
            let before = text[..end].strip_suffix(phrase);
            before.is_some_and(|before| !self.has_words || are_apart(before, phrase) && are_apart(phrase, &text[end..]))
        })
    }
}

/// Whether a phrase stands in a text for itself, not as a part of longer words.
pub fn has_phrase(text: &str, phrase: &str) -> bool {
    SurfaceForms::new(Vec::new(), true).says(text, 0, phrase)
}

/// The places in a text where something can end after its first `from` bytes.
fn ends(text: &str, from: usize) -> impl Iterator<Item = usize> {
    (from + 1..=text.len()).filter(|&end| text.is_char_boundary(end))
}

/// Whether no word goes on from one text to the next.
fn are_apart(before: &str, after: &str) -> bool {
    !(before.ends_with(joins) && after.starts_with(joins))
}

/// Whether a character makes one word with its like beside it.
fn joins(character: char) -> bool {
    is_of_word(character) && !is_word_alone(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelling(units: &[&str], has_words: bool) -> SurfaceForms {
        SurfaceForms::new(units.iter().map(|&unit| unit.to_owned()).collect(), has_words)
    }

    #[test]
    fn phrases_end_where_they_stand_for_themselves() {
        let units =
            ["", " ein", " Hund", " Hu", "nd", "e", " (", "Hund", " Schäferhund", ".", "und", "d", " Hund's", "nd-"];
        let spelling = spelling(&units, true);
        assert_eq!(spelling.endings("Hund"), [2, 4, 7, 10, 11, 12, 13]);
        assert_eq!(spelling.endings("ein Hund"), [2, 4, 7, 10, 11, 12, 13]);
        assert!(spelling.endings("x").is_empty() && spelling.endings("ein") == [1]);
        for text in [" ein Hund", "Hund", " (Hund", "ein Hund's", "Hunde Hund"] {
            assert!(spelling.says(text, 0, "Hund"), "{text}");
        }
        for (text, from) in [(" ein Schäferhund", 0), ("xHund", 0), ("", 0), ("Hunde", 0), ("Hund", 4), ("Hund ein", 4)]
        {
            assert!(!spelling.says(text, from, "Hund"), "{text}");
        }
        assert!(spelling.says("a a a", 3, "a a"), "phrases overlap");
        let continues: Vec<u32> = (0..14).filter(|&unit| spelling.continues_word(unit)).collect();
        assert_eq!(continues, [4, 5, 7, 10, 11, 13]);
        assert_eq!(spelling.text(99), "");
    }

    #[test]
    fn phrases_stand_in_texts_for_themselves() {
        assert!(has_phrase("ein Hund, ja", "Hund") && has_phrase("Hunde (Hund)", "Hund") && has_phrase("Hund", "Hund"));
        assert!(!has_phrase("Hunde", "Hund") && !has_phrase("", "Hund") && !has_phrase("Schäferhund hund", "Hund"));
        // Only words can be longer.
        assert!(
            has_phrase("mi .x", "mi .")
                && has_phrase("x(mi", "(mi")
                && !has_phrase("mi.x", "x.")
                && has_phrase("a.b", ".")
        );
        let accent = "x\u{301}";
        assert!(has_phrase(accent, accent) && !has_phrase(accent, "x") && !has_phrase(&format!("{accent}y"), "y"));
    }

    /// Where no space is written between words, a phrase stands for itself wherever it stands; and in what is no word at all.
    #[test]
    fn not_all_scripts_have_spaces() {
        assert!(
            has_phrase("一本书", "书")
                && has_phrase("書く", "く")
                && has_phrase("ภาษาไทย", "ไทย")
                && !has_phrase("책을", "책")
        );
        let spelling = spelling(&["一本", "书", " a"], true);
        assert!(!spelling.continues_word(1) && spelling.endings("书") == [1] && spelling.says("一本书", 6, "书"));
        let characters = self::spelling(&["a", "b"], false);
        assert!(characters.says("xab", 2, "ab") && characters.endings("ab") == [1] && !characters.continues_word(0));
    }
}
