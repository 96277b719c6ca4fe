//! Arguments of `softalign evaluate`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::names::MODEL_VARIABLE;
use super::pairs::PairArgs;
use crate::attention::InferenceOverrides;
use crate::metrics::BleuTokenizer;
use crate::text::{OnError, fail_or_skip};
use crate::translator::{DecodeOptions, LinkOptions, PrecisionOption};

/// Group of options that apply only to models.
pub const OF_MODELS: &str = "of_models";
/// Group of options that apply only to links made by this program.
pub const OF_LINKS: &str = "of_links";
/// Group of options that apply only to translations.
pub const OF_TRANSLATIONS: &str = "of_translations";

/// Arguments of `softalign evaluate`.
#[derive(Debug, Args)]
#[command(groups = [OF_MODELS, OF_LINKS, OF_TRANSLATIONS].map(|group| ArgGroup::new(group).multiple(true)))]
#[command(after_help = "Examples:
  softalign evaluate
  softalign evaluate --model my-model --pairs test.tsv --json
  softalign evaluate --pairs test.tsv --gold test.gold
  softalign evaluate --links fast_align.links --gold test.gold
  softalign evaluate --links-from pairs --pairs test.tsv --gold test.gold
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

    /// Treatment of pairs that cannot be read, such as lines that are not UTF-8. Files with one line per pair have lines for
    /// such pairs too.
    #[arg(long, value_name = "HOW", default_value = "fail", value_parser = fail_or_skip(), help_heading = "Data")]
    pub on_error: OnError,

    /// Model directory, or NAME=DIR to name it in the results. Repeat it to compare several models. References are
    /// normalized and lowercased like the model's text.
    #[arg(long, value_name = "[NAME=]DIR", default_value = "checkpoints", env = MODEL_VARIABLE, hide_env_values = true)]
    pub model: Vec<PathBuf>,

    /// Evaluate all models as one ensemble: at each step, their probabilities are averaged. Their vocabularies must be the
    /// same.
    #[arg(long, group = OF_MODELS)]
    pub ensemble: bool,

    /// File of translations to evaluate instead of a model's, one per line, or NAME=FILE to name them in the results. Can be
    /// repeated.
    #[arg(long, value_name = "[NAME=]FILE", conflicts_with = "model")]
    pub hypotheses: Vec<PathBuf>,

    /// File of word links to evaluate against --gold instead of a model's: lines of s-t, counted from 0, one line per pair; or
    /// NAME=FILE to name them in the results. Can be repeated. With --hypotheses, give one file for each of these.
    #[arg(long = "links", value_name = "[NAME=]FILE", conflicts_with_all = ["model", "links_from"])]
    pub link_files: Vec<PathBuf>,

    /// Write the model's translations to this file, one per line. If the sources are single words or have features, the lines
    /// have the columns of --pairs with the translation as the target, as shared tasks request.
    #[arg(long, value_name = "FILE", group = OF_MODELS)]
    pub save: Option<PathBuf>,

    /// Tokenization of BLEU, by sacrebleu's names [default: by the script of the references: zh for Chinese, char for Japanese,
    /// Thai and other scripts without spaces, else 13a].
    #[arg(long, value_enum, value_name = "TOKENIZER", group = OF_TRANSLATIONS)]
    pub tokenize: Option<BleuTokenizer>,

    /// Print 95 % confidence intervals, by bootstrap resampling with 1,000 samples.
    #[arg(long, group = OF_TRANSLATIONS)]
    pub confidence: bool,

    /// Test the significance of differences from the first system by approximate randomization; --json adds paired bootstrap
    /// resampling.
    #[arg(long, group = OF_TRANSLATIONS)]
    pub compare: bool,

    /// Gold alignments of the pairs: one line per pair with s-t (sure) and s?t or spt (possible), or one line per link with
    /// sentence, source word, target word, and S or P, all counted from 1 (NAACL 2003) [default: data/test.gold with the
    /// shipped test set].
    #[arg(long, value_name = "FILE", conflicts_with = "tag_source")]
    pub gold: Option<PathBuf>,

    /// Index of a sentence's first word in a gold file with one line per pair.
    #[arg(
        long,
        value_name = "0|1",
        requires = "gold",
        default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(0..=1)
    )]
    pub gold_base: u8,

    #[command(flatten)]
    pub(crate) search: DecodeOptions,

    /// Precision of matrix products in search on the CPU.
    #[arg(long, value_enum, default_value_t = PrecisionOption::F32, group = OF_MODELS, help_heading = "Search")]
    pub precision: PrecisionOption,

    #[command(flatten)]
    pub(crate) links: LinkOptions,

    #[command(flatten)]
    pub(crate) attention: InferenceOverrides,

    /// Search the link threshold with the lowest alignment error rate (AER). Use it on validation data, not on test data.
    #[arg(long, conflicts_with = "symmetrize", group = OF_LINKS)]
    pub search_threshold: bool,

    /// Print the main scores by source length, in bins of words chosen from the data.
    #[arg(long, group = OF_TRANSLATIONS)]
    pub by_length: bool,

    /// Draw BLEU by source length, one line per system; implies --by-length.
    #[arg(long, value_name = "FILE.svg", group = OF_TRANSLATIONS)]
    pub figure: Option<PathBuf>,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}
