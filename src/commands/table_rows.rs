//! Rows of an input table, written with their translations as a further column.

use std::path::Path;

use anyhow::Result;

use crate::cli::TranslateArgs;
use crate::text::{RowSyntax, SentenceTable, TableRows, is_standard};
use crate::translator::Translation;

/// Name of the column of translations.
const TRANSLATION: &str = "translation";

/// Table that translations are added to; nothing if lines are sentences.
#[derive(Default)]
pub struct OutputTable {
    table: Option<SentenceTable>,
    /// Syntax of the output file if results are rows; other formats have only the translations.
    rows: Option<RowSyntax>,
}

impl OutputTable {
    /// Opens the input as a table if it is CSV, or if options describe its columns and not those of a glossary.
    ///
    /// # Errors
    /// The input cannot be read or lacks the column.
    pub fn open(args: &TranslateArgs, input: &Path) -> Result<Option<(Self, TableRows)>> {
        let is_glossary_layout = args.dictionary.is_some() || args.constraints.terms.is_some();
        let layout = if is_glossary_layout { Default::default() } else { args.layout.layout() };
        let columns = args.layout.columns.as_ref().filter(|_| !is_glossary_layout);
        if columns.is_none() && !layout.header && !layout.for_file(input).csv {
            return Ok(None);
        }
        let (table, rows) = SentenceTable::open(input, &layout, columns.map(|columns| columns.source()))?;
        let table = if is_standard(&args.output) { table } else { table.written_as(RowSyntax::of_file(&args.output)) };
        Ok(Some((Self { table: Some(table), rows: None }, rows)))
    }

    /// Makes results rows in the syntax of the output file: those of the table with translations, or translations alone.
    #[must_use]
    pub fn with_rows(self, output: &Path) -> Self {
        Self { rows: Some(RowSyntax::of_file(output)), ..self }
    }

    /// Index of the cell of the sentence, if lines have cells.
    pub fn column(&self) -> Option<usize> {
        self.table.as_ref().map(SentenceTable::column)
    }

    /// Returns the header of the rows, if there is one.
    pub fn header(&self) -> Option<String> {
        match (&self.table, self.rows?) {
            (Some(table), _) => table.header(TRANSLATION),
            (None, RowSyntax::Csv(_)) => Some(TRANSLATION.to_owned()),
            (None, RowSyntax::Tabs) => None,
        }
    }

    /// Returns the cells of an input line, separated by tabs.
    pub fn cells(&self, line: &str) -> String {
        self.table.as_ref().map_or_else(|| line.to_owned(), |table| table.cells(line))
    }

    /// Replaces translations of input lines by rows that end with them.
    pub fn add_rows(&self, lines: &[String], translations: &mut [Vec<Translation>]) {
        for (line, found) in lines.iter().zip(translations) {
            let Some(best) = found.first_mut().filter(|_| !line.is_empty()) else { continue };
            match (&self.table, self.rows) {
                (Some(table), Some(_)) => best.text = table.with_cell(line, &best.text),
                (None, Some(csv @ RowSyntax::Csv(_))) => best.text = csv.row(&[&best.text]),
                _ => {}
            }
        }
    }
}
