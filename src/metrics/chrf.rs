//! chrF: F-score of character n-grams (Popović 2015).

use super::ngrams::ngram_total;
use super::sufficient_stats::{SufficientStats, corpus_stats, ratio};
use super::whitespace::is_space;

const MAX_ORDER: usize = 6;
/// β: weight of recall relative to precision.
const BETA: f64 = 2.0;

/// Corpus chrF2, 0 to 100: F-score with β = 2 of character n-gram precision and recall, each averaged over orders 1 to 6.
/// Whitespace is ignored.
///
/// Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation", with the defaults of sacrebleu 2.x.
pub fn chrf(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    corpus_stats(hypotheses, references, ChrfStats::of_segment).score()
}

/// Sufficient statistics of [`chrf`], by n-gram order − 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChrfStats([OrderCounts; MAX_ORDER]);

impl SufficientStats for ChrfStats {
    fn add(&mut self, other: &Self) {
        for (counts, other) in self.0.iter_mut().zip(&other.0) {
            counts.matches += other.matches;
            counts.hypothesis += other.hypothesis;
            counts.reference += other.reference;
        }
    }

    fn score(&self) -> f64 {
        100.0 * f_score(&self.0)
    }
}

impl ChrfStats {
    /// Returns the statistics of one segment.
    pub fn of_segment(hypothesis: &str, reference: &str) -> Self {
        Self::from_texts(&ChrfText::new(hypothesis), &ChrfText::new(reference))
    }

    /// Statistics of one segment from precomputed n-gram counts.
    pub fn from_texts(hypothesis: &ChrfText, reference: &ChrfText) -> Self {
        let mut counts = Self::default();
        for (counts, order) in counts.0.iter_mut().zip(1..) {
            counts.add_segment(hypothesis, reference, order);
        }
        counts
    }
}

/// N-gram counts of a text, reusable for several comparisons.
pub struct ChrfText {
    characters: Vec<char>,
    /// By order − 1: the distinct n-grams, sorted by their characters.
    ngrams: [Vec<NgramCount>; MAX_ORDER],
}

/// Distinct n-gram of a text.
struct NgramCount {
    /// Position of an occurrence in the characters.
    start: usize,
    /// Number of occurrences.
    count: usize,
}

impl ChrfText {
    /// Counts the n-grams of `text`.
    pub fn new(text: &str) -> Self {
        let characters: Vec<char> = text.chars().filter(|&character| !is_space(character)).collect();
        let ngrams = std::array::from_fn(|index| count_ngrams(&characters, index + 1));
        Self { characters, ngrams }
    }

    /// Distinct n-grams of an order with their counts.
    fn of_order(&self, order: usize) -> impl Iterator<Item = (&[char], usize)> {
        let ngrams = self.ngrams[order - 1].iter();
        ngrams.map(move |&NgramCount { start, count }| (&self.characters[start..start + order], count))
    }

    /// Number of n-grams of an order that both texts have (clipped matches), by merging the sorted lists.
    fn matches(&self, other: &Self, order: usize) -> usize {
        let mut theirs = other.of_order(order).peekable();
        let mut matches = 0;
        for (ngram, count) in self.of_order(order) {
            while theirs.next_if(|(other, _)| *other < ngram).is_some() {}
            matches += theirs.next_if(|(other, _)| *other == ngram).map_or(0, |(_, other)| count.min(other));
        }
        matches
    }
}

fn count_ngrams(characters: &[char], order: usize) -> Vec<NgramCount> {
    let mut starts: Vec<usize> = (0..ngram_total(characters.len(), order)).collect();
    starts.sort_unstable_by_key(|&start| &characters[start..start + order]);
    let equal = starts.chunk_by(|&a, &b| characters[a..a + order] == characters[b..b + order]);
    equal.map(|starts| NgramCount { start: starts[0], count: starts.len() }).collect()
}

/// Corpus counts of one n-gram order.
#[derive(Clone, Copy, Debug, Default)]
struct OrderCounts {
    matches: usize,
    hypothesis: usize,
    reference: usize,
}

impl OrderCounts {
    fn add_segment(&mut self, hypothesis: &ChrfText, reference: &ChrfText, order: usize) {
        let reference_total = ngram_total(reference.characters.len(), order);
        // As in sacrebleu, n-grams longer than the reference do not lower precision.
        if reference_total == 0 {
            return;
        }
        self.matches += hypothesis.matches(reference, order);
        self.hypothesis += ngram_total(hypothesis.characters.len(), order);
        self.reference += reference_total;
    }
}

/// F-score of precision and recall averaged over the orders present on both sides.
fn f_score(orders: &[OrderCounts]) -> f64 {
    let (mut precision, mut recall, mut effective_orders) = (0.0, 0.0, 0.0);
    for counts in orders {
        if counts.hypothesis > 0 && counts.reference > 0 {
            precision += ratio(counts.matches, counts.hypothesis);
            recall += ratio(counts.matches, counts.reference);
            effective_orders += 1.0;
        }
    }
    if precision + recall == 0.0 {
        return 0.0;
    }
    precision /= effective_orders;
    recall /= effective_orders;
    (1.0 + BETA * BETA) * precision * recall / (BETA * BETA * precision + recall)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual} instead of {expected}");
    }

    #[test]
    fn averages_precision_and_recall_over_orders() {
        // Precision and recall are 2/3, 1/2 and 0/1; there are no longer n-grams.
        assert_close(chrf(&["abc"], &["abd"]), 100.0 * 7.0 / 18.0);
    }

    #[test]
    fn weights_recall_above_precision() {
        // Precision is 1; recall is the mean of 2/3 and 1/2.
        assert_close(chrf(&["ab"], &["abc"]), 100.0 * 7.0 / 11.0);
        assert!(chrf(&["abc"], &["ab"]) > chrf(&["ab"], &["abc"]));
    }

    #[test]
    fn ignores_n_grams_longer_than_the_reference() {
        // Order 1: 3 of 5 and 3 of 3; order 2: only those of the second segment, 1 of 1.
        assert_close(chrf(&["xyz", "ab"], &["x", "ab"]), 100.0 * 4.0 / 4.2);
    }

    #[test]
    fn ignores_whitespace() {
        assert_close(chrf(&["a b\u{a0}c "], &["abc"]), 100.0);
    }

    #[test]
    fn handles_empty_and_single_character_texts() {
        assert_close(chrf(&[""; 0], &[""; 0]), 0.0);
        assert_close(chrf(&[""], &[""]), 0.0);
        assert_close(chrf(&["a"], &[""]), 0.0);
        assert_close(chrf(&[""], &["a"]), 0.0);
        assert_close(chrf(&["a"], &["b"]), 0.0);
        assert_close(chrf(&["é"], &["é"]), 100.0);
    }
}
