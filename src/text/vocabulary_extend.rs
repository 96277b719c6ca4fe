//! Extension of a vocabulary when a model continues training on other texts.

use std::collections::{HashMap, HashSet};

use anyhow::Result;

use super::{SPECIALS, Tokenization, Vocabulary};

impl Vocabulary {
    /// Appends the tokens that other texts need: for subwords and characters every character, for words the most
    /// frequent, as in a vocabulary of `max_size` tokens. New merges would change the tokens of known words.
    ///
    /// # Errors
    /// `max_size` is at most the number of special tokens.
    pub fn extended<'t>(&self, texts: impl Iterator<Item = &'t str> + Send, max_size: usize) -> Result<Self> {
        // The smallest BPE vocabulary has only characters.
        let size = if self.tokenization() == Tokenization::Bpe { SPECIALS.len() + 1 } else { max_size };
        let needed = Self::train(texts, self.tokenization(), self.normalization(), size)?.all_tokens();
        Ok(self.with_tokens(needed, self.protected_tokens().clone()))
    }

    /// Returns, for each token by id, the id of the same token in another vocabulary.
    pub fn origins(&self, other: &Self) -> Vec<Option<u32>> {
        let known: HashMap<String, u32> = other.all_tokens().into_iter().zip(0..).collect();
        self.all_tokens().iter().map(|token| known.get(token).copied()).collect()
    }

    /// Returns, for each token by id, the id of the same text in another vocabulary. Special tokens and protected tokens, such as
    /// features, are no text.
    pub fn copies(&self, other: &Self) -> Vec<Option<u32>> {
        let protected: HashSet<String> = self.protected_tokens().spellings(self.tokenization()).into_iter().collect();
        let mut copies = self.origins(other);
        for (id, (token, copy)) in self.all_tokens().iter().zip(&mut copies).enumerate() {
            if id < SPECIALS.len() || protected.contains(token) {
                *copy = None;
            }
        }
        copies
    }

    fn all_tokens(&self) -> Vec<String> {
        self.written(&(0..self.size() as u32).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{NormalForm, Normalization, UNKNOWN};

    const KNOWN: [&str; 3] = ["the red fox sleeps", "the fox sings", "red red owl"];
    const OTHERS: [&str; 3] = ["the RED Ƶebra sleeps!", "ƶebra ƶebra 42", "cafe\u{301} </s>"];
    const FORM: Normalization = Normalization { form: NormalForm::Nfc, lowercase: true };

    fn learn(tokenization: Tokenization) -> Vocabulary {
        Vocabulary::train(KNOWN.into_iter(), tokenization, FORM, 60).unwrap()
    }

    #[test]
    fn keeps_known_tokens_and_covers_new_texts() {
        for tokenization in [Tokenization::Bpe, Tokenization::Word, Tokenization::Char] {
            let old = learn(tokenization);
            let extended = old.extended(OTHERS.into_iter(), 100).unwrap();
            for text in KNOWN {
                assert_eq!(extended.encode(text).unwrap(), old.encode(text).unwrap(), "{tokenization:?}");
            }
            for text in OTHERS {
                let ids = extended.encode(text).unwrap();
                assert!(
                    old.encode(text).unwrap().contains(&UNKNOWN) && !ids.contains(&UNKNOWN),
                    "{tokenization:?} {text}"
                );
                assert_eq!(extended.decode(&ids), FORM.apply(text), "{tokenization:?}");
            }
            let origins = extended.origins(&old);
            let same_ids = (0..old.size() as u32).map(Some);
            assert!(origins[..old.size()].iter().copied().eq(same_ids), "{tokenization:?}: {origins:?}");
            assert!(
                extended.size() > old.size() && origins[old.size()..].iter().all(Option::is_none),
                "{tokenization:?}"
            );
            let again = extended.extended(OTHERS.into_iter(), 100).unwrap();
            assert_eq!(
                again.to_json().unwrap(),
                extended.to_json().unwrap(),
                "{tokenization:?}: nothing more is needed"
            );
        }
    }

    #[test]
    fn adds_most_frequent_new_words() {
        let extended = learn(Tokenization::Word).extended(OTHERS.into_iter(), SPECIALS.len() + 1).unwrap();
        assert_eq!(extended.size(), learn(Tokenization::Word).size() + 1);
        assert_eq!(extended.written(&[extended.size() as u32 - 1]), ["▁ƶebra"]);
    }

    #[test]
    fn finds_same_tokens_of_other_vocabularies() {
        let old = learn(Tokenization::Word);
        let other = Vocabulary::train(["owl the zebra"].into_iter(), Tokenization::Word, FORM, 60).unwrap();
        let found: Vec<Option<String>> =
            other.origins(&old).into_iter().map(|id| id.map(|id| old.written(&[id]).remove(0))).collect();
        for (token, found) in other.all_tokens().into_iter().zip(found) {
            assert_eq!(found, (token != "▁zebra").then_some(token));
        }
    }
}
