//! Rows of an input table, written with their translations as a further column.

use std::path::Path;

use anyhow::Result;

use super::output_file::Output;
use crate::cli::TranslateArgs;
use crate::text::{RowSyntax, SentenceTable, TableRows, is_standard};
use crate::translator::Translation;

/// Name of the column of translations.
const TRANSLATION: &str = "translation";

/// Table that translations are added to; nothing if lines are sentences.
#[derive(Default)]
pub struct OutputTable {
    table: Option<SentenceTable>,
    /// True if results are rows; other formats have only the translations.
    has_rows: bool,
}

/// Input that is a table, and its rows.
pub struct OpenedTable {
    /// Table that translations are added to.
    pub table: OutputTable,
    /// Rows of the input, without its header.
    pub rows: TableRows,
}

impl OutputTable {
    /// Opens the input as a table if it is CSV, or if options describe its columns and not those of a glossary.
    ///
    /// # Errors
    /// The input cannot be read or lacks the column.
    pub fn open(args: &TranslateArgs, input: &Path) -> Result<Option<OpenedTable>> {
        let is_glossary_layout = args.dictionary.is_some() || args.constraints.terms.is_some();
        let layout = if is_glossary_layout { Default::default() } else { args.layout.layout() };
        let columns = args.layout.columns.as_ref().filter(|_| !is_glossary_layout);
        if columns.is_none() && !layout.header && !layout.for_file(input).csv {
            return Ok(None);
        }
        let (table, rows) = SentenceTable::open(input, &layout, columns.map(|columns| columns.source()))?;
        let table = if is_standard(&args.output) { table } else { table.written_as(RowSyntax::of_file(&args.output)) };
        Ok(Some(OpenedTable { table: Self { table: Some(table), has_rows: false }, rows }))
    }

    /// Sets whether results are rows with translations.
    #[must_use]
    pub fn with_rows(self, has_rows: bool) -> Self {
        Self { has_rows, ..self }
    }

    /// Index of the cell of the sentence, if lines have cells.
    pub fn column(&self) -> Option<usize> {
        self.table.as_ref().map(SentenceTable::column)
    }

    /// Writes the header of the rows, if there is one. CSV of translations alone has one too.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write_header(&self, output: &mut Output) -> Result<()> {
        let header = match &self.table {
            Some(table) => table.header(TRANSLATION).filter(|_| self.has_rows),
            None => self.syntax_of_translations(output.path()).map(|_| TRANSLATION.to_owned()),
        };
        header.map_or(Ok(()), |header| output.with(|out| writeln!(out, "{header}")))
    }

    /// Returns the cells of an input line, separated by tabs.
    pub fn cells(&self, line: &str) -> String {
        self.table.as_ref().map_or_else(|| line.to_owned(), |table| table.cells(line))
    }

    /// Replaces translations of input lines by rows that end with them.
    pub fn add_rows(&self, lines: &[String], translations: &mut [Vec<Translation>]) {
        let Some(table) = self.table.as_ref().filter(|_| self.has_rows) else { return };
        for (line, found) in lines.iter().zip(translations) {
            if let Some(best) = found.first_mut().filter(|_| !line.is_empty()) {
                best.text = table.with_cell(line, &best.text);
            }
        }
    }

    /// Returns the syntax of translations that are written alone to a file as rows.
    pub fn syntax_of_translations(&self, output: &Path) -> Option<RowSyntax> {
        let syntax = RowSyntax::of_file(output);
        (self.has_rows && self.table.is_none() && syntax != RowSyntax::Tabs).then_some(syntax)
    }
}
