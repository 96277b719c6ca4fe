//! Options of the model and its text.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::option_names::option_names;
use super::ranges::within;
use crate::attention::{AttentionMode, ScoreName};
use crate::error::usage_of;
use crate::model::{Architecture, DecoderKind, InitialState, MAX_LAYERS, MAX_SIZE};
use crate::text::{NormalForm, Normalization, SPECIALS, TextSettings, Tokenization};

const MAX_VOCABULARY: usize = 1_000_000;

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

impl Preset {
    /// Group of the options whose defaults depend on the preset.
    pub const GROUP: &str = "by_preset";
}

/// Options of the model and its text. With a base model, the base model decides them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ModelConfig {
    /// Unicode normalization of both sides [default: nfc].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "FORM", help_heading = "Text"))]
    pub normalize: Option<NormalForm>,

    /// Lowercase both sides; `evaluate` then lowercases the references too.
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Text"))]
    pub lowercase: bool,

    /// Tokens that text is split into: subwords, words, characters or letters [default: chosen from the data, for each side].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "KIND", help_heading = "Text"))]
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

    /// Preset of model size and training length; more specific options override it [default: auto].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_enum, help_heading = "Model"))]
    pub preset: Option<Preset>,

    /// Dimension of the embeddings [default: by preset].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = Preset::GROUP, value_name = "N", help_heading = "Model"))]
    pub embedding_size: Option<usize>,

    /// Dimension of the decoder state, an even number; each encoder direction has half of it [default: by preset].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = Preset::GROUP, value_name = "N", help_heading = "Model"))]
    pub hidden_size: Option<usize>,

    /// Dimension of the projected queries and keys, for score functions that project both [default: by preset].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = Preset::GROUP, value_name = "N", help_heading = "Model"))]
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
    #[serde(skip_serializing_if = "Option::is_none", with = "super::hard_attention")]
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
    pub hard_attention: Option<AttentionMode>,

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
}

impl ModelConfig {
    /// Returns the names of these options on the command line and in JSON, in the order of the help.
    pub fn option_names() -> &'static [&'static str] {
        option_names::<Self>()
    }

    /// Returns the normalization of both sides' text.
    pub fn normalization(&self) -> Normalization {
        Normalization { form: self.normalize.unwrap_or(NormalForm::Nfc), lowercase: self.lowercase }
    }

    /// Returns the tokenizations of source and target, if they are given.
    pub(super) fn tokenizations(&self) -> [Option<Tokenization>; 2] {
        [self.source_tokenization, self.target_tokenization].map(|own| own.or(self.tokenization))
    }

    /// Returns the options that a base model has, with the vocabulary size and protected tokens of these, which apply to a
    /// vocabulary that is learned or extended.
    #[must_use]
    pub fn initialized_from(&self, text: &TextSettings, model: &Architecture) -> Self {
        let attention = &model.attention;
        let same_tokenization = text.source_tokenization == text.target_tokenization;
        Self {
            normalize: Some(text.normalization.form),
            lowercase: text.normalization.lowercase,
            tokenization: same_tokenization.then_some(text.source_tokenization),
            source_tokenization: (!same_tokenization).then_some(text.source_tokenization),
            target_tokenization: (!same_tokenization).then_some(text.target_tokenization),
            vocabulary_size: self.vocabulary_size,
            protected_tokens: self.protected_tokens.clone(),
            joint_vocabulary: text.joint_vocabulary,
            preset: None,
            embedding_size: Some(model.embedding_size),
            hidden_size: Some(model.hidden_size),
            attention_size: Some(model.attention_size),
            attention: Some(attention.score),
            decoder: Some(model.decoder),
            heads: Some(attention.heads),
            attention_temperature: Some(attention.temperature),
            // The largest weight alone is taken only at inference.
            hard_attention: Some(if attention.mode == AttentionMode::Hardest {
                AttentionMode::Soft
            } else {
                attention.mode
            }),
            layers: Some(model.layers),
            no_tied_embeddings: !model.tied_output,
            initial_state: Some(model.initial_state),
        }
    }

    /// Checks the options as far as they do not depend on the data.
    ///
    /// # Errors
    /// A [`crate::error::UsageError`] names the option.
    pub(super) fn validate(&self) -> Result<()> {
        within("vocabulary-size", self.vocabulary_size, SPECIALS.len() + 1, MAX_VOCABULARY)?;
        if let [Some(source), Some(target)] = self.tokenizations() {
            self.check_joint(source, target)?;
        }
        within("hidden-size", self.hidden_size, 1, MAX_SIZE)?;
        if let Some(odd) = self.hidden_size.filter(|size| !size.is_multiple_of(2)) {
            return usage_of("hidden-size", format!("{odd} is odd; each encoder direction has half of it"));
        }
        within("embedding-size", self.embedding_size, 1, MAX_SIZE)?;
        within("attention-size", self.attention_size, 1, MAX_SIZE)?;
        within("layers", self.layers, 1, MAX_LAYERS)
    }

    /// Checks that a joint vocabulary is possible.
    ///
    /// # Errors
    /// The sides have different tokenizations.
    pub(super) fn check_joint(&self, source: Tokenization, target: Tokenization) -> Result<()> {
        if self.joint_vocabulary && source != target {
            return usage_of("joint-vocabulary", "needs the same tokenization on both sides");
        }
        Ok(())
    }
}
