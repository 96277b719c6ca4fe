//! Translation metrics.
//!
//! Hypotheses are scored against one reference each: BLEU, chrF and TER exactly as sacrebleu 2.x computes them, word and
//! character error rate, exact match, and perplexity. All but perplexity are in percent, and all are corpus scores: counts
//! are summed over segments and divided once, since a mean of segment scores would weight short sentences like long ones.
//! `significance.rs` adds confidence intervals and paired significance tests by resampling segments.
//!
//! Hypotheses and references are parallel slices; debug builds assert equal lengths.

mod bleu;
mod bleu_tokenizer;
mod calibration;
mod chrf;
mod edit_distance;
mod error_rates;
mod length_buckets;
mod ngrams;
mod selection_bias;
mod significance;
mod sufficient_stats;
mod ter;
mod tokenize_13a;
mod tokenize_intl;
mod tokenize_zh;
mod whitespace;

use serde::Serialize;

pub use bleu::{Bleu, BleuStats, bleu, signature};
pub use bleu_tokenizer::BleuTokenizer;
pub use calibration::{LogisticRegression, expected_calibration_error};
pub use chrf::{ChrfPpStats, ChrfStats, ChrfText, chrf, chrf_pp};
pub use edit_distance::{EditStats, character_error_rate, edit_distance, exact_match, unedited, word_error_rate};
pub use error_rates::{ErrorRates, edited_symbols};
pub use length_buckets::{LengthBucket, length_buckets};
pub use selection_bias::{Better, selection_bias};
pub use significance::{Confidence, RANDOMIZATION_TRIALS, Significance, confidence, significance};
pub use sufficient_stats::SufficientStats;
pub use ter::{TerStats, translation_edit_rate};

use sufficient_stats::as_float;

/// Options of scores: what the texts are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScoreOptions {
    /// True if every source is a single word.
    pub single_words: bool,
    /// Tokenization of BLEU.
    pub tokenizer: BleuTokenizer,
}

/// Scores of a set of hypotheses in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// Corpus BLEU, see [`bleu`].
    pub bleu: f64,
    /// Corpus chrF2, see [`chrf`].
    pub chrf: f64,
    /// Share of hypotheses identical to their reference.
    pub exact_match: f64,
    /// Error rates.
    #[serde(flatten)]
    pub errors: ErrorRates,
}

impl Scores {
    /// Scores each hypothesis against the reference at the same position.
    pub fn compute(
        hypotheses: &[impl AsRef<str>],
        references: &[impl AsRef<str>],
        ScoreOptions { single_words, tokenizer }: ScoreOptions,
    ) -> Self {
        Self {
            bleu: bleu(hypotheses, references, tokenizer).score,
            chrf: chrf(hypotheses, references),
            exact_match: exact_match(hypotheses, references),
            errors: ErrorRates::compute(hypotheses, references, single_words),
        }
    }
}

/// Perplexity: exp of the mean negative log-likelihood per token, in nats.
///
/// Takes the sum over a corpus, so that the mean does not depend on batching. NaN without tokens, so that no comparison
/// takes it for an improvement.
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
    const NO_ERRORS: ErrorRates = ErrorRates::Sentences { word_error_rate: 0.0, character_error_rate: 0.0 };

    #[test]
    fn perplexity_is_the_exponential_of_the_mean_over_tokens() {
        assert!((perplexity(4.0 * 7.0_f64.ln(), 4) - 7.0).abs() < 1e-12);
        assert!((perplexity(0.0, 3) - 1.0).abs() < 1e-12);
        assert!((perplexity(2.0, 1) - 2.0_f64.exp()).abs() < 1e-12);
    }

    #[test]
    fn perplexity_without_tokens_is_nan() {
        assert!(perplexity(0.0, 0).is_nan());
    }

    #[test]
    fn gives_identical_texts_perfect_scores() {
        let texts = ["Where is the station, please?", "It costs 3.50 euros."];
        let scores = Scores::compute(&texts, &texts, ScoreOptions::default());
        assert!((scores.bleu - 100.0).abs() < 1e-9);
        assert!((scores.chrf - 100.0).abs() < 1e-9);
        assert!((scores.exact_match - 100.0).abs() < 1e-9);
        assert_eq!(scores.errors, NO_ERRORS);
    }

    #[test]
    fn scores_zero_without_segments() {
        let scores = Scores::compute(&NONE, &NONE, ScoreOptions::default());
        let expected = Scores { bleu: 0.0, chrf: 0.0, exact_match: 0.0, errors: NO_ERRORS };
        assert_eq!(scores, expected);
    }

    #[test]
    fn gives_empty_strings_finite_scores() {
        for (hypothesis, reference) in [("", ""), ("a", ""), ("", "a"), (" ", "\n")] {
            let scores = Scores::compute(&[hypothesis], &[reference], ScoreOptions::default());
            assert!(scores.bleu.abs() < 1e-9);
            assert!(scores.chrf.abs() < 1e-9);
            assert!(scores.errors.values().iter().all(|rate| rate.is_finite()));
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "exactly one reference")]
    fn asserts_slices_of_equal_length() {
        let _ = exact_match(&["a", "b"], &["a"]);
    }
}
