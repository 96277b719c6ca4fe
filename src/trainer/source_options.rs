//! Options for the sources of sentence pairs.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

#[cfg(feature = "cli")]
use clap::builder::{OsStringValueParser, TypedValueParser};
use serde::{Serialize, Serializer};

use crate::checkpoint::CorpusSource;
#[cfg(feature = "cli")]
use crate::text::fail_or_skip;
use crate::text::{Languages, LayoutArgs, OnError};

/// Sources of sentence pairs as given by the user. Without any, a new training uses the shipped corpus, and a resumed one the
/// sources that it began with.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = "Data"))]
#[cfg_attr(feature = "cli", command(group = clap::ArgGroup::new(SourceOptions::CHANGEABLE).multiple(true)))]
pub struct SourceOptions {
    /// Files of training pairs, one per line: source TAB target, or source ||| target [default: standard input if it is a pipe
    /// or a file, else data/train.tsv]. WEIGHT is the mean number of times that each pair occurs per epoch [default: 1].
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            group = SourceOptions::CHANGEABLE,
            value_name = "FILE.tsv[:WEIGHT]",
            value_parser = WeightedFile::parser(),
            num_args = 1..,
            conflicts_with_all = ["source", "target"]
        )
    )]
    pub train: Vec<WeightedFile>,

    /// Tags for multilingual training, one for each file of --train. A tag is a single token, put before each source sentence
    /// of its file and of the corresponding --valid file. Sentences to translate need the tag too.
    #[cfg_attr(feature = "cli", arg(long, value_name = "TAG", num_args = 1..))]
    pub tag_source: Vec<String>,

    /// File of source sentences for training, one per line, with their translations in --target.
    #[cfg_attr(feature = "cli", arg(long, group = SourceOptions::CHANGEABLE, value_name = "FILE", requires = "target"))]
    pub source: Option<PathBuf>,

    /// File of target sentences for training, one per line.
    #[cfg_attr(feature = "cli", arg(long, group = SourceOptions::CHANGEABLE, value_name = "FILE", requires = "source"))]
    pub target: Option<PathBuf>,

    /// Files of validation pairs [default: data/validation.tsv for the shipped corpus, else a twentieth of the training
    /// sources, at most 1,000].
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            group = SourceOptions::CHANGEABLE,
            value_name = "FILE.tsv",
            num_args = 1..,
            conflicts_with_all = ["valid_source", "valid_target"]
        )
    )]
    pub valid: Vec<PathBuf>,

    /// File of source sentences for validation, one per line.
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            group = SourceOptions::CHANGEABLE,
            value_name = "FILE",
            requires = "valid_target"
        )
    )]
    pub valid_source: Option<PathBuf>,

    /// File of target sentences for validation, one per line.
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            group = SourceOptions::CHANGEABLE,
            value_name = "FILE",
            requires = "valid_source"
        )
    )]
    pub valid_target: Option<PathBuf>,

    /// Files of target sentences without sources, one per line. A reverse model, trained first, translates them, and the model
    /// learns the pairs that result too (back-translation).
    #[cfg_attr(feature = "cli", arg(long, group = SourceOptions::CHANGEABLE, value_name = "FILE", num_args = 1..))]
    pub monolingual_target: Vec<PathBuf>,

    /// Layout of the files of pairs.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub layout: LayoutArgs,

    /// Languages of the pairs, such as en-fr, by which serve chooses the model [default: those that names of files or columns
    /// tell, as train.en and train.fr, en-fr.tsv, or English and French].
    #[cfg_attr(feature = "cli", arg(long, value_name = "SOURCE-TARGET"))]
    pub languages: Option<Languages>,

    /// Treatment of lines that cannot be read, such as lines that are not UTF-8 [default: fail].
    #[cfg_attr(feature = "cli", arg(long, value_name = "HOW", value_parser = fail_or_skip(), conflicts_with = "guide"))]
    pub on_error: Option<OnError>,

    /// Files for attention. On the command line they stand apart, since the help lists them under another heading.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub attention: AttentionFiles,
}

impl SourceOptions {
    /// Group of the options that --resume accepts with other values than before, beside the limits of training.
    pub const CHANGEABLE: &str = "changeable";
}

/// Files for attention: links that guide it, and pairs on which it is recorded.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct AttentionFiles {
    /// File of word links for guided alignment, instead of the statistical aligner's: one line of s-t links per training pair,
    /// as fast_align writes them. Words are separated by whitespace; in scripts without spaces, each character is one.
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            group = SourceOptions::CHANGEABLE,
            value_name = "FILE",
            conflicts_with = "tag_source",
            help_heading = "Training"
        )
    )]
    pub guide: Option<PathBuf>,

    /// Record attention on the pairs of this file, at most 20, instead of five validation pairs; implies --keep-attention.
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE.tsv", help_heading = "Training"))]
    pub attention_pairs: Option<PathBuf>,
}

/// A file of pairs with a weight.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedFile {
    /// The file.
    pub path: PathBuf,
    /// Expected occurrences of each pair per epoch.
    pub weight: f64,
}

impl From<PathBuf> for WeightedFile {
    fn from(path: PathBuf) -> Self {
        Self { path, weight: 1.0 }
    }
}

impl WeightedFile {
    /// Returns the parser of an argument.
    #[cfg(feature = "cli")]
    pub fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(Self::parse)
    }

    /// Parses `PATH` or `PATH:WEIGHT`. A path need not be UTF-8. If a file with the whole name exists, there is no weight.
    ///
    /// # Errors
    /// The weight is out of range.
    pub fn parse(text: OsString) -> Result<Self, String> {
        let Some(Suffix { colon, weight }) = Suffix::of(&text) else { return Ok(PathBuf::from(text).into()) };
        if !CorpusSource::is_weight(weight) {
            return Err(format!("weight must be above 0 and at most {}, not {weight}", CorpusSource::MAX_WEIGHT));
        }
        // SAFETY: the bytes are an `OsStr`'s, split right before an ASCII character.
        let path = unsafe { OsStr::from_encoded_bytes_unchecked(&text.as_encoded_bytes()[..colon]) };
        Ok(Self { path: path.into(), weight })
    }
}

/// `:WEIGHT` after a path.
struct Suffix {
    /// Position of the colon in bytes.
    colon: usize,
    weight: f64,
}

impl Suffix {
    /// Finds the weight of an argument. None if there is no number, or if a file with the whole name exists.
    fn of(text: &OsStr) -> Option<Self> {
        let bytes = text.as_encoded_bytes();
        let colon = bytes.iter().rposition(|&byte| byte == b':')?;
        let weight = std::str::from_utf8(&bytes[colon + 1..]).ok()?.parse().ok()?;
        (!Path::new(text).exists()).then_some(Self { colon, weight })
    }
}

impl fmt::Display for WeightedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        if self.weight == 1.0 { Ok(()) } else { write!(formatter, ":{}", self.weight) }
    }
}

impl Serialize for WeightedFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
