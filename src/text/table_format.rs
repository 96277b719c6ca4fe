//! How lines of a file hold sentence pairs: plainly, with a tab between the two sides, or as spreadsheets write them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::protected_tokens::{features, with_features};
use super::{LONGEST_LINE, Pair, is_beginning};

/// What may stand between the cells of a spreadsheet, the likeliest first.
const SEPARATORS: [(char, &str); 3] = [('\t', "tabs"), (',', "commas"), (';', "semicolons")];

/// Where in a file's lines the two sides of a pair are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFormat {
    /// Whether cells may stand in quotes, as CSV has them (RFC 4180), and be separated by commas or semicolons as well.
    pub csv: bool,
    /// Whether the first line is no pair but says what the columns are.
    pub header: bool,
    /// The columns of source and target; none where there are just these two, or they are the first two.
    pub columns: Option<[Column; 2]>,
    /// The column of features, which are put before the source as [`features_before`](super::features_before) says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Column>,
}

/// What is said of a line that was too long to be read whole.
const BEGINNING: &str = "the first 1,048,576 bytes of this line, and no more are read";

/// The numbers of the columns that are asked for.
#[derive(Clone, Copy)]
struct Columns {
    sides: [usize; 2],
    features: Option<usize>,
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Column {
    /// Counted from 1.
    Number(usize),
    /// As the first line calls it, capitals aside.
    Name(String),
}

/// The cells of what is one line, or of a few where cells hold line ends.
struct Record {
    /// The first line's number, from 1.
    line: usize,
    cells: Vec<String>,
}

impl Record {
    /// The number of the column that this line calls so.
    fn column(&self, name: &str) -> Result<usize> {
        let called = |cell: &str| cell.trim().to_lowercase();
        let mut found =
            (1..).zip(&self.cells).filter(|(_, cell)| called(cell) == called(name)).map(|(number, _)| number);
        match (found.next(), found.next()) {
            (Some(number), None) => Ok(number),
            (Some(_), Some(_)) => bail!("{}: several columns are called {name:?}; count them instead", self.line),
            (None, _) => {
                let names: Vec<&str> = self.cells.iter().map(|cell| cell.trim()).collect();
                bail!("{}: no column is called {name:?}; this line has: {}", self.line, names.join(", "))
            }
        }
    }
}

impl TableFormat {
    /// Whether this is a plain file of pairs.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the first line says which columns are meant.
    pub fn asks_for_names(&self) -> bool {
        self.columns.iter().flatten().chain(&self.features).any(|column| matches!(column, Column::Name(_)))
    }

    /// The same with columns that are named counted, by the first of a plain file's lines.
    ///
    /// # Errors
    /// No column is called so, or several are; begins with the line's number.
    pub fn counted(&self, lines: &[String]) -> Result<Self> {
        let columns = self.counts(plain(lines, 0).next().as_ref())?;
        let features = columns.and_then(|columns| columns.features).map(Column::Number);
        Ok(Self { columns: columns.map(|columns| columns.sides.map(Column::Number)), features, ..self.clone() })
    }

    /// The numbers of the columns, if some are asked for; `first` is the line that may name them.
    fn counts(&self, first: Option<&Record>) -> Result<Option<Columns>> {
        let first_two = || self.features.as_ref().map(|_| [1, 2].map(Column::Number));
        let (Some([source, target]), Some(first)) = (self.columns.clone().or_else(first_two), first) else {
            return Ok(None);
        };
        let count = |column: &Column| match column {
            Column::Number(number) => Ok(*number),
            Column::Name(name) => first.column(name),
        };
        let sides = [count(&source)?, count(&target)?];
        ensure!(sides[0] != sides[1], "{}: both sides would be column {}", first.line, sides[0]);
        let features = self.features.as_ref().map(count).transpose()?;
        if let Some(number) = features.filter(|number| sides.contains(number)) {
            bail!("{}: column {number} would be a side and its features", first.line);
        }
        Ok(Some(Columns { sides, features }))
    }

    /// The sources of lines of a file of their own, before which it has `before` others: as they are or, where there is a
    /// column of features, what stands in the first behind these. Features may be written out before it as well.
    ///
    /// # Errors
    /// A line has no such column; begins with its number.
    pub fn sources(&self, lines: Vec<String>, before: usize) -> Result<Vec<String>> {
        let Some(Column::Number(number)) = self.features else { return Ok(lines) };
        let source = |(line, text): (usize, String)| {
            let cells: Vec<&str> = text.split('\t').collect();
            match cells.get(number - 1) {
                Some(features) => Ok(with_features(features, cells[0])),
                None if text.trim().is_empty() || features(&text).next().is_some() => Ok(text),
                None => bail!("{line}: no column {number} here, where the features should be"),
            }
        };
        (before + 1..).zip(lines).map(source).collect()
    }

