//! Format of input lines: a sentence, optionally with features and the prefix of its translation.

use std::path::Path;

use anyhow::{Result, anyhow, bail};

use crate::checkpoint::ModelDir;
use crate::cli::LayoutArgs;
use crate::error::UsageError;
use crate::text::{Column, FEATURES_COLUMN_ERROR, FIRST_FEATURES_COLUMN, ProtectedTokens};
use crate::text::{features, features_before, split_trailing_features};
use crate::translator::{PreparedTranslator, Sentence};

/// Format of input lines.
pub struct SentenceLines {
    /// Index of the cell of features.
    features: Option<usize>,
    /// Index of the cell of the sentence, if lines have cells.
    column: Option<usize>,
    /// True if the next cell is the prefix of the translation.
    prefixes: bool,
    tag: Option<String>,
    /// Tokens that the model knows, its features among them.
    known: ProtectedTokens,
}

impl SentenceLines {
    /// Returns the format that the options and the training of the model define. `tag` precedes each sentence.
    ///
    /// # Errors
    /// The column of features is a name, since lines have no header ([`UsageError`]).
    pub fn new(layout: &LayoutArgs, tag: Option<&str>, model: &Path) -> Result<Self> {
        let config = ModelDir::new(model).config();
        let trained_with_features = config.as_ref().is_some_and(|config| config.data.layout.features.is_some());
        let features = match &layout.features {
            None => trained_with_features.then_some(FIRST_FEATURES_COLUMN),
            Some(Column::Number(number @ FIRST_FEATURES_COLUMN..)) => Some(*number),
            Some(_) => bail!(UsageError::new(FEATURES_COLUMN_ERROR)),
        };
        let features = features.map(|number| number - 1);
        let known = config.map(|config| config.text.source_protected_tokens).unwrap_or_default();
        Ok(Self { features, column: None, prefixes: false, tag: tag.map(str::to_owned), known })
    }

    /// Sets whether lines have prefixes.
    #[must_use]
    pub fn with_prefixes(self, prefixes: bool) -> Self {
        Self { prefixes, ..self }
    }

    /// Sets the index of the cell of the sentence, if lines have cells.
    #[must_use]
    pub fn with_column(self, column: Option<usize>) -> Self {
        Self { column, ..self }
    }

    /// True if lines have cells, separated by tabs.
    pub fn has_cells(&self) -> bool {
        self.features.is_some() || self.prefixes || self.column.is_some()
    }

    /// Parses a line.
    ///
    /// # Errors
    /// The line lacks the sentence or features. Those of a line without any may be empty after a tab, or in front of the sentence.
    pub fn read(&self, line: String) -> Result<Sentence> {
        if !self.has_cells() {
            return Ok(self.after(String::new(), &line, None));
        }
        let column = self.column.unwrap_or_default();
        let cells: Vec<&str> = line.split('\t').collect();
        let features = match self.features.map(|cell| (cell, cells.get(cell))) {
            Some((_, Some(features))) => features,
            Some((cell, None)) if !line.trim().is_empty() && features(&line).next().is_none() => {
                return Err(self.missing_features(cell + 1, &line));
            }
            _ => "",
        };
        let mut others = (column + 1..cells.len()).filter(|&cell| Some(cell) != self.features);
        let target_prefix = others.next().filter(|_| self.prefixes).map(|cell| cells[cell].to_owned());
        let text = match cells.get(column) {
            Some(text) => text,
            None if line.trim().is_empty() => "",
            None => bail!("no column {} here, only {}", column + 1, cells.len()),
        };
        Ok(self.after(features_before(features), text, target_prefix))
    }

    /// Parses a line as [`Self::read`] does, and checks the prefix of the translation.
    ///
    /// # Errors
    /// As [`Self::read`], and [`PreparedTranslator::check_target_prefix`].
    pub fn read_for(&self, translator: &PreparedTranslator, line: String) -> Result<Sentence> {
        let sentence = self.read(line)?;
        translator.check_target_prefix(&sentence)?;
        Ok(sentence)
    }

    /// Returns the text of a sentence after its tag, if features are read from its line.
    pub fn with_features<'s>(&self, sentence: &'s Sentence) -> Option<&'s str> {
        self.features?;
        let tag = self.tag.as_ref().map(|tag| format!("{tag} ")).unwrap_or_default();
        Some(sentence.text.strip_prefix(&tag).unwrap_or(&sentence.text))
    }

    /// Returns the error of a line without the column of features.
    fn missing_features(&self, column: usize, line: &str) -> anyhow::Error {
        let known = self.known.feature_list();
        let advice = match split_trailing_features(line, &self.known).filter(|_| column == FIRST_FEATURES_COLUMN) {
            Some((text, features)) => format!("separate them with a tab: {text} TAB {features}"),
            None if known.is_empty() => "write the sentence, TAB and its features".to_owned(),
            None => format!("write the sentence, TAB and its features, out of {known}"),
        };
        anyhow!("no column {column} here for the features; {advice}")
    }

    /// Returns a sentence after its tag and features. Blank text stays alone.
    fn after(&self, features: String, text: &str, target_prefix: Option<String>) -> Sentence {
        let tag = self.tag.as_ref().map(|tag| format!("{tag} "));
        Sentence { target_prefix, ..Sentence::after(&(tag.unwrap_or_default() + &features), text) }
    }
}
