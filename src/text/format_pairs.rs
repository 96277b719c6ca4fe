//! Pairs of files that do not consist of lines, such as TMX.

use std::path::Path;

use anyhow::{Result, anyhow};

use super::line_reader::{LineError, name};
use super::{Column, Pair, TableFormat};
use crate::error::usage_of;
use crate::formats::{FormatError, PairReader, open_pairs};

/// Iterator over the pairs of a file. A pair that cannot be read is a [`LineError`]; after another error there is none.
pub(super) struct FormatPairs {
    reader: Box<dyn PairReader>,
    /// Name of the file for messages.
    file: String,
    ended: bool,
}

impl FormatPairs {
    /// Opens a file in a format of its own; none if it consists of lines, or is to be read as CSV. Names of columns are languages.
    /// A `shared` layout applies only where it fits.
    ///
    /// # Errors
    /// The file cannot be read, or the layout describes a table ([`UsageError`](crate::error::UsageError)).
    pub fn open(path: &Path, layout: &TableFormat, shared: bool) -> Result<Option<Self>> {
        if layout.csv {
            return Ok(None);
        }
        let sides = match &layout.columns {
            Some([Column::Name(source), Column::Name(target)]) => Some([source.clone(), target.clone()]),
            _ => None,
        };
        let Some(reader) = open_pairs(path, sides.as_ref())? else { return Ok(None) };
        let file = name(path);
        if !shared && layout.columns.is_some() && sides.is_none() {
            return usage_of("columns", format!("must name the languages of {file}, such as en,fr"));
        }
        if !shared && layout.features.is_some() {
            return usage_of("features", format!("needs a file with columns, not {file}"));
        }
        Ok(Some(Self { reader, file, ended: false }))
    }

    /// Codes of the languages of both sides, if the file tells them. They are known after the first pair.
    pub fn languages(&self) -> Option<[String; 2]> {
        self.reader.languages()
    }
}

impl Iterator for FormatPairs {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Result<Pair>> {
        if self.ended {
            return None;
        }
        match self.reader.next_pair().transpose()? {
            Ok([source, target]) => Some(Ok(Pair { source, target })),
            Err(FormatError { line, reason, is_last }) => {
                self.ended = is_last;
                let place = format!("{}:{line}", self.file);
                let reason = anyhow!(reason);
                Some(Err(if is_last { reason.context(place) } else { LineError::new(place, line, &reason).into() }))
            }
        }
    }
}
