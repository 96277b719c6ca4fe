//! The options of `train`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::layout::LayoutArgs;
use crate::attention::ScoreName;
use crate::model::{DecoderKind, InitialState};
use crate::text::{NormalForm, Units};
use crate::training::{Metric, Schedule};

/// Sizes and settings that fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// By the training pairs, and by --max-minutes.
    Auto,
    /// Smaller and shorter, for a first look.
    Fast,
    /// Larger and longer.
    Best,
    /// Embedding 64, hidden 128, attention 128.
    Tiny,
    /// Embedding 128, hidden 256, attention 128.
    Small,
    /// Embedding 192, hidden 384, attention 256.
    Medium,
    /// Embedding 256, hidden 512, attention 512.
    Large,
}

/// What becomes of the units of a model that training begins from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FromVocabulary {
    /// They stay as they are; what they do not cover is unknown.
    Keep,
    /// Those that the new pairs need join them: characters, or words where words are the units.
    #[default]
    Extend,
    /// Others are learnt from the new pairs; what was learnt of units that are spelt the same is carried over.
    New,
}

/// A file of pairs with what each of them counts.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedFile {
    /// The file.
    pub path: PathBuf,
    /// How often its pairs come in an epoch.
    pub weight: f64,
}

impl From<PathBuf> for WeightedFile {
    fn from(path: PathBuf) -> Self {
        Self { path, weight: 1.0 }
    }
}

impl FromStr for WeightedFile {
    type Err = String;

    /// What stands behind the last colon is a weight if it is a number, unless there is a file of the whole name.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':').filter(|_| !Path::new(text).exists());
        match parts.and_then(|(path, weight)| Some((path, weight.parse::<f64>().ok()?))) {
            None => Ok(PathBuf::from(text).into()),
            Some((path, weight)) if weight > 0.0 && weight <= 100.0 => Ok(Self { path: path.into(), weight }),
            Some((_, weight)) => Err(format!("a weight is above 0 and at most 100, not {weight}")),
        }
    }
}

impl fmt::Display for WeightedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        if self.weight == 1.0 { Ok(()) } else { write!(formatter, ":{}", self.weight) }
    }
}

impl Serialize for WeightedFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Where `--help` lists the options that the model of `--from` decides.
pub const SETTLED_BY_FROM: [&str; 2] = ["Text", "Model"];
/// Whether one of these is open all the same: this one always, the next where units may join the model's, and the last where
/// vocabularies are learnt.
pub fn is_open_with_from(option: &str, vocabulary: FromVocabulary) -> bool {
    match option {
        "max-length" => true,
        "atoms" => vocabulary != FromVocabulary::Keep,
        "vocabulary-size" => vocabulary == FromVocabulary::New,
        _ => false,
    }
}

/// `softalign train`
#[derive(Clone, Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = "Examples:
  softalign train --train pairs.tsv --out my-model
  softalign train --source train.en --target train.de \\
      --valid-source val.en --valid-target val.de --out en-de
  softalign train --train mine.tsv:3 others.tsv --out my-model
  softalign train --out my-model --resume
  softalign train --from my-model --train new.tsv --out other
  softalign train --config my-model/config.json --seed 2 --out second")]
pub struct TrainArgs {
    /// Training pairs, one a line: sentence TAB translation [default: data/train.tsv]. Of several files, pairs of one with a
    /// weight of 3 come three times an epoch, with a weight of 0.5 every other epoch on average.
    #[arg(
        long,
        value_name = "FILE.tsv[:WEIGHT]",
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
    pub from: Option<PathBuf>,

    /// What becomes of the units of --from's model [default: extend].
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Data")]
    #[serde(serialize_with = "by_name")]
    pub from_vocabulary: Option<FromVocabulary>,

    /// The form of Unicode that both sides' text is read in, and written in [default: nfc].
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Text")]
    pub normalise: Option<NormalForm>,

    /// Make small letters of capitals on both sides; `evaluate` then does so with the references too.
    #[arg(long, help_heading = "Text")]
    pub lowercase: bool,

    /// What lines are cut into: bpe (pieces of words), word or char [default: by data, each side for itself].
    #[arg(long, value_enum, help_heading = "Text")]
    #[serde(serialize_with = "by_name")]
    pub units: Option<Units>,

    /// The same for the source alone.
    #[arg(long, value_enum, value_name = "UNITS", help_heading = "Text")]
    #[serde(serialize_with = "by_name")]
    pub source_units: Option<Units>,

