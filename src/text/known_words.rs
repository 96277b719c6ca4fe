//! Words of the training data, to tell words from nonwords while a hypothesis grows.

use super::surface_forms::joins_words;

/// Set of words in lower case. Words end at punctuation, inside `n'est` and `well-known` too.
#[derive(Clone, Debug, Default)]
pub struct KnownWords {
    /// Sorted.
    words: Vec<String>,
}

impl KnownWords {
    /// Collects the words of texts.
    pub fn from_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut words: Vec<String> = Vec::new();
        for text in texts {
            words.extend(text.split(|character| !joins_words(character)).map(str::to_lowercase));
        }
        words.sort_unstable();
        words.dedup();
        Self { words }
    }

    /// True if all words of a text are known. The word at its end may be the beginning of a known one, unless the text is
    /// complete.
    pub fn cover(&self, text: &str, is_complete: bool) -> bool {
        let (ended, last) = text.split_at(start_of_last_word(text));
        ended.split(|character| !joins_words(character)).all(|word| self.has(word))
            && if is_complete { self.has(last) } else { self.has_beginning(last) }
    }

    /// True if the parts of a word between punctuation are known, in any case.
    pub fn has_word(&self, word: &str) -> bool {
        let lower = word.to_lowercase();
        let mut parts = lower.split(|character| !joins_words(character)).filter(|part| !part.is_empty());
        parts.all(|part| self.words.binary_search_by(|known| known.as_str().cmp(part)).is_ok())
    }

    /// True for a known word and for the empty one.
    fn has(&self, word: &str) -> bool {
        word.is_empty() || has_usual_case(word) && self.words.binary_search(&word.to_lowercase()).is_ok()
    }

    /// True for the beginning of a known word and for the empty one.
    fn has_beginning(&self, word: &str) -> bool {
        word.is_empty() || has_usual_case(word) && !self.beginning_with(&word.to_lowercase()).is_empty()
    }

    /// Known words that begin with a text in lower case.
    pub fn beginning_with(&self, beginning: &str) -> &[String] {
        words_beginning_with(&self.words, 0, beginning)
    }
}

/// Words among sorted ones that continue with a beginning after their first `from` bytes, which they share.
pub fn words_beginning_with<'w>(words: &'w [String], from: usize, beginning: &str) -> &'w [String] {
    let words = &words[words.partition_point(|word| &word[from..] < beginning)..];
    &words[..words.partition_point(|word| word[from..].starts_with(beginning))]
}

/// True if a text has only letters and digits of words, none of them a capital.
pub fn is_lowercase_word(text: &str) -> bool {
    text.chars().all(|character| joins_words(character) && !character.is_uppercase())
}

/// True if no capital follows the first character of a word, or all letters are capitals.
fn has_usual_case(word: &str) -> bool {
    !word.chars().skip(1).any(char::is_uppercase) || !word.chars().any(char::is_lowercase)
}

/// Returns the start of the word at the end of a text; its length if it ends with no word.
pub fn start_of_last_word(text: &str) -> usize {
    text.trim_end_matches(joins_words).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_covered_whole_or_as_beginnings() {
        let known = KnownWords::from_texts(["n'êtes", "Couchez-vous", "hund", "hunde"]);
        for text in ["", " Hund", "Hund.", "HUNDE, n'", " couchez-n", "êtes-vous"] {
            assert!(known.cover(text, true), "{text}");
        }
        for text in [" Hu", " couchez-vo", "n'ê", "hund êt"] {
            assert!(known.cover(text, false) && !known.cover(text, true), "{text}");
        }
        for text in ["neêtes", "Hu Hund", "hundes", "vous-x", "x-vous", "hundE", "hunD"] {
            assert!(!known.cover(text, false), "{text}");
        }
        assert!(KnownWords::default().cover(" …", true) && !KnownWords::default().cover("a", false));
    }

    #[test]
    fn last_word_starts_after_the_last_boundary() {
        for (text, start) in [("", 0), ("ab", 0), (" ab", 1), ("l'été", 2), ("ab.", 3), ("一本", 6)] {
            assert_eq!(start_of_last_word(text), start, "{text}");
        }
    }
}
