//! The options of `score`.

use std::path::PathBuf;

use clap::Args;

use super::common::MODEL;
use super::pairs::PairArgs;

/// `softalign score`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign score --pairs pairs.tsv
  softalign score --pairs pairs.tsv --words
  softalign score --input sentences.txt --rerank hypotheses.nbest")]
pub struct ScoreArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,

    /// Folder of the model. Given several times, the mean of the models' probabilities counts. They must have the same
    /// vocabularies.
    #[arg(long, value_name = "DIR", default_value = "checkpoints", env = MODEL, hide_env_values = true)]
    pub model: Vec<PathBuf>,

    /// Where the scores go; - is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// Also the log-probability of each word, and of the translation's end, between tabs.
    #[arg(long)]
    pub words: bool,

    /// A JSON object a line instead.
    #[arg(long)]
    pub json: bool,

    /// Instead of pairs rank the translations of an n-best list anew, best first: lines of number ||| translation, and
    /// more that stays, as Moses has them; numbers count the sentences of --input from 0.
    #[arg(long, value_name = "FILE", requires = "input", conflicts_with_all = ["pairs", "source", "words", "json", "csv", "header", "columns"])]
    pub rerank: Option<PathBuf>,

    /// The sentences that --rerank is about, one a line; - is standard input.
    #[arg(long, value_name = "FILE", requires = "rerank")]
    pub input: Option<PathBuf>,

    /// Log-probabilities are divided by the length to the power of this before they rank: 0 favours short translations, 1
    /// compares means.
    #[arg(long, value_name = "A", default_value_t = 1.0, requires = "rerank")]
    pub length_penalty: f64,
}
