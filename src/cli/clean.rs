//! The options of `clean`.

use std::path::PathBuf;

use clap::Args;

use super::pairs::PairArgs;
use crate::text::{Defect, Limits};

/// `softalign clean`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign clean --pairs corpus.tsv
  softalign clean --pairs corpus.tsv --output clean.tsv --rejected rest.tsv
  softalign clean --source a.en --target a.fr --noisy 2 \\
      --output clean.en --output-target clean.fr")]
pub struct CleanArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,

    /// Where the pairs go that nothing is wrong with; - is standard output. Without it they are only counted.
    #[arg(long, value_name = "FILE.tsv")]
    pub output: Option<PathBuf>,

    /// Where their translations go, if --output is to have the sentences alone.
    #[arg(long, value_name = "FILE", requires = "output")]
    pub output_target: Option<PathBuf>,

    /// Where the others go: number, reason, sentence and translation, between tabs.
    #[arg(long, value_name = "FILE.tsv")]
    pub rejected: Option<PathBuf>,

    /// What is no reason to leave a pair out.
    #[arg(long, value_enum, value_name = "REASON,...", value_delimiter = ',')]
    pub accept: Vec<Defect>,

    /// Words of a sentence, at most.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_words: usize,

    /// How many times longer a sentence may be beside the other than it is in the whole corpus, in characters.
    #[arg(long, value_name = "F", default_value_t = 3.0)]
    pub max_proportion: f64,

    /// Leave out so many percent of the other pairs too, those whose words belong together least: by a statistical aligner
    /// that is learnt from them, or by --model.
    #[arg(long, value_name = "PERCENT")]
    pub noisy: Option<f64>,

    /// Folder of a model that says what is suspicious.
    #[arg(long, value_name = "DIR", requires = "noisy")]
    pub model: Option<PathBuf>,
}

impl CleanArgs {
    /// From where on something is wrong.
    pub fn limits(&self) -> Limits {
        Limits { words: self.max_words, proportion: self.max_proportion }
    }
}
