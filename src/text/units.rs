//! The kinds of units that text is cut into.

use serde::{Deserialize, Serialize};

use super::WordSplitting;

/// `<pad>`: fills up short rows of a batch.
pub const PADDING: u32 = 0;
/// `<s>`: stands before the first target unit.
pub const BEGIN: u32 = 1;
/// `</s>`: ends every sequence.
pub const END: u32 = 2;
/// The units that stand for no text, by id.
pub const SPECIALS: [&str; 4] = ["<pad>", "<s>", "</s>", "<unk>"];

/// The mark of a space inside units.
pub(super) const SPACE: &str = "▁";

/// What a sentence is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Units {
    /// Pieces of words by byte-pair encoding (Sennrich et al. 2016): the usual choice for sentences.
    Bpe,
    /// Whole words, punctuation apart.
    Word,
    /// Single characters: for pronunciation, inflection and the like.
    Char,
}

impl Units {
    /// What counts as a word of such a text, where nothing else is asked for: of characters each is one, since what
    /// stands between spaces is usually all there is.
    pub fn words(self) -> WordSplitting {
        match self {
            Self::Bpe | Self::Word => WordSplitting::Whitespace,
            Self::Char => WordSplitting::Characters,
        }
    }

    /// How text falls apart before units are looked up. The two joiners keep Persian and Indic words whole.
    pub(super) fn pattern(self) -> &'static str {
        match self {
            // Letters with inner apostrophes (merges find l' and 's by themselves), digits, anything else.
            Self::Bpe => {
                "▁?[\\p{L}\\p{M}\u{200c}\u{200d}]+(?:['’][\\p{L}\\p{M}\u{200c}\u{200d}]+)*|▁?\\p{N}+|▁?[^▁\\p{L}\\p{M}\\p{N}\u{200c}\u{200d}]+|▁"
            }
            Self::Word => "▁?[\\p{L}\\p{M}\\p{N}\u{200c}\u{200d}]+|▁?[^▁\\p{L}\\p{M}\\p{N}\u{200c}\u{200d}]|▁",
            Self::Char => "[\\s\\S]",
        }
    }
}