    /// The same for the target alone.
    #[arg(long, value_enum, value_name = "UNITS", help_heading = "Text")]
    #[serde(serialize_with = "by_name")]
    pub target_units: Option<Units>,

    /// Most units in a vocabulary; bpe keeps every single character beyond it [default: by data and kind of unit].
    #[arg(long, value_name = "N", help_heading = "Text")]
    pub vocabulary_size: Option<usize>,

    /// Pieces of text that are never cut, between spaces, such as "<2fr> <2de>".
    #[arg(long, value_name = "ATOMS", value_delimiter = ' ', help_heading = "Text")]
    pub atoms: Vec<String>,

    /// One vocabulary for both sides instead of one each.
    #[arg(long, help_heading = "Text")]
    pub joint_vocabulary: bool,

    /// Leave out pairs with more units than this on a side [default: 128].
    #[arg(long, value_name = "N", help_heading = "Text")]
    pub max_length: Option<usize>,

    /// Sizes and settings that fit together; single ones can be changed by the options below [default: auto].
    #[arg(long, value_enum, help_heading = "Model")]
    #[serde(serialize_with = "by_name")]
    pub preset: Option<Preset>,

    /// Dimension of the embeddings.
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub embedding_size: Option<usize>,

    /// Dimension of the decoder's state; each direction of the encoder has half of it, so it is even.
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub hidden_size: Option<usize>,

    /// Dimension in which attention compares states and words, where the score has weights for both.
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub attention_size: Option<usize>,

    /// What attention compares states and words by [default: additive].
    #[arg(long, value_enum, value_name = "SCORE", help_heading = "Model")]
    #[serde(serialize_with = "by_name")]
    pub attention: Option<ScoreName>,

    /// How the decoder takes in the last word and the context [default: conditional].
    #[arg(long, value_enum, help_heading = "Model")]
    #[serde(serialize_with = "by_name")]
    pub decoder: Option<DecoderKind>,

    /// Attentions side by side, each over its own part of the sizes [default: 1].
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub heads: Option<usize>,

    /// What energies are divided by: below 1 attention is sharper, above 1 more even [default: 1].
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Model")]
    pub attention_temperature: Option<f64>,

    /// Attend to one word at a time: one drawn by the weights, the derivative going straight through to them, and at use
    /// the one with the largest.
    #[arg(long, help_heading = "Model")]
    pub hard_attention: bool,

    /// Encoder layers [default: 1].
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub layers: Option<usize>,

    /// Give the output layer a matrix of its own instead of the target embeddings.
    #[arg(long, help_heading = "Model")]
    pub untied: bool,

    /// What the decoder's first state is made from [default: mean].
    #[arg(long, value_enum, help_heading = "Model")]
    #[serde(serialize_with = "by_name")]
    pub initial_state: Option<InitialState>,

    /// Share of numbers dropped in embeddings, annotations, states and readout [default: 0.3; 0.5 for single
    /// words, 0.2 where few words make up the text].
    #[arg(long, value_name = "P", help_heading = "Training")]
    pub dropout: Option<f64>,

    /// Share of merges left out at random, each epoch others, so that words are learnt in other cuts too; bpe only
    /// [default: 0.1 below 5,000 pairs, else 0; 0 where few words make up the text].
    #[arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Training")]
    pub bpe_dropout: Option<f64>,

    /// Share of pairs that are joined, two and two, each epoch others, so that longer ones are met [default: 0.2 where
    /// few words make up the text, else 0].
    #[arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Training")]
    pub join_pairs: Option<f64>,

