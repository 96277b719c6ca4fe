//! Tables as they are read under the names of their files.

use std::io::{Result, Write};
use std::path::Path;

use super::table_format::is_csv;
use super::table_records::csv_line;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Syntax of the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSyntax {
    /// Cells between tabs; tabs and line breaks within cells become spaces.
    Tabs,
    /// CSV with this separator (RFC 4180); line breaks within cells become spaces.
    Csv(char),
}

impl RowSyntax {
    /// Returns the syntax in which a file of this name is read: a `.csv` file has commas.
    pub fn of_file(path: &Path) -> Self {
        if is_csv(path) { Self::Csv(',') } else { Self::Tabs }
    }

    /// Returns the cells as a line.
    pub fn row<S: AsRef<str>>(self, cells: &[S]) -> String {
        match self {
            Self::Csv(separator) => csv_line(cells, separator),
            Self::Tabs => {
                let cells: Vec<String> =
                    cells.iter().map(|cell| cell.as_ref().replace(['\t', '\n', '\r'], " ")).collect();
                cells.join("\t")
            }
        }
    }
}

/// Writer of a table.
pub struct TableWriter {
    syntax: RowSyntax,
    /// Names of the columns.
    columns: &'static [&'static str],
    has_header: bool,
    begun: bool,
}

impl TableWriter {
    /// Returns a writer for a file of this name. CSV begins with a header, so that no reader takes the first row for one.
    pub fn new(path: &Path, columns: &'static [&'static str]) -> Self {
        let syntax = RowSyntax::of_file(path);
        Self { syntax, columns, has_header: syntax != RowSyntax::Tabs, begun: false }
    }

    /// Writes a header in every syntax.
    #[must_use]
    pub fn with_header(self) -> Self {
        Self { has_header: true, ..self }
    }

    /// Writes the header, unless the table has begun.
    ///
    /// # Errors
    /// Writing fails.
    pub fn begin(&mut self, out: &mut dyn Write) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true) && self.has_header {
            writeln!(out, "{}", self.syntax.row(self.columns))?;
        }
        Ok(())
    }

    /// Writes a row.
    ///
    /// # Errors
    /// Writing fails.
    pub fn row<S: AsRef<str>>(&mut self, out: &mut dyn Write, cells: &[S]) -> Result<()> {
        let is_first = !self.begun;
        self.begin(out)?;
        let row = self.syntax.row(cells);
        // A reader removes the first mark of a file.
        if is_first && !self.has_header && row.starts_with(BYTE_ORDER_MARK) {
            write!(out, "{BYTE_ORDER_MARK}")?;
        }
        writeln!(out, "{row}")
    }
}
