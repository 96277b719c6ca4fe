//! `softalign evaluate`: its options.

use std::path::PathBuf;

use clap::Args;

use super::common::MODEL;
use super::links::LinkArgs;
use super::pairs::PairArgs;
use super::reading::ReadingArgs;
use super::search::SearchArgs;

/// What is asked of models, and says nothing to translations that were made elsewhere.
const OF_A_MODEL: [&str; 24] = [
    "model",
    "ensemble",
    "gold",
    "save",
    "beam",
    "length_penalty",
    "length_formula",
    "length_factor",
    "coverage_penalty",
    "no_repeat",
    "sample",
    "mbr",
    "temperature",
    "top_k",
    "top_p",
    "links_from",
    "reverse_model",
    "symmetrize",
    "threshold",
    "words",
    "hard_attention",
    "attention_temperature",
    "head",
    "search_threshold",
];

/// `softalign evaluate`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign evaluate
  softalign evaluate --model my-model --pairs test.tsv --json
  softalign evaluate --pairs test.tsv --gold test.gold
  softalign evaluate --pairs val.tsv --gold val.gold --search-threshold
  softalign evaluate --pairs test.tsv --by-length
  softalign evaluate --model \"four heads=m4\" --model \"one head=m1\" \\
      --figure length.svg
  softalign evaluate --ensemble --model m1 --model m2 --pairs test.tsv
  softalign evaluate --pairs test.tsv --compare --confidence \\
      --hypotheses ours.txt --hypotheses theirs.txt")]
pub struct EvaluateArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,

    /// Folder of the model; NAME=DIR gives it a name in the results. May be given several times: each model is then
    /// measured on the same pairs. References are compared in the model's form of Unicode, and in small letters if it writes
    /// no others.
    #[arg(long, value_name = "[NAME=]DIR", default_value = "checkpoints", env = MODEL, hide_env_values = true)]
    pub model: Vec<PathBuf>,

    /// Measure all the models as one, which at each step has the mean of their probabilities; they must have the same
    /// vocabularies.
    #[arg(long)]
    pub ensemble: bool,

    /// Translations made elsewhere, a line for each pair, instead of a model's; NAME=FILE gives them a name in the results.
    /// May be given several times.
    #[arg(long, value_name = "[NAME=]FILE", conflicts_with_all = OF_A_MODEL)]
    pub hypotheses: Vec<PathBuf>,

    /// Also write the model's translations, a line for each pair.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,

    /// Also say within what 95 % of such test sets' scores would lie, by drawing pairs anew a thousand times.
    #[arg(long)]
    pub confidence: bool,

    /// Also say how probable each one's distance from the first is by chance alone: by paired bootstrap resampling and by
    /// approximate randomisation.
    #[arg(long)]
    pub compare: bool,

    /// Gold alignments of the pairs: lines of s-t (sure) and s?t or spt (possible) [default: data/test.gold with the
    /// shipped test set].
    #[arg(long, value_name = "FILE", conflicts_with = "tag_source")]
    pub gold: Option<PathBuf>,

    /// The number of a sentence's first word in the gold file.
    #[arg(
        long,
        value_name = "0|1",
        requires = "gold",
        default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(0..=1)
    )]
    pub gold_base: u8,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) links: LinkArgs,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    /// Also find the threshold of the lowest alignment error rate; for a validation set, never for the test set, whose
    /// score would no longer be one.
    #[arg(long, conflicts_with = "symmetrize")]
    pub search_threshold: bool,

    /// Also give every score by the number of words in the source, in classes chosen from the pairs.
    #[arg(long)]
    pub by_length: bool,

    /// Draw BLEU by the number of words in the source, with a line for each model; includes --by-length.
    #[arg(long, value_name = "FILE.svg")]
    pub figure: Option<PathBuf>,

    /// One JSON object instead of lines for reading.
    #[arg(long)]
    pub json: bool,
}
