//! What is asked of a translator.

use std::collections::HashSet;

use anyhow::Result;

use super::mbr::consensus;
use crate::search::{BeamSearch, SampleSearch, Search};
use crate::text::{Segmentation, Vocabulary, WordSplitting};

/// Units of a sentence that are read; what goes beyond is cut off, since attention's work grows with the square of the
/// length and a model has never seen such sentences anyway.
pub const LONGEST: usize = 500;

/// A sentence to translate.
#[derive(Clone, Debug, Default)]
pub struct Sentence {
    /// As the model reads it.
    pub text: String,
    /// How many bytes of that were not said by whoever gave the sentence: a tag, and features.
    pub lead: usize,
    /// What its translation begins with, if not with what all translations begin with.
    pub begins: Option<String>,
}

impl<T: Into<String>> From<T> for Sentence {
    fn from(text: T) -> Self {
        Self { text: text.into(), lead: 0, begins: None }
    }
}

impl Sentence {
    /// As it was given.
    pub fn given(&self) -> &str {
        &self.text[self.lead..]
    }

    /// What was given in units and words, and how many units the model reads before it.
    ///
    /// # Errors
    /// The vocabulary's own.
    pub fn segment_given(&self, source: &Vocabulary, words: WordSplitting) -> Result<(Segmentation, usize)> {
        let given = source.segment(self.given(), words)?;
        let before = if self.lead == 0 { 0 } else { source.encode(&self.text)?.len().saturating_sub(given.ids.len()) };
        Ok((given, before))
    }
}

/// How translations are looked for and chosen.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// How they are looked for.
    pub search: Search,
    /// Which of those found are handed back.
    pub choice: ResultSelection,
}

/// Which of the translations that were found are handed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultSelection {
    /// All of them in their order: each that was drawn counts.
    All,
    /// So many of the best at most. Units may spell a text in several ways; it comes once, as the most probable of them.
    Best(usize),
    /// So many of those that all agree with most, at most, each text once: minimum Bayes risk.
    Consensus(usize),
}

impl Request {
    /// The same for sentences of which the first has a number, by which draws differ.
    #[must_use]
    pub fn from_sentence(self, first: usize) -> Self {
        match self.search {
            Search::Draws(settings) => Self { search: Search::Draws(SampleSearch { first, ..settings }), ..self },
            Search::Beam(_) => self,
        }
    }
}

impl ResultSelection {
    /// The places of those that are handed back, among a sentence's translations as they were found (by a beam the best
    /// first), and how much all agree with each, if that is asked.
    pub(super) fn among(self, found: &[&str]) -> Vec<(usize, Option<f64>)> {
        match self {
            Self::All => (0..found.len()).map(|place| (place, None)).collect(),
            Self::Best(most) => {
                let mut texts = HashSet::new();
                let different = found.iter().enumerate().filter(|(_, text)| texts.insert(**text));
                different.take(most.max(1)).map(|(place, _)| (place, None)).collect()
            }
            Self::Consensus(most) => {
                consensus(found, most).into_iter().map(|(place, gain)| (place, Some(gain))).collect()
            }
        }
    }
}

impl From<BeamSearch> for Request {
    fn from(settings: BeamSearch) -> Self {
        Self { search: Search::Beam(settings), choice: ResultSelection::Best(settings.best) }
    }
}
