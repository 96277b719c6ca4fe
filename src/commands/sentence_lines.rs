//! What a line holds that is to be translated: a sentence, and perhaps its features and what its translation begins with.

use std::path::Path;

use anyhow::{Result, bail};

use super::usage::UsageError;
use crate::checkpoint::Folder;
use crate::cli::LayoutArgs;
use crate::text::{Column, with_features};
use crate::translator::Sentence;

/// Where features stand unless the options say so: behind the sentence.
const FEATURES: usize = 2;

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
        let trained_with = || Folder::new(model).layout()?.features.map(|_| FEATURES);
        let features = match &layout.features {
            None => trained_with(),
            Some(Column::Number(number)) if *number > 1 => Some(*number),
            Some(_) => bail!(UsageError(
                "--features needs a number from 2 on here: the first column of a line is what is translated".to_owned()
            )),
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
            return self.tagged(line, None);
        }
        let mut cells: Vec<&str> = line.split('\t').collect();
        let features = self.features.filter(|&cell| cell < cells.len()).map_or("", |cell| cells.remove(cell));
        let begins = cells.get(1).filter(|_| self.prefixes).map(|&cell| cell.to_owned());
        self.tagged(with_features(features, cells[0]), begins)
    }

    fn tagged(&self, text: String, begins: Option<String>) -> Sentence {
        let text = match self.tag {
            Some(tag) if !text.trim().is_empty() => format!("{tag} {text}"),
            _ => text,
        };
        Sentence { text, begins }
    }
}
