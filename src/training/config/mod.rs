//! Training configuration: settings of the user, and defaults chosen from the data.

mod auto;
mod explain;
mod resolve;
mod validate;

use anyhow::Result;
use serde::{Deserialize, Serialize};

pub use self::resolve::ResolvedConfig;
use crate::attention::ScoreName;
use crate::error::usage;
use crate::kernels::matrix::Precision;
use crate::model::{DecoderKind, InitialState, PrecisionOption};
use crate::text::{NormalForm, Tokenization};
use crate::training::{Metric, Schedule};

/// Default weight of guided alignment, with links of the user or enough pairs (see [`TrainConfig::resolve`]).
const GUIDED_ALIGNMENT: f64 = 0.1;

/// Named choice of model size and training length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Preset {
    /// Chosen by the training pairs, and by --max-minutes if given.
    Auto,
    /// Smaller model and fewer epochs, for a quick test.
    Fast,
    /// Larger model and more epochs.
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

/// Treatment of the position in hard attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum HardAttention {
    /// Soft attention.
    Off,
    /// Sampled in training, else the position of the largest weight.
    Sampled,
    /// Marginalized exactly.
    Exact,
}

/// Settings of a training. Every field is optional: [`Self::resolve`] chooses unset ones from the data.
///
/// As JSON, the keys are the option names of the command line, and unset fields are absent.
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
#[cfg_attr(
    feature = "cli",
    command(groups = [Self::LIMITS, Self::BY_PRESET].map(|group| clap::ArgGroup::new(group).multiple(true)))
)]
pub struct TrainConfig {
    /// Unicode normalization of both sides [default: nfc].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "FORM", help_heading = "Text"))]
    pub normalize: Option<NormalForm>,

    /// Lowercase both sides; `evaluate` then lowercases the references too.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Text"))]
    pub lowercase: bool,

    /// Tokens that text is split into: subwords, words, characters or letters [default: chosen from the data, for each side].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Text"))]
    pub tokenization: Option<Tokenization>,

    /// Tokenization of the source side [default: --tokenization].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "KIND", help_heading = "Text"))]
    pub source_tokenization: Option<Tokenization>,

    /// Tokenization of the target side [default: --tokenization].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "KIND", help_heading = "Text"))]
    pub target_tokenization: Option<Tokenization>,

    /// Maximum number of tokens per vocabulary; bpe keeps all characters beyond it [default: chosen from the data].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Text"))]
    pub vocabulary_size: Option<usize>,

    /// Strings that are never split, separated by spaces, such as "<2fr> <2de>".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TOKENS", value_delimiter = ' ', help_heading = "Text"))]
    pub protected_tokens: Vec<String>,

    /// Share one vocabulary between both sides.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Text"))]
    pub joint_vocabulary: bool,

    /// Maximum number of tokens per side; longer pairs are skipped [default: 128].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Text"))]
    pub max_length: Option<usize>,

    /// Preset of model size and training length; more specific options override it [default: auto].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Model"))]
    pub preset: Option<Preset>,

    /// Dimension of the embeddings [default: by preset].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = TrainConfig::BY_PRESET, value_name = "N", help_heading = "Model"))]
    pub embedding_size: Option<usize>,

    /// Dimension of the decoder state, an even number; each encoder direction has half of it [default: by preset].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = TrainConfig::BY_PRESET, value_name = "N", help_heading = "Model"))]
    pub hidden_size: Option<usize>,

    /// Dimension of the projected queries and keys, for score functions that project both [default: by preset].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = TrainConfig::BY_PRESET, value_name = "N", help_heading = "Model"))]
    pub attention_size: Option<usize>,

    /// Attention score function [default: additive].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "SCORE", help_heading = "Model"))]
    pub attention: Option<ScoreName>,

    /// Decoder cell [default: conditional].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Model"))]
    pub decoder: Option<DecoderKind>,

    /// Number of attention heads [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Model"))]
    pub heads: Option<usize>,

    /// Softmax temperature of attention: below 1 sharper, above 1 flatter [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Model"))]
    pub attention_temperature: Option<f64>,

