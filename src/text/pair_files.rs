//! Files of sentence pairs that options name, and the shipped corpus.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};

use super::pair_reader::{read_each, read_each_parallel};
use super::{
    Column, LONGEST_LINE, LineError, LineNumbers, OnError, Pair, PairStream, TableFormat, count_lines, file_name,
    has_csv_quotes, has_spaced_quotes, is_header, is_separator_line, is_truncated, read_lines, without_features,
};
use crate::error::UsageError;

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
    "--features must be a column number of at least 2: the first column is the sentence to translate";

/// Files of sentence pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairFiles {
    files: PairSource,
    layout: TableFormat,
    /// Tag before each source.
    tag: Option<String>,
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
    /// Returns the files that options name: a TSV file or two parallel files; none without options.
    pub fn from_options(
        tsv: Option<&Path>,
        source: Option<&Path>,
        target: Option<&Path>,
        layout: &TableFormat,
    ) -> Option<Self> {
        match (tsv, source, target) {
            (Some(path), ..) => Some(Self::tsv(path, layout)),
            (None, Some(source), Some(target)) => Some(Self::parallel(source, target, layout)),
            _ => None,
        }
    }

    /// Returns two line-aligned files.
    pub fn parallel(source: &Path, target: &Path, layout: &TableFormat) -> Self {
        let files = PairSource::Parallel(source.to_owned(), target.to_owned());
        Self { files, layout: layout.clone(), tag: None }
    }

    /// Returns pairs in memory, which have no file.
    pub fn in_memory(pairs: &[Pair]) -> Self {
        Self { files: PairSource::Memory(pairs.into()), layout: TableFormat::default(), tag: None }
    }

    /// Returns one file with both sides.
    pub fn tsv(path: &Path, layout: &TableFormat) -> Self {
        Self { files: PairSource::Tsv(path.to_owned()), layout: layout.clone(), tag: None }
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
            PairSource::Tsv(path) => read_each(path, &self.layout)?,
            PairSource::Parallel(source, target) => (
                read_each_parallel(source, target, &self.layout)?,
                LineNumbers::with_offset(usize::from(self.layout.header)),
            ),
            PairSource::Memory(pairs) => (pairs.iter().cloned().map(Ok).collect(), LineNumbers::with_offset(0)),
        };
        Ok((pairs.into_iter().map(|pair| Ok(pair?.tagged(self.tag.as_deref()))).collect(), numbers))
    }

    /// Reads the pairs that can be read, with their line numbers. Unless `on_error` is [`OnError::Fail`], the others are left
    /// out with a warning, and their line numbers are returned last.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_readable(
        &self,
        option: &str,
        on_error: OnError,
        warn: &dyn Fn(&str),
    ) -> Result<(Vec<Pair>, LineNumbers, Vec<usize>)> {
        if on_error == OnError::Fail {
            let (pairs, numbers) = self.read_numbered(option)?;
            return Ok((pairs, numbers, Vec::new()));
        }
        let (each, numbers) = self.read_each(option)?;
        let (mut pairs, mut lines, mut errors) = (Vec::with_capacity(each.len()), Vec::new(), Vec::new());
        for (index, pair) in each.into_iter().enumerate() {
            match pair.map_err(|error| error.downcast::<LineError>()) {
                Ok(pair) => {
                    pairs.push(pair);
                    lines.push(numbers.of(index));
                }
                Err(error) => errors.push(error?),
            }
        }
        if let Some((first, others)) = errors.split_first() {
            let more = if others.is_empty() { " is".to_owned() } else { format!(" and {} more are", others.len()) };
            warn(&format!("{first}; this line{more} left out"));
        }
        Ok((pairs, LineNumbers::new(lines), errors.into_iter().map(|error| error.line).collect()))
    }

    /// Opens a stream of the pairs.
    ///
    /// # Errors
    /// As [`Self::read`], as far as they are known before reading; or the pairs are in memory.
    pub fn stream(&self, option: &str) -> Result<PairStream> {
        self.check(option)?;
        let stream = match &self.files {
            PairSource::Tsv(path) => PairStream::open_table(path, &self.layout),
            PairSource::Parallel(source, target) => PairStream::parallel(source, target, &self.layout),
            PairSource::Memory(_) => bail!("pairs in memory cannot be streamed"),
        };
        Ok(stream?.tagged(self.tag.clone()))
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
            PairSource::Parallel(..) if self.layout.csv || self.layout.columns.is_some() => {
                bail!(UsageError("--csv and --columns apply only to one file with both sides".to_owned()))
            }
            PairSource::Parallel(..)
                if !matches!(self.layout.features, None | Some(Column::Number(FIRST_FEATURES_COLUMN..))) =>
            {
                bail!(UsageError(FEATURES_COLUMN_ERROR.to_owned()))
            }
            PairSource::Parallel(source, target) if source == target => {
                bail!(UsageError(format!("{} cannot be both --source and --target", file_name(source))))
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

    /// Returns a line with the columns of the files and another target, as submissions to shared tasks have it.
    pub fn row(&self, pair: &Pair, target: &str) -> String {
        let (given, features) = self.as_given(pair);
        self.layout.row(&given.source, features.as_deref(), target)
    }

    /// Returns the targets of lines that [`Self::row`] could have written, one for each pair; `None` if a line differs.
    pub fn targets_of_rows<'t>(&self, pairs: &[Pair], lines: &'t [String]) -> Option<Vec<&'t str>> {
        let target = |(pair, line): (&Pair, &'t String)| {
            // NUL stands for the target.
            let row = self.row(pair, "\0");
            let (before, after) = row.split_once('\0')?;
            line.strip_prefix(before)?.strip_suffix(after)
        };
        pairs.iter().zip(lines).map(target).collect()
    }

    /// Returns warnings about pairs that look like spreadsheet cells, with the remedy.
    pub fn spreadsheet_warnings(&self, pairs: &[Pair]) -> Vec<String> {
        let unchanged = self.tag.is_none() && self.layout.features.is_none();
        let given: Cow<[Pair]> = match unchanged {
            true => pairs.into(),
            false => pairs.iter().map(|pair| self.as_given(pair).0).collect(),
        };
        let mut warnings = Vec::new();
        if !self.layout.header && given.first().is_some_and(is_header) {
            warnings.push(format!(
                "{self}: the first line looks like a header but is read as a pair; use --header to skip it"
            ));
        }
        if self.layout.csv && has_spaced_quotes(&given) {
            warnings.push(format!(
                "{self}: cells have spaces before their quotes, so the quotes are kept; remove the spaces"
            ));
        }
        if !self.layout.csv && given.first().is_some_and(is_separator_line) {
            warnings.push(format!(
                "{self}: the first line states a separator for Excel but is read as a pair; use --csv to skip it"
            ));
        }
        if !self.layout.csv && has_csv_quotes(&given) {
            warnings.push(format!("{self}: sentences are in CSV quotes, which are kept; use --csv to remove them"));
        }
        warnings
    }

    /// Format of the files.
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

    /// Returns the names of the files without their directories.
    pub fn title(&self) -> String {
        let name = |path: &Path| match path.file_name() {
            Some(name) if path != Path::new("-") => name.display().to_string(),
            _ => "standard input".to_owned(),
        };
        self.paths().into_iter().map(name).collect::<Vec<_>>().join(" and ")
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
    let path = path.as_ref();
    let csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    Ok(PairFiles::tsv(path, &TableFormat { csv, ..TableFormat::default() }).read("read_pairs")?)
}

