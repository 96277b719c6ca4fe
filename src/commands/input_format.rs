//! Format of input lines: a sentence, optionally with features and the prefix of its translation.

use std::path::Path;

use anyhow::{Result, bail};

use crate::checkpoint::ModelDir;
use crate::cli::LayoutArgs;
use crate::error::UsageError;
use crate::text::{Column, features_before};
use crate::text::{FEATURES_COLUMN_ERROR, FIRST_FEATURES_COLUMN};
use crate::translator::Sentence;

/// Format of input lines.
pub struct SentenceLines {
    /// Index of the cell of features.
    features: Option<usize>,
    /// True if the next cell is the prefix of the translation.
    prefixes: bool,
    tag: Option<String>,
}

impl SentenceLines {
    /// Returns the format that the options and the training of the model define. `tag` precedes each sentence.
    ///
    /// # Errors
    /// The column of features is a name, since lines have no header ([`UsageError`]).
    pub fn new(layout: &LayoutArgs, tag: Option<&str>, model: &Path) -> Result<Self> {
        let trained_with = || ModelDir::new(model).layout()?.features.map(|_| FIRST_FEATURES_COLUMN);
        let features = match &layout.features {
            None => trained_with(),
            Some(Column::Number(number @ FIRST_FEATURES_COLUMN..)) => Some(*number),
            Some(_) => bail!(UsageError(FEATURES_COLUMN_ERROR.to_owned())),
        };
        let features = features.map(|number| number - 1);
        Ok(Self { features, prefixes: false, tag: tag.map(str::to_owned) })
    }

    /// Sets whether lines have prefixes.
    #[must_use]
    pub fn with_prefixes(self, prefixes: bool) -> Self {
        Self { prefixes, ..self }
    }

    /// Parses a line.
    pub fn read(&self, line: String) -> Sentence {
        if self.features.is_none() && !self.prefixes {
            return self.after(String::new(), &line, None);
        }
        let mut cells: Vec<&str> = line.split('\t').collect();
        let features = self.features.filter(|&cell| cell < cells.len()).map_or("", |cell| cells.remove(cell));
        let target_prefix = cells.get(1).filter(|_| self.prefixes).map(|&cell| cell.to_owned());
        self.after(features_before(features), cells[0], target_prefix)
    }

    /// Returns a sentence after its tag and features. Blank text stays alone.
    fn after(&self, features: String, text: &str, target_prefix: Option<String>) -> Sentence {
        if text.trim().is_empty() {
            return Sentence { text: text.to_owned(), prefix_len: 0, target_prefix };
        }
        let tag = self.tag.as_ref().map(|tag| format!("{tag} "));
        let prefix = tag.unwrap_or_default() + &features;
        Sentence { text: format!("{prefix}{text}"), prefix_len: prefix.len(), target_prefix }
    }
}
