//! What counts as the same word, and words by number.

use std::collections::HashMap;

use crate::text::{NormalForm, is_of_word};

/// A known word's number.
pub type Id = Option<u32>;
/// A sentence.
pub type Ids = Vec<Id>;

/// A word in a form without regard to capitals and to the punctuation around it, so that `hier.` is the word `hier`;
/// punctuation alone stays as it is.
pub fn normalised(word: &str, form: NormalForm) -> String {
    let word = form.apply(word);
    let bare = word.trim_matches(|character| !is_of_word(character));
    let small = (if bare.is_empty() { &word } else { bare }).to_lowercase();
    form.apply(&small).into_owned()
}

/// Words of one side by number.
#[derive(Clone, Debug, Default)]
pub struct Words {
    words: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Words {
    /// The number of a word, which is new if need be.
    pub fn add(&mut self, word: String) -> u32 {
        let next = self.words.len() as u32;
        *self.ids.entry(word).or_insert_with_key(|word| {
            self.words.push(word.clone());
            next
        })
    }

    /// The number of a known word.
    pub fn id(&self, word: &str) -> Option<u32> {
        self.ids.get(word).copied()
    }

    /// All of them, by number.
    pub fn all(&self) -> &[String] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_meet_in_their_normal_form() {
        for (word, expected) in
            [("Hier.", "hier"), ("«L'été»", "l'été"), (".", "."), ("...", "..."), ("", ""), ("«ก้»", "ก้")]
        {
            assert_eq!(normalised(word, NormalForm::None), expected);
        }
        for (word, nfc, nfkc) in [("«CAFE\u{301}»", "café", "café"), ("ﬁne!", "ﬁne", "fine")] {
            assert_eq!([NormalForm::Nfc, NormalForm::Nfkc].map(|form| normalised(word, form)), [nfc, nfkc]);
        }
    }
}
