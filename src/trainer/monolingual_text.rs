//! Target sentences without sources.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;

use crate::reporter::Reporter;
use crate::text::{OnError, read_readable_lines};

/// Target sentences without sources, in files with one per line or in memory.
#[derive(Clone, Debug, Default)]
pub struct MonolingualText {
    pub(super) files: Vec<PathBuf>,
    lines: Arc<[String]>,
}

impl MonolingualText {
    /// Returns the lines of files.
    pub fn files(files: &[PathBuf]) -> Self {
        Self { files: files.to_owned(), ..Self::default() }
    }

    /// Returns lines in memory.
    pub fn in_memory(lines: &[String]) -> Self {
        Self { lines: lines.into(), ..Self::default() }
    }

    /// True if there are neither files nor lines.
    pub fn is_none(&self) -> bool {
        self.files.is_empty() && self.lines.is_empty()
    }

    /// Reads all lines. Unless `on_error` is [`OnError::Fail`], those that cannot be read are left out with a warning.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn read(&self, on_error: OnError, reporter: &dyn Reporter) -> Result<Vec<String>> {
        let mut lines = self.lines.to_vec();
        for path in &self.files {
            lines.extend(read_readable_lines(path, on_error, reporter)?);
        }
        Ok(lines)
    }
}
