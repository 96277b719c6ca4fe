//! How good a translation is, in the numbers of the field.
//!
//! Hypotheses (what the model wrote) are scored against one reference each (what a person
//! wrote): BLEU and chrF exactly as sacrebleu 2.x computes them, word and character error rate,
//! the share of exact matches, and perplexity. Every score but perplexity is in percent, and
//! every one is a corpus score: counts are summed over all segments first and divided
//! once, because a mean of segment scores would give a two-word sentence the weight of a long one.
//!
//! How sure a score is, and whether one system's differs from another's by more than chance, is asked by
//! drawing segments anew (`significance.rs`).
//!
//! Hypotheses and references are parallel slices; slices of different length are a mistake of
//! the caller, caught in debug builds.
//!
//! This module knows strings and numbers only: no tensors, no files, no command line.

mod bleu;
mod chrf;
mod counts;
mod edit_distance;
mod length_classes;
mod ngrams;
mod significance;
mod ter;
mod tokenize_13a;
mod words;

use serde::Serialize;

pub use bleu::{Bleu, BleuCounts, bleu, bleu_of_tokens, signature};
pub use chrf::{ChrfCounts, ChrfText, chrf};
pub use counts::Counts;
pub use edit_distance::{character_error_rate, edit_distance, exact_match, word_error_rate};
pub use length_classes::{LengthClass, length_classes};
pub use significance::{Confidence, Significance, confidence, significance};
pub use ter::{EditCounts, translation_edit_rate};
pub use tokenize_13a::tokenize_13a;

use counts::as_float;

/// All scores of a set of hypotheses, each in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// BLEU, as [`bleu`] computes it.
    pub bleu: f64,
    /// chrF, as [`chrf`] computes it.
    pub chrf: f64,
    /// How many hypotheses equal their reference.
    pub exact_match: f64,
    /// Word edits for each reference word; may exceed 100.
    pub word_error_rate: f64,
    /// Character edits for each reference character; may exceed 100.
    pub character_error_rate: f64,
}

impl Scores {
    /// Scores `hypotheses` against the `references` at the same positions.
    pub fn of(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> Self {
        Self {
            bleu: bleu(hypotheses, references).score,
            chrf: chrf(hypotheses, references),
            exact_match: exact_match(hypotheses, references),
            word_error_rate: word_error_rate(hypotheses, references),
            character_error_rate: character_error_rate(hypotheses, references),
        }
    }
}

/// Perplexity: the exponential of the mean negative log-likelihood (natural logarithm) per token.
///
/// Takes the sum over all tokens of a corpus, so that the mean is over tokens and does not depend
/// on how they were batched. Without tokens there is no perplexity, and the result is NaN, so that
/// no comparison takes it for an improvement.
#[must_use]
pub fn perplexity(total_negative_log_likelihood: f64, tokens: usize) -> f64 {
    if tokens == 0 {
        return f64::NAN;
    }
    (total_negative_log_likelihood / as_float(tokens)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [&str; 0] = [];

    #[test]
    fn perplexity_is_the_exponential_of_the_mean_over_tokens() {
        assert!((perplexity(4.0 * 7.0_f64.ln(), 4) - 7.0).abs() < 1e-12);
        assert!((perplexity(0.0, 3) - 1.0).abs() < 1e-12);
        assert!((perplexity(2.0, 1) - 2.0_f64.exp()).abs() < 1e-12);
    }

    #[test]
    fn perplexity_of_no_tokens_is_not_a_number() {
        assert!(perplexity(0.0, 0).is_nan());
    }

    #[test]
    fn identical_texts_score_best() {
        let texts = ["Where is the station, please?", "It costs 3.50 euros."];
        let scores = Scores::of(&texts, &texts);
        assert!((scores.bleu - 100.0).abs() < 1e-9);
        assert!((scores.chrf - 100.0).abs() < 1e-9);
        assert!((scores.exact_match - 100.0).abs() < 1e-9);
        assert!(scores.word_error_rate.abs() < 1e-9);
        assert!(scores.character_error_rate.abs() < 1e-9);
    }

    #[test]
    fn no_segments_score_zero() {
        let scores = Scores::of(&NONE, &NONE);
        let expected =
            Scores { bleu: 0.0, chrf: 0.0, exact_match: 0.0, word_error_rate: 0.0, character_error_rate: 0.0 };
        assert_eq!(scores, expected);
    }

    #[test]
    fn empty_strings_give_finite_scores() {
        for (hypothesis, reference) in [("", ""), ("a", ""), ("", "a"), (" ", "\n")] {
            let scores = Scores::of(&[hypothesis], &[reference]);
            assert!(scores.bleu.abs() < 1e-9);
            assert!(scores.chrf.abs() < 1e-9);
            assert!(scores.word_error_rate.is_finite());
            assert!(scores.character_error_rate.is_finite());
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "exactly one reference")]
    fn slices_of_different_length_are_caught() {
        let _ = exact_match(&["a", "b"], &["a"]);
    }
}
