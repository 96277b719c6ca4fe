//! Sentence pairs by the options that name them, the shipped ones where none does.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};

use super::{
    Column, LONGEST_LINE, LineNumbers, Pair, PairStream, TableFormat, count_lines, has_csv_quotes, has_spaced_quotes,
    is_beginning, is_header, read_lines, read_numbered, read_parallel, states_separator, without_features,
};
use crate::error::UsageError;

/// The shipped training pairs, where the program is run from the project's folder.
pub const SHIPPED_TRAINING: &str = "data/train.tsv";
/// The shipped validation pairs.
pub const SHIPPED_VALIDATION: &str = "data/validation.tsv";
/// The shipped test pairs.
pub const SHIPPED_TEST: &str = "data/test.tsv";
/// The test pairs' gold alignments.
pub const SHIPPED_GOLD: &str = "data/test.gold";

/// Where features stand in lines of sentences unless the options say so: behind the sentence.
pub const BEHIND: usize = 2;
/// What is said of features elsewhere.
pub const NOT_BEHIND: &str =
    "--features needs a number from 2 on here: the first column of a line is what is translated";

/// Files of pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairFiles {
    place: PairSource,
    layout: TableFormat,
    /// What is put before each source.
    tag: Option<String>,
}

/// Where pairs lie.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PairSource {
    /// Both sides in one file.
    Tsv(PathBuf),
    /// One file a side.
    Parallel(PathBuf, PathBuf),
    /// No file: pairs of the caller.
    Memory(Arc<[Pair]>),
}

impl PairFiles {
    /// By the options given: a TSV file, or two parallel files.
    pub fn given(
        tsv: Option<&Path>,
        source: Option<&Path>,
        target: Option<&Path>,
        layout: &TableFormat,
    ) -> Option<Self> {
        let place = match (tsv, source, target) {
            (Some(path), ..) => PairSource::Tsv(path.to_owned()),
            (None, Some(source), Some(target)) => return Some(Self::parallel(source, target, layout)),
            _ => return None,
        };
        Some(Self { place, layout: layout.clone(), tag: None })
    }

    /// Two files whose lines belong together.
    pub fn parallel(source: &Path, target: &Path, layout: &TableFormat) -> Self {
        let place = PairSource::Parallel(source.to_owned(), target.to_owned());
        Self { place, layout: layout.clone(), tag: None }
    }

    /// Pairs in memory, which have no file.
    pub fn in_memory(pairs: &[Pair]) -> Self {
        Self { place: PairSource::Memory(pairs.into()), layout: TableFormat::default(), tag: None }
    }

    /// One file with both sides in it.
    pub fn tsv(path: &Path, layout: &TableFormat) -> Self {
        Self { place: PairSource::Tsv(path.to_owned()), layout: layout.clone(), tag: None }
    }

    /// The same with a tag before each source.
    #[must_use]
    pub fn tagged(self, tag: Option<String>) -> Self {
        Self { tag, ..self }
    }

    /// By names that [`Self::names`] gave: one is a TSV file, two are parallel files.
    pub fn named(names: &[String], layout: &TableFormat) -> Option<Self> {
        let paths: Vec<&Path> = names.iter().map(Path::new).collect();
        match paths[..] {
            [path] => Self::given(Some(path), None, None, layout),
            [source, target] => Self::given(None, Some(source), Some(target), layout),
            _ => None,
        }
    }

    /// One of the files of the shipped corpus.
    pub fn shipped(path: &str) -> Self {
        Self::tsv(Path::new(path), &TableFormat::default())
    }

    /// Reads the pairs. `option` is what names a file, for the message where the shipped one is meant and not there.
    ///
    /// # Errors
    /// The files cannot be read, or a line of them is no pair, with file and line; the sides are one file, or are laid out
    /// as they cannot be.
    pub fn read(&self, option: &str) -> Result<Vec<Pair>> {
        Ok(self.read_numbered(option)?.0)
    }

