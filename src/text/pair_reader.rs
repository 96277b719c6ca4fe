//! Readers of sentence pairs: one TSV file with a pair per line, or two line-aligned files. Every error names file and
//! line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow, bail, ensure};

use super::format_pairs::FormatPairs;
use super::line_reader::{LineError, name, read_each_line};
use super::line_stream::LineStream;
use super::table_format::{NumberedPair, TablePairs};
use super::{Pair, TableFormat};

/// Reads sentence pairs from a file in the given format.
///
/// # Errors
/// The file cannot be read, or a line is not UTF-8 or not a pair.
pub fn read_table(path: &Path, layout: &TableFormat) -> Result<Vec<Pair>> {
    Ok(read_numbered(path, layout)?.0)
}

/// Reads sentence pairs with their line numbers. A `.csv` file is read as CSV.
///
/// # Errors
/// As [`read_table`].
pub fn read_numbered(path: &Path, layout: &TableFormat) -> Result<(Vec<Pair>, LineNumbers)> {
    let (pairs, numbers) = read_each(path, layout, false)?;
    Ok((pairs.into_iter().collect::<Result<_>>()?, numbers))
}

/// Reads sentence pairs with their line numbers, and a [`LineError`] in place of each pair that cannot be read. If the layout is
/// `shared` with other files, a file with two columns that lacks the selected ones is read without them.
///
/// # Errors
/// The file cannot be read, its first line does not name a column, or a CSV quote is never closed.
pub(super) fn read_each(path: &Path, layout: &TableFormat, shared: bool) -> Result<(Vec<Result<Pair>>, LineNumbers)> {
    if let Some(pairs) = FormatPairs::open(path, layout, shared)? {
        return Ok((pairs.collect(), LineNumbers::default()));
    }
    let lines = read_each_line(path)?;
    let mut layout = layout.for_file(path);
    let mut notes = Vec::new();
    if shared && layout.columns.is_some() {
        let readable: Vec<String> = lines.iter().flatten().cloned().collect();
        if let Some(two_columns) = layout.for_two_columns(&readable) {
            layout = two_columns;
            notes.push("--columns does not fit, so the only two columns are read");
        }
    }
    let TablePairs { pairs, skipped_header } = parse_table(lines, &layout, 0, &name(path))?;
    if skipped_header {
        notes.push("the first line is a header and is left out");
    }
    let (each, pairs) = pairs.into_iter().map(|NumberedPair { line, pair }| (line, pair)).unzip();
    let numbers =
        if layout.csv { LineNumbers::new(each) } else { LineNumbers::with_offset(usize::from(layout.header)) };
    Ok((pairs, LineNumbers { notes, ..numbers }))
}

/// Returns the pairs of lines, which follow `before` other lines of a file. A pair with an unreadable line is a
/// [`LineError`]. Another error in place of a line ends the pairs.
fn parse_table(lines: Vec<Result<String>>, layout: &TableFormat, before: usize, file: &str) -> Result<TablePairs> {
    let mut texts = Vec::with_capacity(lines.len());
    let mut unreadable: BTreeMap<usize, Error> = BTreeMap::new();
    let mut last = None;
    for (number, line) in (before + 1..).zip(lines) {
        match line {
            Ok(text) => texts.push(text),
            Err(error) => match error.downcast_ref::<LineError>().and_then(LineError::lossy_text) {
                Some(text) => {
                    texts.push(text.to_owned());
                    unreadable.insert(number, error);
                }
                None => last = Some(NumberedPair { line: number, pair: Err(error) }),
            },
        }
    }
    let TablePairs { pairs, skipped_header } =
        layout.pairs(&texts, before).map_err(|reason| anyhow!("{file}:{reason}"))?;
    let mut checked = Vec::with_capacity(pairs.len() + 1);
    let mut pairs = pairs.into_iter().peekable();
    while let Some(NumberedPair { line, pair }) = pairs.next() {
        let end = pairs.peek().map_or(usize::MAX, |next| next.line);
        let first_unreadable = unreadable.range(line..end).next().map(|(&number, _)| number);
        let pair = match first_unreadable.and_then(|number| unreadable.remove(&number)) {
            Some(error) => Err(error),
            None => pair.map_err(|reason| LineError::new(format_args!("{file}:{line}"), line, &reason).into()),
        };
        checked.push(NumberedPair { line, pair });
    }
    checked.extend(last);
    Ok(TablePairs { pairs: checked, skipped_header })
}

