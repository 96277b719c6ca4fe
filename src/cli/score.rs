//! Arguments of `softalign score`.

use std::path::PathBuf;

use clap::{Args, Command, Id};

use super::names::MODEL_VARIABLE;
use super::pairs::PairArgs;
use crate::text::OnError;
use crate::translator::DecodeOptions;

/// Arguments of `softalign score`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign score pairs.tsv
  softalign score pairs.tsv --words
  softalign score --input sentences.txt --rerank hypotheses.nbest")]
pub struct ScoreArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,

    /// Model directory. Repeat it to average the probabilities of several models. Their vocabularies must be the same.
    #[arg(long, value_name = "DIR", default_value = "checkpoints", env = MODEL_VARIABLE, hide_env_values = true)]
    pub model: Vec<PathBuf>,

    /// Output file; - is standard output.
    #[arg(long, short = 'o', alias = "out", value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// Treatment of lines that cannot be read, such as lines that are not UTF-8 [default: keep; with --rerank, which has no
    /// keep, fail].
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Data")]
    pub on_error: Option<OnError>,

    /// Also write the log-probability of each word and of the end of the translation, separated by tabs.
    #[arg(long)]
    pub words: bool,

    /// Write one JSON object per line.
    #[arg(long)]
    pub json: bool,

    /// Rerank an n-best list in Moses' format instead of scoring pairs, best first: lines of number ||| translation, where
    /// numbers index the sentences of --input from 0. Further fields are kept.
    #[arg(long, value_name = "FILE", requires = "input", conflicts_with_all = arguments_of_pairs())]
    pub rerank: Option<PathBuf>,

    /// File of the source sentences of --rerank, one per line; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,

    /// Strength A of length normalization in --rerank: scores are log p / length^A. 0 favors short translations, 1 ranks by
    /// mean log-probability.
    #[arg(long, value_name = "A", default_value_t = DecodeOptions::default().length_penalty, requires = "rerank")]
    pub length_penalty: f64,
}

/// Returns the arguments that an n-best list replaces: the pairs with the layout of their files, and the contents of their
/// scores. Sentences of an n-best list have tags and features too.
fn arguments_of_pairs() -> Vec<Id> {
    let mut ids = vec![Id::from("words"), Id::from("json")];
    for argument in PairArgs::augment_args(Command::new("")).get_arguments() {
        if !["tag_source", "features"].contains(&argument.get_id().as_str()) {
            ids.push(argument.get_id().clone());
        }
    }
    ids
}
