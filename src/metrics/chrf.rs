//! chrF: F-score of character n-grams (Popović 2015), and chrF++ with word n-grams (Popović 2017).

use super::ngrams::ngram_total;
use super::sufficient_stats::{SufficientStats, corpus_stats, ratio};
use super::whitespace::is_space;

const MAX_ORDER: usize = 6;
/// Maximum order of chrF++'s word n-grams.
const MAX_WORD_ORDER: usize = 2;
/// β: weight of recall relative to precision.
const BETA: f64 = 2.0;

/// Corpus chrF2, 0 to 100: F-score with β = 2 of character n-gram precision and recall, each averaged over orders 1 to 6.
/// Whitespace is ignored.
///
/// Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation", with the defaults of sacrebleu 2.x.
pub fn chrf(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    corpus_stats(hypotheses, references, ChrfStats::of_segment).score()
}

/// Corpus chrF2++, 0 to 100: as [`chrf`], with the orders 1 and 2 of word n-grams. A punctuation mark at an end of a word is a
/// word.
///
/// Popović (2017), "chrF++: words helping character n-grams", with the defaults of sacrebleu 2.x.
pub fn chrf_pp(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    corpus_stats(hypotheses, references, ChrfPpStats::of_segment).score()
}

/// Sufficient statistics of [`chrf`], by n-gram order − 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChrfStats([OrderCounts; MAX_ORDER]);

/// Sufficient statistics of [`chrf_pp`]: of characters, then of words, by n-gram order − 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChrfPpStats([OrderCounts; MAX_ORDER + MAX_WORD_ORDER]);

impl SufficientStats for ChrfStats {
    fn add(&mut self, other: &Self) {
        add_orders(&mut self.0, &other.0);
    }

    fn score(&self) -> f64 {
        100.0 * f_score(&self.0)
    }
}

impl SufficientStats for ChrfPpStats {
    fn add(&mut self, other: &Self) {
        add_orders(&mut self.0, &other.0);
    }

    fn score(&self) -> f64 {
        100.0 * f_score(&self.0)
    }
}

/// Adds the counts of other segments, order by order.
fn add_orders(counts: &mut [OrderCounts], others: &[OrderCounts]) {
    for (counts, other) in counts.iter_mut().zip(others) {
        counts.matches += other.matches;
        counts.hypothesis += other.hypothesis;
        counts.reference += other.reference;
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
            counts.add_segment(&hypothesis.0, &reference.0, order);
        }
        counts
    }
}

impl ChrfPpStats {
    /// Returns the statistics of one segment.
    pub fn of_segment(hypothesis: &str, reference: &str) -> Self {
        let mut counts = Self::default();
        let (characters, words) = counts.0.split_at_mut(MAX_ORDER);
        characters.copy_from_slice(&ChrfStats::of_segment(hypothesis, reference).0);
        let [hypothesis, reference] = [hypothesis, reference].map(|text| Ngrams::new(words_of(text), MAX_WORD_ORDER));
        for (counts, order) in words.iter_mut().zip(1..) {
            counts.add_segment(&hypothesis, &reference, order);
        }
        counts
    }
}

/// Splits a text into words, and off each word of several characters a punctuation mark at its end, else at its beginning.
fn words_of(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        let ends_with_mark = word.ends_with(|character: char| character.is_ascii_punctuation());
        let starts_with_mark = word.starts_with(|character: char| character.is_ascii_punctuation());
        // ASCII marks have one byte.
        match word.len() {
            2.. if ends_with_mark => words.extend([&word[..word.len() - 1], &word[word.len() - 1..]]),
            2.. if starts_with_mark => words.extend([&word[..1], &word[1..]]),
            _ => words.push(word),
        }
    }
    words
}

/// N-gram counts of a text's characters, reusable for several comparisons.
pub struct ChrfText(Ngrams<char>);

/// N-gram counts of a text.
struct Ngrams<T> {
    /// Characters or words.
    items: Vec<T>,
    /// By order − 1: the distinct n-grams, sorted by their items.
    counts: Vec<Vec<NgramCount>>,
}

/// Distinct n-gram of a text.
struct NgramCount {
    /// Position of an occurrence in the items.
    start: usize,
    /// Number of occurrences.
    count: usize,
}

impl ChrfText {
    /// Counts the n-grams of `text`.
    pub fn new(text: &str) -> Self {
        Self(Ngrams::new(text.chars().filter(|&character| !is_space(character)).collect(), MAX_ORDER))
    }
}

impl<T: Ord> Ngrams<T> {
    /// Counts the n-grams of the orders up to a maximum.
    fn new(items: Vec<T>, max_order: usize) -> Self {
        let counts = (1..=max_order).map(|order| count_ngrams(&items, order)).collect();
        Self { items, counts }
    }

    /// Distinct n-grams of an order with their counts.
    fn of_order(&self, order: usize) -> impl Iterator<Item = (&[T], usize)> {
        let ngrams = self.counts[order - 1].iter();
        ngrams.map(move |&NgramCount { start, count }| (&self.items[start..start + order], count))
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

fn count_ngrams<T: Ord>(items: &[T], order: usize) -> Vec<NgramCount> {
    let mut starts: Vec<usize> = (0..ngram_total(items.len(), order)).collect();
    starts.sort_unstable_by(|&a, &b| items[a..a + order].cmp(&items[b..b + order]));
    let equal = starts.chunk_by(|&a, &b| items[a..a + order] == items[b..b + order]);
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
    fn add_segment<T: Ord>(&mut self, hypothesis: &Ngrams<T>, reference: &Ngrams<T>, order: usize) {
        let reference_total = ngram_total(reference.items.len(), order);
        // As in sacrebleu, n-grams longer than the reference do not lower precision.
        if reference_total == 0 {
            return;
        }
        self.matches += hypothesis.matches(reference, order);
        self.hypothesis += ngram_total(hypothesis.items.len(), order);
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

    #[test]
    fn splits_one_mark_off_a_word() {
        assert_eq!(words_of(" ¿Qué? (a) ...  - é! "), ["¿Qué", "?", "(a", ")", "..", ".", "-", "é", "!"]);
        assert_eq!(words_of("'tis «x»"), ["'", "tis", "«x»"]);
        assert!(words_of(" ").is_empty());
    }

    #[test]
    fn words_count_as_much_as_characters_of_their_orders() {
        // Characters: 2/3, 1/2 and 0/1. Words: 0 of 1; there are no pairs.
        assert_close(chrf_pp(&["abc"], &["abd"]), 100.0 * 7.0 / 24.0);
        assert_close(chrf_pp(&["a b"], &["a b"]), 100.0);
        assert_close(chrf_pp(&[""], &["a"]), 0.0);
    }
}
