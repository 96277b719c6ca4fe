//! Arguments of `softalign align`.

use std::path::PathBuf;

use clap::Args;

use super::links::FigureArgs;
use super::names::MODEL_VARIABLE;
use super::pairs::PairArgs;
use crate::alignment::{LexiconOrder, LinkFormat};
use crate::attention::InferenceOverrides;
use crate::render::AlignmentFormat;
use crate::text::OnError;
use crate::translator::{LinkDirection, LinkOptions};

/// Arguments of `softalign align`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  softalign align \"The cat sleeps.\" \"Le chat dort.\"
  softalign align pairs.tsv --links-from pairs --format pharaoh > links.txt
  softalign align --source a.en --target a.fr --format npz --output weights.npz
  printf 'She sleeps.\\tElle dort.\\n' | softalign align")]
pub struct AlignArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,

    /// Model directory. Repeat it to average the attention of several models. Their vocabularies must be the same.
    #[arg(long, value_name = "DIR", default_value = "checkpoints", env = MODEL_VARIABLE, hide_env_values = true)]
    pub model: Vec<PathBuf>,

    /// Output file; - is standard output.
    #[arg(long, short = 'o', alias = "out", value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// Output format [default: by the extension of --output: .html, .json, .jsonl, .npz, .svg, .tmx or .tsv; else text].
    #[arg(long, value_enum)]
    pub format: Option<AlignmentFormat>,

    #[command(flatten)]
    pub(crate) links: LinkOptions,

    #[command(flatten)]
    pub(crate) attention: InferenceOverrides,

    /// Gold alignments that --format html shows beside the links: lines of s-t (sure) and s?t or spt (possible), or a file of
    /// NAACL 2003.
    #[arg(long, value_name = "FILE", conflicts_with = "tag_source")]
    pub gold: Option<PathBuf>,

    /// Index of a sentence's first word in the gold file.
    #[arg(
        long,
        value_name = "0|1",
        default_value_t = 0,
        requires = "gold",
        value_parser = clap::value_parser!(u8).range(0..=1)
    )]
    pub gold_base: u8,

    #[command(flatten)]
    pub(crate) figures: FigureArgs,

    /// Direction of the links. softalign symmetrize combines a file of forward links and one of backward links.
    #[arg(long, value_enum, default_value_t = LinkDirection::Both, help_heading = "Links")]
    pub direction: LinkDirection,

    /// Train the aligner of --links-from pairs on what the aligner in this directory has learned: one that --save-aligner
    /// wrote, or that of a model.
    #[arg(long, value_name = "DIR", help_heading = "Links")]
    pub prior: Option<PathBuf>,

    /// Save the aligner that --links-from pairs trains in this directory, for --aligner.
    #[arg(long, value_name = "DIR", help_heading = "Links")]
    pub save_aligner: Option<PathBuf>,

    /// Link words with only the statistical aligner in this directory, that of a model or one saved by --save-aligner.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["model", "links_from", "reverse_model", "tokens", "save_aligner", "prior"],
        help_heading = "Links"
    )]
    pub aligner: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) notation: LinkFormat,

    /// Write only the alignments of these pairs, counted from 1.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', conflicts_with_all = ["lexicon", "noisy"])]
    pub only: Vec<usize>,

    /// Treatment of lines that cannot be read, such as lines that are not UTF-8.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = OnError::Keep, help_heading = "Data")]
    pub on_error: OnError,

    /// Also write a bilingual lexicon extracted from the links: words, translations, counts, probabilities and examples.
    #[arg(long, value_name = "FILE")]
    pub lexicon: Option<PathBuf>,

    /// Minimum number of links of a lexicon entry.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "lexicon")]
    pub min_count: usize,

    /// Order of the lexicon.
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = LexiconOrder::Count, requires = "lexicon")]
    pub sort: LexiconOrder,

    /// List all pairs instead of their alignments, the most likely mistranslations first.
    #[arg(long)]
    pub noisy: bool,

    /// Write the score of each link as s-t:p; only with --format pharaoh.
    #[arg(long)]
    pub probs: bool,

    /// Align the model's tokens instead of words.
    #[arg(long)]
    pub tokens: bool,
}
