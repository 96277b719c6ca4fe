//! Text settings of a model.

use serde::{Deserialize, Serialize};

use super::{CopiedWords, Normalization, ProtectedTokens, SentenceSplitter, Tokenization, Truecaser};

/// Text settings of a model: normalization, tokenization and limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextSettings {
    /// Normalization of both sides; none for models saved before this setting existed.
    #[serde(default, alias = "normalisation")]
    pub normalization: Normalization,
    /// Tokenization of source sentences.
    #[serde(alias = "source_units")]
    pub source_tokenization: Tokenization,
    /// Tokenization of target sentences.
    #[serde(alias = "target_units")]
    pub target_tokenization: Tokenization,
    /// Protected tokens of source sentences.
    #[serde(default, alias = "source_atoms", skip_serializing_if = "ProtectedTokens::is_empty")]
    pub source_protected_tokens: ProtectedTokens,
    /// Protected tokens of target sentences.
    #[serde(default, alias = "target_atoms", skip_serializing_if = "ProtectedTokens::is_empty")]
    pub target_protected_tokens: ProtectedTokens,
    /// Splitter of text to translate into sentences.
    #[serde(default, skip_serializing_if = "SentenceSplitter::is_default")]
    pub sentences: SentenceSplitter,
    /// Usual case of the words of source sentences.
    #[serde(default, skip_serializing_if = "Truecaser::is_empty")]
    pub truecaser: Truecaser,
    /// Words that stand in for words to copy.
    #[serde(default, skip_serializing_if = "CopiedWords::is_empty")]
    pub copied: CopiedWords,
    /// True if both sides share one vocabulary.
    pub joint_vocabulary: bool,
    /// Maximum number of tokens of a side in training; longer pairs are omitted.
    pub max_length: usize,
}

impl TextSettings {
    /// True if both sides have character tokens.
    pub fn are_both_characters(&self) -> bool {
        self.source_tokenization.are_characters() && self.target_tokenization.are_characters()
    }

    /// True if a side has subwords, whose segmentation can vary.
    pub fn has_subwords(&self) -> bool {
        [self.source_tokenization, self.target_tokenization].contains(&Tokenization::Bpe)
    }

    /// True if a side has character tokens, so that its space-separated words cannot be aligned.
    pub fn has_character_tokens(&self) -> bool {
        self.source_tokenization.are_characters() || self.target_tokenization.are_characters()
    }
}
