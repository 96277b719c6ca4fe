//! What a line holds that is to be translated: a sentence, and perhaps its features and what its translation begins with.

use std::path::Path;

use anyhow::{Result, bail};

use crate::checkpoint::ModelDir;
use crate::cli::LayoutArgs;
use crate::error::UsageError;
use crate::text::{BEHIND, NOT_BEHIND};
use crate::text::{Column, features_before};
use crate::translator::Sentence;

/// How a line is read: as a sentence, unless cells between tabs follow it.
pub struct SentenceLines<'a> {
    /// The cell of features, counted from 0.
    features: Option<usize>,
    /// Whether the next cell is what the translation begins with.
    prefixes: bool,
    tag: Option<&'a str>,
}

impl<'a> SentenceLines<'a> {
    /// By the options, and by how the model was trained; with `tag` before each sentence.
    ///
    /// # Errors
    /// A [`UsageError`] where features are in a column that lines without a header cannot have.
    pub fn of(layout: &LayoutArgs, tag: Option<&'a str>, model: &Path) -> Result<Self> {
        let trained_with = || ModelDir::new(model).layout()?.features.map(|_| BEHIND);
        let features = match &layout.features {
            None => trained_with(),
            Some(Column::Number(number @ BEHIND..)) => Some(*number),
            Some(_) => bail!(UsageError(NOT_BEHIND.to_owned())),
        };
        let features = features.map(|number| number - 1);
        Ok(Self { features, prefixes: false, tag })
    }

    /// The same, but that each line has what its translation begins with, if that is so.
    #[must_use]
    pub fn with_prefixes(self, prefixes: bool) -> Self {
        Self { prefixes, ..self }
    }

    /// What a line holds.
    pub fn read(&self, line: String) -> Sentence {
        if self.features.is_none() && !self.prefixes {
            return self.after(String::new(), &line, None);
        }
        let mut cells: Vec<&str> = line.split('\t').collect();
        let features = self.features.filter(|&cell| cell < cells.len()).map_or("", |cell| cells.remove(cell));
        let begins = cells.get(1).filter(|_| self.prefixes).map(|&cell| cell.to_owned());
        self.after(features_before(features), cells[0], begins)
    }

    /// A text, if there is any, after its tag and features.
    fn after(&self, features: String, text: &str, begins: Option<String>) -> Sentence {
        if text.trim().is_empty() {
            return Sentence { text: text.to_owned(), lead: 0, begins };
        }
        let tag = self.tag.map(|tag| format!("{tag} "));
        let lead = tag.unwrap_or_default() + &features;
        Sentence { text: format!("{lead}{text}"), lead: lead.len(), begins }
    }
}
