//! BLEU, the share of a translation's n-grams that its reference has too.

use serde::Serialize;

use super::counts::{Counts, as_float, segments, share};
use super::ngrams::{clipped_matches, ngram_total};
use super::tokenize_13a::tokenize_13a;
use super::words::{is_space, words};

const MAX_ORDER: usize = 4;

/// What [`bleu`] leaves open and how it is decided, in sacrebleu's words; scores with the same signature compare. Where
/// both sides were made `lowercase` first, it is what sacrebleu computes when it is told to do that (`-lc`).
pub fn signature(lowercase: bool) -> String {
    let case = if lowercase { "lc" } else { "mixed" };
    format!("nrefs:1|case:{case}|eff:no|tok:13a|smooth:exp|version:2.6.0")
}

/// A BLEU score and the numbers it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bleu {
    /// The geometric mean of the precisions times the brevity penalty, 0 to 100.
    pub score: f64,
    /// The smoothed precision of 1-grams to 4-grams, each 0 to 100.
    pub precisions: [f64; MAX_ORDER],
    /// 1, or less where the hypotheses together are shorter than the references.
    pub brevity_penalty: f64,
    /// Tokens in all hypotheses.
    pub hypothesis_length: usize,
    /// Tokens in all references.
    pub reference_length: usize,
}

