//! From one vocabulary to the next, when a model goes on to other texts.

use std::collections::HashMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{SPECIALS, Units, Vocabulary};

impl Vocabulary {
    /// The same units by the same ids, and after them those that other texts need so that nothing in them is unknown: for
    /// pieces of words and for characters every character, for words the `most` frequent ones. Words are cut into the same
    /// pieces as before, and what is new about them into characters, since new merges would cut known words in other ways.
    ///
    /// # Errors
    /// `most` leaves no room beside the special units, or the texts have a unit that no vocabulary may hold.
    pub fn extended<'t>(&self, texts: impl Iterator<Item = &'t str> + Send, most: usize) -> Result<Self> {
        // Of pieces of words the smallest vocabulary there is has single characters alone.
        let size = if self.units() == Units::Bpe { SPECIALS.len() + 1 } else { most };
        let needed = Self::train(texts, self.units(), self.normalization(), size)?.all_written();
        let mut file: Value = serde_json::from_str(&self.to_json()?)?;
        let units = file.pointer_mut("/model/vocab").and_then(Value::as_object_mut).context("there are no units")?;
        for unit in needed {
            let next = units.len();
            units.entry(unit).or_insert_with(|| next.into());
        }
        Self::from_json(&file.to_string(), self.units(), self.normalization(), self.protected_tokens())
    }

    /// For each unit, by id, the id that another vocabulary has for a unit that is spelt the same.
    pub fn origins(&self, other: &Self) -> Vec<Option<u32>> {
        let known: HashMap<String, u32> = other.all_written().into_iter().zip(0..).collect();
        self.all_written().iter().map(|unit| known.get(unit).copied()).collect()
    }

    fn all_written(&self) -> Vec<String> {
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

    fn learn(units: Units) -> Vocabulary {
        Vocabulary::train(KNOWN.into_iter(), units, FORM, 60).unwrap()
    }

    #[test]
    fn what_is_known_stays_and_nothing_is_unknown() {
        for units in [Units::Bpe, Units::Word, Units::Char] {
            let old = learn(units);
            let grown = old.extended(OTHERS.into_iter(), 100).unwrap();
            for text in KNOWN {
                assert_eq!(grown.encode(text).unwrap(), old.encode(text).unwrap(), "{units:?}");
            }
            for text in OTHERS {
                let ids = grown.encode(text).unwrap();
                assert!(old.encode(text).unwrap().contains(&UNKNOWN) && !ids.contains(&UNKNOWN), "{units:?} {text}");
                assert_eq!(grown.decode(&ids), FORM.apply(text), "{units:?}");
            }
            let origins = grown.origins(&old);
            let same = (0..old.size() as u32).map(Some);
            assert!(origins[..old.size()].iter().copied().eq(same), "{units:?}: {origins:?}");
            assert!(grown.size() > old.size() && origins[old.size()..].iter().all(Option::is_none), "{units:?}");
            let again = grown.extended(OTHERS.into_iter(), 100).unwrap();
            assert_eq!(again.to_json().unwrap(), grown.to_json().unwrap(), "{units:?}: nothing more is needed");
        }
    }

    #[test]
    fn of_new_words_the_most_frequent_are_taken() {
        let grown = learn(Units::Word).extended(OTHERS.into_iter(), SPECIALS.len() + 1).unwrap();
        assert_eq!(grown.size(), learn(Units::Word).size() + 1);
        assert_eq!(grown.written(&[grown.size() as u32 - 1]), ["▁ƶebra"]);
    }

    #[test]
    fn units_of_other_vocabularies_are_found_by_their_spelling() {
        let old = learn(Units::Word);
        let other = Vocabulary::train(["owl the zebra"].into_iter(), Units::Word, FORM, 60).unwrap();
        let found: Vec<Option<String>> =
            other.origins(&old).into_iter().map(|id| id.map(|id| old.written(&[id]).remove(0))).collect();
        for (unit, found) in other.all_written().into_iter().zip(found) {
            assert_eq!(found, (unit != "▁zebra").then_some(unit));
        }
    }
}
