//! Classes of sentences by their length, which scores are given for.

use serde::Serialize;

/// Classes of one width that all but the longest sentences may fall into.
const MOST_CLASSES: usize = 8;
/// Sentences that a class needs, unless it is the only one.
const FEWEST_SENTENCES: usize = 10;

/// The sentences between two lengths in words, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LengthClass {
    /// Words of the shortest sentence that belongs here.
    pub from: usize,
    /// Words of the longest one.
    pub to: usize,
}

impl LengthClass {
    /// Whether a sentence of so many words belongs here.
    pub fn contains(self, length: usize) -> bool {
        (self.from..=self.to).contains(&length)
    }
}

/// Classes for sentences of these lengths, from short to long, without a gap and so that each sentence is in one; none
/// where there is no sentence.
///
/// They have one width, the least of 1, 2, 5, 10, 20 … words that makes no more than eight classes of all but the longest
/// hundredth, so that a few very long sentences do not throw all others together; what is longer still is one more class.
/// A class of fewer than ten sentences is joined with the next one, the last with the one before.
pub fn length_classes(lengths: &[usize]) -> Vec<LengthClass> {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let (Some(&shortest), Some(&longest)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let usual = sorted[(sorted.len() - 1) * 99 / 100];
    let width = width(shortest, usual);
    let mut classes: Vec<LengthClass> = (place(shortest, width)..=place(usual, width))
        .map(|place| LengthClass { from: place * width + 1, to: (place + 1) * width })
        .collect();
    let end = classes.last().map_or(0, |class| class.to);
    if longest > end {
        classes.push(LengthClass { from: end + 1, to: longest.max(end + width) });
    }
    // Sentences without a word go with the shortest ones.
    classes[0].from = classes[0].from.min(shortest);
    joined(&classes, &sorted)
}

/// The least round width by which lengths fall into few enough classes.
fn width(shortest: usize, longest: usize) -> usize {
    let mut scale = 1;
    loop {
        for width in [scale, 2 * scale, 5 * scale] {
            if place(longest, width) - place(shortest, width) < MOST_CLASSES {
                return width;
            }
        }
        scale *= 10;
    }
}

/// The number of a length's class, from 0: the first holds 1 to `width` words, and no word.
fn place(length: usize, width: usize) -> usize {
    length.saturating_sub(1) / width
}

/// Neighbours joined until each class has enough of the sorted lengths.
fn joined(classes: &[LengthClass], sorted: &[usize]) -> Vec<LengthClass> {
    let sentences = |class: LengthClass| {
        sorted.partition_point(|&length| length <= class.to) - sorted.partition_point(|&length| length < class.from)
    };
    let mut joined: Vec<LengthClass> = Vec::new();
    let mut small: Option<LengthClass> = None;
    for class in classes {
        let whole = LengthClass { from: small.map_or(class.from, |small| small.from), to: class.to };
        if sentences(whole) < FEWEST_SENTENCES {
            small = Some(whole);
        } else {
            joined.push(whole);
            small = None;
        }
    }
    match (small, joined.last_mut()) {
        (Some(rest), Some(last)) => last.to = rest.to,
        (Some(rest), None) => joined.push(rest),
        (None, _) => {}
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRng;

    /// Classes as pairs, of lengths that each occur so many times.
    fn classes(counted: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let lengths = counted.iter().flat_map(|&(length, times)| std::iter::repeat_n(length, times));
        length_classes(&lengths.collect::<Vec<_>>()).iter().map(|class| (class.from, class.to)).collect()
    }

    fn evenly(lengths: std::ops::RangeInclusive<usize>) -> Vec<(usize, usize)> {
        lengths.map(|length| (length, 20)).collect()
    }

    #[test]
    fn widths_are_round_and_classes_few() {
        assert_eq!(classes(&evenly(3..=10)), (3..=10).map(|length| (length, length)).collect::<Vec<_>>());
        assert_eq!(classes(&evenly(3..=12)), [(3, 4), (5, 6), (7, 8), (9, 10), (11, 12)]);
        assert_eq!(classes(&evenly(1..=25)), [(1, 5), (6, 10), (11, 15), (16, 20), (21, 25)]);
        assert_eq!(classes(&evenly(1..=80)).len(), 8);
        assert_eq!(classes(&evenly(1..=81))[1], (21, 40));
        assert_eq!(classes(&evenly(990..=1010)), [(986, 990), (991, 995), (996, 1000), (1001, 1005), (1006, 1010)]);
    }

    #[test]
    fn small_classes_are_joined_with_a_neighbour() {
        assert_eq!(classes(&[(1, 4), (2, 6), (3, 10)]), [(1, 2), (3, 3)]);
        assert_eq!(classes(&[(1, 10), (2, 9), (3, 0), (4, 1)]), [(1, 1), (2, 4)]);
        assert_eq!(classes(&[(1, 10), (2, 10), (3, 9)]), [(1, 1), (2, 3)]);
        assert_eq!(classes(&[(1, 3), (4, 3)]), [(1, 4)], "too few for two classes");
    }

    #[test]
    fn a_few_very_long_sentences_are_a_class_of_their_own() {
        let mut counted = evenly(1..=25);
        counted.push((400, 3));
        assert_eq!(classes(&counted).last(), Some(&(21, 400)), "too few for a class");
        counted = (1..=25).map(|length| (length, 60)).collect();
        counted.push((400, 12));
        assert_eq!(classes(&counted)[3..], [(16, 20), (21, 25), (26, 400)]);
        counted.pop();
        counted.push((27, 12));
        assert_eq!(classes(&counted).last(), Some(&(26, 30)), "a round end where it fits");
    }

    #[test]
    fn sentences_without_words_go_with_the_shortest() {
        assert_eq!(classes(&[(0, 1), (1, 20), (2, 20)]), [(0, 1), (2, 2)]);
        assert_eq!(classes(&[(0, 3)]), [(0, 1)]);
        assert_eq!(classes(&[]), []);
    }

    #[test]
    fn every_sentence_is_in_one_class() {
        let mut random = SeededRng::new(7, "lengths", 0);
        for round in 1..200 {
            let most = 1 + round * round % 977;
            let lengths: Vec<usize> = (0..round * 3).map(|_| random.below(most)).collect();
            let classes = length_classes(&lengths);
            let of = |length: usize| classes.iter().filter(|class| class.contains(length)).count();
            assert!(lengths.iter().all(|&length| of(length) == 1), "{classes:?}");
            assert!(classes.windows(2).all(|pair| pair[0].to + 1 == pair[1].from), "{classes:?}");
            assert!(classes.len() <= MOST_CLASSES + 1, "{classes:?}");
            let members = |class: &LengthClass| lengths.iter().filter(|&&length| class.contains(length)).count();
            assert!(classes.len() == 1 || classes.iter().all(|class| members(class) >= FEWEST_SENTENCES));
        }
    }
}
