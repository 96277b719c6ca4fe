//! Text settings of a model.

use serde::{Deserialize, Serialize};

use super::{Normalization, ProtectedTokens, Units};

/// Text settings of a model: normalization, units and limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextSettings {
    /// Normalization of both sides; none for models saved before this setting existed.
    #[serde(default, alias = "normalisation")]
    pub normalization: Normalization,
    /// Kind of source units.
    pub source_units: Units,
    /// Kind of target units.
    pub target_units: Units,
    /// Protected tokens of source sentences.
    #[serde(default, alias = "source_atoms", skip_serializing_if = "ProtectedTokens::is_empty")]
    pub source_protected_tokens: ProtectedTokens,
    /// Protected tokens of target sentences.
    #[serde(default, alias = "target_atoms", skip_serializing_if = "ProtectedTokens::is_empty")]
    pub target_protected_tokens: ProtectedTokens,
    /// True if both sides share one vocabulary.
    pub joint_vocabulary: bool,
    /// Maximum number of units of a side in training; longer pairs are omitted.
    pub max_length: usize,
}

impl TextSettings {
    /// True if both sides have character units.
    pub fn are_both_characters(&self) -> bool {
        self.source_units.are_characters() && self.target_units.are_characters()
    }

    /// True if a side has subwords, whose segmentation can vary.
    pub fn has_subwords(&self) -> bool {
        [self.source_units, self.target_units].contains(&Units::Bpe)
    }

    /// True if a side has character units, so that its space-separated words cannot be aligned.
    pub fn has_character_units(&self) -> bool {
        self.source_units.are_characters() || self.target_units.are_characters()
    }
}