/// Line of its file on which each pair begins, from 1.
#[derive(Clone, Debug, Default)]
pub struct LineNumbers {
    /// Line of each pair; empty if each line is a pair.
    each: Vec<usize>,
    /// Number of lines before the first pair.
    before: usize,
    /// Notes on how the file was read.
    notes: Vec<&'static str>,
}

impl LineNumbers {
    /// Returns the numbers of pairs that begin on these lines.
    pub fn new(each: Vec<usize>) -> Self {
        Self { each, ..Self::default() }
    }

    /// Returns the numbers of pairs that follow line by line after the first `before` lines.
    pub fn with_offset(before: usize) -> Self {
        Self { before, ..Self::default() }
    }

    /// Returns the line of the pair with an index, from 0.
    pub fn of(&self, index: usize) -> usize {
        self.each.get(index).copied().unwrap_or(self.before + index + 1)
    }

    /// Returns the numbers of some of the pairs of the same file, which begin on these lines.
    #[must_use]
    pub(super) fn with_lines(self, each: Vec<usize>) -> Self {
        Self { each, ..self }
    }

    /// Returns notes on how the file was read, such as that a header was left out.
    pub fn notes(&self) -> &[&'static str] {
        &self.notes
    }
}

/// Reads sentence pairs from two line-aligned files, with a [`LineError`] in place of each pair that cannot be read. A tab is
/// ordinary text, unless features follow the sentence.
///
/// # Errors
/// A file cannot be read, or the files differ in length.
pub(super) fn read_each_parallel(source: &Path, target: &Path, layout: &TableFormat) -> Result<Vec<Result<Pair>>> {
    let sides = [read_each_line(source)?, read_each_line(target)?];
    check_lengths([source, target], [sides[0].len(), sides[1].len()])?;
    Ok(join_sides([source, target], sides, layout, 0))
}

/// Returns the pairs of two lists of lines, which follow `before` lines of their files.
fn join_sides(
    paths: [&Path; 2],
    [sources, targets]: [Vec<Result<String>>; 2],
    layout: &TableFormat,
    before: usize,
) -> Vec<Result<Pair>> {
    let mut pairs = Vec::with_capacity(sources.len());
    let lines = (before + 1..).zip(sources.into_iter().zip(targets));
    for (line, (source, target)) in lines.skip(usize::from(layout.header && before == 0)) {
        pairs.push(join_lines(paths[0], line, [source, target], layout));
    }
    pairs
}

/// Returns the pair of the lines with a number. `path` is the file of the source.
fn join_lines(path: &Path, line: usize, sides: [Result<String>; 2], layout: &TableFormat) -> Result<Pair> {
    let [source, target] = sides;
    let (source, target) = (source?, target?);
    let source = layout.source(source);
    let source = source.map_err(|reason| LineError::new(format_args!("{}:{line}", name(path)), line, &reason))?;
    Ok(Pair { source, target })
}

fn check_lengths(paths: [&Path; 2], lengths: [usize; 2]) -> Result<()> {
    ensure!(
        lengths[0] == lengths[1],
        "{} has {} lines and {} has {}; parallel files must have the same number of lines",
        name(paths[0]),
        lengths[0],
        name(paths[1]),
        lengths[1]
    );
    Ok(())
}

/// Stream of sentence pairs.
pub struct PairStream {
    source: StreamSource,
    /// Number of lines read so far.
    read: usize,
    /// Tag before each source.
    tag: Option<String>,
    numbers: LineNumbers,
    /// Error if the stream has no pair.
    error_if_empty: Option<String>,
}

enum StreamSource {
    Pairs(Box<dyn Iterator<Item = Result<Pair>> + Send>),
    Tsv { lines: LineStream, path: PathBuf, layout: TableFormat },
    Parallel { lines: [LineStream; 2], paths: [PathBuf; 2], layout: TableFormat },
}

