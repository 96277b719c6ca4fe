//! Records of tables: lines with tabs or `|||` between cells, or CSV as spreadsheets write it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::{LONGEST_LINE, is_truncated};

/// Separators of CSV cells, the most likely first.
const SEPARATORS: [Separator; 3] = [
    Separator { character: '\t', name: "tabs" },
    Separator { character: ',', name: "commas" },
    Separator { character: ';', name: "semicolons" },
];

/// Separator of CSV cells.
#[derive(Clone, Copy)]
pub(super) struct Separator {
    pub character: char,
    /// Name in the plural.
    pub name: &'static str,
}

/// CSV file.
pub(super) struct CsvTable {
    pub separator: char,
    /// Records, without a first line that states the separator.
    pub records: Vec<Record>,
}

/// Regularity of the records that a separator makes of lines. The best separator has the greatest one: the most records
/// with the same number of cells, then fewer quotes within cells, then fewer spaces after it (prose has spaces after commas).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Regularity {
    /// Number of records with the most frequent number of cells, at least two.
    records: usize,
    /// Number of quotes that neither begin nor end a cell.
    inner_quotes: Reverse<usize>,
    /// Number of cells after others that begin with a space.
    spaced_cells: Reverse<usize>,
}

/// Cells of one line, or of several lines if cells contain line ends.
#[derive(Clone)]
pub(super) struct Record {
    /// Number of the first line, from 1.
    pub line: usize,
    pub cells: Vec<String>,
}

impl Record {
    /// Returns the number of the column with a name.
    ///
    /// # Errors
    /// No column or several columns have the name; the message begins with the line number.
    pub fn column(&self, name: &str) -> Result<usize> {
        let name_of_column = normalized(name);
        let mut found = (1..).zip(&self.cells).filter(|(_, cell)| normalized(cell) == name_of_column);
        match (found.next().map(|(number, _)| number), found.next()) {
            (Some(number), None) => Ok(number),
            (Some(_), Some(_)) => bail!("{}: several columns are called \"{name}\"; use column numbers", self.line),
            (None, _) => {
                let names: Vec<&str> = self.cells.iter().map(|cell| cell.trim()).collect();
                bail!("{}: no column is called \"{name}\"; this line has: {}", self.line, names.join(", "))
            }
        }
    }
}

/// Returns a name without regard to case and outer white space.
fn normalized(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Returns the records of lines that are not CSV and follow `before` other lines.
pub(super) fn plain_records(lines: &[String], before: usize) -> impl Iterator<Item = Record> {
    (before + 1..).zip(lines).map(|(line, text)| Record { line, cells: plain_cells(text) })
}

/// Splits a line at its tabs; without tabs at `|||`, which fast_align and Moses write between sentences.
fn plain_cells(line: &str) -> Vec<String> {
    const FIELD_SEPARATOR: &str = "|||";
    if line.contains('\t') || !line.contains(FIELD_SEPARATOR) {
        return line.split('\t').map(str::to_owned).collect();
    }
    line.split(FIELD_SEPARATOR).map(|cell| cell.trim().to_owned()).collect()
}

/// Returns the records of all lines of a CSV file, without a first line that states the separator.
///
/// # Errors
/// A quote is never closed; the message begins with the number of its line.
pub(super) fn csv_records(lines: &[String]) -> Result<Vec<Record>> {
    Ok(csv_table(lines)?.records)
}

/// Returns all lines of a CSV file as a table.
///
/// # Errors
/// As [`csv_records`].
pub(super) fn csv_table(lines: &[String]) -> Result<CsvTable> {
    if let Some(separator) = lines.first().and_then(|line| stated_separator(line)) {
        return Ok(CsvTable { separator, records: split_records(lines, separator)?.into_iter().skip(1).collect() });
    }
    let separator = detect_separator(lines).unwrap_or_else(|| {
        let (separator, regularity) = most_regular(lines);
        if regularity.records > 0 { separator } else { SEPARATORS[0] }
    });
    Ok(CsvTable { separator: separator.character, records: split_records(lines, separator.character)? })
}

/// Returns cells as a line of CSV. Cells from which a reader could conclude another separator are quoted too.
pub(super) fn csv_line<S: AsRef<str>>(cells: &[S], separator: char) -> String {
    cells.iter().map(|cell| csv_cell(cell.as_ref(), separator)).collect::<Vec<_>>().join(&separator.to_string())
}

fn csv_cell(cell: &str, separator: char) -> String {
    let special = [separator, '"', '\t', ',', ';', '\n', '\r'];
    let begins_specially =
        cell.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("sep=")) || cell.starts_with('\u{feff}');
    if cell.contains(special) || begins_specially || cell.trim().len() < cell.len() {
        return format!("\"{}\"", cell.replace('"', "\"\"").replace(['\n', '\r'], " "));
    }
    cell.to_owned()
}

