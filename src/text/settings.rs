//! Text settings of a model.

use serde::{Deserialize, Serialize};

use super::{Normalization, ProtectedTokens, Units};

/// Text settings of a model: normalization, units and limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextSettings {
    /// What is made of both sides' text first; nothing by models of before.
    #[serde(default, alias = "normalisation")]
    pub normalization: Normalization,
    /// What source sentences are cut into.
    pub source_units: Units,
    /// What target sentences are cut into.
    pub target_units: Units,
    /// Pieces of source sentences that are never cut.
    #[serde(default, alias = "source_atoms", skip_serializing_if = "ProtectedTokens::is_empty")]
    pub source_protected_tokens: ProtectedTokens,
    /// Pieces of target sentences that are never cut.
    #[serde(default, alias = "target_atoms", skip_serializing_if = "ProtectedTokens::is_empty")]
    pub target_protected_tokens: ProtectedTokens,
    /// Whether both sides share one vocabulary.
    pub joint_vocabulary: bool,
    /// Units of a side that training takes at most; longer pairs are left out.
    pub max_length: usize,
}

impl TextSettings {
    /// Whether a side's units are characters: then what stands between spaces is no word that could be aligned.
    pub fn of_characters(&self) -> bool {
        [self.source_units, self.target_units].contains(&Units::Char)
    }
}