/// Pairs of some lines.
struct PairChunk {
    pairs: Vec<Result<Pair>>,
    /// Number of lines.
    lines: usize,
}

impl PairStream {
    /// Returns a stream of pairs in memory.
    pub fn in_memory(pairs: Vec<Result<Pair>>, numbers: LineNumbers) -> Self {
        Self::new(StreamSource::Pairs(Box::new(pairs.into_iter())), numbers)
    }

    fn new(source: StreamSource, numbers: LineNumbers) -> Self {
        Self { source, read: 0, tag: None, numbers, error_if_empty: None }
    }

    /// Makes it an error with this message if the stream has no pair.
    #[must_use]
    pub(super) fn required(self, message: String) -> Self {
        Self { error_if_empty: Some(message), ..self }
    }

    /// Line numbers of the pairs.
    pub fn numbers(&self) -> &LineNumbers {
        &self.numbers
    }

    /// Opens a file in the given format; a `.csv` file is read as CSV. CSV is read as a whole, since its cells may span
    /// lines.
    ///
    /// # Errors
    /// The file cannot be opened, or CSV is invalid.
    pub fn open_table(path: &Path, layout: &TableFormat) -> Result<Self> {
        if layout.for_file(path).csv {
            let (pairs, numbers) = read_each(path, layout, false)?;
            return Ok(Self::in_memory(pairs, numbers));
        }
        if let Some(pairs) = FormatPairs::open(path, layout, false)? {
            return Ok(Self::new(StreamSource::Pairs(Box::new(pairs)), LineNumbers::default()));
        }
        let numbers = LineNumbers::with_offset(usize::from(layout.header));
        let source =
            StreamSource::Tsv { lines: LineStream::open(path)?, path: path.to_owned(), layout: layout.clone() };
        Ok(Self::new(source, numbers))
    }

    /// Opens two line-aligned files.
    ///
    /// # Errors
    /// A file cannot be opened.
    pub fn parallel(source: &Path, target: &Path, layout: &TableFormat) -> Result<Self> {
        let lines = [LineStream::open(source)?, LineStream::open(target)?];
        let numbers = LineNumbers::with_offset(usize::from(layout.header));
        let paths = [source.to_owned(), target.to_owned()];
        let source = StreamSource::Parallel { lines, paths, layout: layout.clone() };
        Ok(Self::new(source, numbers))
    }

    /// Puts a tag before each source.
    #[must_use]
    pub fn tagged(self, tag: Option<String>) -> Self {
        Self { tag, ..self }
    }

    /// Waits for pairs and returns those available, at most `max_pairs`; none at the end. A pair that cannot be read is a
    /// [`LineError`]. Another error, if a file cannot be read, is the last item of the stream.
    ///
    /// # Errors
    /// The first line does not name a column, or the files differ in length.
    pub fn next_chunk(&mut self, max_pairs: usize) -> Result<Vec<Result<Pair>>> {
        loop {
            let PairChunk { pairs, lines } = self.read_lines(max_pairs)?;
            self.read += lines;
            if let Some(message) = self.error_if_empty.take_if(|_| lines == 0 && self.read == 0) {
                bail!(message);
            }
            // The lines may have held only a header.
            if !pairs.is_empty() || lines == 0 {
                return Ok(pairs.into_iter().map(|pair| Ok(pair?.tagged(self.tag.as_deref()))).collect());
            }
        }
    }

