//! What is asked of a translator.

use anyhow::Result;

use crate::search::{BeamSettings, DrawSettings, Search};
use crate::text::{Segmentation, Vocabulary, Words};

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
    pub fn segment_given(&self, source: &Vocabulary, words: Words) -> Result<(Segmentation, usize)> {
        let given = source.segment(self.given(), words)?;
        let before = if self.lead == 0 { 0 } else { source.encode(&self.text)?.len().saturating_sub(given.ids.len()) };
        Ok((given, before))
    }
}

/// How translations are looked for and chosen.
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// How they are looked for.
    pub search: Search,
    /// Of what is found only so many are kept, those that all agree with most; none keeps what search hands back.
    pub consensus: Option<usize>,
}

impl Strategy {
    /// The same for sentences of which the first has a number, by which draws differ.
    #[must_use]
    pub fn from_sentence(self, first: usize) -> Self {
        match self.search {
            Search::Draws(settings) => Self { search: Search::Draws(DrawSettings { first, ..settings }), ..self },
            Search::Beam(_) => self,
        }
    }
}

impl From<BeamSettings> for Strategy {
    fn from(settings: BeamSettings) -> Self {
        Self { search: Search::Beam(settings), consensus: None }
    }
}
