//! Arguments of `softalign train`.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgGroup, Args};
use serde::Serialize;
use serde_json::{Map, Value};

use super::pairs::{LayoutArgs, fail_or_skip};
use crate::text::{Languages, OnError, SHIPPED_TRAINING, SHIPPED_VALIDATION};
use crate::trainer::{InitVocabulary, SourceOptions, WeightedFile};
use crate::training::TrainConfig;

/// Group of options that --resume accepts with other values than before, beside the limits of training.
pub const CHANGEABLE: &str = "changeable";

/// Arguments of `softalign train`.
#[derive(Clone, Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(group = ArgGroup::new(CHANGEABLE).multiple(true))]
#[command(after_help = "Examples:
  printf 'one cat\\tun chat\\ntwo cats\\tdeux chats\\n' > pairs.tsv
  softalign train pairs.tsv --out my-model
  softalign train --source train.en --target train.de \\
      --valid-source val.en --valid-target val.de --out en-de
  softalign train --train mine.tsv:3 others.tsv --out my-model
  softalign train pairs.tsv --monolingual-target more.txt --out my-model
  softalign train --out my-model --resume
  softalign train --init-from my-model --train new.tsv --out other
  softalign train --config my-model/config.json --seed 2 --out second")]
pub struct TrainArgs {
    /// Files of training pairs, as for --train.
    #[arg(
        value_name = "FILE.tsv[:WEIGHT]",
        value_parser = OsStringValueParser::new().try_map(WeightedFile::parse),
        conflicts_with_all = ["train", "source", "target"],
    )]
    #[serde(skip)]
    pub positional: Vec<WeightedFile>,

    /// Files of training pairs, one per line: source TAB target, or source ||| target [default: standard input if it is a pipe
    /// or a file, else data/train.tsv]. WEIGHT is the mean number of times that each pair occurs per epoch [default: 1].
    #[arg(
        long,
        group = CHANGEABLE,
        value_name = "FILE.tsv[:WEIGHT]",
        value_parser = OsStringValueParser::new().try_map(WeightedFile::parse),
        num_args = 1..,
        conflicts_with_all = ["source", "target"],
        help_heading = "Data"
    )]
    pub train: Vec<WeightedFile>,

    /// Tags for multilingual training, one for each file of --train. A tag is a single token, put before each source sentence
    /// of its file and of the corresponding --valid file. Sentences to translate need the tag too.
    #[arg(long, value_name = "TAG", num_args = 1.., help_heading = "Data")]
    pub tag_source: Vec<String>,

    /// File of source sentences for training, one per line, with their translations in --target.
    #[arg(long, group = CHANGEABLE, value_name = "FILE", requires = "target", help_heading = "Data")]
    pub source: Option<PathBuf>,

    /// File of target sentences for training, one per line.
    #[arg(long, group = CHANGEABLE, value_name = "FILE", requires = "source", help_heading = "Data")]
    pub target: Option<PathBuf>,

    /// Files of validation pairs [default: data/validation.tsv for the shipped corpus, else a twentieth of the training
    /// sources, at most 1,000].
    #[arg(
        long,
        group = CHANGEABLE,
        value_name = "FILE.tsv",
        num_args = 1..,
        conflicts_with_all = ["valid_source", "valid_target"],
        help_heading = "Data"
    )]
    pub valid: Vec<PathBuf>,

    /// File of source sentences for validation, one per line.
    #[arg(long, group = CHANGEABLE, value_name = "FILE", requires = "valid_target", help_heading = "Data")]
    pub valid_source: Option<PathBuf>,

    /// File of target sentences for validation, one per line.
    #[arg(long, group = CHANGEABLE, value_name = "FILE", requires = "valid_source", help_heading = "Data")]
    pub valid_target: Option<PathBuf>,

    /// Files of target sentences without sources, one per line. A reverse model, trained first, translates them, and the model
    /// learns the pairs that result too (back-translation).
    #[arg(long, group = CHANGEABLE, value_name = "FILE", num_args = 1.., help_heading = "Data")]
    pub monolingual_target: Vec<PathBuf>,

    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) layout: LayoutArgs,

    /// Languages of the pairs, such as en-fr, by which serve chooses the model [default: those that names of files or columns
    /// tell, as train.en and train.fr, en-fr.tsv, or English and French].
    #[arg(long, value_name = "SOURCE-TARGET", help_heading = "Data")]
    pub languages: Option<Languages>,

    /// Treatment of lines that cannot be read, such as lines that are not UTF-8 [default: fail].
    #[arg(long, value_name = "HOW", value_parser = fail_or_skip(), conflicts_with = "guide", help_heading = "Data")]
    pub on_error: Option<OnError>,

    /// Directory of the new model; it must not hold one, except with --resume [default: checkpoints, whose model is moved to
    /// checkpoints/previous, or to previous-2 and so on].
    #[arg(long, short = 'o', group = CHANGEABLE, alias = "output", value_name = "DIR", help_heading = "Data")]
    pub out: Option<PathBuf>,

    /// Resume the interrupted training in the --out directory, with its settings.
    #[arg(long, group = CHANGEABLE, help_heading = "Data")]
    #[serde(skip)]
    pub resume: bool,

    /// Fine-tune this model, with a lower learning rate and fewer epochs. Sizes, attention, tokens and normalization are the
    /// model's.
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub init_from: Option<PathBuf>,

    /// Treatment of the vocabularies of --init-from [default: extend].
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Data")]
    pub init_vocabulary: Option<InitVocabulary>,

    #[command(flatten)]
    #[serde(flatten)]
    /// Settings of text, model and training.
    pub config: TrainConfig,

    /// File of word links for guided alignment, instead of the statistical aligner's: one line of s-t links per training pair,
    /// as fast_align writes them. Words are separated by whitespace.
    #[arg(long, group = CHANGEABLE, value_name = "FILE", conflicts_with = "tag_source", help_heading = "Training")]
    pub guide: Option<PathBuf>,

    /// Record attention on the pairs of this file, at most 20, instead of five validation pairs; implies --keep-attention.
    #[arg(long, value_name = "FILE.tsv", help_heading = "Training")]
    pub attention_pairs: Option<PathBuf>,

    /// Also print attention statistics and sample translations at each validation.
    #[arg(long, group = CHANGEABLE, conflicts_with = "quiet", help_heading = "Training")]
    #[serde(skip)]
    pub verbose: bool,

    /// Print the resolved settings as JSON, as --config takes them, and exit.
    #[arg(long, help_heading = "Training")]
    #[serde(skip)]
    pub show_config: bool,
}