/// Corpus BLEU of plain text, by the definition that published scores share.
///
/// BLEU is from Papineni et al. (2002), "BLEU: a Method for Automatic Evaluation of Machine
/// Translation". What it leaves open follows the defaults of sacrebleu 2.x (Post, 2018): the 13a
/// tokenisation, case kept, n-grams up to order 4, exponential smoothing, one reference.
pub fn bleu(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> Bleu {
    bleu_of_tokens(&tokenize_all(hypotheses), &tokenize_all(references))
}

/// Corpus BLEU of text in which white space already separates the tokens, as in sacrebleu 2.x
/// without a tokeniser.
///
/// Scores in papers are often on the tokens of a prepared corpus; they compare with this one and
/// not with [`bleu`].
pub fn bleu_of_tokens(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> Bleu {
    let mut counts = BleuCounts::default();
    for (hypothesis, reference) in segments(hypotheses, references) {
        counts.add_segment(&words(hypothesis), &words(reference));
    }
    counts.bleu()
}

fn tokenize_all(lines: &[impl AsRef<str>]) -> Vec<String> {
    lines.iter().map(|line| tokenize(line.as_ref())).collect()
}

/// A line break at the end would make the tokeniser take a final dash for hyphenation.
fn tokenize(line: &str) -> String {
    tokenize_13a(line.trim_end_matches(is_space))
}

/// All that [`bleu`] needs to know of a corpus; arrays run over the n-gram orders.
#[derive(Clone, Copy, Debug, Default)]
pub struct BleuCounts {
    matches: [usize; MAX_ORDER],
    totals: [usize; MAX_ORDER],
    hypothesis_length: usize,
    reference_length: usize,
}

impl Counts for BleuCounts {
    fn of(hypothesis: &str, reference: &str) -> Self {
        let mut counts = Self::default();
        counts.add_segment(&words(&tokenize(hypothesis)), &words(&tokenize(reference)));
        counts
    }

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

impl BleuCounts {
    fn add_segment(&mut self, hypothesis: &[&str], reference: &[&str]) {
        for order in 1..=MAX_ORDER {
            self.matches[order - 1] += clipped_matches(hypothesis, reference, order);
            self.totals[order - 1] += ngram_total(hypothesis.len(), order);
        }
        self.hypothesis_length += hypothesis.len();
        self.reference_length += reference.len();
    }

    fn bleu(&self) -> Bleu {
        let precisions = self.precisions();
        let brevity_penalty = self.brevity_penalty();
        Bleu {
            // Roots and exponentials can come out a rounding above the perfect score.
            score: (brevity_penalty * geometric_mean(&precisions)).min(100.0),
            precisions,
            brevity_penalty,
            hypothesis_length: self.hypothesis_length,
            reference_length: self.reference_length,
        }
    }

    /// Precision by order in percent. The k-th order without a match counts as if 2⁻ᵏ n-grams
    /// had matched, method 3 of Chen and Cherry (2014), "A Systematic Comparison of Smoothing
    /// Techniques for Sentence-Level BLEU".
    fn precisions(&self) -> [f64; MAX_ORDER] {
        let mut precisions = [0.0; MAX_ORDER];
        // Smoothing is for orders that found nothing, not for a corpus that matched nothing.
        if self.matches == [0; MAX_ORDER] {
            return precisions;
        }
        let mut smoothed_matches = 1.0;
        for (order, precision) in precisions.iter_mut().enumerate() {
            let (matches, total) = (self.matches[order], self.totals[order]);
            *precision = if matches == 0 {
                smoothed_matches /= 2.0;
                100.0 * smoothed_matches * share(1, total)
            } else {
                100.0 * share(matches, total)
            };
        }
        precisions
    }

    /// exp(1 - r / c) for c hypothesis tokens that fall short of r reference tokens.
    fn brevity_penalty(&self) -> f64 {
        if self.hypothesis_length >= self.reference_length {
            return 1.0;
        }
        // The inverse of the ratio, so that no tokens at all give 0 and not a division by zero.
        (1.0 - share(self.hypothesis_length, self.reference_length).recip()).exp()
    }
}

/// Zero if any of the values is zero: its logarithm is minus infinity.
fn geometric_mean(values: &[f64; MAX_ORDER]) -> f64 {
    let mean_logarithm = values.map(f64::ln).iter().sum::<f64>() / as_float(MAX_ORDER);
    mean_logarithm.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual} instead of {expected}");
    }

    #[test]
    fn precisions_by_hand() {
        let found = bleu(&["the cat sat on the mat"], &["the cat sat on a mat"]);
        let shares = [5.0 / 6.0, 3.0 / 5.0, 2.0 / 4.0, 1.0 / 3.0];
        for (precision, share) in found.precisions.into_iter().zip(shares) {
            assert_close(precision, 100.0 * share);
        }
        assert_close(found.brevity_penalty, 1.0);
        assert_close(found.score, 100.0 * (1.0_f64 / 12.0).powf(0.25));
    }

    #[test]
    fn short_hypotheses_pay_the_brevity_penalty() {
        let found = bleu(&["a b c d"], &["a b c d e"]);
        assert_close(found.brevity_penalty, (-0.25_f64).exp());
        assert_close(found.score, 100.0 * (-0.25_f64).exp());
        assert_eq!((found.hypothesis_length, found.reference_length), (4, 5));
        assert_close(bleu(&["a b c d e"], &["a b c d"]).brevity_penalty, 1.0);
    }

    #[test]
    fn each_order_without_a_match_halves_the_smoothed_count() {
        let found = bleu(&["a b c d"], &["d c b a"]);
        let shares = [1.0, 0.5 / 3.0, 0.25 / 2.0, 0.125];
        for (precision, share) in found.precisions.into_iter().zip(shares) {
            assert_close(precision, 100.0 * share);
        }
        assert_close(found.score, 100.0 * (1.0_f64 / 384.0).powf(0.25));
    }

    #[test]
    fn counts_are_summed_over_segments() {
        let found = bleu(&["a b c d", "x"], &["a b c d", "y z"]);
        assert_close(found.precisions[0], 80.0);
        assert_close(found.precisions[3], 100.0);
        assert_close(found.brevity_penalty, (-0.2_f64).exp());
    }

    #[test]
    fn a_corpus_too_short_for_four_grams_scores_zero() {
        let found = bleu(&["a b c"], &["a b c"]);
        assert_close(found.score, 0.0);
        assert_close(found.precisions[2], 100.0);
        assert_close(found.precisions[3], 0.0);
    }

    #[test]
    fn without_a_match_nothing_is_smoothed() {
        let found = bleu(&["a b c d e"], &["v w x y z"]);
        assert_close(found.score, 0.0);
        assert_close(found.precisions.iter().sum(), 0.0);
    }

    #[test]
    fn empty_hypotheses_have_a_brevity_penalty_of_zero() {
        let found = bleu(&[""], &["a b c d"]);
        assert_close(found.brevity_penalty, 0.0);
        assert_close(found.score, 0.0);
        assert_close(bleu(&[""], &[""]).brevity_penalty, 1.0);
    }

    #[test]
    fn case_counts_and_punctuation_is_a_token() {
        assert_close(bleu(&["Yes"], &["yes"]).precisions[0], 0.0);
        assert_close(bleu(&["Yes!"], &["Yes."]).precisions[0], 50.0);
        assert_close(bleu_of_tokens(&["Yes!"], &["Yes."]).precisions[0], 0.0);
    }

    #[test]
    fn a_line_break_at_the_end_is_no_hyphenation() {
        assert_eq!(bleu(&["a -\n"], &["a -"]).hypothesis_length, 2);
    }
}
