//! Placeholders in the prefix of a translation and in required phrases, which say where those of the sentence stand.

use super::placeholders::{Placeholders, name};
use super::punctuation::is_closing;

/// Prefix or required phrase whose placeholders are taken out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlacedPhrase {
    /// Text without placeholders.
    pub text: String,
    /// Placeholders at positions in the text, in order.
    pub places: Vec<PlaceholderPlace>,
}

/// Place of a placeholder in a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlaceholderPlace {
    /// Placeholder by which that of the sentence is found, as [`name`] returns it.
    pub name: String,
    /// Byte position in the text without placeholders: the end of the word before it.
    pub at: usize,
    /// True on each side, before and after it, on which it touches the text.
    pub attached: [bool; 2],
}

impl PlacedPhrase {
    /// Takes the placeholders out of a phrase.
    pub fn new(given: &str, placeholders: &Placeholders) -> Self {
        let mut phrase = Self::default();
        let mut start = 0;
        for found in placeholders.find(given) {
            phrase.push(&given[start..found.start]);
            let sides = [given[..found.start].chars().next_back(), given[found.end..].chars().next()];
            phrase.places.push(PlaceholderPlace {
                name: name(&given[found.clone()]),
                at: phrase.text.trim_end().len(),
                attached: sides.map(|side| side.is_some_and(|one| !one.is_whitespace())),
            });
            start = found.end;
        }
        phrase.push(&given[start..]);
        phrase
    }

    /// Appends text after the last placeholder, which separates words.
    fn push(&mut self, text: &str) {
        if !self.places.is_empty() && text.starts_with(is_closing) {
            self.text.truncate(self.text.trim_end().len());
        }
        let is_apart = self.text.is_empty() || self.text.ends_with(char::is_whitespace);
        let text = if self.places.is_empty() || !is_apart { text } else { text.trim_start() };
        let touches = !is_apart && !text.starts_with(|one: char| !one.is_alphanumeric());
        self.text.push_str(if touches && !self.places.is_empty() { " " } else { "" });
        self.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str, at: usize, attached: [bool; 2]) -> PlaceholderPlace {
        PlaceholderPlace { name: name.to_owned(), at, attached }
    }

    #[test]
    fn placeholders_leave_the_words_of_a_phrase_apart() {
        for (given, text, places) in [
            ("Ils {N} ", "Ils ", vec![place("{n}", 3, [false; 2])]),
            ("Ils {n}", "Ils ", vec![place("{n}", 3, [false; 2])]),
            ("{n} Ils", "Ils", vec![place("{n}", 0, [false; 2])]),
            ("Ils {n} et {m}.", "Ils et.", vec![place("{n}", 3, [false; 2]), place("{m}", 6, [false, true])]),
            ("a{n}b", "a b", vec![place("{n}", 1, [true; 2])]),
            ("n°{n}", "n° ", vec![place("{n}", 3, [true, false])]),
            ("a {x}{y} b", "a b", vec![place("{x}", 1, [false, true]), place("{y}", 1, [true, false])]),
            ("{n}", "", vec![place("{n}", 0, [false; 2])]),
            (" a  b ", " a  b ", Vec::new()),
        ] {
            let phrase = PlacedPhrase { text: text.to_owned(), places };
            assert_eq!(PlacedPhrase::new(given, &Placeholders::default()), phrase, "{given}");
        }
    }
}
