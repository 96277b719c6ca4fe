//! Arguments of `softalign train`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::text::{SHIPPED_TRAINING, SHIPPED_VALIDATION};
use crate::trainer::{AttentionFiles, InitVocabulary, SourceOptions, WeightedFile};
use crate::training::TrainConfig;

/// Arguments of `softalign train`.
#[derive(Clone, Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
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
        value_parser = WeightedFile::parser(),
        conflicts_with_all = ["train", "source", "target"],
    )]
    #[serde(skip)]
    pub positional: Vec<WeightedFile>,

    /// Sources of the pairs, without the files for attention.
    #[command(flatten)]
    #[serde(flatten)]
    pub sources: SourceOptions,

    /// Directory of the new model; it must not hold one, except with --resume [default: checkpoints, whose model is moved to
    /// checkpoints/previous, or to previous-2 and so on].
    #[arg(long, short = 'o', group = SourceOptions::CHANGEABLE, alias = "output", value_name = "DIR", help_heading = "Data")]
    pub out: Option<PathBuf>,

    /// Resume the interrupted training in the --out directory, with its settings.
    #[arg(long, group = SourceOptions::CHANGEABLE, help_heading = "Data")]
    #[serde(skip)]
    pub resume: bool,

    /// Fine-tune this model, with a lower learning rate and fewer epochs. Sizes, attention, tokenization and normalization are the
    /// model's.
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub init_from: Option<PathBuf>,

    /// Treatment of the vocabularies of --init-from [default: extend].
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Data")]
    pub init_vocabulary: Option<InitVocabulary>,

    /// Settings of text, model and training.
    #[command(flatten)]
    #[serde(flatten)]
    pub config: TrainConfig,

    /// Files for attention.
    #[command(flatten)]
    #[serde(flatten)]
    pub attention: AttentionFiles,

    /// Also print attention statistics and sample translations at each validation.
    #[arg(long, group = SourceOptions::CHANGEABLE, conflicts_with = "quiet", help_heading = "Training")]
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
        SourceOptions { attention: self.attention.clone(), ..self.sources.clone() }
    }

    /// Returns the arguments with the names of the shipped corpus files if no other files are named. A layout excludes the
    /// shipped corpus.
    pub fn with_shipped_files(&self) -> Self {
        let mut args = self.clone();
        if args.init_from.is_some() {
            args.init_vocabulary.get_or_insert_default();
        }
        let sources = &mut args.sources;
        if !sources.train.is_empty() || sources.source.is_some() || !sources.layout.layout().is_plain() {
            return args;
        }
        sources.train = vec![PathBuf::from(SHIPPED_TRAINING).into()];
        if sources.valid.is_empty() && sources.valid_source.is_none() {
            sources.valid = vec![PathBuf::from(SHIPPED_VALIDATION)];
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