    /// Reads at most `max_lines` lines.
    fn read_lines(&mut self, max_lines: usize) -> Result<PairChunk> {
        match &mut self.source {
            StreamSource::Pairs(pairs) => {
                let pairs: Vec<Result<Pair>> = pairs.take(max_lines).collect();
                Ok(PairChunk { lines: pairs.len(), pairs })
            }
            StreamSource::Tsv { lines, path, layout } => {
                let mut lines = lines.next_chunk(max_lines);
                let (file, count) = (name(path), lines.len());
                if self.read == 0 && layout.has_named_columns() && count > 0 {
                    let header = lines.remove(0)?;
                    let numbered = layout.with_column_numbers(std::slice::from_ref(&header));
                    *layout = numbered.map_err(|reason| anyhow!("{file}:{reason}"))?;
                    lines.insert(0, Ok(header));
                }
                let table = parse_table(lines, layout, self.read, &file)?;
                Ok(PairChunk { pairs: table.pairs.into_iter().map(|numbered| numbered.pair).collect(), lines: count })
            }
            StreamSource::Parallel { lines: [sources, targets], paths, layout } => {
                let source = sources.next_chunk(max_lines);
                let target = if source.is_empty() { targets.next_chunk(1) } else { targets.next_n(source.len()) };
                let paths = [paths[0].as_path(), &paths[1]];
                let read = [source.len(), target.len()];
                let pairs = join_sides(paths, [source, target], layout, self.read);
                let last_error = pairs.last().and_then(|pair| pair.as_ref().err());
                if read[0] != read[1] && last_error.is_none_or(|error| error.is::<LineError>()) {
                    let lengths = [read[0] + sources.count_rest(), read[1] + targets.count_rest()];
                    check_lengths(paths, lengths.map(|length| length + self.read))?;
                    bail!("{} and {}: the files changed while they were read", name(paths[0]), name(paths[1]));
                }
                Ok(PairChunk { pairs, lines: read[0] })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut stream: PairStream, max: usize) -> Result<Vec<[String; 2]>> {
        let mut found = Vec::new();
        loop {
            let pairs = stream.next_chunk(max)?;
            if pairs.is_empty() {
                return Ok(found);
            }
            assert!(pairs.len() <= max);
            for pair in pairs {
                found.push(pair.map(|pair| [pair.source, pair.target])?);
            }
        }
    }

    #[test]
    fn streams_yield_the_same_pairs_as_readers() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let tsv: String = (0..5000).map(|number| format!("s{number}\tt{number}\n")).collect();
        std::fs::write(path("pairs.tsv"), &tsv).unwrap();
        for (side, column) in [("source", 0), ("target", 1)] {
            let lines: String =
                tsv.lines().map(|line| format!("{}\n", line.split('\t').nth(column).unwrap())).collect();
            std::fs::write(path(side), lines).unwrap();
        }
        for header in [false, true] {
            let layout = TableFormat { header, ..TableFormat::default() };
            let read: Vec<[String; 2]> = read_table(&path("pairs.tsv"), &layout)
                .unwrap()
                .into_iter()
                .map(|pair| [pair.source, pair.target])
                .collect();
            for max in [1, 7, 5000, usize::MAX] {
                let tsv = PairStream::open_table(&path("pairs.tsv"), &layout).unwrap();
                let parallel = PairStream::parallel(&path("source"), &path("target"), &layout).unwrap();
                assert!(all(tsv, max).unwrap() == read && all(parallel, max).unwrap() == read, "{max} {header}");
            }
        }
        let pairs = read_table(&path("pairs.tsv"), &TableFormat::default()).unwrap().into_iter().map(Ok).collect();
        let memory = PairStream::in_memory(pairs, LineNumbers::default());
        assert_eq!(all(memory, 3).unwrap().len(), 5000);
    }

    #[test]
    fn reports_file_and_line_of_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("pairs.tsv"), "a\tb\nc\td\ne\n").unwrap();
        let error = all(PairStream::open_table(&path("pairs.tsv"), &TableFormat::default()).unwrap(), 1).unwrap_err();
        assert!(error.to_string().contains("pairs.tsv:3: no tab"), "{error}");
        std::fs::write(path("long"), "a\nb\nc\n").unwrap();
        std::fs::write(path("short"), "a\nb\n").unwrap();
        for (sides, max) in
            [(["long", "short"], 1), (["long", "short"], 9), (["short", "long"], 1), (["short", "long"], 9)]
        {
            let stream = PairStream::parallel(&path(sides[0]), &path(sides[1]), &TableFormat::default()).unwrap();
            let error = all(stream, max).unwrap_err().to_string();
            assert!(error.contains("long has 3") && error.contains("short has 2"), "{error}");
        }
    }
}
