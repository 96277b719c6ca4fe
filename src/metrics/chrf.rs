//! chrF, an F-score of character n-grams.

use super::counts::{Counts, segments, share};
use super::ngrams::ngram_total;
use super::words::is_space;

const MAX_ORDER: usize = 6;
/// How many times more recall counts than precision.
const BETA: f64 = 2.0;

/// Corpus chrF2 on a scale of 0 to 100: the F-score with β = 2 of the precision and the recall of
/// character n-grams, each averaged over the orders 1 to 6. White space does not count.
///
/// From Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation", with the
/// defaults of sacrebleu 2.x.
pub fn chrf(hypotheses: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> f64 {
    let mut counts = ChrfCounts::default();
    segments(hypotheses, references).for_each(|(hypothesis, reference)| counts.add(&Counts::of(hypothesis, reference)));
    counts.score()
}

/// All that [`chrf`] needs to know of a corpus, by the n-grams' order.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChrfCounts([Order; MAX_ORDER]);

impl Counts for ChrfCounts {
    fn of(hypothesis: &str, reference: &str) -> Self {
        Self::between(&ChrfText::of(hypothesis), &ChrfText::of(reference))
    }

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

impl ChrfCounts {
    /// Those of one segment, whose texts may be compared with others too.
    pub fn between(hypothesis: &ChrfText, reference: &ChrfText) -> Self {
        let mut counts = Self::default();
        for (counts, order) in counts.0.iter_mut().zip(1..) {
            counts.add_segment(hypothesis, reference, order);
        }
        counts
    }
}

/// A text with its n-grams counted.
pub struct ChrfText {
    characters: Vec<char>,
    /// By order where each different n-gram stands first, in the order of their characters, and how often it is there.
    ngrams: [Vec<(usize, usize)>; MAX_ORDER],
}

impl ChrfText {
    /// Counts them.
    pub fn of(text: &str) -> Self {
        let characters: Vec<char> = text.chars().filter(|&character| !is_space(character)).collect();
        let ngrams = std::array::from_fn(|index| {
            let at = |place: &usize| &characters[*place..=place + index];
            let mut places: Vec<usize> = (0..ngram_total(characters.len(), index + 1)).collect();
            places.sort_unstable_by(|a, b| at(a).cmp(at(b)));
            places.chunk_by(|a, b| at(a) == at(b)).map(|equal| (equal[0], equal.len())).collect()
        });
        Self { characters, ngrams }
    }

    /// The different n-grams of an order, each with its count.
    fn of_order(&self, order: usize) -> impl Iterator<Item = (&[char], usize)> {
        self.ngrams[order - 1].iter().map(move |&(place, count)| (&self.characters[place..place + order], count))
    }

    /// How many n-grams of an order are in both texts.
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

/// The n-grams of one order in a corpus.
#[derive(Clone, Copy, Debug, Default)]
struct Order {
    matches: usize,
    hypothesis: usize,
    reference: usize,
}

impl Order {
    fn add_segment(&mut self, hypothesis: &ChrfText, reference: &ChrfText, order: usize) {
        let reference_total = ngram_total(reference.characters.len(), order);
        // As in sacrebleu, a hypothesis is not blamed for n-grams longer than its reference.
        if reference_total == 0 {
            return;
        }
        self.matches += hypothesis.matches(reference, order);
        self.hypothesis += ngram_total(hypothesis.characters.len(), order);
        self.reference += reference_total;
    }
}

/// The F-score of precision and recall, averaged over the orders that both sides have.
fn f_score(orders: &[Order]) -> f64 {
    let (mut precision, mut recall, mut effective_orders) = (0.0, 0.0, 0.0);
    for counts in orders {
        if counts.hypothesis > 0 && counts.reference > 0 {
            precision += share(counts.matches, counts.hypothesis);
            recall += share(counts.matches, counts.reference);
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
    fn equal_lengths_by_hand() {
        // Precision and recall are 2/3, 1/2 and 0/1; there are no longer n-grams.
        assert_close(chrf(&["abc"], &["abd"]), 100.0 * 7.0 / 18.0);
    }

    #[test]
    fn recall_counts_more_than_precision() {
        // Precision is 1; recall is the mean of 2/3 and 1/2.
        assert_close(chrf(&["ab"], &["abc"]), 100.0 * 7.0 / 11.0);
        assert!(chrf(&["abc"], &["ab"]) > chrf(&["ab"], &["abc"]));
    }

    #[test]
    fn n_grams_longer_than_the_reference_do_not_count() {
        // Order 1: 3 of 5 and 3 of 3; order 2: only those of the second segment, 1 of 1.
        assert_close(chrf(&["xyz", "ab"], &["x", "ab"]), 100.0 * 4.0 / 4.2);
    }

    #[test]
    fn white_space_does_not_count() {
        assert_close(chrf(&["a b\u{a0}c "], &["abc"]), 100.0);
    }

    #[test]
    fn nothing_and_single_characters() {
        assert_close(chrf(&[""; 0], &[""; 0]), 0.0);
        assert_close(chrf(&[""], &[""]), 0.0);
        assert_close(chrf(&["a"], &[""]), 0.0);
        assert_close(chrf(&[""], &["a"]), 0.0);
        assert_close(chrf(&["a"], &["b"]), 0.0);
        assert_close(chrf(&["é"], &["é"]), 100.0);
    }
}
