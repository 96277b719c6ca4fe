//! Terms with their translations, and the places of terms in sentences.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use anyhow::Result;

use crate::text::{Normalization, Pair, UNKNOWN, Vocabulary, WordSplitting, word_spans};

/// Terms with their translations.
#[derive(Clone, Debug, Default)]
pub struct Terminology {
    /// Terms by their first word, the longest first.
    by_first_word: HashMap<String, Vec<Term>>,
}

/// Term of the source with its translation.
#[derive(Clone, Debug)]
struct Term {
    /// Words of the term, folded, at least one.
    words: Vec<String>,
    translation: String,
}

/// Term that occurs in a sentence.
pub(super) struct TermMatch<'t> {
    /// Words of the sentence that are the term.
    pub words: Range<usize>,
    pub translation: &'t str,
}

/// Terms whose translations a vocabulary covers.
pub(super) struct CoveredTerms {
    pub terms: Terminology,
    /// Translations of the other terms, sorted.
    pub skipped: Vec<String>,
}

impl Terminology {
    /// Returns the terminology of pairs of a term and its translation. The first of equal terms counts.
    pub fn from_pairs(pairs: Vec<Pair>) -> Self {
        let mut by_first_word: HashMap<String, Vec<Term>> = HashMap::new();
        for Pair { source, target } in pairs {
            let words: Vec<String> = words(&source).map(Normalization::folded).collect();
            if let Some(first) = words.first() {
                let terms = by_first_word.entry(first.clone()).or_default();
                terms.push(Term { words, translation: target.trim().to_owned() });
            }
        }
        by_first_word.values_mut().for_each(|terms| terms.sort_by_key(|term| Reverse(term.words.len())));
        Self { by_first_word }
    }

    /// True if there are no terms.
    pub(super) fn is_empty(&self) -> bool {
        self.by_first_word.is_empty()
    }

    /// Iterates over the translations of the terms, in any order.
    pub(super) fn translations(&self) -> impl Iterator<Item = &str> {
        self.by_first_word.values().flatten().map(|term| term.translation.as_str())
    }

    /// Returns the terminology with normalized translations.
    pub(super) fn normalized(mut self, normalization: Normalization) -> Self {
        for term in self.by_first_word.values_mut().flatten() {
            term.translation = normalization.apply(&term.translation).into_owned();
        }
        self
    }

    /// Returns the terms whose translations the vocabulary covers.
    pub(super) fn covered_by(self, target: &Vocabulary) -> Result<CoveredTerms> {
        let mut covered = CoveredTerms { terms: Self::default(), skipped: Vec::new() };
        for (first, terms) in self.by_first_word {
            for term in terms {
                if is_known(&target.encode(&term.translation)?) {
                    covered.terms.by_first_word.entry(first.clone()).or_default().push(term);
                } else {
                    covered.skipped.push(term.translation);
                }
            }
        }
        covered.skipped.sort();
        Ok(covered)
    }

    /// Finds terms in the words of a sentence by leftmost-longest match, in order.
    pub(super) fn find(&self, words: &[String]) -> Vec<TermMatch<'_>> {
        let sentence: Vec<String> = words.iter().map(|word| Normalization::folded(word)).collect();
        let mut found = Vec::new();
        let mut start = 0;
        while let Some(word) = sentence.get(start) {
            let terms = self.by_first_word.get(word).map_or(&[][..], Vec::as_slice);
            let term = terms.iter().find(|term| sentence[start..].starts_with(&term.words));
            let end = start + term.map_or(1, |term| term.words.len());
            found.extend(term.map(|term| TermMatch { words: start..end, translation: &term.translation }));
            start = end;
        }
        found
    }
}

/// Iterates over the words of a text by which terms are found.
fn words(text: &str) -> impl Iterator<Item = &str> {
    word_spans(text, WordSplitting::Terms).into_iter().map(|span| &text[span])
}

/// True if there are tokens, and `<unk>` is not among them.
pub(super) fn is_known(tokens: &[u32]) -> bool {
    !tokens.is_empty() && !tokens.contains(&UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(pairs: &[(&str, &str)]) -> Terminology {
        Terminology::from_pairs(pairs.iter().map(|&(source, target)| Pair::new(source, target)).collect())
    }

    /// Fails unless these terms, with these words of the sentence and translations, are found in it.
    #[track_caller]
    fn assert_finds(terms: &Terminology, sentence: &str, expected: &[(Range<usize>, &str)]) {
        let words: Vec<String> = words(sentence).map(str::to_owned).collect();
        let found = terms.find(&words);
        let found: Vec<(Range<usize>, &str)> = found.into_iter().map(|one| (one.words, one.translation)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn finds_the_longest_terms_as_whole_words() {
        let terms = terms(&[
            ("new", "neu"),
            ("New  York", "N. Y."),
            ("york", "Eber"),
            ("new", "jung"),
            ("", "nichts"),
            ("Cafe\u{301}", "Bar"),
        ]);
        assert_finds(&terms, "In new york, new things.", &[(1..3, "N. Y."), (4..5, "neu")]);
        assert_finds(&terms, "(New) Yorkshire York", &[(1..2, "neu"), (4..5, "Eber")]);
        assert_finds(&terms, "caf\u{e9} CAFE\u{301}", &[(0..1, "Bar"), (1..2, "Bar")]);
        assert_finds(&terms, "newer", &[]);
        assert_finds(&terms, "", &[]);
    }
}
