//! Phrases that are looked for in a text all at once.

use super::known_words::words_beginning_with;
use super::surface_forms::{PhraseBoundaries, SurfaceForms, ends};

/// Phrases in order. The time to find some of them in a text hardly depends on their number.
#[derive(Clone, Debug, Default)]
pub struct SortedPhrases(Vec<String>);

impl SortedPhrases {
    /// Sorts phrases. Equal ones count once.
    pub fn new(mut phrases: Vec<String>) -> Self {
        phrases.sort_unstable();
        phrases.dedup();
        Self(phrases)
    }

    /// Iterates over the phrases.
    pub fn iter(&self) -> impl Iterator<Item = &String> {
        self.0.iter()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the first phrase that a text contains and that is not part of longer words.
    pub fn find_in(&self, text: &str) -> Option<&str> {
        for (before, rest) in text.char_indices().map(|(start, _)| text.split_at(start)) {
            // A phrase here begins with the same character as the rest.
            if PhraseBoundaries::Words.is_boundary(before, rest) {
                let mut phrases = self.beginnings_of(rest);
                let whole = phrases.find(|phrase| PhraseBoundaries::Words.is_boundary(phrase, &rest[phrase.len()..]));
                if whole.is_some() {
                    return whole;
                }
            }
        }
        None
    }

    /// True if a token with this text contains a phrase or ends with a beginning of one.
    pub fn may_begin_within(&self, text: &str, forms: &SurfaceForms) -> bool {
        text.char_indices().any(|(start, _)| {
            let (before, rest) = text.split_at(start);
            forms.is_boundary(before, rest)
                && (!words_beginning_with(&self.0, 0, rest).is_empty() || self.beginnings_of(rest).next().is_some())
        })
    }

    /// Iterates over the phrases that a text begins with, the shortest first.
    fn beginnings_of(&self, text: &str) -> impl Iterator<Item = &str> {
        let (mut phrases, mut from) = (&self.0[..], 0);
        let first_phrases = ends(text, 0).map_while(move |end| {
            phrases = words_beginning_with(phrases, from, &text[from..end]);
            from = end;
            phrases.first().map(|first| (end, first.as_str()))
        });
        first_phrases.filter(|(end, first)| first.len() == *end).map(|(_, first)| first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(phrases: &[&str]) -> SortedPhrases {
        SortedPhrases::new(phrases.iter().map(|&phrase| phrase.to_owned()).collect())
    }

    fn has_phrase(text: &str, phrase: &str) -> bool {
        phrases(&[phrase]).find_in(text).is_some()
    }

    #[test]
    fn matches_phrases_as_whole_words() {
        assert!(has_phrase("ein Hund, ja", "Hund") && has_phrase("Hunde (Hund)", "Hund") && has_phrase("Hund", "Hund"));
        assert!(!has_phrase("Hunde", "Hund") && !has_phrase("", "Hund") && !has_phrase("Schäferhund hund", "Hund"));
        // Punctuation does not extend a phrase.
        assert!(
            has_phrase("mi .x", "mi .")
                && has_phrase("x(mi", "(mi")
                && !has_phrase("mi.x", "x.")
                && has_phrase("a.b", ".")
        );
        let accent = "x\u{301}";
        assert!(has_phrase(accent, accent) && !has_phrase(accent, "x") && !has_phrase(&format!("{accent}y"), "y"));
    }

    #[test]
    fn matches_phrases_anywhere_in_unspaced_scripts() {
        assert!(
            has_phrase("一本书", "书")
                && has_phrase("書く", "く")
                && has_phrase("ภาษาไทย", "ไทย")
                && !has_phrase("책을", "책")
        );
    }

    #[test]
    fn finds_the_first_of_many_phrases() {
        let phrases = phrases(&["ein Hund", "ein", "Hund da", "da", "ein", "einer", "書く", "Ä"]);
        assert_eq!(phrases.iter().count(), 7);
        for (text, found) in [
            ("ein Hund", Some("ein")),
            ("keiner, einer da", Some("einer")),
            ("Hund da", Some("Hund da")),
            ("Hund dar", None),
            ("Ähre Ä", Some("Ä")),
            ("一書く", Some("書く")),
            ("", None),
        ] {
            assert_eq!(phrases.find_in(text), found, "{text}");
        }
        assert!(SortedPhrases::default().find_in("ein").is_none() && SortedPhrases::default().is_empty());
    }

    #[test]
    fn finds_tokens_that_begin_phrases() {
        let forms = SurfaceForms::new(Vec::new(), PhraseBoundaries::Words);
        let phrases = phrases(&["Katze", "ein Hund"]);
        for text in [" ein", "ein", "e", " kein e", "-ein Hunde"] {
            assert!(phrases.may_begin_within(text, &forms), "{text}");
        }
        for text in ["", " kein", " Hund", "einem", "me"] {
            assert!(!phrases.may_begin_within(text, &forms), "{text}");
        }
        assert!(phrases.may_begin_within("Katzen", &forms) && phrases.may_begin_within(" Kat", &forms));
        assert!(
            self::phrases(&["ein"]).may_begin_within("me", &SurfaceForms::new(Vec::new(), PhraseBoundaries::Tokens))
        );
    }
}
