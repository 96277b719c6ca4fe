//! Formats of files of sentence pairs: lines with tabs or `|||` between columns, or CSV as spreadsheets write it.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};

use super::protected_tokens::{features, with_features};
use super::table_header::{describe_columns, has_name_above_numbers, is_header};
use super::table_records::{Record, Separator, csv_records, detect_separator, plain_records, stated_separator};
use super::{Pair, is_truncated};
use crate::formats::uncompressed_name;

/// Format of a file of sentence pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFormat {
    /// True for CSV: cells may be quoted (RFC 4180) and separated by tabs, commas or semicolons.
    pub csv: bool,
    /// True if the first line is a header.
    pub header: bool,
    /// Columns of source and target; none if they are the only two, or the first two of a file with features.
    pub columns: Option<[Column; 2]>,
    /// Column of features, which precede the source as by [`features_before`](super::features_before).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Column>,
}

/// Maximum number of records by which the columns of a table are described.
const MAX_DESCRIBED: usize = 100;

/// Part of messages about truncated lines.
const TRUNCATED: &str = "the first 1,048,576 bytes of this line; the rest is not read";

/// Numbers of the selected columns, from 1.
#[derive(Clone, Copy)]
struct Columns {
    sides: [usize; 2],
    features: Option<usize>,
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Column {
    /// Number, from 1.
    Number(usize),
    /// Name in the first line, ignoring case.
    Name(String),
}

/// Pair of a table.
pub(super) struct NumberedPair {
    /// Number of its first line, from 1.
    pub line: usize,
    pub pair: Result<Pair>,
}

/// Pairs of a table.
pub(super) struct TablePairs {
    pub pairs: Vec<NumberedPair>,
    /// True if the first line of CSV was left out because it looks like a header.
    pub skipped_header: bool,
}

impl TableFormat {
    /// Returns the format of a file: a `.csv` file is always CSV.
    #[must_use]
    pub fn for_file(&self, path: &Path) -> Self {
        Self { csv: self.csv || is_csv(&uncompressed_name(path)), ..self.clone() }
    }

    /// Returns the format without its columns if the lines are a table of two columns that lacks them.
    pub fn for_two_columns(&self, lines: &[String]) -> Option<Self> {
        let first = if self.csv { csv_records(lines).ok()?.into_iter().next() } else { plain_records(lines, 0).next() };
        let first = first.filter(|record| record.cells.len() == 2)?;
        self.columns.as_ref().filter(|columns| columns.iter().any(|column| !column.is_in(&first)))?;
        // Names imply a header that the file does not have.
        Some(Self { columns: None, header: self.header && !self.has_named_columns(), ..self.clone() })
    }

    /// True for the default format.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// True if columns are selected by name.
    pub fn has_named_columns(&self) -> bool {
        self.columns.iter().flatten().chain(&self.features).any(|column| matches!(column, Column::Name(_)))
    }

