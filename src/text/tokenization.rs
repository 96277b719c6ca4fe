//! Tokenizations: what a vocabulary splits text into.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::composition::decomposed;
use super::{PhraseBoundaries, WordSplitting};

/// `<pad>`: fills short rows of a batch.
pub const PADDING: u32 = 0;
/// `<s>`: precedes the first target token.
pub const BEGIN: u32 = 1;
/// `</s>`: ends every sequence.
pub const END: u32 = 2;
/// Special tokens, by id.
pub const SPECIALS: [&str; 4] = ["<pad>", "<s>", "</s>", "<unk>"];

/// Mark of a space in tokens.
pub(super) const SPACE: &str = "▁";

/// What text is split into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Tokenization {
    /// Subwords by byte-pair encoding (Sennrich et al. 2016), suited to sentences.
    Bpe,
    /// Words, with punctuation split off.
    Word,
    /// Characters, suited to pronunciation and inflection.
    Char,
    /// Characters decomposed into letters and marks (NFD), suited to Korean, whose syllables consist of letters.
    Letter,
}

impl Tokenization {
    /// Returns the default word splitting. With characters as tokens each of them is a word, since such texts are usually
    /// single words.
    pub fn words(self) -> WordSplitting {
        match self {
            Self::Bpe | Self::Word => WordSplitting::Script,
            Self::Char | Self::Letter => WordSplitting::Characters,
        }
    }

    /// Places where phrases begin and end.
    pub(super) fn phrase_boundaries(self) -> PhraseBoundaries {
        match self {
            Self::Bpe | Self::Word => PhraseBoundaries::Words,
            Self::Char => PhraseBoundaries::Tokens,
            Self::Letter => PhraseBoundaries::Characters,
        }
    }

    /// True for characters, decomposed or not, which do not join to words.
    pub fn are_characters(self) -> bool {
        matches!(self, Self::Char | Self::Letter)
    }

    /// Returns a text as the tokens write it: decomposed if they are letters.
    pub(super) fn written(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Bpe | Self::Word | Self::Char => text.into(),
            Self::Letter => decomposed(text).into(),
        }
    }

    /// Returns the regular expression that pre-tokenizes text. The two joiners keep Persian and Indic words whole.
    pub(super) fn pattern(self) -> &'static str {
        match self {
            // Letters with inner apostrophes (merges learn l' and 's), digits, anything else.
            Self::Bpe => {
                "▁?[\\p{L}\\p{M}\u{200c}\u{200d}]+(?:['’][\\p{L}\\p{M}\u{200c}\u{200d}]+)*|▁?\\p{N}+|▁?[^▁\\p{L}\\p{M}\\p{N}\u{200c}\u{200d}]+|▁"
            }
            Self::Word => "▁?[\\p{L}\\p{M}\\p{N}\u{200c}\u{200d}]+|▁?[^▁\\p{L}\\p{M}\\p{N}\u{200c}\u{200d}]|▁",
            Self::Char | Self::Letter => "[\\s\\S]",
        }
    }
}
