//! Sentence length buckets for scores by length.

use serde::Serialize;

/// Maximum number of equally wide buckets, apart from one for the longest sentences.
const MAX_BUCKETS: usize = 8;
/// Minimum number of sentences in a bucket, unless it is the only one.
const MIN_SENTENCES: usize = 10;

/// Range of sentence lengths in words, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LengthBucket {
    /// Minimum length.
    pub from: usize,
    /// Maximum length.
    pub to: usize,
}

impl LengthBucket {
    /// Returns true if a sentence of `length` words belongs to the bucket.
    pub fn contains(self, length: usize) -> bool {
        (self.from..=self.to).contains(&length)
    }
}

/// Buckets for sentences of these lengths: ascending, contiguous and covering every sentence; none without sentences.
///
/// All have one width, the smallest of 1, 2, 5, 10, 20 … words that puts all but the longest 1 % of the sentences into at
/// most eight buckets, so that a few very long sentences do not merge all others; the rest is one more bucket. A bucket
/// of fewer than ten sentences is merged with the next, the last with the previous one.
pub fn length_buckets(lengths: &[usize]) -> Vec<LengthBucket> {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let (Some(&shortest), Some(&longest)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let usual = sorted[(sorted.len() - 1) * 99 / 100];
    let width = width(shortest, usual);
    let mut buckets: Vec<LengthBucket> = (bucket_index(shortest, width)..=bucket_index(usual, width))
        .map(|index| LengthBucket { from: index * width + 1, to: (index + 1) * width })
        .collect();
    let end = buckets.last().map_or(0, |bucket| bucket.to);
    if longest > end {
        buckets.push(LengthBucket { from: end + 1, to: longest.max(end + width) });
    }
    // Empty sentences belong to the first bucket.
    buckets[0].from = buckets[0].from.min(shortest);
    merge_small(&buckets, &sorted)
}

/// Smallest round width that needs at most [`MAX_BUCKETS`] buckets.
fn width(shortest: usize, longest: usize) -> usize {
    let mut scale = 1;
    loop {
        for width in [scale, 2 * scale, 5 * scale] {
            if bucket_index(longest, width) - bucket_index(shortest, width) < MAX_BUCKETS {
                return width;
            }
        }
        scale *= 10;
    }
}

/// Index of a length's bucket; the first holds 0 to `width` words.
fn bucket_index(length: usize, width: usize) -> usize {
    length.saturating_sub(1) / width
}

/// Merges neighbors until each bucket has enough of the sorted lengths.
fn merge_small(buckets: &[LengthBucket], sorted: &[usize]) -> Vec<LengthBucket> {
    let mut merged: Vec<LengthBucket> = Vec::new();
    let mut small: Option<LengthBucket> = None;
    for bucket in buckets {
        let whole = LengthBucket { from: small.map_or(bucket.from, |small| small.from), to: bucket.to };
        let first = sorted.partition_point(|&length| length < whole.from);
        let end = sorted.partition_point(|&length| length <= whole.to);
        if end - first < MIN_SENTENCES {
            small = Some(whole);
        } else {
            merged.push(whole);
            small = None;
        }
    }
    match (small, merged.last_mut()) {
        (Some(rest), Some(last)) => last.to = rest.to,
        (Some(rest), None) => merged.push(rest),
        (None, _) => {}
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRng;

    /// Buckets as pairs, for `(length, number of sentences)`.
    fn buckets(counted: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let lengths = counted.iter().flat_map(|&(length, times)| std::iter::repeat_n(length, times));
        length_buckets(&lengths.collect::<Vec<_>>()).iter().map(|bucket| (bucket.from, bucket.to)).collect()
    }

    fn evenly(lengths: std::ops::RangeInclusive<usize>) -> Vec<(usize, usize)> {
        lengths.map(|length| (length, 20)).collect()
    }

    #[test]
    fn uses_few_buckets_of_round_width() {
        assert_eq!(buckets(&evenly(3..=10)), (3..=10).map(|length| (length, length)).collect::<Vec<_>>());
        assert_eq!(buckets(&evenly(3..=12)), [(3, 4), (5, 6), (7, 8), (9, 10), (11, 12)]);
        assert_eq!(buckets(&evenly(1..=25)), [(1, 5), (6, 10), (11, 15), (16, 20), (21, 25)]);
        assert_eq!(buckets(&evenly(1..=80)).len(), 8);
        assert_eq!(buckets(&evenly(1..=81))[1], (21, 40));
        assert_eq!(buckets(&evenly(990..=1010)), [(986, 990), (991, 995), (996, 1000), (1001, 1005), (1006, 1010)]);
    }

    #[test]
    fn merges_small_buckets_with_a_neighbor() {
        assert_eq!(buckets(&[(1, 4), (2, 6), (3, 10)]), [(1, 2), (3, 3)]);
        assert_eq!(buckets(&[(1, 10), (2, 9), (3, 0), (4, 1)]), [(1, 1), (2, 4)]);
        assert_eq!(buckets(&[(1, 10), (2, 10), (3, 9)]), [(1, 1), (2, 3)]);
        assert_eq!(buckets(&[(1, 3), (4, 3)]), [(1, 4)], "too few for two buckets");
    }

    #[test]
    fn gives_very_long_sentences_their_own_bucket() {
        let mut counted = evenly(1..=25);
        counted.push((400, 3));
        assert_eq!(buckets(&counted).last(), Some(&(21, 400)), "too few for a bucket");
        counted = (1..=25).map(|length| (length, 60)).collect();
        counted.push((400, 12));
        assert_eq!(buckets(&counted)[3..], [(16, 20), (21, 25), (26, 400)]);
        counted.pop();
        counted.push((27, 12));
        assert_eq!(buckets(&counted).last(), Some(&(26, 30)), "ends at a round length if it fits");
    }

    #[test]
    fn puts_empty_sentences_into_the_first_bucket() {
        assert_eq!(buckets(&[(0, 1), (1, 20), (2, 20)]), [(0, 1), (2, 2)]);
        assert_eq!(buckets(&[(0, 3)]), [(0, 1)]);
        assert_eq!(buckets(&[]), []);
    }

    #[test]
    fn assigns_every_sentence_to_one_bucket() {
        let mut rng = SeededRng::new(7, "lengths", 0);
        for round in 1..200 {
            let most = 1 + round * round % 977;
            let lengths: Vec<usize> = (0..round * 3).map(|_| rng.below(most)).collect();
            let buckets = length_buckets(&lengths);
            for &length in &lengths {
                assert_eq!(buckets.iter().filter(|bucket| bucket.contains(length)).count(), 1, "{buckets:?}");
            }
            assert!(buckets.windows(2).all(|pair| pair[0].to + 1 == pair[1].from), "{buckets:?}");
            assert!(buckets.len() <= MAX_BUCKETS + 1, "{buckets:?}");
            for bucket in &buckets {
                let sentences = lengths.iter().filter(|&&length| bucket.contains(length)).count();
                assert!(buckets.len() == 1 || sentences >= MIN_SENTENCES);
            }
        }
    }
}