    /// How much attention is taught the links of the statistical aligner: 0 not at all, and no lexicon is made of them
    /// either; without a number 0.5 [default: 0.1 from 2,000 pairs on].
    #[arg(
        long,
        value_name = "WEIGHT",
        num_args = 0..=1,
        default_missing_value = "0.5",
        help_heading = "Training"
    )]
    pub guided_alignment: Option<f64>,

    /// Word links of the training pairs, a line of s-t for each as fast_align writes them, that attention is taught instead of
    /// the statistical aligner's; words are what stands between white space.
    #[arg(long, value_name = "FILE", conflicts_with = "tag_source", help_heading = "Training")]
    pub guide: Option<PathBuf>,

    /// Share of probability spread over all units [default: 0.1].
    #[arg(long, value_name = "E", help_heading = "Training")]
    pub label_smoothing: Option<f64>,

    /// Use a running average of the parameters, of which each step keeps this much: 0 uses them as they are [default:
    /// 0.999].
    #[arg(long, value_name = "D", allow_negative_numbers = true, help_heading = "Training")]
    pub average_decay: Option<f64>,

    /// Sentence pairs in a batch [default: by data].
    #[arg(long, value_name = "N", conflicts_with = "batch_tokens", help_heading = "Training")]
    pub batch_sentences: Option<usize>,

    /// Target units in a batch, instead of a number of pairs.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub batch_tokens: Option<usize>,

    /// Step size of Adam [default: by size; half of that with --from].
    #[arg(long, value_name = "R", help_heading = "Training")]
    pub learning_rate: Option<f64>,

    /// Steps over which the learning rate rises to its value [default: 100; 30 with --from].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub warmup_steps: Option<u64>,

    /// What becomes of the learning rate after warm-up [default: hold, cosine for single words; plateau with --decay].
    #[arg(long, value_enum, help_heading = "Training")]
    #[serde(serialize_with = "by_name")]
    pub schedule: Option<Schedule>,

    /// Factor on the learning rate after two validations in a row without improvement, where the schedule is plateau
    /// [default: 0.5].
    #[arg(long, value_name = "F", help_heading = "Training")]
    pub decay: Option<f64>,

    /// Largest global norm of the gradients [default: 1].
    #[arg(long, value_name = "R", help_heading = "Training")]
    pub max_gradient_norm: Option<f64>,

    /// Stop after so many passes over the pairs [default: by data].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub max_epochs: Option<u64>,

    /// Stop after so many minutes, those of preparing and of earlier runs included, or when more would bring nothing; sizes
    /// are chosen by it too.
    #[arg(long, value_name = "M", help_heading = "Training")]
    pub max_minutes: Option<f64>,

    /// Save what --resume goes on from after so many minutes without a validation, which does so too [default: 5].
    #[arg(long, value_name = "M", help_heading = "Training")]
    pub save_every: Option<f64>,

    /// Stop after so many validations in a row that improved neither the score nor the loss [default: 6 with plateau, else
    /// 10 with --from and never without].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub patience: Option<u64>,

    /// Validate after so many steps [default: once an epoch].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub validate_every: Option<u64>,

    /// Validation score that chooses the best model [default: bleu; chrf for short texts, exact-match for characters].
    #[arg(long, value_enum, help_heading = "Training")]
    #[serde(serialize_with = "by_name")]
    pub metric: Option<Metric>,

    /// Keep the models of the K best validations too, each as a model's folder of its own in kept/ in the folder.
    #[arg(long, value_name = "K", conflicts_with = "keep_last", help_heading = "Training")]
    pub keep: Option<usize>,

    /// The same for the last K validations.
    #[arg(long, value_name = "K", help_heading = "Training")]
    pub keep_last: Option<usize>,

    /// Keep attention on a few validation pairs at each validation: attention.html in the folder shows it being learnt.
    #[arg(long, help_heading = "Training")]
    pub keep_attention: bool,

    /// Also write what the log says to event files in the folder, for TensorBoard.
    #[arg(long, help_heading = "Training")]
    pub tensorboard: bool,

    /// Train nothing: print all that would be in force, what the pairs decide included, as --config takes it.
    #[arg(long, help_heading = "Training")]
    #[serde(skip)]
    pub show_config: bool,

    /// Decides everything random [default: 1].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub seed: Option<u64>,
}

impl TrainArgs {
    /// Those of a command line that names a file of training pairs and nothing else.
    #[cfg(test)]
    pub fn with_training_file(path: &Path) -> Self {
        use clap::FromArgMatches;
        let command = Self::augment_args(clap::Command::new("train"));
        let arguments = ["train".as_ref(), "--train".as_ref(), path.as_os_str()];
        Self::from_arg_matches(&command.get_matches_from(arguments)).unwrap()
    }

    /// The options by their long names, as `--config` takes them; what is left open is not among them.
    ///
    /// # Errors
    /// A path is no Unicode.
    pub fn config(&self) -> serde_json::Result<Map<String, Value>> {
        let mut options: Map<String, Value> = serde_json::from_value(serde_json::to_value(self)?)?;
        options.retain(|_, value| !value.is_null() && *value != Value::Array(Vec::new()));
        Ok(options)
    }
}

/// A choice by the name that the command line has for it.
fn by_name<T: ValueEnum, S: Serializer>(choice: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
    let value = choice.as_ref().and_then(ValueEnum::to_possible_value);
    value.map(|value| value.get_name().to_owned()).serialize(serializer)
}