    /// The pairs of lines, before which the file has `before` others, each with the number of its line. An empty line is a
    /// pair of empty sides. CSV has to be there as a whole.
    ///
    /// # Errors
    /// A line is no pair; begins with its number.
    pub fn pairs(&self, lines: &[String], before: usize) -> Result<Vec<(usize, Pair)>> {
        let records: Box<dyn Iterator<Item = Record>> =
            if self.csv { Box::new(csv(lines)?.into_iter()) } else { Box::new(plain(lines, before)) };
        let mut records = records.peekable();
        let columns = self.counts(records.peek())?;
        let pairs = records.skip(usize::from(self.header && before == 0));
        pairs.map(|record| Ok((record.line, self.pair(record, columns, lines, before)?))).collect()
    }

    /// The pair of a record among lines before which the file has `before` others.
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
        let is_part = lines.get(line - before - 1).is_some_and(|line| is_beginning(line));
        if let Some(Columns { sides: [source, target], features }) = columns {
            let part = if is_part { &*format!(" in {BEGINNING}") } else { "" };
            let cell = |number: usize| {
                cells.get(number - 1).with_context(|| format!("{line}: no column {number} here, only {count}{part}"))
            };
            let source = match features {
                Some(features) => with_features(cell(features)?, cell(source)?),
                None => cell(source)?.clone(),
            };
            return Ok(Pair { source, target: cell(target)?.clone() });
        }
        match <[String; 2]>::try_from(cells) {
            Ok([source, target]) => Ok(Pair { source, target }),
            Err(_) if count == 1 && is_part => {
                bail!("{line}: {} in {BEGINNING}", if self.csv { "only one column" } else { "no tab" })
            }
            Err(_) if count == 1 => bail!("{line}: {}", self.one_cell(lines)),
            Err(_) if self.csv => {
                bail!("{line}: {count} columns here, and a pair has two; --columns 1,2 takes the first two")
            }
            Err(_) => bail!(
                "{line}: {} tabs in this line, and a pair has exactly one, between the two sentences; of more columns \
                 --columns 1,2 takes the first two",
                count - 1
            ),
        }
    }

    /// What to say of a line that holds only one cell.
    fn one_cell(&self, lines: &[String]) -> String {
        match separator(lines) {
            _ if self.csv => "only one column here; a pair has two".to_owned(),
            Some((mark, name)) if mark != '\t' => {
                format!("no tab in this line; this looks like CSV with {name}, which --csv reads")
            }
            _ => "no tab in this line; a pair is written: sentence TAB translation".to_owned(),
        }
    }
}

fn plain(lines: &[String], before: usize) -> impl Iterator<Item = Record> {
    let cells = |line: &String| line.split('\t').map(str::to_owned).collect();
    (before + 1..).zip(lines).map(move |(line, text)| Record { line, cells: cells(text) })
}

fn csv(lines: &[String]) -> Result<Vec<Record>> {
    if let Some(mark) = lines.first().and_then(|line| stated_separator(line)) {
        return Ok(split(lines, mark)?.into_iter().skip(1).collect());
    }
    let mark = separator(lines)
        .or_else(|| Some(most_regular(lines)).filter(|(_, regular)| *regular > 0).map(|(mark, _)| mark));
    split(lines, mark.unwrap_or(SEPARATORS[0]).0)
}

/// The separator that a first line such as `sep=;` states for Excel.
fn stated_separator(line: &str) -> Option<char> {
    let line = line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(line);
    let (_, mark) = line.split_at_checked("sep=".len()).filter(|(name, _)| name.eq_ignore_ascii_case("sep="))?;
    mark.parse().ok().filter(|mark: &char| !mark.is_alphanumeric() && *mark != '"')
}

/// What separates the cells of lines: what makes the same number of several cells of most of them.
fn separator(lines: &[String]) -> Option<(char, &'static str)> {
    let ((mark, name), regular) = most_regular(lines);
    let filled = |record: &Record| record.cells.len() > 1 || !record.cells[0].trim().is_empty();
    let records = complete(looked_at(lines), mark).0.into_iter().filter(filled).count();
    (2 * regular > records).then_some((mark, name))
}

