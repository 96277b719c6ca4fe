//! Arguments of `softalign clean`.

use std::path::PathBuf;

use clap::Args;

use super::pairs::PairArgs;
use crate::text::{FilterLimits, NoiseKind, OnError, fail_or_skip};

/// Arguments of `softalign clean`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign clean corpus.tsv
  softalign clean corpus.tsv --output clean.tsv --rejected rest.tsv
  softalign clean --source a.en --target a.fr --noisy 2 \\
      --output clean.en --output-target clean.fr")]
pub struct CleanArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,

    /// Output file of the clean pairs, CSV if its name ends in .csv; - is standard output. Without it, pairs are only counted.
    #[arg(long, short = 'o', alias = "out", value_name = "FILE.tsv")]
    pub output: Option<PathBuf>,

    /// Output file of their target sentences; --output then holds only the source sentences.
    #[arg(long, value_name = "FILE", requires = "output")]
    pub output_target: Option<PathBuf>,

    /// Output file of the rejected pairs: line number, reason, source and target, separated by tabs or in CSV by its name. A
    /// line that cannot be read has the error in place of the pair.
    #[arg(long, value_name = "FILE.tsv")]
    pub rejected: Option<PathBuf>,

    /// Treatment of lines that cannot be read, such as lines that are not UTF-8.
    #[arg(long, value_name = "HOW", default_value = "fail", value_parser = fail_or_skip(), help_heading = "Data")]
    pub on_error: OnError,

    /// Accept pairs in spite of these reasons.
    #[arg(long, value_enum, value_name = "REASON,...", value_delimiter = ',')]
    pub accept: Vec<NoiseKind>,

    /// Maximum number of words per side.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_words: usize,

    /// Maximum length ratio of the sides in characters, relative to that of the whole corpus.
    #[arg(long, value_name = "F", default_value_t = 3.0)]
    pub max_proportion: f64,

    /// Also reject this percentage of the remaining pairs, those with the worst alignments by a statistical aligner trained
    /// on the corpus, or by --model.
    #[arg(long, value_name = "PERCENT")]
    pub noisy: Option<f64>,

    /// Directory of the model that aligns pairs for --noisy.
    #[arg(long, value_name = "DIR", requires = "noisy")]
    pub model: Option<PathBuf>,
}

impl CleanArgs {
    /// Returns the filter limits.
    pub fn limits(&self) -> FilterLimits {
        FilterLimits { words: self.max_words, proportion: self.max_proportion }
    }
}