    /// Returns the cells of a pair in the order of their columns. Columns with names have the order source, features, target.
    pub fn row<'t>(&self, source: &'t str, features: Option<&'t str>, target: &'t str) -> Vec<&'t str> {
        let [source_column, target_column] = [0, 1].map(|side| self.columns.as_ref().map(|columns| &columns[side]));
        let columns = [(source_column, 1), (self.features.as_ref(), 2), (target_column, 2)];
        let numbers = columns.map(|(column, default)| match column {
            Some(Column::Number(number)) => *number,
            _ => default,
        });
        let cells = [Some(source), features, Some(target)];
        let mut order = [0, 1, 2];
        if !self.has_named_columns() {
            // Features in the second column of a file of sources precede the target.
            order.sort_by_key(|&cell| numbers[cell]);
        }
        order.into_iter().filter_map(|cell| cells[cell]).collect()
    }

    /// Replaces column names by numbers. `lines` are the first lines of a file that is not CSV.
    ///
    /// # Errors
    /// A name is missing or ambiguous; the message begins with the line number.
    pub fn with_column_numbers(&self, lines: &[String]) -> Result<Self> {
        let columns = self.column_numbers(plain_records(lines, 0).next().as_ref())?;
        let features = columns.and_then(|columns| columns.features).map(Column::Number);
        Ok(Self { columns: columns.map(|columns| columns.sides.map(Column::Number)), features, ..self.clone() })
    }

    /// Returns the numbers of the selected columns, if any. `first` is the line that may name them.
    fn column_numbers(&self, first: Option<&Record>) -> Result<Option<Columns>> {
        let columns = match (&self.columns, &self.features) {
            (Some(columns), _) => columns.clone(),
            (None, Some(_)) => [1, 2].map(Column::Number),
            (None, None) => return Ok(None),
        };
        let Some(first) = first else { return Ok(None) };
        let sides = [columns[0].number(first)?, columns[1].number(first)?];
        ensure!(sides[0] != sides[1], "{}: both sides are in column {}", first.line, sides[0]);
        let features = self.features.as_ref().map(|column| column.number(first)).transpose()?;
        if let Some(number) = features.filter(|number| sides.contains(number)) {
            bail!("{}: column {number} is both a side and the features", first.line);
        }
        Ok(Some(Columns { sides, features }))
    }

    /// Returns the source of a line of a file without targets. A column of features is put before the sentence in the
    /// first column. A line may also begin with its features.
    ///
    /// # Errors
    /// The line lacks the column.
    pub fn source(&self, text: String) -> Result<String> {
        let Some(Column::Number(number)) = self.features else { return Ok(text) };
        let cells: Vec<&str> = text.split('\t').collect();
        match cells.get(number - 1) {
            Some(features) => Ok(with_features(features, cells[0])),
            None if text.trim().is_empty() || features(&text).next().is_some() => Ok(text),
            None => bail!("no column {number} here for the features"),
        }
    }

    /// Returns the pairs of lines, which follow `before` other lines. An empty line is a pair of empty sides, a line that is no
    /// pair an error. CSV must be complete.
    ///
    /// # Errors
    /// A name of a column is missing or ambiguous, or a CSV quote is never closed; the message begins with the line number.
    pub(super) fn pairs(&self, lines: &[String], before: usize) -> Result<TablePairs> {
        let records: Vec<Record> = if self.csv { csv_records(lines)? } else { plain_records(lines, before).collect() };
        let columns = self.column_numbers(records.first())?;
        let given_header = usize::from(self.header && before == 0);
        let skipped_header = self.csv && !self.header && {
            let first = records.first().map(|first| self.pair(first.clone(), columns, lines, before));
            has_name_above_numbers(&records) || matches!(&first, Some(Ok(pair)) if is_header(pair))
        };
        let cells = records.get(given_header).map_or(0, |first| first.cells.len());
        let mut choice = None;
        if columns.is_none() && before == 0 && cells > 2 {
            let described = describe_columns(&records[..records.len().min(MAX_DESCRIBED)], self.header);
            choice = Some(anyhow!("{cells} columns, but a pair has two: {described}"));
        }
        let header = given_header + usize::from(skipped_header && choice.is_none());
        let mut pairs = Vec::with_capacity(records.len());
        for record in records.into_iter().skip(header) {
            pairs.push(NumberedPair { line: record.line, pair: self.pair(record, columns, lines, before) });
        }
        if let (Some(first), Some(choice)) = (pairs.first_mut(), choice) {
            first.pair = Err(choice);
        }
        Ok(TablePairs { pairs, skipped_header })
    }

    /// Returns the pair of a record of `lines`, which follow `before` other lines.
    fn pair(
        &self,
        Record { line, cells }: Record,
        columns: Option<Columns>,
        lines: &[String],
        before: usize,
    ) -> Result<Pair> {
        if cells.iter().all(|cell| cell.trim().is_empty()) && cells.len() == 1 {
            return Ok(Pair { source: String::new(), target: String::new() });
        }
        let count = cells.len();
        let truncated = lines.get(line - before - 1).is_some_and(|line| is_truncated(line));
        if let Some(Columns { sides: [source, target], features }) = columns {
            let suffix = if truncated { &*format!(" in {TRUNCATED}") } else { "" };
            let source = match features {
                Some(features) => {
                    let features = selected_cell(&cells, features, suffix)?;
                    with_features(features, selected_cell(&cells, source, suffix)?)
                }
                None => selected_cell(&cells, source, suffix)?.clone(),
            };
            return Ok(Pair { source, target: selected_cell(&cells, target, suffix)?.clone() });
        }
        if let Ok([source, target]) = <[String; 2]>::try_from(cells) {
            return Ok(Pair { source, target });
        }
        match count {
            1 if truncated => {
                bail!("{} in {TRUNCATED}", if self.csv { "only one column" } else { "no tab" })
            }
            1 => bail!(self.single_cell_error(lines)),
            _ => bail!("{count} columns here, but a pair has two; --columns 1,2 selects the first two"),
        }
    }

    /// Returns the message for a line with only one cell.
    fn single_cell_error(&self, lines: &[String]) -> String {
        match detect_separator(lines) {
            _ if self.csv => "only one column here, but a pair has two".to_owned(),
            Some(Separator { character, name }) if character != '\t' => {
                format!("no tab in this line; it looks like CSV with {name}: use --csv")
            }
            _ => "no tab in this line; expected: sentence TAB translation; parallel files need --source and --target"
                .to_owned(),
        }
    }
}