/// Returns the cells of a line that [`csv_line`] wrote.
pub(super) fn parse_csv_line(line: &str, separator: char) -> Vec<String> {
    parse_records(&[line.to_owned()], separator).complete.pop().map(|record| record.cells).unwrap_or_default()
}

/// Returns the separator that a first line such as `sep=;` states for Excel.
pub(super) fn stated_separator(line: &str) -> Option<char> {
    let line = line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(line);
    let (_, separator) = line.split_at_checked("sep=".len()).filter(|(name, _)| name.eq_ignore_ascii_case("sep="))?;
    separator.parse().ok().filter(|separator: &char| !separator.is_alphanumeric() && *separator != '"')
}

/// Returns the separator that splits most lines into the same number of cells, at least two.
pub(super) fn detect_separator(lines: &[String]) -> Option<Separator> {
    let (separator, regularity) = most_regular(lines);
    let records = parse_records(sample(lines), separator.character).complete.into_iter();
    let filled = records.filter(|record| record.cells.len() > 1 || !record.cells[0].trim().is_empty()).count();
    (2 * regularity.records > filled).then_some(separator)
}

/// Returns the separator with the greatest regularity, the most likely one of equals.
fn most_regular(lines: &[String]) -> (Separator, Regularity) {
    let [mut best, others @ ..] = SEPARATORS.map(|separator| (separator, regularity(lines, separator.character)));
    for other in others {
        if other.1 > best.1 {
            best = other;
        }
    }
    best
}

fn regularity(lines: &[String], separator: char) -> Regularity {
    let ParsedRecords { complete, inner_quotes, .. } = parse_records(sample(lines), separator);
    let (mut counts, mut spaced_cells) = (BTreeMap::<usize, usize>::new(), 0);
    for cells in complete.iter().map(|record| &record.cells).filter(|cells| cells.len() > 1) {
        *counts.entry(cells.len()).or_default() += 1;
        spaced_cells += cells[1..].iter().filter(|cell| cell.starts_with(' ')).count();
    }
    let records = counts.into_values().max().unwrap_or_default();
    Regularity { records, inner_quotes: Reverse(inner_quotes), spaced_cells: Reverse(spaced_cells) }
}

/// Returns the lines by which the separator is detected.
fn sample(lines: &[String]) -> &[String] {
    const MAX_LINES: usize = 1000;
    &lines[..lines.len().min(MAX_LINES)]
}

/// Splits lines into records. Quoted cells may contain separators, line ends, which become spaces, and doubled quotes.
fn split_records(lines: &[String], separator: char) -> Result<Vec<Record>> {
    match parse_records(lines, separator) {
        ParsedRecords { open: Some(Record { line, .. }), .. } => {
            bail!("{line}: a quote opened in this line is never closed")
        }
        parsed => Ok(parsed.complete),
    }
}

/// Records of lines.
struct ParsedRecords {
    complete: Vec<Record>,
    /// Last record, if its quote is not closed.
    open: Option<Record>,
    /// Number of quotes that neither begin nor end a cell.
    inner_quotes: usize,
}

fn parse_records(lines: &[String], separator: char) -> ParsedRecords {
    let (mut records, mut inner_quotes) = (Vec::new(), 0);
    let mut open: Option<Record> = None;
    for (index, line) in lines.iter().enumerate() {
        let mut quoted = open.is_some();
        let mut record = open.take().unwrap_or_else(|| Record { line: index + 1, cells: vec![String::new()] });
        if quoted {
            push_char(&mut record, ' ');
        }
        let mut characters = line.chars().peekable();
        // A quote opens only at the beginning of a cell.
        let mut at_start = !quoted;
        while let Some(character) = characters.next() {
            match character {
                '"' if quoted => match characters.next_if_eq(&'"') {
                    Some(quote) => push_char(&mut record, quote),
                    None => {
                        quoted = false;
                        inner_quotes += usize::from(characters.peek().is_some_and(|&next| next != separator));
                    }
                },
                '"' if at_start => quoted = true,
                '"' => {
                    inner_quotes += 1;
                    push_char(&mut record, character);
                }
                _ if character == separator && !quoted => record.cells.push(String::new()),
                _ => push_char(&mut record, character),
            }
            at_start = character == separator && !quoted;
        }
        // A truncated line lacks its closing quote.
        if quoted && !is_truncated(line) {
            open = Some(record);
        } else {
            records.push(record);
        }
    }
    ParsedRecords { complete: records, open, inner_quotes }
}

fn push_char(record: &mut Record, character: char) {
    // Limits cells of many lines.
    if let Some(cell) = record.cells.last_mut().filter(|cell| cell.len() < LONGEST_LINE) {
        cell.push(character);
    }
}
