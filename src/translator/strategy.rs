//! What is asked of a translator.

use crate::search::{BeamSettings, DrawSettings, Search};

/// A sentence to translate.
#[derive(Clone, Debug, Default)]
pub struct Sentence {
    /// It.
    pub text: String,
    /// What its translation begins with, if not with what all translations begin with.
    pub begins: Option<String>,
}

impl<T: Into<String>> From<T> for Sentence {
    fn from(text: T) -> Self {
        Self { text: text.into(), begins: None }
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
