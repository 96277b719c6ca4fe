//! Training configuration: the settings a user may choose, and the defaults that the data decide.

mod auto;
mod explain;
mod resolve;
mod validate;

use anyhow::Result;
use serde::{Deserialize, Serialize};

pub use self::resolve::ResolvedConfig;
use crate::attention::ScoreName;
use crate::error::usage;
use crate::model::{DecoderKind, InitialState};
use crate::text::{NormalForm, Units};
use crate::training::{Metric, Schedule};

/// Weight of guided alignment where links of the user are given without one, and from [`TrainConfig::resolve`]'s
/// threshold on.
const GUIDED_ALIGNMENT: f64 = 0.1;

/// A named choice of model size and training length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Preset {
    /// Chosen by the training pairs, and by --max-minutes if given.
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

/// Settings of a training. Every field is optional: [`Default`] leaves all to the data, and [`Self::resolve`] decides.
///
/// As JSON the keys are the command line's option names, and settings left open are absent.
///
/// ```
/// use softalign::TrainConfig;
///
/// let config: TrainConfig = serde_json::from_str(r#"{"hidden-size": 64, "seed": 3}"#)?;
/// assert_eq!(config, TrainConfig { hidden_size: Some(64), seed: Some(3), ..TrainConfig::default() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct TrainConfig {
    /// The form of Unicode that both sides' text is read in, and written in [default: nfc].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "FORM", help_heading = "Text"))]
    pub normalize: Option<NormalForm>,

    /// Make small letters of capitals on both sides; `evaluate` then does so with the references too.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Text"))]
    pub lowercase: bool,

    /// What lines are cut into: bpe (pieces of words), word or char [default: by data, each side for itself].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Text"))]
    pub units: Option<Units>,

    /// The same for the source alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "UNITS", help_heading = "Text"))]
    pub source_units: Option<Units>,

    /// The same for the target alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "UNITS", help_heading = "Text"))]
    pub target_units: Option<Units>,

    /// Most units in a vocabulary; bpe keeps every single character beyond it [default: by data and kind of unit].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Text"))]
    pub vocabulary_size: Option<usize>,

    /// Pieces of text that are never cut, between spaces, such as "<2fr> <2de>".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TOKENS", value_delimiter = ' ', help_heading = "Text"))]
    pub protected_tokens: Vec<String>,

    /// One vocabulary for both sides instead of one each.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Text"))]
    pub joint_vocabulary: bool,

    /// Leave out pairs with more units than this on a side [default: 128].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Text"))]
    pub max_length: Option<usize>,

    /// Sizes and settings that fit together; single ones can be changed by the options below [default: auto].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Model"))]
    pub preset: Option<Preset>,

    /// Dimension of the embeddings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Model"))]
    pub embedding_size: Option<usize>,

    /// Dimension of the decoder's state; each direction of the encoder has half of it, so it is even.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Model"))]
    pub hidden_size: Option<usize>,

    /// Dimension in which attention compares states and words, where the score has weights for both.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Model"))]
    pub attention_size: Option<usize>,

    /// What attention compares states and words by [default: additive].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "SCORE", help_heading = "Model"))]
    pub attention: Option<ScoreName>,

    /// How the decoder takes in the last word and the context [default: conditional].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Model"))]
    pub decoder: Option<DecoderKind>,

    /// Attentions side by side, each over its own part of the sizes [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Model"))]
    pub heads: Option<usize>,

    /// What energies are divided by: below 1 attention is sharper, above 1 more even [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Model"))]
    pub attention_temperature: Option<f64>,

    /// Attend to one word at a time: one drawn by the weights, the derivative going straight through to them, and at use
    /// the one with the largest.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Model"))]
    pub hard_attention: bool,

    /// Encoder layers [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Model"))]
    pub layers: Option<usize>,

    /// Give the output layer a matrix of its own instead of the target embeddings.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Model"))]
    pub no_tied_embeddings: bool,

    /// What the decoder's first state is made from [default: mean].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Model"))]
    pub initial_state: Option<InitialState>,

    /// Share of numbers dropped in embeddings, annotations, states and readout [default: 0.3; 0.5 for single
    /// words, 0.2 where few words make up the text].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", help_heading = "Training"))]
    pub dropout: Option<f64>,

    /// Share of merges left out at random, each epoch others, so that words are learnt in other cuts too; bpe only
    /// [default: 0.1 below 5,000 pairs, else 0; 0 where few words make up the text].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Training"))]
    pub bpe_dropout: Option<f64>,

    /// Share of pairs that are joined, two and two, each epoch others, so that longer ones are met [default: 0.2 where
    /// few words make up the text, else 0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Training"))]
    pub concat_pairs: Option<f64>,

    /// How much attention is taught the links of the statistical aligner: 0 not at all, and no lexicon is made of them
    /// either; without a number 0.5 [default: 0.1 from 2,000 pairs on].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_name = "WEIGHT",
            num_args = 0..=1,
            default_missing_value = "0.5",
            help_heading = "Training"
        )
    )]
    pub guided_alignment: Option<f64>,

    /// Share of probability spread over all units [default: 0.1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "E", help_heading = "Training"))]
    pub label_smoothing: Option<f64>,

    /// Use a running average of the parameters, of which each step keeps this much: 0 uses them as they are [default:
    /// 0.999].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "D", allow_negative_numbers = true, help_heading = "Training"))]
    pub ema_decay: Option<f64>,

    /// Sentence pairs in a batch [default: by data].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", conflicts_with = "batch_tokens", help_heading = "Training")
    )]
    pub batch_sentences: Option<usize>,

    /// Target units in a batch, instead of a number of pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub batch_tokens: Option<usize>,

    /// Step size of Adam [default: by size; half of that with --init-from].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "R", help_heading = "Training"))]
    pub learning_rate: Option<f64>,

    /// Steps over which the learning rate rises to its value [default: 100; 30 with --init-from].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub warmup_steps: Option<u64>,

    /// What becomes of the learning rate after warm-up [default: hold, cosine for single words; plateau with --decay].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Training"))]
    pub schedule: Option<Schedule>,

    /// Factor on the learning rate after two validations in a row without improvement, where the schedule is plateau
    /// [default: 0.5].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "F", help_heading = "Training"))]
    pub decay: Option<f64>,

    /// Largest global norm of the gradients [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "R", help_heading = "Training"))]
    pub max_gradient_norm: Option<f64>,

    /// Stop after so many passes over the pairs [default: by data].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub max_epochs: Option<u64>,

    /// Stop after so many minutes, those of preparing and of earlier runs included, or when more would bring nothing; sizes
    /// are chosen by it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "M", help_heading = "Training"))]
    pub max_minutes: Option<f64>,

    /// Save what --resume goes on from after so many minutes without a validation, which does so too [default: 5].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "M", help_heading = "Training"))]
    pub save_every: Option<f64>,

    /// Stop after so many validations in a row that improved neither the score nor the loss [default: 6 with plateau, else
    /// 10 with --init-from and never without].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub patience: Option<u64>,

    /// Validate after so many steps [default: once an epoch].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub validate_every: Option<u64>,

    /// Validation score that chooses the best model [default: bleu; chrf for short texts, exact-match for characters].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Training"))]
    pub metric: Option<Metric>,

    /// Keep the models of the K best validations too, each as a model's folder of its own in kept/ in the folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "K", conflicts_with = "keep_last", help_heading = "Training"))]
    pub keep_best: Option<usize>,

    /// The same for the last K validations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "K", help_heading = "Training"))]
    pub keep_last: Option<usize>,

    /// Keep attention on a few validation pairs at each validation: attention.html in the folder shows it being learnt.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Training"))]
    pub keep_attention: bool,

    /// Also write what the log says to event files in the folder, for TensorBoard.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Training"))]
    pub tensorboard: bool,

    /// Decides everything random [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub seed: Option<u64>,
}

impl TrainConfig {
    /// Names of the options that describe a model and how it reads text. A model that training is initialized from
    /// decides them.
    pub const OF_MODEL: [&str; 20] = [
        "normalize",
        "lowercase",
        "units",
        "source-units",
        "target-units",
        "vocabulary-size",
        "protected-tokens",
        "joint-vocabulary",
        "preset",
        "embedding-size",
        "hidden-size",
        "attention-size",
        "attention",
        "decoder",
        "heads",
        "attention-temperature",
        "hard-attention",
        "layers",
        "no-tied-embeddings",
        "initial-state",
    ];

    /// Sets the weight of guided alignment for links that the user gives.
    ///
    /// # Errors
    /// The weight is 0: the links would teach nothing.
    pub fn with_user_links(mut self) -> Result<Self> {
        if self.guided_alignment == Some(0.0) {
            return usage("--guide teaches nothing with --guided-alignment 0");
        }
        self.guided_alignment.get_or_insert(GUIDED_ALIGNMENT);
        Ok(self)
    }
}
