//! Case of sentences: text in capitals is read in the case that the model knows, and the translation is given that of the source.

use std::ops::Range;

use crate::text::{Truecaser, Vocabulary, WordSplitting, are_capitals, capitalized, word_spans};

/// Minimum number of words of a title.
const MIN_TITLE: usize = 3;
/// Maximum letters of words that a title writes in lower case.
const MAX_SMALL: usize = 3;

/// Marks that end a sentence.
const SENTENCE_ENDS: [char; 5] = ['.', '!', '?', '\u{2026}', '\u{61f}'];

/// Case that a translation is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LetterCase {
    /// Case in which the model writes it.
    Same,
    /// All capitals.
    Capitals,
    /// Long words with a capital.
    Title,
    /// Capitals for the translations of the words at these bytes of the source.
    Words(Vec<Range<usize>>),
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
        let words = Words::new(given);
        let case = if are_capitals(given) {
            LetterCase::Capitals
        } else if words.are_title() && !words.have_run() {
            LetterCase::Title
        } else {
            return words.in_usual_case(vocabulary, truecaser);
        };
        let text = truecaser.apply(given);
        let is_known = tokens(&text, vocabulary)? < tokens(given, vocabulary)?;
        is_known.then_some(Self { text, case })
    }
}

impl LetterCase {
    /// Returns a text in this case, in which the translations of [`Self::Words`] are at the bytes `of_words`.
    pub fn apply(&self, text: &str, of_words: &[Range<usize>]) -> String {
        match self {
            Self::Same => text.to_owned(),
            Self::Capitals => text.to_uppercase(),
            Self::Title => replaced(text, &word_spans(text, WordSplitting::Terms), |span, word| {
                let is_small = word.chars().count() <= MAX_SMALL && span.start > 0;
                if is_small { word.to_owned() } else { capitalized(word) }
            }),
            Self::Words(_) => replaced(text, of_words, |_, word| word.to_uppercase()),
        }
    }
}

/// Returns a text with other words at these bytes, which are in order.
fn replaced(text: &str, spans: &[Range<usize>], mut with: impl FnMut(&Range<usize>, &str) -> String) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut end = 0;
    for span in spans {
        replaced.push_str(&text[end..span.start]);
        replaced.push_str(&with(span, &text[span.clone()]));
        end = span.end;
    }
    replaced + &text[end..]
}

/// True if all long words of a sentence begin with a capital.
pub fn is_title(text: &str) -> bool {
    Words::new(text).are_title()
}

/// Words of a text.
struct Words<'t> {
    text: &'t str,
    /// Byte ranges of the words, the first of which begins the sentence.
    spans: Vec<Range<usize>>,
}

impl<'t> Words<'t> {
    fn new(text: &'t str) -> Self {
        let mut spans = word_spans(text, WordSplitting::Terms);
        spans.retain(|span| text[span.clone()].starts_with(char::is_alphabetic));
        Self { text, spans }
    }

    fn word(&self, index: usize) -> &'t str {
        self.spans.get(index).map_or("", |span| &self.text[span.clone()])
    }

    /// True if all long words begin with a capital.
    fn are_title(&self) -> bool {
        let mut words = self.spans.iter().map(|span| &self.text[span.clone()]);
        self.spans.len() >= MIN_TITLE
            && words.all(|word| word.starts_with(char::is_uppercase) || word.chars().count() <= MAX_SMALL)
    }

    /// True if a word begins a sentence.
    fn begins_sentence(&self, index: usize) -> bool {
        index == 0 || self.text[self.spans[index - 1].end..self.spans[index].start].contains(SENTENCE_ENDS)
    }

    /// True for a word in capitals, and for a capital beside one in the same sentence.
    fn is_in_capitals(&self, index: usize) -> bool {
        let word = self.word(index);
        let is_capital = word.chars().count() == 1 && word.starts_with(char::is_uppercase);
        are_capitals(word)
            || is_capital
                && (index > 0 && !self.begins_sentence(index) && are_capitals(self.word(index - 1))
                    || are_capitals(self.word(index + 1)) && !self.begins_sentence(index + 1))
    }

    /// True for a word in capitals beside another one.
    fn is_in_run(&self, index: usize) -> bool {
        let is_beside = index > 0 && self.is_in_capitals(index - 1) || self.is_in_capitals(index + 1);
        self.is_in_capitals(index) && is_beside
    }

    /// True if there are words in capitals beside each other.
    fn have_run(&self) -> bool {
        (0..self.spans.len()).any(|index| self.is_in_run(index))
    }

    /// Returns the text with words in their usual case; none if there is no other one. Words in capitals beside each other change
    /// if their usual forms need fewer tokens, other words with a capital if their usual form is one token and the given form is
    /// not. The first word of the text changes only from capitals.
    fn in_usual_case(&self, vocabulary: &Vocabulary, truecaser: &Truecaser) -> Option<CasedText> {
        let (mut usual_words, mut in_capitals) = (Vec::with_capacity(self.spans.len()), Vec::new());
        let mut is_changed = false;
        for (index, span) in self.spans.iter().enumerate() {
            let word = self.word(index);
            let (is_in_capitals, is_in_run) = (self.is_in_capitals(index), self.is_in_run(index));
            let mut read = word.to_owned();
            if word.contains(char::is_uppercase) && (index > 0 || is_in_capitals) {
                let usual = truecaser.word_of(word, is_in_capitals && self.begins_sentence(index));
                let [own, others] = [word, &usual].map(|word| tokens_within(word, vocabulary));
                let (own, others) = (own?, others?);
                if others < own && (is_in_run || others == 1) {
                    read = usual;
                }
            }
            let changes = read != word;
            is_changed |= changes;
            if is_in_run || is_in_capitals && changes {
                in_capitals.push(span.clone());
            }
            usual_words.push(read);
        }
        let mut read = usual_words.iter();
        let text = replaced(self.text, &self.spans, |_, _| read.next().cloned().unwrap_or_default());
        let case = if in_capitals.is_empty() { LetterCase::Same } else { LetterCase::Words(in_capitals) };
        is_changed.then_some(CasedText { text, case })
    }
}

/// Returns the number of tokens of a text.
fn tokens(text: &str, vocabulary: &Vocabulary) -> Option<usize> {
    vocabulary.encode(text).ok().map(|ids| ids.len())
}

/// Returns the number of tokens of a word within a sentence.
fn tokens_within(word: &str, vocabulary: &Vocabulary) -> Option<usize> {
    Some(tokens(&format!("a {word}"), vocabulary)?.saturating_sub(tokens("a", vocabulary)?))
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
            (LetterCase::Words(Vec::new()), "l'été de LA VILLE"),
        ] {
            assert_eq!(case.apply("l'été de la ville", &[11..13, 14..19]), expected);
        }
    }

    #[test]
    fn words_in_capitals_beside_each_other_are_runs() {
        let runs = |text| {
            let words = Words::new(text);
            let runs = (0..words.spans.len()).filter(|index| words.is_in_run(*index));
            runs.map(|index| words.word(index)).collect::<Vec<_>>().join(" ")
        };
        for (text, expected) in [
            ("SHE SLEEPS. I am hungry.", "SHE SLEEPS"),
            ("I am hungry. I SLEEP.", "I SLEEP"),
            ("He has A CAT. A dog barks.", "A CAT"),
            ("The NASA and I sleep.", ""),
            ("I saw Anna.", ""),
        ] {
            assert_eq!(runs(text), expected, "{text}");
        }
    }
}