impl fmt::Display for PairFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match &self.files {
            PairSource::Memory(_) => formatter.write_str("the pairs given"),
            _ => formatter.write_str(&self.names().join(" and ")),
        }
    }
}

/// Reads a file with one line for each of `pairs` pairs, which messages call `name`.
///
/// # Errors
/// The file cannot be read or has another number of lines.
pub fn read_line_for_each(path: &Path, pairs: usize, name: &str) -> Result<Vec<String>> {
    let lines = read_lines(path)?;
    ensure_line_for_each(path, lines.len(), pairs, name)?;
    Ok(lines)
}

/// Rejects a file of `lines` lines that should have one for each of `pairs` pairs, which the message calls `name`.
///
/// # Errors
/// The numbers differ.
pub fn ensure_line_for_each(path: &Path, lines: usize, pairs: usize, name: &str) -> Result<()> {
    ensure!(lines == pairs, "{}: {lines} lines for {pairs} {name}; expected one line for each", path.display());
    Ok(())
}

/// Reads a file with one line of links for each of `pairs` pairs, which messages call `name`.
///
/// # Errors
/// As [`read_line_for_each`]; or a line is longer than [`LONGEST_LINE`].
pub fn read_links_for_each(path: &Path, pairs: usize, name: &str) -> Result<Vec<String>> {
    let lines = read_link_lines(path)?;
    ensure_line_for_each(path, lines.len(), pairs, name)?;
    Ok(lines)
}

/// Reads a file of links. Truncated lines would lack some.
///
/// # Errors
/// The file cannot be read, or a line is longer than [`LONGEST_LINE`].
pub fn read_link_lines(path: &Path) -> Result<Vec<String>> {
    let lines = read_lines(path)?;
    if let Some(index) = lines.iter().position(|line| is_truncated(line)) {
        bail!("{}:{}: line of links is longer than {LONGEST_LINE} bytes", path.display(), index + 1);
    }
    Ok(lines)
}

fn is_shipped(path: &Path) -> bool {
    [SHIPPED_TRAINING, SHIPPED_VALIDATION, SHIPPED_TEST].iter().any(|shipped| path == Path::new(shipped))
}
