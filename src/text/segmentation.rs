//! Segmentation of a text into units, and the word of each unit.

use std::ops::Range;

use super::word_of_span;

/// `<unk>`: text that the vocabulary does not cover.
pub const UNKNOWN: u32 = 3;

/// Units of a text, with the user's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segmentation {
    /// Ids of the units.
    pub ids: Vec<u32>,
    /// Units as the vocabulary writes them; unknown ones as in the text.
    pub units: Vec<String>,
    /// Words of the text.
    pub words: Vec<String>,
    /// Index of the word of each unit.
    pub word_of_unit: Vec<usize>,
    /// True if units beyond a limit were cut off.
    pub cut: bool,
}

impl Segmentation {
    /// Share of units that the vocabulary does not cover; 0 without units.
    pub fn unknown_share(&self) -> f64 {
        let unknown = self.ids.iter().filter(|&&id| id == UNKNOWN).count();
        unknown as f64 / self.ids.len().max(1) as f64
    }

    /// Keeps at most the first `max_units` units, with their words.
    pub fn cut_to(mut self, max_units: usize) -> Self {
        if self.ids.len() > max_units {
            self.ids.truncate(max_units);
            self.units.truncate(max_units);
            self.word_of_unit.truncate(max_units);
            self.words.truncate(self.word_of_unit.last().map_or(0, |word| word + 1));
            self.cut = true;
        }
        self
    }

    /// Joins the segmentations of consecutive texts.
    pub fn concat(parts: &[&Self]) -> Self {
        let mut joined = Self { ids: vec![], units: vec![], words: vec![], word_of_unit: vec![], cut: false };
        for part in parts {
            let words_before = joined.words.len();
            joined.ids.extend(&part.ids);
            joined.units.extend_from_slice(&part.units);
            joined.words.extend_from_slice(&part.words);
            joined.word_of_unit.extend(part.word_of_unit.iter().map(|word| words_before + word));
            joined.cut |= part.cut;
        }
        joined
    }

    /// Returns a segmentation from the byte ranges of units and words in the text.
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
            // White space alone is one word, so that every unit has a word.
            words.push(text.to_owned());
        }
        Self { ids, units, words, word_of_unit, cut: false }
    }
}
