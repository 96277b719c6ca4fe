//! What the command line calls the choices that the library offers, and what `--help` says of each.
//!
//! The library knows nothing of a command line, so clap's trait is implemented here.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::alignment::Symmetrisation;
use crate::attention::ScoreName;
use crate::model::{DecoderKind, InitialState};
use crate::search::LengthFormula;
use crate::text::{Defect, NormalForm, Units, Words};
use crate::training::{Metric, Schedule};
use crate::translator::LinksFrom;

/// A choice by its name, with what it means.
fn choice(name: &'static str, help: &'static str) -> Option<PossibleValue> {
    // JSON spells names with underscores, and a file of options may come from there.
    Some(PossibleValue::new(name).help(help).alias(name.replace('-', "_")))
}

impl ValueEnum for Units {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Bpe, Self::Word, Self::Char]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Bpe => choice(
                "bpe",
                "Pieces of words by byte-pair encoding (Sennrich et al. 2016): the usual choice for sentences",
            ),
            Self::Word => choice("word", "Whole words, punctuation apart"),
            Self::Char => choice("char", "Single characters: for pronunciation, inflection and the like"),
        }
    }
}

impl ValueEnum for LengthFormula {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Power, Self::Wu, Self::Reward]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Power => choice("power", "log p / length^A"),
            Self::Wu => choice("wu", "log p / ((5 + length) / 6)^A, Wu et al. 2016"),
            Self::Reward => choice("reward", "log p + A * length, He et al. 2016"),
        }
    }
}

impl ValueEnum for NormalForm {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Nfc, Self::Nfkc, Self::None]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Nfc => choice("nfc", "Composed: e and an accent are é"),
            Self::Nfkc => choice(
                "nfkc",
                "Composed, and what stands for other characters as these: the ligature ﬁ is fi, wide letters are plain",
            ),
            Self::None => choice("none", "As the text has them: the same word in two forms is two words"),
        }
    }
}

impl ValueEnum for Defect {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let meaning = match self {
            Self::Empty => "A side has no words",
            Self::Long => "A side has more words than --max-words",
            Self::Identical => "Both sides are the same",
            Self::Duplicate => "The pair has been there before",
            Self::Script => "A side is mostly in a script that is not the side's own",
            Self::Proportion => "A side is longer than --max-proportion allows",
            Self::Suspicious => "Its words belong together less than those of other pairs; see --noisy",
        };
        choice(self.name(), meaning)
    }
}

impl ValueEnum for Words {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Whitespace, Self::Punctuation]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Whitespace => choice("whitespace", "Whatever stands between white space"),
            Self::Punctuation => choice(
                "punctuation",
                "The same with the punctuation and symbols at its ends apart; what stands inside, as in `l'été` or \
                 `well-known`, stays",
            ),
            // Not to be asked for: they follow from what a model's text is cut into, and from what is looked for.
            Self::Terms | Self::Characters => None,
        }
    }
}

impl ValueEnum for LinksFrom {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Auto, Self::Attention, Self::Hmm, Self::Pairs]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Auto => choice(
                "auto",
                "Attention and the statistical aligner that was learnt with the model, where there is one",
            ),
            Self::Attention => choice("attention", "Attention alone"),
            Self::Hmm => choice("hmm", "The statistical aligner alone"),
            Self::Pairs => {
                choice("pairs", "A statistical aligner that is learnt from the given pairs alone; no model is needed")
            }
        }
    }
}

impl ValueEnum for Symmetrisation {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Intersection, Self::Union, Self::GrowDiag, Self::GrowDiagFinal, Self::GrowDiagFinalAnd]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Intersection => choice("intersection", "Those of both: few and sure"),
            Self::Union => choice("union", "Those of either: many"),
            Self::GrowDiag => choice(
                "grow-diag",
                "The intersection, and what of the union lies beside a link and links a word that had none, tried in the \
                 order of Moses' symal",
            ),
            Self::GrowDiagFinal => choice(
                "grow-diag-final",
                "The same, and then what of either direction links two words of which one has none",
            ),
            Self::GrowDiagFinalAnd => choice("grow-diag-final-and", "The same, but only where both words have none"),
        }
    }
}

impl ValueEnum for InitialState {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Mean, Self::BackwardFirst]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Mean => choice("mean", "The mean of all annotations"),
            Self::BackwardFirst => choice(
                "backward-first",
                "The backward encoder's state at the first word, as in the paper's appendix A.2.2",
            ),
        }
    }
}

impl ValueEnum for ScoreName {
    fn value_variants<'a>() -> &'a [Self] {
        Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        choice(self.name(), self.about())
    }
}

impl ValueEnum for DecoderKind {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Bahdanau, Self::Conditional]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Bahdanau => {
                choice("bahdanau", "Both in one cell, so that attention asks before the last word is known")
            }
            Self::Conditional => {
                choice("conditional", "The word in one cell, whose state asks, then the context in another")
            }
        }
    }
}

impl ValueEnum for Schedule {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Hold, Self::Cosine, Self::Plateau]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Hold => choice(
                "hold",
                "Stays, then falls to nothing in the last two fifths of the epochs or the minutes planned",
            ),
            Self::Cosine => choice("cosine", "Falls to nothing over all of them"),
            Self::Plateau => choice("plateau", "Falls by --decay whenever validations bring nothing better"),
        }
    }
}

impl ValueEnum for Metric {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Bleu, Self::Chrf, Self::ExactMatch, Self::Perplexity]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Bleu => choice("bleu", "BLEU of greedy translations"),
            Self::Chrf => choice("chrf", "chrF of greedy translations"),
            Self::ExactMatch => choice("exact-match", "Share of greedy translations that equal the reference"),
            Self::Perplexity => choice("perplexity", "Perplexity of the references"),
        }
    }
}
