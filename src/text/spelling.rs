//! How a vocabulary's units are spelt, for those who have to know what a row of units reads like while it grows.

use super::words::is_of_word;

/// The text of each unit, and whether a unit can go on with a word.
#[derive(Clone, Debug, Default)]
pub struct Spelling {
    /// By id, with spaces as spaces; nothing for the special units.
    texts: Vec<String>,
    /// Whether words are made of units at all: where units are characters, what is between spaces is no word.
    has_words: bool,
}

impl Spelling {
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
        self.has_words && self.text(unit).starts_with(is_of_word)
    }

    /// The units that may be the last one of a phrase standing for itself: those that end it, or end with it.
    pub fn endings(&self, phrase: &str) -> Vec<u32> {
        let ends = |text: &str| match text.strip_suffix(phrase) {
            Some(before) => !before.ends_with(is_of_word),
            None => !text.is_empty() && phrase.ends_with(text),
        };
        (0..).zip(&self.texts).filter(|(_, text)| ends(text)).map(|(unit, _)| unit).collect()
    }
}

/// Whether a phrase stands at the end of a text, not as the end of a longer word.
pub fn ends_with_phrase(text: &str, phrase: &str) -> bool {
    text.strip_suffix(phrase).is_some_and(|before| !before.ends_with(is_of_word))
}

/// Whether a phrase stands in a text for itself, not as a part of longer words.
pub fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(start, found)| {
        let after = &text[start + found.len()..];
        !text[..start].ends_with(is_of_word) && !after.starts_with(is_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_end_where_they_stand_for_themselves() {
        let units = ["", " ein", " Hund", " Hu", "nd", "e", " (", "Hund", " Schäferhund", ".", "und", "d"];
        let spelling = Spelling::new(units.map(str::to_owned).to_vec(), true);
        assert_eq!(spelling.endings("Hund"), [2, 4, 7, 10, 11]);
        assert_eq!(spelling.endings("ein Hund"), [2, 4, 7, 10, 11]);
        assert!(spelling.endings("x").is_empty() && spelling.endings("ein") == [1]);
        for text in [" ein Hund", "Hund", " (Hund"] {
            assert!(ends_with_phrase(text, "Hund"), "{text}");
        }
        assert!(has_phrase("ein Hund, ja", "Hund") && has_phrase("Hunde (Hund)", "Hund") && has_phrase("Hund", "Hund"));
        assert!(!has_phrase("Hunde", "Hund") && !has_phrase("", "Hund") && !has_phrase("Schäferhund hund", "Hund"));
        let accent = "x\u{301}";
        assert!(
            has_phrase(accent, accent) && !has_phrase(accent, "x") && !ends_with_phrase(&format!("{accent}y"), "y")
        );
        for text in [" ein Schäferhund", "xHund", "", "Hunde"] {
            assert!(!ends_with_phrase(text, "Hund"), "{text}");
        }
        let continues: Vec<u32> = (0..12).filter(|&unit| spelling.continues_word(unit)).collect();
        assert_eq!(continues, [4, 5, 7, 10, 11]);
        assert_eq!(spelling.text(99), "");
    }
}
