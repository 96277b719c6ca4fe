//! Names and help texts of the values that options take. The types belong to the library, which does not depend on clap
//! there.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::alignment::Symmetrization;
use crate::attention::ScoreName;
use crate::model::{DecoderKind, InitialState};
use crate::search::LengthFormula;
use crate::text::{NoiseKind, NormalForm, Units, WordSplitting};
use crate::training::{Metric, Schedule};
use crate::translator::LinksFrom;

/// Returns a possible value with its help text.
fn choice(name: &'static str, help: &'static str) -> Option<PossibleValue> {
    // JSON files spell names with underscores.
    Some(PossibleValue::new(name).help(help).alias(name.replace('-', "_")))
}

impl ValueEnum for Units {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Bpe, Self::Word, Self::Char]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Bpe => choice("bpe", "Subwords by byte-pair encoding (Sennrich et al. 2016), suited to sentences"),
            Self::Word => choice("word", "Words, with punctuation split off"),
            Self::Char => choice("char", "Characters, suited to pronunciation and inflection"),
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
            Self::Wu => choice("wu", "log p / ((5 + length) / 6)^A (Wu et al. 2016)"),
            Self::Reward => choice("reward", "log p + A * length (He et al. 2016)"),
        }
    }
}

impl ValueEnum for NormalForm {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Nfc, Self::Nfkc, Self::None]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Nfc => choice("nfc", "Canonical composition: e with a combining accent becomes é"),
            Self::Nfkc => choice(
                "nfkc",
                "Compatibility composition: also replaces the ligature ﬁ with fi and full-width with ordinary letters",
            ),
            Self::None => choice("none", "No normalization: the same word in two forms is two words"),
        }
    }
}

impl ValueEnum for NoiseKind {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let meaning = match self {
            Self::Empty => "A side has no words",
            Self::Long => "A side has more words than --max-words",
            Self::Identical => "Both sides are identical",
            Self::Duplicate => "The pair occurred before",
            Self::Script => "A side is mostly in a script that is unusual for that side",
            Self::Proportion => "The length ratio of the sides exceeds --max-proportion",
            Self::Suspicious => "The words align worse than those of other pairs; see --noisy",
        };
        choice(self.name(), meaning)
    }
}

impl ValueEnum for WordSplitting {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Whitespace, Self::Punctuation]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Whitespace => choice("whitespace", "Split at whitespace"),
            Self::Punctuation => choice(
                "punctuation",
                "Split at whitespace, and split punctuation and symbols off both ends of words, not inside, as in \
                 `l'été` or `well-known`",
            ),
            // No user option: they follow from the model's units and from the purpose.
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
            Self::Auto => choice("auto", "Attention, combined with the model's statistical aligner if there is one"),
            Self::Attention => choice("attention", "Attention only"),
            Self::Hmm => choice("hmm", "The model's statistical aligner (HMM) only"),
            Self::Pairs => choice("pairs", "A statistical aligner trained on the given pairs only; needs no model"),
        }
    }
}

impl ValueEnum for Symmetrization {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Intersection, Self::Union, Self::GrowDiag, Self::GrowDiagFinal, Self::GrowDiagFinalAnd]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Intersection => choice("intersection", "Links in both directions: high precision"),
            Self::Union => choice("union", "Links in either direction: high recall"),
            Self::GrowDiag => choice(
                "grow-diag",
                "The intersection, extended by neighboring links of the union that cover an unlinked word, in the order \
                 of Moses' symal",
            ),
            Self::GrowDiagFinal => choice(
                "grow-diag-final",
                "grow-diag, extended by links of either direction that cover an unlinked word",
            ),
            Self::GrowDiagFinalAnd => choice(
                "grow-diag-final-and",
                "grow-diag, extended by links of either direction between two unlinked words",
            ),
        }
    }
}

impl ValueEnum for InitialState {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Mean, Self::BackwardFirst]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Mean => choice("mean", "Mean of all annotations"),
            Self::BackwardFirst => choice(
                "backward-first",
                "Backward encoder state at the first word (Bahdanau et al. 2014, appendix A.2.2)",
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
            Self::Bahdanau => choice(
                "bahdanau",
                "One GRU cell: attention is queried by the state before the previous word (Bahdanau et al. 2014)",
            ),
            Self::Conditional => choice(
                "conditional",
                "Two GRU cells: the first reads the previous word and queries attention, the second the context",
            ),
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
                "Constant, then cosine decay to 0 in the last two fifths of the planned epochs or minutes",
            ),
            Self::Cosine => choice("cosine", "Cosine decay to 0 over all of them"),
            Self::Plateau => choice("plateau", "Multiplied by --decay when validations stop improving"),
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
