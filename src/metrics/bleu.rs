//! BLEU: modified n-gram precision with a brevity penalty (Papineni et al. 2002).

use std::array::from_fn;

use serde::Serialize;

use super::bleu_tokenizer::BleuTokenizer;
use super::ngrams::{clipped_matches, ngram_total};
use super::sufficient_stats::{SufficientStats, as_float, corpus_stats, ratio};
use super::whitespace::words;

const MAX_ORDER: usize = 4;

/// sacrebleu's signature of [`bleu`]: scores are comparable only if their signatures are equal. `lowercase` states that
/// both sides were lowercased first, as by sacrebleu's `-lc`.
pub fn signature(lowercase: bool, tokenizer: BleuTokenizer) -> String {
    let case = if lowercase { "lc" } else { "mixed" };
    format!("nrefs:1|case:{case}|eff:no|tok:{tokenizer}|smooth:exp|version:2.6.0")
}

/// A BLEU score and its components.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bleu {
    /// The geometric mean of the precisions times the brevity penalty, 0 to 100.
    pub score: f64,
    /// The smoothed precision of 1-grams to 4-grams, each 0 to 100.
    pub precisions: [f64; MAX_ORDER],
    /// 1, or less if the hypotheses are shorter than the references.
    pub brevity_penalty: f64,
    /// Tokens in all hypotheses.
    pub hypothesis_length: usize,
    /// Tokens in all references.
    pub reference_length: usize,
}

/// Corpus BLEU of detokenized text (Papineni et al. 2002, "BLEU: a Method for Automatic Evaluation of Machine Translation").
///
/// Open choices follow the defaults of sacrebleu 2.x (Post 2018): case-sensitive, n-grams up to order 4, exponential smoothing,
/// one reference.
pub fn bleu(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>], tokenizer: BleuTokenizer) -> Bleu {
    corpus_stats(hypotheses, references, |text, reference| BleuStats::of_segment(text, reference, tokenizer)).bleu()
}

/// Sufficient statistics of [`bleu`]; arrays are indexed by n-gram order − 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct BleuStats {
    matches: [usize; MAX_ORDER],
    totals: [usize; MAX_ORDER],
    hypothesis_length: usize,
    reference_length: usize,
}

impl BleuStats {
    /// Returns the statistics of one segment.
    pub fn of_segment(hypothesis: &str, reference: &str, tokenizer: BleuTokenizer) -> Self {
        let [hypothesis, reference] = [hypothesis, reference].map(|text| tokenizer.tokenize(text));
        let (hypothesis, reference) = (words(&hypothesis), words(&reference));
        Self {
            matches: from_fn(|index| clipped_matches(&hypothesis, &reference, index + 1)),
            totals: from_fn(|index| ngram_total(hypothesis.len(), index + 1)),
            hypothesis_length: hypothesis.len(),
            reference_length: reference.len(),
        }
    }
}

impl SufficientStats for BleuStats {
    fn add(&mut self, other: &Self) {
        for order in 0..MAX_ORDER {
            self.matches[order] += other.matches[order];
            self.totals[order] += other.totals[order];
        }
        self.hypothesis_length += other.hypothesis_length;
        self.reference_length += other.reference_length;
    }

    fn score(&self) -> f64 {
        self.bleu().score
    }
}

impl BleuStats {
    fn bleu(&self) -> Bleu {
        let precisions = self.precisions();
        let brevity_penalty = self.brevity_penalty();
        Bleu {
            // Rounding can push a perfect score slightly above 100.
            score: (brevity_penalty * geometric_mean(&precisions)).min(100.0),
            precisions,
            brevity_penalty,
            hypothesis_length: self.hypothesis_length,
            reference_length: self.reference_length,
        }
    }

    /// Precision by order in percent. The k-th order without a match counts as 2⁻ᵏ matches: method 3 of Chen & Cherry
    /// (2014), "A Systematic Comparison of Smoothing Techniques for Sentence-Level BLEU".
    fn precisions(&self) -> [f64; MAX_ORDER] {
        let mut precisions = [0.0; MAX_ORDER];
        // A corpus without any match is not smoothed.
        if self.matches == [0; MAX_ORDER] {
            return precisions;
        }
        let mut smoothed_matches = 1.0;
        for (order, precision) in precisions.iter_mut().enumerate() {
            let (matches, total) = (self.matches[order], self.totals[order]);
            *precision = if matches == 0 {
                smoothed_matches /= 2.0;
                100.0 * smoothed_matches * ratio(1, total)
            } else {
                100.0 * ratio(matches, total)
            };
        }
        precisions
    }

