//! Case of sentences: text in capitals is read in the case that the model knows, and the translation is given that of the source.

use crate::text::{Truecaser, Vocabulary, WordSplitting, are_capitals, capitalized, word_spans};

/// Minimum number of words of a title.
const MIN_TITLE: usize = 3;
/// Maximum letters of words that a title writes in lower case.
const MAX_SMALL: usize = 3;

/// Case that a translation is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterCase {
    /// As the model writes it.
    Same,
    /// All capitals.
    Capitals,
    /// Long words with a capital.
    Title,
}

/// Sentence in the case that the model knows.
#[derive(Debug, PartialEq, Eq)]
pub struct CasedText {
    /// The text to read.
    pub text: String,
    /// Case of the translation.
    pub case: LetterCase,
}

impl CasedText {
    /// Returns a sentence in the case that a model knows, if it is in another one: if it needs fewer tokens so.
    pub fn new(given: &str, vocabulary: &Vocabulary, truecaser: &Truecaser) -> Option<Self> {
        let capitals = given.chars().filter(|one| one.is_uppercase()).nth(1);
        if capitals.is_none() || vocabulary.normalization().lowercase {
            return None;
        }
        let mut words = Words::new(given);
        let case = if are_capitals(given) {
            LetterCase::Capitals
        } else if words.are_title() {
            LetterCase::Title
        } else {
            let changed = words.read_in_usual_case(vocabulary, truecaser)?;
            return (changed > 0).then_some(Self { text: words.text, case: LetterCase::Same });
        };
        let text = truecaser.apply(given);
        let is_known = tokens(&text, vocabulary)? < tokens(given, vocabulary)?;
        is_known.then_some(Self { text, case })
    }
}

impl LetterCase {
    /// Returns a text in this case.
    pub fn apply(self, text: &str) -> String {
        match self {
            Self::Same => text.to_owned(),
            Self::Capitals => text.to_uppercase(),
            Self::Title => {
                let mut titled = String::with_capacity(text.len());
                let mut end = 0;
                for span in word_spans(text, WordSplitting::Terms) {
                    titled.push_str(&text[end..span.start]);
                    let word = &text[span.clone()];
                    let is_small = word.chars().count() <= MAX_SMALL && !titled.is_empty();
                    titled.push_str(&if is_small { word.to_owned() } else { capitalized(word) });
                    end = span.end;
                }
                titled + &text[end..]
            }
        }
    }
}

/// True if all long words of a sentence begin with a capital.
pub fn is_title(text: &str) -> bool {
    Words::new(text).are_title()
}

/// Words of a text.
struct Words {
    text: String,
    /// Byte ranges of the words, the first of which begins the sentence.
    spans: Vec<std::ops::Range<usize>>,
}

impl Words {
    fn new(text: &str) -> Self {
        let mut spans = word_spans(text, WordSplitting::Terms);
        spans.retain(|span| text[span.clone()].starts_with(char::is_alphabetic));
        Self { text: text.to_owned(), spans }
    }

    /// True if all long words begin with a capital.
    fn are_title(&self) -> bool {
        let mut words = self.spans.iter().map(|span| &self.text[span.clone()]);
        self.spans.len() >= MIN_TITLE
            && words.all(|word| word.starts_with(char::is_uppercase) || word.chars().count() <= MAX_SMALL)
    }

    /// Reads words with a capital, except the first, in their usual case if that is one token and the given form is not. Returns
    /// their number.
    fn read_in_usual_case(&mut self, vocabulary: &Vocabulary, truecaser: &Truecaser) -> Option<usize> {
        let mut changed = 0;
        for span in self.spans.iter().skip(1) {
            let word = &self.text[span.clone()];
            if !word.contains(char::is_uppercase) {
                continue;
            }
            let usual = truecaser.word(word);
            let keeps_length = usual.len() == word.len();
            if keeps_length && usual != word && is_token(&usual, vocabulary)? && !is_token(word, vocabulary)? {
                self.text.replace_range(span.clone(), &usual);
                changed += 1;
            }
        }
        Some(changed)
    }
}

/// Returns the number of tokens of a text.
fn tokens(text: &str, vocabulary: &Vocabulary) -> Option<usize> {
    vocabulary.encode(text).ok().map(|ids| ids.len())
}

/// True if a word within a sentence is a single token.
fn is_token(word: &str, vocabulary: &Vocabulary) -> Option<bool> {
    Some(tokens(&format!("a {word}"), vocabulary)? == tokens("a", vocabulary)? + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translations_get_the_case_of_the_source() {
        for (case, expected) in [
            (LetterCase::Same, "l'été de la ville"),
            (LetterCase::Capitals, "L'ÉTÉ DE LA VILLE"),
            (LetterCase::Title, "L'été de la Ville"),
        ] {
            assert_eq!(case.apply("l'été de la ville"), expected);
        }
    }
}