/// The separator that makes the same number of several cells of the most records, and of how many. Of equals it is the one
/// that fewer cells begin with a space behind, as prose has it behind commas and semicolons, and else the likeliest.
fn most_regular(lines: &[String]) -> ((char, &'static str), usize) {
    let regular = |mark: char| {
        let records = complete(looked_at(lines), mark).0;
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let several = || records.iter().map(|record| &record.cells[..]).filter(|cells| cells.len() > 1);
        several().for_each(|cells| *counts.entry(cells.len()).or_default() += 1);
        let spaced = several().flat_map(|cells| &cells[1..]).filter(|cell| cell.starts_with(' ')).count();
        (counts.into_values().max().unwrap_or_default(), Reverse(spaced))
    };
    let all = SEPARATORS.map(|separator| (separator, regular(separator.0)));
    let best = all.into_iter().rev().max_by_key(|(_, regular)| *regular);
    best.map_or((SEPARATORS[0], 0), |(separator, (regular, _))| (separator, regular))
}

/// As many lines as tell what separates cells.
fn looked_at(lines: &[String]) -> &[String] {
    const LOOKED_AT: usize = 1000;
    &lines[..lines.len().min(LOOKED_AT)]
}

/// Splits lines into cells, which may stand in quotes and then hold separators, line ends (which become spaces) and quotes,
/// written twice.
fn split(lines: &[String], separator: char) -> Result<Vec<Record>> {
    match complete(lines, separator) {
        (_, Some(Record { line, .. })) => bail!("{line}: a quote is opened in this line and never closed"),
        (records, None) => Ok(records),
    }
}

/// The records of lines, and the one that is not at its end, as its quote is not closed.
fn complete(lines: &[String], separator: char) -> (Vec<Record>, Option<Record>) {
    let mut records = Vec::new();
    let mut open: Option<Record> = None;
    for (index, line) in lines.iter().enumerate() {
        let mut quoted = open.is_some();
        let mut record = open.take().unwrap_or_else(|| Record { line: index + 1, cells: vec![String::new()] });
        if quoted {
            push(&mut record, ' ');
        }
        let mut characters = line.chars().peekable();
        // Quotes are quotes only at a cell's beginning.
        let mut begins = !quoted;
        while let Some(character) = characters.next() {
            match character {
                '"' if quoted => match characters.next_if_eq(&'"') {
                    Some(quote) => push(&mut record, quote),
                    None => quoted = false,
                },
                '"' if begins => quoted = true,
                _ if character == separator && !quoted => record.cells.push(String::new()),
                _ => push(&mut record, character),
            }
            begins = character == separator && !quoted;
        }
        // The rest of a line that was too long holds the end of its quotes.
        if quoted && !is_beginning(line) {
            open = Some(record);
        } else {
            records.push(record);
        }
    }
    (records, open)
}

fn push(record: &mut Record, character: char) {
    // A cell of many lines is no longer than a line.
    if let Some(cell) = record.cells.last_mut().filter(|cell| cell.len() < LONGEST_LINE) {
        cell.push(character);
    }
}

/// Whether a pair looks like the names of two columns rather than a sentence and its translation: every word of it is one
/// that columns are called by.
pub fn is_header(pair: &Pair) -> bool {
    const NAMES: &str = " source target src tgt trg input output original translation translations sentence sentences text texts \
        word words phrase phrases form lemma pronunciation phonemes phones ipa transcription transliteration gloss lang language \
        side column english french german spanish italian portuguese dutch russian arabic hebrew hindi chinese japanese korean \
        turkish polish czech swedish finnish greek latin persian swahili français deutsch español italiano en fr de es it pt nl \
        ru ar he hi zh ja ko tr pl cs sv fi el fa sw ";
    let names = |cell: &str| {
        let mut words =
            cell.split(|character: char| !character.is_alphabetic()).filter(|word| !word.is_empty()).peekable();
        words.peek().is_some() && words.all(|word| NAMES.contains(&format!(" {} ", word.to_lowercase())))
    };
    names(&pair.source) && names(&pair.target)
}

/// Whether a pair is a line that states for Excel what separates cells, with a tab.
pub fn states_separator(pair: &Pair) -> bool {
    pair.target.is_empty() && stated_separator(&format!("{}\t", pair.source)).is_some()
}

/// Whether a cell of CSV has white space before its quotes, which are text then.
pub fn has_spaced_quotes(pairs: &[Pair]) -> bool {
    let spaced = |cell: &str| cell.trim_start().len() < cell.len() && in_quotes(cell).is_some();
    pairs.iter().any(|pair| spaced(&pair.source) || spaced(&pair.target))
}

/// What stands in the quotes around a cell, white space aside.
fn in_quotes(cell: &str) -> Option<&str> {
    cell.trim().strip_prefix('"')?.strip_suffix('"')
}

/// Whether sentences still stand in the quotes that a spreadsheet has put around them: such cells hold quotes written
/// twice, or there is none without.
pub fn has_csv_quotes(pairs: &[Pair]) -> bool {
    let cells = || pairs.iter().flat_map(|pair| [pair.source.as_str(), &pair.target]).filter(|cell| !cell.is_empty());
    let doubled = |cell: &str| {
        in_quotes(cell).is_some_and(|inner| inner.contains("\"\"") && !inner.replace("\"\"", "").contains('"'))
    };
    cells().any(doubled) || cells().next().is_some() && cells().all(|cell| in_quotes(cell).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(layout: &TableFormat, text: &str) -> Result<Vec<[String; 2]>> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        Ok(layout.pairs(&lines, 0)?.into_iter().map(|(_, pair)| [pair.source, pair.target]).collect())
    }

    fn csv() -> TableFormat {
        TableFormat { csv: true, ..TableFormat::default() }
    }

    #[test]
    fn plain_lines_are_taken_as_they_are() {
        let plain = TableFormat::default();
        assert_eq!(read(&plain, "a b\tc\n\t\n\n  \n\"a\"\tb").unwrap().len(), 5);
        let refused = |text: &str| read(&plain, text).unwrap_err().to_string();
        assert!(refused("a\tb\nc\n").starts_with("2: no tab in this line; a pair"), "{}", refused("a\tb\nc\n"));
        assert!(refused("a\tb\tc\n").starts_with("1: 2 tabs"));
        assert!(refused("a\tb\tc\n").contains("--columns"));
        assert!(refused("a,b\nc,d\n").contains("CSV with commas"));
        assert!(refused("a, b; c\nc;d\ne;f").contains("CSV with semicolons"));
    }

    #[test]
    fn columns_and_headers_are_as_told() {
        let layout = TableFormat { columns: Some([3, 1].map(Column::Number)), header: true, ..TableFormat::default() };
        assert_eq!(read(&layout, "x\ty\tz\na\tb\tc\n").unwrap(), [["c", "a"]]);
        let message = read(&layout, "x\n\na\tb").unwrap_err().to_string();
        assert_eq!(message, "3: no column 3 here, only 2");
    }

    #[test]
    fn columns_have_names() {
        let name = |name: &str| Column::Name(name.to_owned());
        let layout =
            |columns: [Column; 2], csv: bool| TableFormat { columns: Some(columns), header: true, csv, features: None };
        let inflected = layout([name("lemma"), name("FORM")], false);
        assert_eq!(read(&inflected, "Form\ttags\tLemma\nwent\tV;PST\tgo\n").unwrap(), [["go", "went"]]);
        let mixed = layout([Column::Number(3), name("b c")], true);
        assert_eq!(read(&mixed, "a,b c,d\n1,\"2, 3\",4\n").unwrap(), [["4", "2, 3"]]);
        assert!(read(&inflected, "").unwrap().is_empty() && inflected.asks_for_names());
        let refused = |layout: &TableFormat, text: &str| read(layout, text).unwrap_err().to_string();
        assert_eq!(refused(&inflected, "form\ttags\n"), "1: no column is called \"lemma\"; this line has: form, tags");
        assert!(refused(&inflected, "form\tlemma\tform\n").contains("several columns are called \"FORM\""));
        assert!(refused(&layout([Column::Number(1), name("a")], false), "a\tb\n").contains("both sides"));
    }

    #[test]
    fn features_come_before_the_source() {
        let layout = TableFormat { features: Some(Column::Number(3)), ..TableFormat::default() };
        let text = "walk\twalked\tV;PST\nbe\twas\t\n";
        assert_eq!(read(&layout, text).unwrap(), [["⟨V⟩⟨PST⟩walk", "walked"], ["be", "was"]]);
        assert_eq!(read(&layout, "walk\twalked\n").unwrap_err().to_string(), "1: no column 3 here, only 2");
        let name = |name: &str| Column::Name(name.to_owned());
        let columns = Some([name("lemma"), name("form")]);
        let named = TableFormat { columns, features: Some(name("tags")), header: true, csv: false };
        let text = "tags\tform\tlemma\nV;PST\twent\tgo\n";
        assert_eq!(read(&named, text).unwrap(), [["⟨V⟩⟨PST⟩go", "went"]]);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let counted = named.counted(&lines).unwrap();
        assert_eq!(counted.features, Some(Column::Number(1)));
        let same = TableFormat { features: Some(Column::Number(2)), ..TableFormat::default() };
        assert!(read(&same, "a\tb\n").unwrap_err().to_string().contains("column 2 would be a side and its features"));
    }

    #[test]
    fn quotes_of_csv_are_taken_off() {
        let text = "\"He said \"\"hi\"\"\",\"Il a dit, \"\"salut\"\"\"\nplain,\"two\nlines\"\n\n5\" long,x\n";
        let expected = [["He said \"hi\"", "Il a dit, \"salut\""], ["plain", "two lines"], ["", ""], ["5\" long", "x"]];
        assert_eq!(read(&csv(), text).unwrap(), expected);
        assert_eq!(read(&csv(), "a, b\tc, d\ne\tf").unwrap(), [["a, b", "c, d"], ["e", "f"]]);
        assert_eq!(read(&csv(), "a, b;c\nd;e").unwrap(), [["a, b", "c"], ["d", "e"]]);
        // Cells of several lines, more lines than are looked at, and a quote that is open at the end do not hide the separator.
        let lines = |number: usize| format!("\"a{number}\nb\nc\",\"d\ne\"\n");
        let expected = [["a0 b c", "d e"], ["a1 b c", "d e"]];
        assert_eq!(read(&csv(), &(lines(0) + &lines(1))).unwrap(), expected);
        assert_eq!(read(&csv(), &(0..999).map(lines).collect::<String>()).unwrap().len(), 999);
        assert!(read(&csv(), "a,b\nc,\"d\n").unwrap_err().to_string().starts_with("2: a quote is opened"));
        assert!(read(&csv(), "a,b\n\"c,d\n").unwrap_err().to_string().starts_with("2: a quote is opened"));
        assert!(read(&csv(), "a,b,c\n").unwrap_err().to_string().contains("--columns"));
    }

    #[test]
    fn takes_the_separator_that_the_first_line_states() {
        assert_eq!(read(&csv(), "sep=;\na, b;c, d\n").unwrap(), [["a, b", "c, d"]]);
        assert_eq!(read(&csv(), "\"SEP=|\"\na|\"b|c\"\n").unwrap(), [["a", "b|c"]]);
        assert_eq!(read(&csv(), "sep=\t\na\tb\n").unwrap(), [["a", "b"]]);
        let header = TableFormat { header: true, ..csv() };
        assert_eq!(read(&header, "sep=;\nen;fr\na;b\n").unwrap(), [["a", "b"]]);
        assert!(read(&csv(), "sep=;\na;b;c\n").unwrap_err().to_string().starts_with("2: 3 columns"));
        for text in ["sep=;x;y\n", "separate;y\n", "sep=a;y\n"] {
            assert_ne!(stated_separator(text.trim()), Some(';'), "{text}");
        }
        assert!(states_separator(&Pair { source: "sep=".to_owned(), target: String::new() }));
        assert!(!states_separator(&Pair { source: "sep=".to_owned(), target: "x".to_owned() }));
    }

    #[test]
    fn spreadsheets_are_recognised() {
        let pair = |source: &str, target: &str| Pair { source: source.to_owned(), target: target.to_owned() };
        for (source, target) in [("Source", "target"), ("English sentence", "French_translation"), ("en", "de")] {
            assert!(is_header(&pair(source, target)), "{source}");
        }
        for (source, target) in [("text", "texte"), ("a word", "ein Wort"), ("", ""), ("1", "2")] {
            assert!(!is_header(&pair(source, target)), "{source}");
        }
        assert!(has_csv_quotes(&[pair("a", "b"), pair("\"He said \"\"hi\"\"\"", "b")]));
        assert!(has_csv_quotes(&[pair("\"a\"", "\"b\""), pair("", "\"c\"")]));
        assert!(!has_csv_quotes(&[pair("\"Yes.\"", "«Oui.»"), pair("\"No\" she said \"\"", "b")]));
        assert!(!has_csv_quotes(&[]));
        assert!(has_csv_quotes(&[pair("\"a\"", " \"b\"")]), "a space before a quote hides nothing");
        assert!(has_spaced_quotes(&[pair("a", "b"), pair("a", " \"b\"")]));
        assert!(!has_spaced_quotes(&[pair("\"a\"", " b"), pair(" \"a\" b", "x")]));
    }
}