impl TrainArgs {
    /// Returns the sources of the pairs.
    pub fn sources(&self) -> SourceOptions {
        SourceOptions {
            train: self.train.clone(),
            tag_source: self.tag_source.clone(),
            source: self.source.clone(),
            target: self.target.clone(),
            valid: self.valid.clone(),
            valid_source: self.valid_source.clone(),
            valid_target: self.valid_target.clone(),
            layout: self.layout.layout(),
            guide: self.guide.clone(),
            attention_pairs: self.attention_pairs.clone(),
            monolingual_target: self.monolingual_target.clone(),
            languages: self.languages.clone(),
            on_error: self.on_error.unwrap_or_default(),
            pairs: None,
        }
    }

    /// Returns the arguments with the names of the shipped corpus files if no other files are named. A layout excludes the
    /// shipped corpus.
    pub fn with_shipped_files(&self) -> Self {
        let mut args = self.clone();
        if args.init_from.is_some() {
            args.init_vocabulary.get_or_insert_default();
        }
        if !args.train.is_empty() || args.source.is_some() || !args.layout.layout().is_plain() {
            return args;
        }
        args.train = vec![PathBuf::from(SHIPPED_TRAINING).into()];
        if args.valid.is_empty() && args.valid_source.is_none() {
            args.valid = vec![PathBuf::from(SHIPPED_VALIDATION)];
        }
        args
    }

    /// Returns the options by their long names, as `--config` takes them, without unset ones.
    ///
    /// # Errors
    /// A path is not valid Unicode.
    pub fn to_json(&self) -> serde_json::Result<Map<String, Value>> {
        let mut options: Map<String, Value> = serde_json::from_value(serde_json::to_value(self)?)?;
        options.retain(|_, value| !value.is_null() && *value != Value::Array(Vec::new()));
        Ok(options)
    }
}
