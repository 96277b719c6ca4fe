//! Tables with a column of sentences, whose rows come back with translations.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow};

use super::line_reader::{name, read_lines};
use super::line_stream::LineStream;
use super::table_header::{has_name_above_numbers, is_column_name, text_columns};
use super::table_records::{CsvTable, Record, csv_line, csv_table, parse_csv_line, plain_records};
use super::{Column, RowSyntax, TableFormat};

/// Table with a column of sentences.
pub struct SentenceTable {
    /// Index of the column of sentences.
    column: usize,
    /// Separator of CSV; none for lines with tabs.
    csv: Option<char>,
    /// Syntax of rows with a further cell.
    output: RowSyntax,
    /// First row, if it names the columns.
    header: Option<String>,
    /// Number of cells of the first row, once it is known.
    width: OnceLock<usize>,
}

/// Rows of a table as lines.
pub enum TableRows {
    /// Lines with tabs, read as they arrive.
    Lines(LineStream),
    /// Records of CSV, one per line.
    Csv(Vec<String>),
}

impl SentenceTable {
    /// Opens a file in the given format. Without `column`, the sentences are in the first column of CSV that looks like text,
    /// and in the first column of other files.
    ///
    /// # Errors
    /// The file cannot be read, is invalid CSV, or lacks the column.
    pub fn open(path: &Path, layout: &TableFormat, column: Option<&Column>) -> Result<(Self, TableRows)> {
        let has_header = layout.header || matches!(column, Some(Column::Name(_)));
        if layout.for_file(path).csv {
            let table = csv_table(&read_lines(path)?).map_err(|reason| with_name(path, &reason))?;
            let CsvTable { separator, records } = table;
            let column = match column {
                Some(column) => index_of(column, records.first()).map_err(|reason| with_name(path, &reason))?,
                None => text_columns(&records).first().copied().unwrap_or_default(),
            };
            let name = records.first().and_then(|first| first.cells.get(column));
            let has_header =
                has_header || has_name_above_numbers(&records) || name.is_some_and(|name| is_column_name(name));
            let width = OnceLock::from(records.first().map_or(0, |first| first.cells.len()));
            let mut rows: Vec<String> = records.iter().map(|record| csv_line(&record.cells, separator)).collect();
            let header = rows.drain(..usize::from(has_header).min(rows.len())).next();
            return Ok((
                Self { column, csv: Some(separator), output: RowSyntax::Csv(separator), header, width },
                TableRows::Csv(rows),
            ));
        }
        let mut lines = LineStream::open(path)?;
        let header = if has_header { lines.next_chunk(1).pop().transpose()? } else { None };
        let first = header.as_ref().and_then(|line| plain_records(std::slice::from_ref(line), 0).next());
        let column = column.map_or(Ok(0), |column| index_of(column, first.as_ref()));
        let column = column.map_err(|reason| with_name(path, &reason))?;
        let width = first.map(|first| OnceLock::from(first.cells.len())).unwrap_or_default();
        Ok((Self { column, csv: None, output: RowSyntax::Tabs, header, width }, TableRows::Lines(lines)))
    }

    /// Sets the syntax of rows with a further cell; by default that of the table.
    #[must_use]
    pub fn written_as(self, output: RowSyntax) -> Self {
        Self { output, ..self }
    }

    /// Index of the column of sentences.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the header with the name of a further column, if there is a header.
    pub fn header(&self, name: &str) -> Option<String> {
        self.header.as_ref().map(|header| self.with_cell(header, name))
    }

    /// Returns the cells of a row, separated by tabs. Rows are read in their order.
    pub fn cells(&self, row: &str) -> String {
        let cells = self.split(row);
        self.width.get_or_init(|| cells.len());
        RowSyntax::Tabs.row(&cells)
    }

    /// Returns a row with a further cell, after the last column of the first row.
    pub fn with_cell(&self, row: &str, cell: &str) -> String {
        let mut cells = self.split(row);
        cells.resize(cells.len().max(self.width.get().copied().unwrap_or_default()), String::new());
        cells.push(cell.to_owned());
        self.output.row(&cells)
    }

    fn split(&self, row: &str) -> Vec<String> {
        match self.csv {
            None => row.split('\t').map(str::to_owned).collect(),
            Some(separator) => parse_csv_line(row, separator),
        }
    }
}

/// Returns an error of a file, which begins with its name.
fn with_name(path: &Path, reason: &anyhow::Error) -> anyhow::Error {
    anyhow!("{}:{reason}", name(path))
}

/// Returns the index of a column. `first` is the record that may name it.
fn index_of(column: &Column, first: Option<&Record>) -> Result<usize> {
    match column {
        Column::Number(number) => Ok(number - 1),
        Column::Name(name) => {
            Ok(first.with_context(|| format!("1: no column is called \"{name}\""))?.column(name)? - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, text: &str, column: Option<Column>) -> (SentenceTable, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        let (table, rows) = SentenceTable::open(&path, &TableFormat::default(), column.as_ref()).unwrap();
        match rows {
            TableRows::Csv(rows) => (table, rows),
            TableRows::Lines(mut lines) => (table, lines.next_chunk(100).into_iter().map(Result::unwrap).collect()),
        }
    }

    #[test]
    fn csv_rows_come_back_with_a_cell_more() {
        let (sentences, rows) = table("a.csv", "id;English\n1;\"a; \"\"b\"\"\"\n2;c\n3;d\n", None);
        assert_eq!((sentences.column(), rows.len()), (1, 3));
        assert_eq!(sentences.header("translation").unwrap(), "id;English;translation");
        assert_eq!(sentences.cells(&rows[0]), "1\ta; \"b\"");
        assert_eq!(sentences.with_cell(&rows[0], "x;y"), "1;\"a; \"\"b\"\"\";\"x;y\"");
    }

    #[test]
    fn cell_is_in_a_column_of_its_own() {
        let (table_of_csv, _) = table("a.csv", "a,b\nc\n\"d,e\",f\n", Some(Column::Number(1)));
        assert_eq!(table_of_csv.with_cell("c", "x"), "c,,x");
        assert_eq!(table_of_csv.with_cell("\"d,e\",f", "x"), "\"d,e\",f,x");
        let (table, rows) = table("a.tsv", "a\tb\nc\n", Some(Column::Number(1)));
        rows.iter().for_each(|row| assert_eq!(table.cells(row), *row));
        assert_eq!([0, 1].map(|row| table.with_cell(&rows[row], "x")), ["a\tb\tx", "c\t\tx"]);
    }

    #[test]
    fn lines_come_back_with_a_cell_more() {
        let (words, rows) = table("a.tsv", "phones\tword\nk\tcat\n", Some(Column::Name("word".to_owned())));
        assert_eq!((words.column(), words.header("translation").unwrap().as_str()), (1, "phones\tword\ttranslation"));
        assert_eq!(words.with_cell(&rows[0], "chat"), "k\tcat\tchat");
    }
}