impl Column {
    /// Returns the number of the column. `first` is the line that may name it.
    ///
    /// # Errors
    /// Its name is missing or ambiguous.
    fn number(&self, first: &Record) -> Result<usize> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Name(name) => first.column(name),
        }
    }

    /// True if a table that begins with this line has the column.
    fn is_in(&self, first: &Record) -> bool {
        self.number(first).is_ok_and(|number| number <= first.cells.len())
    }
}

/// Returns the cell in a column, by number. `suffix` ends the message if it is missing.
fn selected_cell<'c>(cells: &'c [String], number: usize, suffix: &str) -> Result<&'c String> {
    cells.get(number - 1).with_context(|| format!("no column {number} here, only {}{suffix}", cells.len()))
}

/// True if a file of this name is always CSV.
pub fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// True if a pair is the line `sep=TAB`, which states the separator for Excel.
pub fn is_separator_line(pair: &Pair) -> bool {
    pair.target.is_empty() && stated_separator(&format!("{}\t", pair.source)).is_some()
}

/// True if a CSV cell has white space before its quotes, which are then text.
pub fn has_spaced_quotes(pairs: &[Pair]) -> bool {
    let mut cells = pairs.iter().flat_map(|pair| [&pair.source, &pair.target]);
    cells.any(|cell| cell.trim_start().len() < cell.len() && unquote(cell).is_some())
}

/// Returns the text between the quotes around a cell, ignoring outer white space.
fn unquote(cell: &str) -> Option<&str> {
    cell.trim().strip_prefix('"')?.strip_suffix('"')
}

/// True if sentences are still in CSV quotes: a quoted cell contains only doubled quotes, or all cells are quoted.
pub fn has_csv_quotes(pairs: &[Pair]) -> bool {
    let cells = pairs.iter().flat_map(|pair| [&pair.source, &pair.target]);
    let cells: Vec<&String> = cells.filter(|cell| !cell.is_empty()).collect();
    let are_all_quoted = !cells.is_empty() && cells.iter().all(|cell| unquote(cell).is_some());
    are_all_quoted || cells.iter().any(|cell| unquote(cell).is_some_and(has_only_doubled_quotes))
}

