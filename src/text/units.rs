//! Kinds of units of a vocabulary.

use serde::{Deserialize, Serialize};

use super::WordSplitting;

/// `<pad>`: fills short rows of a batch.
pub const PADDING: u32 = 0;
/// `<s>`: precedes the first target unit.
pub const BEGIN: u32 = 1;
/// `</s>`: ends every sequence.
pub const END: u32 = 2;
/// Special units, by id.
pub const SPECIALS: [&str; 4] = ["<pad>", "<s>", "</s>", "<unk>"];

/// Mark of a space in units.
pub(super) const SPACE: &str = "▁";

/// Kind of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Units {
    /// Subwords by byte-pair encoding (Sennrich et al. 2016), suited to sentences.
    Bpe,
    /// Words, with punctuation split off.
    Word,
    /// Characters, suited to pronunciation and inflection.
    Char,
}

impl Units {
    /// Returns the default word splitting. With character units each character is a word, since such texts are usually
    /// single words.
    pub fn words(self) -> WordSplitting {
        match self {
            Self::Bpe | Self::Word => WordSplitting::Whitespace,
            Self::Char => WordSplitting::Characters,
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
            Self::Char => "[\\s\\S]",
        }
    }
}
