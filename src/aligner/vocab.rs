//! Word normalization and vocabulary of the aligner.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::text::{NormalForm, strip_punctuation};

/// Id of an unknown word.
pub const UNKNOWN: u32 = u32::MAX;

/// Normalizes a word: lowercased and without surrounding punctuation, so that `Hier.` becomes `hier`; bare punctuation
/// is kept.
pub fn normalize_word(word: &str, form: NormalForm) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(form.apply(&strip_punctuation(&form.apply(word)).to_lowercase()).into_owned())
}

/// Vocabulary of one side.
#[derive(Clone, Debug, Default)]
pub struct AlignerVocab {
    words: Vec<String>,
    ids: HashMap<String, u32>,
}

impl AlignerVocab {
    /// Returns the id of a word, adding it if it is new.
    pub fn add(&mut self, word: String) -> u32 {
        let next = self.words.len() as u32;
        *self.ids.entry(word).or_insert_with_key(|word| {
            self.words.push(word.clone());
            next
        })
    }

    /// Id of a known word.
    pub fn id(&self, word: &str) -> Option<u32> {
        self.ids.get(word).copied()
    }

    /// Words by id.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Words by id.
    pub fn into_words(self) -> Vec<String> {
        self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizes_case_punctuation_and_unicode() {
        for (word, expected) in
            [("Hier.", "hier"), ("«L'été»", "l'été"), (".", "."), ("...", "..."), ("", ""), ("«ก้»", "ก้")]
        {
            assert_eq!(normalize_word(word, NormalForm::None), expected);
        }
        for (word, nfc, nfkc) in [("«CAFE\u{301}»", "café", "café"), ("ﬁne!", "ﬁne", "fine")] {
            assert_eq!([NormalForm::Nfc, NormalForm::Nfkc].map(|form| normalize_word(word, form)), [nfc, nfkc]);
        }
    }
}
