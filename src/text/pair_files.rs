//! Files of sentence pairs that options name, and the shipped corpus.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};

use super::pair_reader::{read_each, read_each_parallel};
use super::{
    Column, LineError, LineNumbers, OnError, Pair, PairStream, RowSyntax, TableFormat, count_lines, file_name,
    has_csv_quotes, has_spaced_quotes, is_header, is_separator_line, without_features,
};
use crate::error::UsageError;
use crate::reporter::Reporter;

/// Shipped training pairs, relative to the directory of the project.
pub const SHIPPED_TRAINING: &str = "data/train.tsv";
/// Shipped validation pairs.
pub const SHIPPED_VALIDATION: &str = "data/validation.tsv";
/// Shipped test pairs.
pub const SHIPPED_TEST: &str = "data/test.tsv";
/// Gold alignments of the shipped test pairs.
pub const SHIPPED_GOLD: &str = "data/test.gold";

/// Default, and first possible, column of features in lines of sentences: after the sentence.
pub const FIRST_FEATURES_COLUMN: usize = 2;
/// Message for other columns of features.
pub const FEATURES_COLUMN_ERROR: &str =
    "--features must be a column number of at least 2 here; names of columns work only in files of pairs";

/// Files of sentence pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairFiles {
    files: PairSource,
    layout: TableFormat,
    /// Tag before each source.
    tag: Option<String>,
    /// True if the format describes other files too, so that its columns need not fit.
    shared_layout: bool,
    /// True if reading no pair is an error.
    required: bool,
}

/// Pairs of a file that can be read.
#[derive(Debug)]
pub struct ReadablePairs {
    /// Pairs.
    pub pairs: Vec<Pair>,
    /// Line numbers of the pairs.
    pub numbers: LineNumbers,
    /// Index of each pair among all of the file, from 0.
    pub indices: Vec<usize>,
    /// Errors of the pairs that cannot be read.
    pub errors: Vec<LineError>,
}

impl ReadablePairs {
    /// Number of all pairs of the file.
    pub fn total(&self) -> usize {
        self.indices.len() + self.errors.len()
    }

    /// Selects the items of the readable pairs from a list with an item for each pair of the file.
    pub fn select<T>(&self, items: Vec<T>) -> Vec<T> {
        let mut indices = self.indices.iter().copied().peekable();
        let selected = items.into_iter().enumerate().filter(|(index, _)| indices.next_if_eq(index).is_some());
        selected.map(|(_, item)| item).collect()
    }
}

/// Source of pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PairSource {
    /// Both sides in one file.
    Tsv(PathBuf),
    /// One file per side.
    Parallel(PathBuf, PathBuf),
    Memory(Arc<[Pair]>),
}

impl PairFiles {
    fn new(files: PairSource, layout: &TableFormat) -> Self {
        Self { files, layout: layout.clone(), tag: None, shared_layout: false, required: false }
    }

    /// Returns two line-aligned files.
    pub fn parallel(source: &Path, target: &Path, layout: &TableFormat) -> Self {
        Self::new(PairSource::Parallel(source.to_owned(), target.to_owned()), layout)
    }

    /// Returns pairs in memory, which have no file.
    pub fn in_memory(pairs: &[Pair]) -> Self {
        Self::new(PairSource::Memory(pairs.into()), &TableFormat::default())
    }

    /// Returns one file with both sides.
    pub fn tsv(path: &Path, layout: &TableFormat) -> Self {
        Self::new(PairSource::Tsv(path.to_owned()), layout)
    }

    /// Makes it an error if there is no pair to read.
    #[must_use]
    pub fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// Lets the format describe other files too: columns apply only where they fit, to one file with both sides.
    #[must_use]
    pub fn with_shared_layout(self) -> Self {
        Self { shared_layout: true, ..self }
    }

    /// Sets the format, which for pairs in memory only tells if their sources begin with features.
    #[must_use]
    pub fn with_layout(self, layout: &TableFormat) -> Self {
        Self { layout: layout.clone(), ..self }
    }

    /// Puts a tag before each source.
    #[must_use]
    pub fn tagged(self, tag: Option<String>) -> Self {
        Self { tag, ..self }
    }

    /// Returns the files with [`Self::names`]: one is a TSV file, two are parallel files.
    pub fn from_names(names: &[String], layout: &TableFormat) -> Option<Self> {
        match names {
            [path] => Some(Self::tsv(Path::new(path), layout)),
            [source, target] => Some(Self::parallel(Path::new(source), Path::new(target), layout)),
            _ => None,
        }
    }

    /// Returns a file of the shipped corpus.
    pub fn shipped(path: &str) -> Self {
        Self::tsv(Path::new(path), &TableFormat::default())
    }

    /// Reads the pairs. `option` names files of pairs, for the message if the shipped corpus is missing.
    ///
    /// # Errors
    /// A file cannot be read; a line is not a pair (names file and line); both sides are one file; or the format does
    /// not apply to two files.
    pub fn read(&self, option: &str) -> Result<Vec<Pair>> {
        Ok(self.read_numbered(option)?.0)
    }

