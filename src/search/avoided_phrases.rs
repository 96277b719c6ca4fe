//! Phrases that a translation avoids.

use std::sync::Arc;

use crate::text::{KnownWords, SortedPhrases, SurfaceForms, is_lowercase_word, words_beginning_with};

/// Phrases that a translation does not contain as whole words; by default none.
#[derive(Clone, Debug, Default)]
pub struct AvoidedPhrases {
    /// Without spaces around them.
    phrases: SortedPhrases,
    /// Words that may take the place of avoided ones: those of the training data, if they are known.
    known_words: Option<Arc<KnownWords>>,
    /// By id.
    tokens: Vec<TokenTraits>,
}

/// Properties of a token that save the search in the text of hypotheses.
#[derive(Clone, Copy, Debug, Default)]
struct TokenTraits {
    /// True if an avoided phrase may begin within the token.
    begins_avoided: bool,
    /// True if its words are known, the last one at least as the beginning of a known one.
    begins_known: bool,
    is_lowercase_word: bool,
}

impl AvoidedPhrases {
    /// Prepares phrases without spaces around them for the tokens of a model.
    pub fn new(phrases: Vec<String>, forms: &SurfaceForms, known_words: Option<Arc<KnownWords>>) -> Self {
        if phrases.is_empty() {
            return Self::default();
        }
        let phrases = SortedPhrases::new(phrases);
        let mut tokens = Vec::with_capacity(forms.texts().len());
        for text in forms.texts() {
            tokens.push(TokenTraits {
                begins_avoided: phrases.may_begin_within(text, forms),
                begins_known: known_words.as_ref().is_none_or(|known| known.cover(text, false)),
                is_lowercase_word: is_lowercase_word(text),
            });
        }
        Self { phrases, known_words, tokens }
    }

    /// Iterates over the phrases.
    pub fn iter(&self) -> impl Iterator<Item = &String> {
        self.phrases.iter()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// True if a text contains one of them.
    pub fn are_in(&self, text: &str) -> bool {
        self.phrases.find_in(text).is_some()
    }

    /// Rests of the phrases that a text lacks, which ends with beginnings of them.
    pub fn rests<'a>(&'a self, text: &'a str, forms: &SurfaceForms) -> Vec<&'a str> {
        self.iter().flat_map(|phrase| forms.rests(text, phrase, 0)).collect()
    }

    /// True if a phrase may begin within a token.
    pub fn may_begin_within(&self, token: u32) -> bool {
        self.traits(token).begins_avoided
    }

    /// Returns the known words that a word may become; `None` if any word may take the place of avoided ones.
    pub fn replacements<'a>(&'a self, word: &'a str) -> Option<Replacements<'a>> {
        let known = self.known_words.as_deref()?;
        let lowercase = word.to_lowercase();
        let (words, is_lowercase) = (known.beginning_with(&lowercase), lowercase == word);
        Some(Replacements { avoided: self, known, word, is_lowercase, words })
    }

    fn traits(&self, token: u32) -> TokenTraits {
        self.tokens.get(token as usize).copied().unwrap_or_default()
    }
}

/// Known words that the last word of a hypothesis may become.
pub struct Replacements<'a> {
    avoided: &'a AvoidedPhrases,
    known: &'a KnownWords,
    word: &'a str,
    is_lowercase: bool,
    /// Words that begin with it in lower case, sorted.
    words: &'a [String],
}

impl Replacements<'_> {
    /// True if the word is known.
    pub fn has_word(&self) -> bool {
        self.known.cover(self.word, true)
    }

    /// True if a token begins known words.
    pub fn begin_with(&self, token: u32) -> bool {
        self.avoided.traits(token).begins_known
    }

    /// True if the word and a token that continues it, with this text, begin known words.
    pub fn continue_with(&self, token: u32, text: &str) -> bool {
        if self.is_lowercase && self.avoided.traits(token).is_lowercase_word {
            !words_beginning_with(self.words, self.word.len(), text).is_empty()
        } else {
            self.known.cover(&format!("{}{text}", self.word), false)
        }
    }
}