    /// Use hard attention: one source token at a time. `sampled`, also without a value, draws it by weight in training with a
    /// straight-through gradient, and otherwise takes the one with the largest weight. `exact` mixes the predictions from each
    /// token, at several times the cost of the output layer. `off` is soft attention [default: exact for single words with
    /// symbols such as phones, otherwise off].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_enum,
            value_name = "HOW",
            num_args = 0..=1,
            default_missing_value = "sampled",
            help_heading = "Model"
        )
    )]
    pub hard_attention: Option<HardAttention>,

    /// Number of encoder layers [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Model"))]
    pub layers: Option<usize>,

    /// Do not tie the output layer's weights to the target embeddings.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Model"))]
    pub no_tied_embeddings: bool,

    /// Source of the decoder's initial state [default: mean].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Model"))]
    pub initial_state: Option<InitialState>,

    /// Dropout rate of embeddings, annotations, states and readout [default: 0.3; 0.5 for single words without features; 0.2 for
    /// few distinct words].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", help_heading = "Training"))]
    pub dropout: Option<f64>,

    /// BPE-dropout: probability of skipping a merge, so that segmentations vary between epochs; bpe only [default: 0.1 below
    /// 5,000 pairs, else 0; 0 for few distinct words].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Training"))]
    pub bpe_dropout: Option<f64>,

    /// Share of pairs to concatenate with another pair, chosen anew in each epoch, for longer training sentences [default: 0.2
    /// for few distinct words, else 0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Training"))]
    pub concat_pairs: Option<f64>,

    /// Share of pairs in which the beginning of the stem becomes that of another word, chosen anew in each epoch, so that forms
    /// of unknown words are learned; needs characters on both sides [default: 0.5 for words with features, else 0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Training"))]
    pub hallucination: Option<f64>,

    /// Number of teachers: further models with other seeds, whose translations of the training sentences the model learns too
    /// (sequence-level knowledge distillation). They are trained first, in the --out directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub teachers: Option<usize>,

    /// Weight of the guided alignment loss, which trains attention on the links of the statistical aligner. 0 disables it and
    /// the lexicon made from the links. Without a number, the weight is 0.5 [default: 0.1 from 2,000 pairs, else 0].
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

    /// Label smoothing: probability mass spread over all tokens [default: 0.1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "E", help_heading = "Training"))]
    pub label_smoothing: Option<f64>,

    /// Decay per step of the exponential moving average (EMA) of the parameters; 0 disables averaging [default: 0.999].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "D", allow_negative_numbers = true, help_heading = "Training"))]
    pub ema_decay: Option<f64>,

    /// Sentence pairs per batch [default: chosen from the data].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", conflicts_with = "batch_tokens", help_heading = "Training")
    )]
    pub batch_sentences: Option<usize>,

    /// Target tokens per batch, instead of --batch-sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub batch_tokens: Option<usize>,

    /// Learning rate of Adam [default: by preset; half of that with --init-from].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = TrainConfig::BY_PRESET, value_name = "R", help_heading = "Training"))]
    pub learning_rate: Option<f64>,

    /// Number of warmup steps of the learning rate [default: 100; 30 with --init-from].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub warmup_steps: Option<u64>,

    /// Learning rate schedule after warmup [default: hold; cosine for single words; plateau with --decay].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Training"))]
    pub schedule: Option<Schedule>,

    /// Factor on the learning rate after two consecutive validations without improvement; only for --schedule plateau
    /// [default: 0.5].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "F", help_heading = "Training"))]
    pub decay: Option<f64>,

    /// Maximum global norm of the gradients; larger ones are clipped [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "R", help_heading = "Training"))]
    pub max_gradient_norm: Option<f64>,

    /// Precision of matrix products on the CPU. Parameters, sums and all other arithmetic are f32 [default: f32].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Training"))]
    pub precision: Option<PrecisionOption>,

    /// Maximum number of epochs [default: chosen from the data].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, groups = [TrainConfig::LIMITS, TrainConfig::BY_PRESET], value_name = "N", help_heading = "Training"))]
    pub max_epochs: Option<u64>,

    /// Time limit in minutes, including preparation and earlier runs [default: none]. The model size is chosen to fit it.
    /// Training stops earlier if further epochs would not help.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = TrainConfig::LIMITS, value_name = "M", help_heading = "Training"))]
    pub max_minutes: Option<f64>,

    /// Minutes between saves of the state for --resume; each validation saves it too [default: 5].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = TrainConfig::LIMITS, value_name = "M", help_heading = "Training"))]
    pub save_every: Option<f64>,

    /// Stop after N consecutive validations without improvement of score or loss [default: 6 with plateau; 10 with
    /// --init-from; else unlimited].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = TrainConfig::LIMITS, value_name = "N", help_heading = "Training"))]
    pub patience: Option<u64>,

    /// Number of steps between validations [default: one epoch].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub validate_every: Option<u64>,

    /// Validation metric that selects the best model [default: bleu; chrf for short texts; exact-match for characters].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Training"))]
    pub metric: Option<Metric>,

    /// Keep the models of the K best validations, each in a directory of its own in kept/ of the --out directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "K", conflicts_with = "keep_last", help_heading = "Training"))]
    pub keep_best: Option<usize>,

    /// Keep the models of the last K validations in the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "K", help_heading = "Training"))]
    pub keep_last: Option<usize>,

    /// Record attention on a few validation pairs at each validation, and show it in attention.html.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Training"))]
    pub keep_attention: bool,

    /// Write event files for TensorBoard to the --out directory.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Training"))]
    pub tensorboard: bool,

    /// Seed of all random numbers [default: 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub seed: Option<u64>,
}

impl TrainConfig {
    /// Group of the limits of a training, which may change when it resumes.
    pub const LIMITS: &str = "limits";
    /// Group of the options whose defaults depend on the preset.
    pub const BY_PRESET: &str = "by_preset";

    /// Names of the options of the model and its text. With a base model, the base model decides them.
    pub const MODEL_OPTIONS: [&str; 20] = [
        "normalize",
        "lowercase",
        "tokenization",
        "source-tokenization",
        "target-tokenization",
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

    /// Returns the precision of products on a CPU or GPU.
    ///
    /// # Errors
    /// bf16 is required on a GPU.
    pub fn precision_on(&self, is_cpu: bool) -> Result<Precision> {
        self.precision.unwrap_or(PrecisionOption::F32).resolve(is_cpu).or_else(usage)
    }

    /// Sets the default weight of guided alignment for links of the user.
    ///
    /// # Errors
    /// The weight is 0, so that the links would have no effect.
    pub fn with_user_links(mut self) -> Result<Self> {
        if self.guided_alignment == Some(0.0) {
            return usage("--guide has no effect with --guided-alignment 0");
        }
        self.guided_alignment.get_or_insert(GUIDED_ALIGNMENT);
        Ok(self)
    }
}