    /// Reads the pairs with their line numbers.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_numbered(&self, option: &str) -> Result<(Vec<Pair>, LineNumbers)> {
        let (pairs, numbers) = self.read_each(option)?;
        Ok((pairs.into_iter().collect::<Result<_>>()?, numbers))
    }

    /// Reads the pairs with their line numbers, and a [`LineError`] in place of each pair that cannot be read.
    ///
    /// # Errors
    /// As [`Self::read`], except for lines that are not pairs.
    pub fn read_each(&self, option: &str) -> Result<(Vec<Result<Pair>>, LineNumbers)> {
        self.check(option)?;
        let (pairs, numbers) = match &self.files {
            PairSource::Tsv(path) => read_each(path, &self.layout, self.shared_layout)?,
            PairSource::Parallel(source, target) => (
                read_each_parallel(source, target, &self.layout)?,
                LineNumbers::with_offset(usize::from(self.layout.header)),
            ),
            PairSource::Memory(pairs) => (pairs.iter().cloned().map(Ok).collect(), LineNumbers::with_offset(0)),
        };
        ensure!(!self.required || !pairs.is_empty(), "{}", self.no_pairs());
        Ok((pairs.into_iter().map(|pair| Ok(pair?.tagged(self.tag.as_deref()))).collect(), numbers))
    }

    /// Reads the pairs that can be read. Unless `on_error` is [`OnError::Fail`], the others are left out with a warning.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_readable(&self, option: &str, on_error: OnError, reporter: &dyn Reporter) -> Result<ReadablePairs> {
        if on_error == OnError::Fail {
            let (pairs, numbers) = self.read_numbered(option)?;
            return Ok(ReadablePairs { indices: (0..pairs.len()).collect(), pairs, numbers, errors: Vec::new() });
        }
        let (each, numbers) = self.read_each(option)?;
        let (mut pairs, mut indices, mut errors) = (Vec::with_capacity(each.len()), Vec::new(), Vec::new());
        for (index, pair) in each.into_iter().enumerate() {
            match pair.map_err(|error| error.downcast::<LineError>()) {
                Ok(pair) => {
                    pairs.push(pair);
                    indices.push(index);
                }
                Err(error) => errors.push(error?),
            }
        }
        LineError::warn_of_left_out(&errors, reporter);
        let lines = indices.iter().map(|&index| numbers.of(index)).collect();
        Ok(ReadablePairs { pairs, numbers: numbers.with_lines(lines), indices, errors })
    }

    /// Opens a stream of the pairs.
    ///
    /// # Errors
    /// As [`Self::read`], as far as they are known before reading.
    pub fn stream(&self, option: &str) -> Result<PairStream> {
        self.check(option)?;
        let stream = match &self.files {
            PairSource::Tsv(path) => PairStream::open_table(path, &self.layout),
            PairSource::Parallel(source, target) => PairStream::parallel(source, target, &self.layout),
            PairSource::Memory(pairs) => {
                Ok(PairStream::in_memory(pairs.iter().cloned().map(Ok).collect(), LineNumbers::default()))
            }
        };
        let stream = stream?.tagged(self.tag.clone());
        Ok(if self.required { stream.required(self.no_pairs()) } else { stream })
    }

    fn no_pairs(&self) -> String {
        format!("{self}: no sentence pairs; name a file of pairs instead")
    }

    /// Returns the approximate number of pairs, if it is known before reading.
    pub fn count(&self) -> Option<usize> {
        match &self.files {
            PairSource::Tsv(path) | PairSource::Parallel(path, _) => count_lines(path),
            PairSource::Memory(pairs) => Some(pairs.len()),
        }
    }

    fn check(&self, option: &str) -> Result<()> {
        match &self.files {
            PairSource::Tsv(path) if is_shipped(path) && !path.exists() => bail!(
                "{}: shipped corpus not found; run softalign from its own directory, or name your pairs with {option}",
                path.display()
            ),
            PairSource::Parallel(..) if !self.shared_layout && (self.layout.csv || self.layout.columns.is_some()) => {
                bail!(UsageError::new("--csv and --columns apply only to one file with both sides"))
            }
            PairSource::Parallel(..)
                if !matches!(self.layout.features, None | Some(Column::Number(FIRST_FEATURES_COLUMN..))) =>
            {
                bail!(UsageError::new(FEATURES_COLUMN_ERROR))
            }
            PairSource::Parallel(source, target) if source == target => {
                bail!(UsageError::new(format!("{} cannot be both --source and --target", file_name(source))))
            }
            _ => Ok(()),
        }
    }

    /// Returns a pair without its tag.
    pub fn without_tag(&self, pair: &Pair) -> Pair {
        let tag = self.tag.as_ref().map(|tag| format!("{tag} "));
        let source = tag.and_then(|tag| pair.source.strip_prefix(&tag)).unwrap_or(&pair.source);
        Pair { source: source.to_owned(), target: pair.target.clone() }
    }

    /// Returns a pair without its tag and features, as in its file, and the features.
    pub fn as_given(&self, pair: &Pair) -> (Pair, Option<String>) {
        let pair = self.without_tag(pair);
        if self.layout.features.is_none() {
            return (pair, None);
        }
        let (source, features) = without_features(&pair.source);
        (Pair { source: source.to_owned(), target: pair.target }, Some(features))
    }

    /// Returns a row with the columns of the files and another target, as submissions to shared tasks have it.
    pub fn row(&self, pair: &Pair, target: &str, syntax: RowSyntax) -> String {
        let (given, features) = self.as_given(pair);
        syntax.row(&self.layout.row(&given.source, features.as_deref(), target))
    }

    /// Returns the names of the columns that [`Self::row`] writes.
    pub fn header(&self, syntax: RowSyntax) -> String {
        syntax.row(&self.layout.row("source", self.layout.features.as_ref().map(|_| "features"), "target"))
    }

    /// Returns the targets of rows with tabs that [`Self::row`] could have written, one for each pair; `None` if one differs.
    pub fn targets_of_rows<'t>(&self, pairs: &[Pair], lines: &'t [String]) -> Option<Vec<&'t str>> {
        let mut targets = Vec::with_capacity(pairs.len());
        for (pair, line) in pairs.iter().zip(lines) {
            // NUL stands for the target.
            let row = self.row(pair, "\0", RowSyntax::Tabs);
            let (before, after) = row.split_once('\0')?;
            targets.push(line.strip_prefix(before)?.strip_suffix(after)?);
        }
        Some(targets)
    }

    /// Notes how the file was read, and warns of pairs that look like spreadsheet cells, with the remedy.
    pub fn report_format(&self, pairs: &[Pair], numbers: &LineNumbers, reporter: &dyn Reporter) {
        numbers.notes().iter().for_each(|note| reporter.note(&format!("{self}: {note}")));
        let unchanged = self.tag.is_none() && self.layout.features.is_none();
        let given: Cow<[Pair]> = match unchanged {
            true => pairs.into(),
            false => pairs.iter().map(|pair| self.as_given(pair).0).collect(),
        };
        let csv = self.paths().iter().any(|path| self.layout.for_file(path).csv);
        let mut warnings = Vec::new();
        if !self.layout.header && !csv && given.first().is_some_and(is_header) {
            warnings.push("the first line looks like a header but is read as a pair; use --header to skip it");
        }
        if csv && has_spaced_quotes(&given) {
            warnings.push("cells have spaces before their quotes, so the quotes are kept; remove the spaces");
        }
        if !csv && given.first().is_some_and(is_separator_line) {
            warnings.push("the first line states a separator for Excel but is read as a pair; use --csv to skip it");
        }
        if !csv && has_csv_quotes(&given) {
            warnings.push("sentences are in CSV quotes, which are kept; use --csv to remove them");
        }
        warnings.iter().for_each(|warning| reporter.warn(&format!("{self}: {warning}")));
    }

    /// Format of the files, as given.
    pub fn layout(&self) -> &TableFormat {
        &self.layout
    }

    /// Paths of the files.
    pub fn paths(&self) -> Vec<&Path> {
        match &self.files {
            PairSource::Tsv(path) => vec![path],
            PairSource::Parallel(source, target) => vec![source, target],
            PairSource::Memory(_) => Vec::new(),
        }
    }

    /// True for a file of the shipped corpus.
    pub fn is_shipped(&self) -> bool {
        matches!(&self.files, PairSource::Tsv(path) if is_shipped(path))
    }

    /// Returns the names of the files without their directories.
    pub fn title(&self) -> String {
        match self.files {
            PairSource::Memory(_) => "sentence pairs".to_owned(),
            _ => self.paths().into_iter().map(title).collect::<Vec<_>>().join(" and "),
        }
    }

    /// Returns the paths of the files as text.
    pub fn names(&self) -> Vec<String> {
        self.paths().into_iter().map(|path| path.display().to_string()).collect()
    }
}

/// Reads sentence pairs from a file with one pair per line: source, tab, target. A `.csv` file is read as CSV.
///
/// # Errors
/// The file cannot be read, or a line is not a pair; the message has file and line.
pub fn read_pairs(path: impl AsRef<Path>) -> crate::error::Result<Vec<Pair>> {
    Ok(PairFiles::tsv(path.as_ref(), &TableFormat::default()).read("read_pairs")?)
}

impl fmt::Display for PairFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match &self.files {
            PairSource::Memory(_) => formatter.write_str("the pairs given"),
            _ => formatter.write_str(&self.paths().into_iter().map(file_name).collect::<Vec<_>>().join(" and ")),
        }
    }
}

/// Returns the name of a file without its directory.
fn title(path: &Path) -> String {
    match path.file_name() {
        Some(name) if path != Path::new("-") => name.display().to_string(),
        _ => "standard input".to_owned(),
    }
}

fn is_shipped(path: &Path) -> bool {
    [SHIPPED_TRAINING, SHIPPED_VALIDATION, SHIPPED_TEST].iter().any(|shipped| path == Path::new(shipped))
}
