//! The case in which words are usually written (Lita, Ittycheriah, Roukos & Kambhatla 2003, "tRuEcasIng"; as Moses' truecaser).

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{WordSplitting, word_spans};

/// Maximum number of words.
const MAX_WORDS: usize = 5000;
/// Least number of places at which a word must be written so.
const MIN_COUNT: usize = 2;
/// Minimum share of texts that begin with a capital, from which on all do.
const MIN_CAPITALS: f64 = 0.5;

/// Words that are usually not in lower case.
///
/// ```
/// use softalign::text::Truecaser;
///
/// let truecaser = Truecaser::new(["On Monday I sing.", "Do I sing on Monday?"].into_iter());
/// assert_eq!(truecaser.apply("I SING ON MONDAY."), "I sing on Monday.");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredTruecaser", into = "StoredTruecaser")]
pub struct Truecaser {
    /// Usual form of each word by its lower case.
    forms: BTreeMap<String, String>,
    /// True if sentences begin with a capital.
    capitalizes_sentences: bool,
}

/// Truecaser as it is stored.
#[derive(Clone, Serialize, Deserialize)]
struct StoredTruecaser {
    words: Vec<String>,
    capitalizes_sentences: bool,
}

impl From<StoredTruecaser> for Truecaser {
    fn from(StoredTruecaser { words, capitalizes_sentences }: StoredTruecaser) -> Self {
        let forms = words.into_iter().map(|form| (form.to_lowercase(), form)).collect();
        Self { forms, capitalizes_sentences }
    }
}

impl From<Truecaser> for StoredTruecaser {
    fn from(Truecaser { forms, capitalizes_sentences }: Truecaser) -> Self {
        Self { words: forms.into_values().collect(), capitalizes_sentences }
    }
}

/// Word with the number of its occurrences. The greatest one is the most frequent.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct CountedWord<'t> {
    count: usize,
    word: &'t str,
}

impl Truecaser {
    /// Collects the usual forms of words. The first word of a text does not count, nor does a text in capitals.
    pub fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        let (mut all, mut capitalized) = (0, 0);
        for text in texts {
            let mut spans = word_spans(text, WordSplitting::Terms);
            spans.retain(|span| text[span.clone()].starts_with(char::is_alphabetic));
            let mut spans = spans.into_iter();
            let Some(first) = spans.next() else { continue };
            all += 1;
            capitalized += usize::from(text[first].starts_with(char::is_uppercase));
            if !are_capitals(text) {
                spans.for_each(|span| *counts.entry(&text[span]).or_default() += 1);
            }
        }
        let mut usual: HashMap<String, CountedWord> = HashMap::new();
        for (word, count) in counts {
            let best = usual.entry(word.to_lowercase()).or_default();
            *best = CountedWord { count, word }.max(*best);
        }
        let mut found: Vec<CountedWord> = usual.into_values().collect();
        found.retain(|found| found.count >= MIN_COUNT && found.word.contains(char::is_uppercase));
        found.sort_by_key(|found| (std::cmp::Reverse(found.count), found.word));
        found.truncate(MAX_WORDS);
        Self {
            forms: found.into_iter().map(|found| (found.word.to_lowercase(), found.word.to_owned())).collect(),
            capitalizes_sentences: all > 0 && f64::from(capitalized as u32) >= MIN_CAPITALS * f64::from(all),
        }
    }

    /// True if all words are usually in lower case.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty() && !self.capitalizes_sentences
    }

    /// True for a word that is usually not in lower case.
    pub fn has(&self, word: &str) -> bool {
        self.forms.contains_key(&word.to_lowercase())
    }

    /// Returns the usual form of a word.
    pub fn word(&self, word: &str) -> String {
        let lower = word.to_lowercase();
        self.forms.get(&lower).cloned().unwrap_or(lower)
    }

    /// Returns the usual form of a word, which may begin a sentence.
    pub fn word_of(&self, word: &str, begins_sentence: bool) -> String {
        let word = self.word(word);
        if begins_sentence && self.capitalizes_sentences { capitalized(&word) } else { word }
    }

    /// Returns a text in the usual case of its words.
    pub fn apply(&self, text: &str) -> String {
        let mut cased = String::with_capacity(text.len());
        let mut end = 0;
        for span in word_spans(text, WordSplitting::Terms) {
            cased.push_str(&text[end..span.start]);
            let is_first = !cased.contains(char::is_alphabetic);
            cased.push_str(&self.word_of(&text[span.clone()], is_first));
            end = span.end;
        }
        cased.push_str(&text[end..]);
        cased
    }
}

/// Returns a word with a capital at its beginning.
pub fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// True if a text has two capitals or more, and no lower case.
pub fn are_capitals(text: &str) -> bool {
    !text.chars().any(char::is_lowercase) && text.chars().filter(|one| one.is_uppercase()).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_get_their_usual_case() {
        let texts =
            ["She saw Paris and I sang.", "In Paris I sing.", "He saw a Rose and a rose.", "The rose.", "PARIS IS BIG"];
        let truecaser = Truecaser::new(texts.into_iter());
        assert_eq!(truecaser.apply("\"DOES SHE SEE PARIS, OR I?\" A ROSE."), "\"Does she see Paris, or I?\" a rose.");
        let stored = serde_json::to_string(&truecaser).unwrap();
        assert_eq!(serde_json::from_str::<Truecaser>(&stored).unwrap(), truecaser);
    }

    #[test]
    fn corpora_in_lower_case_stay_so() {
        let truecaser = Truecaser::new(["she sings .", "he sings ."].into_iter());
        assert!(truecaser.is_empty());
        assert_eq!(truecaser.apply("SHE SINGS ."), "she sings .");
    }

    #[test]
    fn capitals_are_at_least_two() {
        assert!(are_capitals("SHE SLEEPS.") && are_capitals("I A"));
        assert!(!are_capitals("I") && !are_capitals("I am") && !are_capitals("1 2") && !are_capitals(""));
    }
}