/// True if a text has quotes and all are doubled.
fn has_only_doubled_quotes(text: &str) -> bool {
    text.contains("\"\"") && !text.replace("\"\"", "").contains('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(layout: &TableFormat, text: &str) -> Result<Vec<[String; 2]>> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut found = Vec::new();
        for NumberedPair { line, pair } in layout.pairs(&lines, 0)?.pairs {
            match pair {
                Ok(pair) => found.push([pair.source, pair.target]),
                Err(reason) => bail!("{line}: {reason}"),
            }
        }
        Ok(found)
    }

    fn error(layout: &TableFormat, text: &str) -> String {
        read(layout, text).unwrap_err().to_string()
    }

    fn named(name: &str) -> Column {
        Column::Name(name.to_owned())
    }

    fn with_columns(columns: [Column; 2]) -> TableFormat {
        TableFormat { columns: Some(columns), header: true, ..TableFormat::default() }
    }

    fn csv() -> TableFormat {
        TableFormat { csv: true, ..TableFormat::default() }
    }

    #[test]
    fn reads_plain_lines() {
        let plain = TableFormat::default();
        assert_eq!(read(&plain, "a b\tc\n\t\n\n  \n\"a\"\tb").unwrap().len(), 5);
        let message = error(&plain, "a\tb\nc\n");
        assert!(message.starts_with("2: no tab in this line; expected"), "{message}");
        let message = error(&plain, "a\tb\tc\n");
        assert!(message.starts_with("1: 3 columns, but a pair has two: choose two, such as --columns 1,2"));
        assert!(error(&plain, "a,b\nc,d\n").contains("CSV with commas"));
        assert!(error(&plain, "a, b; c\nc;d\ne;f").contains("CSV with semicolons"));
    }

    #[test]
    fn selects_columns_and_skips_header() {
        let layout = with_columns([3, 1].map(Column::Number));
        assert_eq!(read(&layout, "x\ty\tz\na\tb\tc\n").unwrap(), [["c", "a"]]);
        assert_eq!(error(&layout, "x\n\na\tb"), "3: no column 3 here, only 2");
    }

    #[test]
    fn selects_columns_by_name() {
        let inflected = with_columns([named("lemma"), named("FORM")]);
        assert_eq!(read(&inflected, "Form\ttags\tLemma\nwent\tV;PST\tgo\n").unwrap(), [["go", "went"]]);
        let mixed = TableFormat { csv: true, ..with_columns([Column::Number(3), named("b c")]) };
        assert_eq!(read(&mixed, "a,b c,d\n1,\"2, 3\",4\n").unwrap(), [["4", "2, 3"]]);
        assert!(read(&inflected, "").unwrap().is_empty() && inflected.has_named_columns());
        assert_eq!(error(&inflected, "form\ttags\n"), "1: no column is called \"lemma\"; this line has: form, tags");
        assert!(error(&inflected, "form\tlemma\tform\n").contains("several columns are called \"FORM\""));
        assert!(error(&with_columns([Column::Number(1), named("a")]), "a\tb\n").contains("both sides"));
    }

    #[test]
    fn features_precede_the_source() {
        let layout = TableFormat { features: Some(Column::Number(3)), ..TableFormat::default() };
        let text = "walk\twalked\tV;PST\nbe\twas\t\n";
        assert_eq!(read(&layout, text).unwrap(), [["⟨V⟩⟨PST⟩walk", "walked"], ["be", "was"]]);
        assert_eq!(error(&layout, "walk\twalked\n"), "1: no column 3 here, only 2");
        let columns = with_columns([named("lemma"), named("form")]);
        let by_name = TableFormat { features: Some(named("tags")), ..columns };
        let text = "tags\tform\tlemma\nV;PST\twent\tgo\n";
        assert_eq!(read(&by_name, text).unwrap(), [["⟨V⟩⟨PST⟩go", "went"]]);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let numbered = by_name.with_column_numbers(&lines).unwrap();
        assert_eq!(numbered.features, Some(Column::Number(1)));
        let same = TableFormat { features: Some(Column::Number(2)), ..TableFormat::default() };
        assert!(error(&same, "a\tb\n").contains("column 2 is both a side and the features"));
    }

    #[test]
    fn removes_csv_quotes() {
        let text = "\"He said \"\"hi\"\"\",\"Il a dit, \"\"salut\"\"\"\nplain,\"two\nlines\"\n\n5\" long,x\n";
        let expected = [["He said \"hi\"", "Il a dit, \"salut\""], ["plain", "two lines"], ["", ""], ["5\" long", "x"]];
        assert_eq!(read(&csv(), text).unwrap(), expected);
        assert_eq!(read(&csv(), "a, b\tc, d\ne\tf").unwrap(), [["a, b", "c, d"], ["e", "f"]]);
        assert_eq!(read(&csv(), "a, b;c\nd;e").unwrap(), [["a, b", "c"], ["d", "e"]]);
        // Cells of several lines, lines beyond the sample, and an unclosed quote at its end do not hide the separator.
        let records: Vec<String> = (0..999).map(|number| format!("\"a{number}\nb\nc\",\"d\ne\"\n")).collect();
        let expected = [["a0 b c", "d e"], ["a1 b c", "d e"]];
        assert_eq!(read(&csv(), &records[..2].concat()).unwrap(), expected);
        assert_eq!(read(&csv(), &records.concat()).unwrap().len(), 999);
        assert!(error(&csv(), "a,b\nc,\"d\n").starts_with("2: a quote opened"));
        assert!(error(&csv(), "a,b\n\"c,d\n").starts_with("2: a quote opened"));
        assert!(error(&csv(), "a,b,c\n").contains("--columns"));
    }

    #[test]
    fn uses_separator_that_first_line_states() {
        assert_eq!(read(&csv(), "sep=;\na, b;c, d\n").unwrap(), [["a, b", "c, d"]]);
        assert_eq!(read(&csv(), "\"SEP=|\"\na|\"b|c\"\n").unwrap(), [["a", "b|c"]]);
        assert_eq!(read(&csv(), "sep=\t\na\tb\n").unwrap(), [["a", "b"]]);
        let header = TableFormat { header: true, ..csv() };
        assert_eq!(read(&header, "sep=;\nen;fr\na;b\n").unwrap(), [["a", "b"]]);
        assert!(error(&csv(), "sep=;\na;b;c\n").starts_with("2: 3 columns"));
        for text in ["sep=;x;y\n", "separate;y\n", "sep=a;y\n"] {
            assert_ne!(stated_separator(text.trim()), Some(';'), "{text}");
        }
        assert!(is_separator_line(&Pair { source: "sep=".to_owned(), target: String::new() }));
        assert!(!is_separator_line(&Pair { source: "sep=".to_owned(), target: "x".to_owned() }));
    }

    #[test]
    fn recognizes_headers_and_csv_quotes() {
        for (source, target) in [
            ("Source", "target"),
            ("English sentence", "French_translation"),
            ("en", "de"),
            ("Welsh", "Scottish Gaelic"),
            ("Cymraeg", "English"),
        ] {
            assert!(is_header(&Pair::new(source, target)), "{source}");
        }
        for (source, target) in [("text", "texte"), ("a word", "ein Wort"), ("", ""), ("1", "2")] {
            assert!(!is_header(&Pair::new(source, target)), "{source}");
        }
        assert!(has_csv_quotes(&[Pair::new("a", "b"), Pair::new("\"He said \"\"hi\"\"\"", "b")]));
        assert!(has_csv_quotes(&[Pair::new("\"a\"", "\"b\""), Pair::new("", "\"c\"")]));
        assert!(!has_csv_quotes(&[Pair::new("\"Yes.\"", "«Oui.»"), Pair::new("\"No\" she said \"\"", "b")]));
        assert!(!has_csv_quotes(&[]));
        assert!(has_csv_quotes(&[Pair::new("\"a\"", " \"b\"")]), "a space before a quote is ignored");
        assert!(has_spaced_quotes(&[Pair::new("a", "b"), Pair::new("a", " \"b\"")]));
        assert!(!has_spaced_quotes(&[Pair::new("\"a\"", " b"), Pair::new(" \"a\" b", "x")]));
    }
}
