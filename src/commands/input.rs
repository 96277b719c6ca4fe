//! Sentence pairs by the options that name them, the shipped ones where none does.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::usage::UsageError;
use crate::cli::PairArgs;
use crate::text::{Pair, read_parallel, read_tsv};

/// The shipped training pairs, where the program is run from the project's folder.
pub const SHIPPED_TRAINING: &str = "data/train.tsv";
/// The shipped validation pairs.
pub const SHIPPED_VALIDATION: &str = "data/validation.tsv";
/// The shipped test pairs.
pub const SHIPPED_TEST: &str = "data/test.tsv";
/// The test pairs' gold alignments.
pub const SHIPPED_GOLD: &str = "data/test.gold";

/// Pairs or sentences that are worked on before any is written: bounds memory, and leaves room for sorting by length.
pub const CHUNK: usize = 2000;

/// Where pairs lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PairFiles {
    /// Both sides in one TSV file.
    Tsv(PathBuf),
    /// One file a side.
    Parallel(PathBuf, PathBuf),
}

impl PairFiles {
    /// By the options given: a TSV file, or two parallel files.
    pub fn given(tsv: Option<&Path>, source: Option<&Path>, target: Option<&Path>) -> Option<Self> {
        match (tsv, source, target) {
            (Some(path), ..) => Some(Self::Tsv(path.to_owned())),
            (None, Some(source), Some(target)) => Some(Self::Parallel(source.to_owned(), target.to_owned())),
            _ => None,
        }
    }

    /// By the options of a command that reads pairs.
    pub fn of(args: &PairArgs) -> Option<Self> {
        Self::given(args.pairs.as_deref(), args.source.as_deref(), args.target.as_deref())
    }

    /// By names that [`Self::names`] gave: one is a TSV file, two are parallel files.
    pub fn named(names: &[String]) -> Option<Self> {
        match names {
            [path] => Some(Self::Tsv(PathBuf::from(path))),
            [source, target] => Some(Self::Parallel(PathBuf::from(source), PathBuf::from(target))),
            _ => None,
        }
    }

    /// One of the files of the shipped corpus.
    pub fn shipped(path: &str) -> Self {
        Self::Tsv(PathBuf::from(path))
    }

    /// Reads the pairs. `option` is what names a file, for the message where the shipped one is meant and not there.
    ///
    /// # Errors
    /// The files cannot be read, or a line of them is no pair, with file and line; the sides are one file.
    pub fn read(&self, option: &str) -> Result<Vec<Pair>> {
        match self {
            Self::Tsv(path) if is_shipped(path) && !path.exists() => bail!(
                "{}: no shipped corpus in this folder; run softalign from its own, or name your pairs with {option}",
                path.display()
            ),
            Self::Tsv(path) => read_tsv(path),
            Self::Parallel(source, target) if source == target => {
                let one =
                    if source == Path::new("-") { "standard input".to_owned() } else { source.display().to_string() };
                bail!(UsageError(format!("{one} cannot be both --source and --target")))
            }
            Self::Parallel(source, target) => read_parallel(source, target),
        }
    }

    /// The files.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Tsv(path) => vec![path],
            Self::Parallel(source, target) => vec![source, target],
        }
    }

    /// The files' names, as they were given.
    pub fn names(&self) -> Vec<String> {
        self.paths().into_iter().map(|path| path.display().to_string()).collect()
    }
}

impl fmt::Display for PairFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.names().join(" and "))
    }
}

fn is_shipped(path: &Path) -> bool {
    [SHIPPED_TRAINING, SHIPPED_VALIDATION, SHIPPED_TEST].iter().any(|shipped| path == Path::new(shipped))
}
