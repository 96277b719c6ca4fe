//! Sizes and variants of a model, and the parameters that follow.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::attention::{AttentionConfig, AttentionDims};
use crate::parameters::{Init, ParameterSpec};
use crate::text::SPECIALS;

/// Largest accepted size of a layer.
pub const MAX_SIZE: usize = 8192;
/// Largest accepted number of encoder layers.
pub const MAX_LAYERS: usize = 32;
/// Largest accepted vocabulary.
const MAX_VOCABULARY: usize = 10_000_000;

/// Summary of the annotations that initializes the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum InitialState {
    /// Mean of all annotations.
    Mean,
    /// Backward encoder state at the first word (Bahdanau et al. 2014, appendix A.2.2).
    #[cfg_attr(feature = "cli", value(alias = "backward_first"))]
    BackwardFirst,
}

/// Recurrence of the decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum DecoderKind {
    /// One GRU cell: attention is queried by the state before the previous word (Bahdanau et al. 2014).
    Bahdanau,
    /// Two GRU cells: the first reads the previous word and queries attention, the second the context (Sennrich et al.
    /// 2017).
    #[default]
    Conditional,
}

/// Sizes and variants of a model. Saved in config.json.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Architecture {
    /// Size of the source vocabulary.
    pub source_vocabulary: usize,
    /// Size of the target vocabulary.
    pub target_vocabulary: usize,
    /// e: size of both embeddings and of the readout.
    pub embedding_size: usize,
    /// n: size of the decoder's state and of the annotations; each encoder direction has n/2.
    pub hidden_size: usize,
    /// a: size of projected queries and keys.
    pub attention_size: usize,
    /// Number of encoder layers.
    pub layers: usize,
    /// Ties the output layer's matrix to the target embedding.
    pub tied_output: bool,
    /// Summary that initializes the decoder.
    pub initial_state: InitialState,
    /// Biases the output by a [`TokenLexicon`](super::TokenLexicon).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lexicon: bool,
    /// Recurrence of the decoder. Omitted from config.json for the paper's, as in models saved before there was a
    /// choice.
    #[serde(default = "DecoderKind::unrecorded", skip_serializing_if = "DecoderKind::is_unrecorded")]
    pub decoder: DecoderKind,
    /// Attention. Omitted from config.json for the paper's, as in models saved before there was a choice.
    #[serde(default, skip_serializing_if = "AttentionConfig::is_default")]
    pub attention: AttentionConfig,
}

/// Name of a parameter of an encoder cell; `direction` is 0 for forward, 1 for backward.
pub(super) fn encoder_cell_param(part: &str, layer: usize, direction: usize) -> String {
    format!("encoder.{part}_l{layer}{}", ["", "_reverse"][direction])
}

/// Adds the cells of all encoder layers, for embeddings of size e and annotations of size n.
fn add_encoder(spec: &mut ParameterSpec, layers: usize, e: usize, n: usize) {
    for layer in 0..layers {
        let (inputs, half) = (if layer == 0 { e } else { n }, n / 2);
        for direction in 0..2 {
            spec.gru(|part| encoder_cell_param(part, layer, direction), inputs, half);
        }
    }
}

/// Name of a parameter of the decoder's cell that consumes the word.
pub(super) fn word_cell_param(part: &str) -> String {
    format!("decoder.cell.{part}")
}

/// Name of a parameter of the decoder's cell that consumes the context.
pub(super) fn context_cell_param(part: &str) -> String {
    format!("decoder.context_cell.{part}")
}

impl fmt::Display for DecoderKind {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bahdanau => "bahdanau",
            Self::Conditional => "conditional",
        })
    }
}

impl DecoderKind {
    /// Decoder of models whose config.json names none.
    fn unrecorded() -> Self {
        Self::Bahdanau
    }

    fn is_unrecorded(&self) -> bool {
        *self == Self::unrecorded()
    }
}

impl Architecture {
    /// Returns the sizes that attention depends on.
    pub fn dimensions(&self) -> AttentionDims {
        AttentionDims { hidden: self.hidden_size, attention: self.attention_size }
    }

    /// Checks sizes and variants.
    ///
    /// # Errors
    /// Describes the valid values.
    pub fn check(&self) -> Result<(), String> {
        let sizes = [self.embedding_size, self.hidden_size, self.attention_size];
        if sizes.iter().any(|size| !(1..=MAX_SIZE).contains(size)) || !self.hidden_size.is_multiple_of(2) {
            return Err(format!("sizes must be between 1 and {MAX_SIZE}, and the hidden size even"));
        }
        if !(1..=MAX_LAYERS).contains(&self.layers) {
            return Err(format!("there must be between 1 and {MAX_LAYERS} layers, not {}", self.layers));
        }
        let least = SPECIALS.len();
        if [self.source_vocabulary, self.target_vocabulary].iter().any(|size| !(least..=MAX_VOCABULARY).contains(size))
        {
            return Err(format!("vocabularies must have between {least} and {MAX_VOCABULARY} tokens"));
        }
        self.attention.check(self.dimensions())
    }

    /// Size of the summary that initializes the decoder.
    pub fn summary_size(&self) -> usize {
        match self.initial_state {
            InitialState::Mean => self.hidden_size,
            InitialState::BackwardFirst => self.hidden_size / 2,
        }
    }

    /// Name of the output layer's matrix: its own, or the target embedding.
    pub fn output_weight(&self) -> &'static str {
        if self.tied_output { "target_embedding.weight" } else { "output.weight" }
    }

    /// Returns the vocabulary that a parameter has one row per token of, 0 for source and 1 for target, if any.
    pub fn vocabulary_side(name: &str) -> Option<usize> {
        match name {
            "source_embedding.weight" => Some(0),
            "target_embedding.weight" | "output.weight" | "output.bias" => Some(1),
            _ => None,
        }
    }

    /// Returns the specification of all parameters.
    pub fn parameter_spec(&self) -> ParameterSpec {
        let Self { embedding_size: e, hidden_size: n, .. } = *self;
        let spread = Init::Normal((e as f64).powf(-0.5));
        let mut spec = ParameterSpec::default();
        spec.add("source_embedding.weight", &[self.source_vocabulary, e], spread);
        spec.add("target_embedding.weight", &[self.target_vocabulary, e], spread);
        add_encoder(&mut spec, self.layers, e, n);
        spec.linear("decoder.initial", n, self.summary_size());
        self.attention.add_parameters(&mut spec, self.dimensions());
        match self.decoder {
            DecoderKind::Bahdanau => spec.gru(word_cell_param, e + n, n),
            DecoderKind::Conditional => {
                spec.gru(word_cell_param, e, n);
                spec.gru(context_cell_param, n, n);
            }
        }
        spec.linear("readout", e, n + e + n);
        if !self.tied_output {
            spec.add("output.weight", &[self.target_vocabulary, e], spread);
        }
        spec.add("output.bias", &[self.target_vocabulary], Init::Constant(0.0));
        spec
    }

    /// Total number of parameter values.
    pub fn parameter_count(&self) -> usize {
        self.parameter_spec().count()
    }
}
