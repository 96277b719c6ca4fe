//! The model's sizes, and what parameters they mean.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::attention::{AttentionConfig, AttentionDims};
use crate::parameters::{Init, ParameterSpec};
use crate::text::SPECIALS;

/// The largest size that is believed: beyond what a CPU trains in a lifetime.
pub const MAX_SIZE: usize = 8192;
/// The most encoder layers that are believed.
pub const MAX_LAYERS: usize = 32;
/// The most units of a vocabulary that are believed.
const MAX_VOCABULARY: usize = 10_000_000;

/// What the decoder's first state is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InitialState {
    /// The mean of all annotations.
    Mean,
    /// The backward encoder's state at the first word, as in the paper's appendix A.2.2.
    BackwardFirst,
}

/// How the decoder takes in the last word and the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecoderKind {
    /// Both at once, in one cell; what asks has not seen the last word (Bahdanau et al. 2014, appendix A.2.2).
    #[default]
    Bahdanau,
    /// The word in one cell, whose state asks, and then the context in another (Sennrich et al. 2017, "Nematus", section
    /// 2: the conditional GRU).
    Conditional,
}

/// Everything that decides the shapes of the parameters, and what is computed with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Architecture {
    /// Source units.
    pub source_vocabulary: usize,
    /// Target units.
    pub target_vocabulary: usize,
    /// Dimension of both embeddings and of the readout.
    pub embedding_size: usize,
    /// n: the decoder's state and the annotations; each encoder direction has n/2.
    pub hidden_size: usize,
    /// Dimension in which queries and keys are compared, where they are projected for it.
    pub attention_size: usize,
    /// Encoder layers.
    pub layers: usize,
    /// Whether the output layer's matrix is the target embedding.
    pub tied_output: bool,
    /// Source of the decoder's first state.
    pub initial_state: InitialState,
    /// Whether translations of units that are known beforehand weigh on the output; see [`UnitLexicon`](super::UnitLexicon).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lexicon: bool,
    /// The decoder's recurrence. Left out where it is the paper's, as it is in models that know of no other.
    #[serde(default, skip_serializing_if = "DecoderKind::is_default")]
    pub decoder: DecoderKind,
    /// Which attention. Left out where it is the paper's, as it is in models that know of no other.
    #[serde(default, skip_serializing_if = "AttentionConfig::is_default")]
    pub attention: AttentionConfig,
}

/// The name of a part of a cell, of the forward direction (0) or the backward one (1) of a layer.
pub(super) fn encoder_cell_param(part: &str, layer: usize, direction: usize) -> String {
    format!("encoder.{part}_l{layer}{}", ["", "_reverse"][direction])
}

/// Plans the cells of all layers, for embeddings of size e and annotations of size n.
fn add_encoder(spec: &mut ParameterSpec, layers: usize, e: usize, n: usize) {
    for layer in 0..layers {
        let (inputs, half) = (if layer == 0 { e } else { n }, n / 2);
        for direction in 0..2 {
            spec.gru(|part| encoder_cell_param(part, layer, direction), inputs, half);
        }
    }
}

/// The name of a part of the decoder's cell, the one that takes in the word.
pub(super) fn word_cell_param(part: &str) -> String {
    format!("decoder.cell.{part}")
}

/// The name of a part of the cell that takes in the context.
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
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Architecture {
    /// The sizes that attention meets.
    pub fn dimensions(&self) -> AttentionDims {
        AttentionDims { hidden: self.hidden_size, attention: self.attention_size }
    }

    /// Says what is wrong with the sizes, if anything is.
    ///
    /// # Errors
    /// What is allowed, in words.
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
            return Err(format!("vocabularies must have between {least} and {MAX_VOCABULARY} units"));
        }
        self.attention.check(self.dimensions())
    }

    /// How many numbers the decoder's first state is made from.
    pub fn summary_size(&self) -> usize {
        match self.initial_state {
            InitialState::Mean => self.hidden_size,
            InitialState::BackwardFirst => self.hidden_size / 2,
        }
    }

    /// The output layer's matrix by name: its own, or the target embedding.
    pub fn output_weight(&self) -> &'static str {
        if self.tied_output { "target_embedding.weight" } else { "output.weight" }
    }

    /// Which side's units a parameter has a row for, 0 being the source's and 1 the target's, if it has rows of units.
    pub fn vocabulary_side(name: &str) -> Option<usize> {
        match name {
            "source_embedding.weight" => Some(0),
            "target_embedding.weight" | "output.weight" | "output.bias" => Some(1),
            _ => None,
        }
    }

    /// Every parameter of the model.
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

    /// How many numbers the parameters hold in all.
    pub fn parameter_count(&self) -> usize {
        self.parameter_spec().count()
    }
}