    /// exp(1 − r / c) for c < r, else 1, where c and r count hypothesis and reference tokens.
    fn brevity_penalty(&self) -> f64 {
        if self.hypothesis_length >= self.reference_length {
            return 1.0;
        }
        // r / c as the inverse of c / r: without tokens the penalty is 0 instead of a division by zero.
        (1.0 - ratio(self.hypothesis_length, self.reference_length).recip()).exp()
    }
}

/// Geometric mean; 0 if any value is 0, whose logarithm is −∞.
fn geometric_mean(values: &[f64; MAX_ORDER]) -> f64 {
    let mean_logarithm = values.map(f64::ln).iter().sum::<f64>() / as_float(MAX_ORDER);
    mean_logarithm.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bleu(hypotheses: &[&str], references: &[&str]) -> Bleu {
        super::bleu(hypotheses, references, BleuTokenizer::V13a)
    }

    fn assert_close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual} instead of {expected}");
    }

    #[test]
    fn computes_precisions_of_worked_example() {
        let found = bleu(&["the cat sat on the mat"], &["the cat sat on a mat"]);
        let shares = [5.0 / 6.0, 3.0 / 5.0, 2.0 / 4.0, 1.0 / 3.0];
        for (precision, share) in found.precisions.into_iter().zip(shares) {
            assert_close(precision, 100.0 * share);
        }
        assert_close(found.brevity_penalty, 1.0);
        assert_close(found.score, 100.0 * (1.0_f64 / 12.0).powf(0.25));
    }

    #[test]
    fn penalizes_short_hypotheses() {
        let found = bleu(&["a b c d"], &["a b c d e"]);
        assert_close(found.brevity_penalty, (-0.25_f64).exp());
        assert_close(found.score, 100.0 * (-0.25_f64).exp());
        assert_eq!((found.hypothesis_length, found.reference_length), (4, 5));
        assert_close(bleu(&["a b c d e"], &["a b c d"]).brevity_penalty, 1.0);
    }

    #[test]
    fn smooths_orders_without_a_match_exponentially() {
        let found = bleu(&["a b c d"], &["d c b a"]);
        let shares = [1.0, 0.5 / 3.0, 0.25 / 2.0, 0.125];
        for (precision, share) in found.precisions.into_iter().zip(shares) {
            assert_close(precision, 100.0 * share);
        }
        assert_close(found.score, 100.0 * (1.0_f64 / 384.0).powf(0.25));
    }

    #[test]
    fn sums_statistics_over_segments() {
        let found = bleu(&["a b c d", "x"], &["a b c d", "y z"]);
        assert_close(found.precisions[0], 80.0);
        assert_close(found.precisions[3], 100.0);
        assert_close(found.brevity_penalty, (-0.2_f64).exp());
    }

    #[test]
    fn scores_zero_without_four_grams() {
        let found = bleu(&["a b c"], &["a b c"]);
        assert_close(found.score, 0.0);
        assert_close(found.precisions[2], 100.0);
        assert_close(found.precisions[3], 0.0);
    }

    #[test]
    fn does_not_smooth_a_corpus_without_matches() {
        let found = bleu(&["a b c d e"], &["v w x y z"]);
        assert_close(found.score, 0.0);
        assert_close(found.precisions.iter().sum(), 0.0);
    }

    #[test]
    fn gives_empty_hypotheses_a_brevity_penalty_of_zero() {
        let found = bleu(&[""], &["a b c d"]);
        assert_close(found.brevity_penalty, 0.0);
        assert_close(found.score, 0.0);
        assert_close(bleu(&[""], &[""]).brevity_penalty, 1.0);
    }

    #[test]
    fn distinguishes_case_and_splits_punctuation() {
        assert_close(bleu(&["Yes"], &["yes"]).precisions[0], 0.0);
        assert_close(bleu(&["Yes!"], &["Yes."]).precisions[0], 50.0);
    }

    #[test]
    fn does_not_take_a_final_line_break_for_hyphenation() {
        assert_eq!(bleu(&["a -\n"], &["a -"]).hypothesis_length, 2);
    }
}