    /// The same, and where each pair stands.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_numbered(&self, option: &str) -> Result<(Vec<Pair>, LineNumbers)> {
        self.check(option)?;
        let (pairs, numbers) = match &self.place {
            PairSource::Tsv(path) => read_numbered(path, &self.layout)?,
            PairSource::Parallel(source, target) => {
                (read_parallel(source, target, &self.layout)?, LineNumbers::after(usize::from(self.layout.header)))
            }
            PairSource::Memory(pairs) => (pairs.to_vec(), LineNumbers::after(0)),
        };
        Ok((pairs.into_iter().map(|pair| pair.tagged(self.tag.as_deref())).collect(), numbers))
    }

    /// The pairs as they arrive.
    ///
    /// # Errors
    /// Those of [`Self::read`] that can be known before.
    pub fn stream(&self, option: &str) -> Result<PairStream> {
        self.check(option)?;
        let stream = match &self.place {
            PairSource::Tsv(path) => PairStream::laid_out(path, &self.layout),
            PairSource::Parallel(source, target) => PairStream::parallel(source, target, &self.layout),
            PairSource::Memory(_) => bail!("pairs in memory are no stream"),
        };
        Ok(stream?.tagged(self.tag.clone()))
    }

    /// How many pairs there are, about, if that can be known before they are read.
    pub fn count(&self) -> Option<usize> {
        match &self.place {
            PairSource::Tsv(path) | PairSource::Parallel(path, _) => count_lines(path),
            PairSource::Memory(pairs) => Some(pairs.len()),
        }
    }

    fn check(&self, option: &str) -> Result<()> {
        match &self.place {
            PairSource::Tsv(path) if is_shipped(path) && !path.exists() => bail!(
                "{}: no shipped corpus in this folder; run softalign from its own, or name your pairs with {option}",
                path.display()
            ),
            PairSource::Parallel(..) if self.layout.csv || self.layout.columns.is_some() => {
                bail!(UsageError("--csv and --columns are for one file with both sides in it".to_owned()))
            }
            PairSource::Parallel(..) if !matches!(self.layout.features, None | Some(Column::Number(BEHIND..))) => {
                bail!(UsageError(NOT_BEHIND.to_owned()))
            }
            PairSource::Parallel(source, target) if source == target => {
                let one =
                    if source == Path::new("-") { "standard input".to_owned() } else { source.display().to_string() };
                bail!(UsageError(format!("{one} cannot be both --source and --target")))
            }
            _ => Ok(()),
        }
    }

    /// A pair without its tag.
    pub fn without_tag(&self, pair: &Pair) -> Pair {
        let tag = self.tag.as_ref().map(|tag| format!("{tag} "));
        let source = tag.and_then(|tag| pair.source.strip_prefix(&tag)).unwrap_or(&pair.source);
        Pair { source: source.to_owned(), target: pair.target.clone() }
    }

    /// A pair as its file has it, without tag and features, and these.
    pub fn as_given(&self, pair: &Pair) -> (Pair, Option<String>) {
        let pair = self.without_tag(pair);
        if self.layout.features.is_none() {
            return (pair, None);
        }
        let (source, features) = without_features(&pair.source);
        (Pair { source: source.to_owned(), target: pair.target }, Some(features))
    }

    /// Warnings of pairs that look like parts of a spreadsheet; each names the option that reads them right.
    pub fn spreadsheet_warnings(&self, pairs: &[Pair]) -> Vec<String> {
        let is_as_given = self.tag.is_none() && self.layout.features.is_none();
        let given: Cow<[Pair]> = match is_as_given {
            true => pairs.into(),
            false => pairs.iter().map(|pair| self.as_given(pair).0).collect(),
        };
        let mut warnings = Vec::new();
        if !self.layout.header && given.first().is_some_and(is_header) {
            warnings.push(format!(
                "{self}: the first line looks like a header and is taken for a pair; --header leaves it out"
            ));
        }
        if self.layout.csv && has_spaced_quotes(&given) {
            warnings.push(format!(
                "{self}: cells have spaces before their quotes, which therefore stay; take the spaces away"
            ));
        }
        if !self.layout.csv && given.first().is_some_and(states_separator) {
            warnings.push(format!(
                "{self}: the first line states a separator for Excel and is taken for a pair; --csv leaves it out"
            ));
        }
        if !self.layout.csv && has_csv_quotes(&given) {
            warnings
                .push(format!("{self}: sentences stand in quotes, as CSV has them, which stay; --csv takes them off"));
        }
        warnings
    }

    /// How the files are laid out.
    pub fn layout(&self) -> &TableFormat {
        &self.layout
    }

    /// The files.
    pub fn paths(&self) -> Vec<&Path> {
        match &self.place {
            PairSource::Tsv(path) => vec![path],
            PairSource::Parallel(source, target) => vec![source, target],
            PairSource::Memory(_) => Vec::new(),
        }
    }

    /// The files' own names, without the folders that they lie in.
    pub fn title(&self) -> String {
        let name = |path: &Path| match path.file_name() {
            Some(name) if path != Path::new("-") => name.display().to_string(),
            _ => "standard input".to_owned(),
        };
        self.paths().into_iter().map(name).collect::<Vec<_>>().join(" and ")
    }

    /// The files' names, as they were given.
    pub fn names(&self) -> Vec<String> {
        self.paths().into_iter().map(|path| path.display().to_string()).collect()
    }
}

/// Reads sentence pairs from a file with one pair a line: source, tab, target. A file named `.csv` is read as CSV.
///
/// # Errors
/// The file cannot be read, or a line is no pair; the message has file and line.
pub fn read_pairs(path: impl AsRef<Path>) -> crate::error::Result<Vec<Pair>> {
    let path = path.as_ref();
    let csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    Ok(PairFiles::tsv(path, &TableFormat { csv, ..TableFormat::default() }).read("read_pairs")?)
}

impl fmt::Display for PairFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match &self.place {
            PairSource::Memory(_) => formatter.write_str("the pairs given"),
            _ => formatter.write_str(&self.names().join(" and ")),
        }
    }
}

/// The lines of a file that has one for each of so many pairs, which messages call by a `name`.
///
/// # Errors
/// The file cannot be read, or has another number of lines.
pub fn read_line_for_each(path: &Path, pairs: usize, name: &str) -> Result<Vec<String>> {
    let lines = read_lines(path)?;
    ensure!(
        lines.len() == pairs,
        "{}: {} lines for {pairs} {name}; there must be a line for each",
        path.display(),
        lines.len()
    );
    Ok(lines)
}

/// The same of lines of links, of which a beginning would say something else.
///
/// # Errors
/// As [`read_line_for_each`], or a line is too long to be read.
pub fn read_links_for_each(path: &Path, pairs: usize, name: &str) -> Result<Vec<String>> {
    let lines = read_line_for_each(path, pairs, name)?;
    if let Some(index) = lines.iter().position(|line| is_beginning(line)) {
        bail!("{}:{}: a line of links can have {LONGEST_LINE} bytes, and this one has more", path.display(), index + 1);
    }
    Ok(lines)
}

fn is_shipped(path: &Path) -> bool {
    [SHIPPED_TRAINING, SHIPPED_VALIDATION, SHIPPED_TEST].iter().any(|shipped| path == Path::new(shipped))
}
