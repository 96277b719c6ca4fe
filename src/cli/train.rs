//! The options of `train`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use serde::Serialize;
use serde_json::{Map, Value};

use super::layout::LayoutArgs;
use crate::text::{SHIPPED_TRAINING, SHIPPED_VALIDATION};
use crate::trainer::{InitVocabulary, SourceOptions, WeightedFile};
use crate::training::TrainConfig;

/// `softalign train`
#[derive(Clone, Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = "Examples:
  softalign train --train pairs.tsv --out my-model
  softalign train --source train.en --target train.de \\
      --valid-source val.en --valid-target val.de --out en-de
  softalign train --train mine.tsv:3 others.tsv --out my-model
  softalign train --out my-model --resume
  softalign train --init-from my-model --train new.tsv --out other
  softalign train --config my-model/config.json --seed 2 --out second")]
pub struct TrainArgs {
    /// Training pairs, one a line: sentence TAB translation [default: data/train.tsv]. Of several files, pairs of one with a
    /// weight of 3 come three times an epoch, with a weight of 0.5 every other epoch on average.
    #[arg(
        long,
        value_name = "FILE.tsv[:WEIGHT]",
        value_parser = OsStringValueParser::new().try_map(WeightedFile::parse),
        num_args = 1..,
        conflicts_with_all = ["source", "target"],
        help_heading = "Data"
    )]
    pub train: Vec<WeightedFile>,

    /// A tag for each file of --train, put before each of its sentences and those of the --valid file at the same place: a
    /// unit of its own, by which one model serves several languages. Sentences to translate begin with it as well.
    #[arg(long, value_name = "TAG", num_args = 1.., help_heading = "Data")]
    pub tag_source: Vec<String>,

    /// Training sentences, one a line, with their translations in --target.
    #[arg(long, value_name = "FILE", requires = "target", help_heading = "Data")]
    pub source: Option<PathBuf>,

    /// Translations of the training sentences, one a line.
    #[arg(long, value_name = "FILE", requires = "source", help_heading = "Data")]
    pub target: Option<PathBuf>,

    /// Validation pairs [default: data/validation.tsv with the shipped corpus, else a part of the training pairs].
    #[arg(
        long,
        value_name = "FILE.tsv",
        num_args = 1..,
        conflicts_with_all = ["valid_source", "valid_target"],
        help_heading = "Data"
    )]
    pub valid: Vec<PathBuf>,

    /// Validation sentences, one a line.
    #[arg(long, value_name = "FILE", requires = "valid_target", help_heading = "Data")]
    pub valid_source: Option<PathBuf>,

    /// Translations of the validation sentences, one a line.
    #[arg(long, value_name = "FILE", requires = "valid_source", help_heading = "Data")]
    pub valid_target: Option<PathBuf>,

    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) layout: LayoutArgs,

    /// Folder for the model [default: checkpoints; a model that is there is moved to checkpoints/previous].
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub out: Option<PathBuf>,

    /// Go on with the training that stopped in the --out folder, with its settings.
    #[arg(long, help_heading = "Data")]
    #[serde(skip)]
    pub resume: bool,

    /// Begin with the parameters of this model and train them on other pairs, by smaller steps and fewer; sizes, attention,
    /// units and normalisation are the model's.
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub init_from: Option<PathBuf>,

    /// What becomes of the units of --init-from's model [default: extend].
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Data")]
    pub init_vocabulary: Option<InitVocabulary>,

    #[command(flatten)]
    #[serde(flatten)]
    /// Settings of text, model and training.
    pub config: TrainConfig,

    /// Word links of the training pairs, a line of s-t for each as fast_align writes them, that attention is taught instead of
    /// the statistical aligner's; words are what stands between white space.
    #[arg(long, value_name = "FILE", conflicts_with = "tag_source", help_heading = "Training")]
    pub guide: Option<PathBuf>,

    /// Train nothing: print all that would be in force, what the pairs decide included, as --config takes it.
    #[arg(long, help_heading = "Training")]
    #[serde(skip)]
    pub show_config: bool,
}

impl TrainArgs {
    /// Returns where the pairs come from.
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
            pairs: None,
        }
    }

    /// Returns the same options with the shipped corpus named, where it is meant. Only its own layout can describe it.
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

    /// Returns the options by their long names, as `--config` takes them, without those left open.
    ///
    /// # Errors
    /// A path is not Unicode.
    pub fn to_json(&self) -> serde_json::Result<Map<String, Value>> {
        let mut options: Map<String, Value> = serde_json::from_value(serde_json::to_value(self)?)?;
        options.retain(|_, value| !value.is_null() && *value != Value::Array(Vec::new()));
        Ok(options)
    }
}
