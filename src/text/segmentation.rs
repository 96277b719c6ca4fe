//! A text cut into units, and which of its words each belongs to.

use std::ops::Range;

use super::word_of_span;

/// `<unk>`: whatever the vocabulary does not cover.
pub const UNKNOWN: u32 = 3;

/// A text cut into units, with the user's own words beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segmentation {
    /// The units' ids.
    pub ids: Vec<u32>,
    /// The units as the vocabulary writes them; an unknown one as the text has it.
    pub units: Vec<String>,
    /// The words of the text.
    pub words: Vec<String>,
    /// For each unit, the word it belongs to.
    pub word_of_unit: Vec<usize>,
    /// Whether units beyond a limit were cut off.
    pub cut: bool,
}

impl Segmentation {
    /// The share of units that the vocabulary does not cover; 0 where there is no unit.
    pub fn unknown_share(&self) -> f64 {
        let unknown = self.ids.iter().filter(|&&id| id == UNKNOWN).count();
        unknown as f64 / self.ids.len().max(1) as f64
    }

    /// At most the first `longest` units, with the words that they belong to.
    pub fn cut_to(mut self, longest: usize) -> Self {
        if self.ids.len() > longest {
            self.ids.truncate(longest);
            self.units.truncate(longest);
            self.word_of_unit.truncate(longest);
            self.words.truncate(self.word_of_unit.last().map_or(0, |word| word + 1));
            self.cut = true;
        }
        self
    }

    /// Units with their ids and their places in the text, and the places of its words.
    pub(super) fn new(
        text: &str,
        ids: Vec<u32>,
        units: Vec<String>,
        spans: &[Range<usize>],
        word_spans: &[Range<usize>],
    ) -> Self {
        let mut words: Vec<String> = word_spans.iter().map(|span| text[span.clone()].to_owned()).collect();
        let word_of_unit = spans.iter().map(|span| word_of_span(word_spans, span)).collect();
        if words.is_empty() && !ids.is_empty() {
            // Nothing but white space: one word that holds it all, so that every unit has a word.
            words.push(text.to_owned());
        }
        Self { ids, units, words, word_of_unit, cut: false }
    }
}
