//! Scores by the length of the source, and their figure.

use anyhow::{Result, ensure};
use serde::Serialize;

use super::scores::{CorpusScores, PairLinks, PairResult};
use crate::alignment::{AerCounts, AlignmentMetrics};
use crate::metrics::{LengthBucket, ScoreOptions, length_buckets};
use crate::render::{Axis, Bracket, BracketCounts, Figure, Scale, Series};
use crate::text::{Pair, WordSplitting, word_spans};

/// Scores of the pairs whose sources have a length within a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LengthScores {
    /// Range of lengths.
    #[serde(flatten)]
    pub bucket: LengthBucket,
    /// Mean length of the bucket's sources, in words.
    pub mean_length: f64,
    /// Scores of the translations.
    #[serde(flatten)]
    pub scores: CorpusScores,
    /// Metrics of the links against gold alignments, if given.
    #[serde(flatten)]
    pub agreement: Option<AlignmentMetrics>,
}

/// Pairs in buckets by the number of words in their sources.
pub struct LengthBuckets {
    /// Word count of each pair's source.
    words: Vec<usize>,
    buckets: Vec<LengthBucket>,
    options: ScoreOptions,
}

impl LengthBuckets {
    /// Chooses buckets for the pairs, the same for every system.
    ///
    /// # Errors
    /// No source has a word.
    pub fn new(pairs: &[Pair], options: ScoreOptions) -> Result<Self> {
        let words: Vec<usize> =
            pairs.iter().map(|pair| word_spans(&pair.source, WordSplitting::Script).len()).collect();
        ensure!(words.iter().any(|&length| length > 0), "no source has a word, so there are no scores by length");
        Ok(Self { buckets: length_buckets(&words), words, options })
    }

    /// Returns the scores of each bucket, given one result per pair.
    pub fn scores(&self, results: &[PairResult]) -> Vec<LengthScores> {
        self.buckets.iter().map(|&bucket| self.scores_of(bucket, results)).collect()
    }

    fn scores_of(&self, bucket: LengthBucket, results: &[PairResult]) -> LengthScores {
        let members = self.words.iter().zip(results).filter(|(words, _)| bucket.contains(**words));
        let (words, results): (Vec<usize>, Vec<PairResult>) = members.unzip();
        LengthScores {
            bucket,
            mean_length: words.iter().sum::<usize>() as f64 / words.len().max(1) as f64,
            scores: CorpusScores::new(&results, self.options),
            agreement: agreement(&results),
        }
    }
}

/// Metrics of links against gold links; `None` without gold links.
fn agreement(results: &[PairResult]) -> Option<AlignmentMetrics> {
    let mut counts = AerCounts::default();
    for result in results {
        let PairLinks { predicted, gold } = result.links?;
        counts.add(predicted, gold);
    }
    Some(counts.metrics())
}

/// Figure of BLEU by length: one line per named system, and the counts of pairs below.
pub fn bleu_by_length(systems: &[(&str, &[LengthScores])]) -> Figure {
    let series = systems.iter().map(|(name, buckets)| Series {
        name: (*name).to_owned(),
        points: buckets.iter().map(|bucket| [bucket.mean_length, bucket.scores.bleu]).collect(),
    });
    let buckets = systems.first().map_or(&[][..], |(_, buckets)| buckets).iter();
    let brackets = buckets.map(|LengthScores { bucket, scores, .. }| Bracket {
        from: bucket.from,
        to: bucket.to,
        count: scores.pairs,
    });
    Figure {
        x: Axis { label: "words in the source".to_owned(), scale: Scale::Whole },
        y: Axis { label: "BLEU".to_owned(), scale: Scale::Linear },
        series: series.collect(),
        counts: Some(BracketCounts { label: "pairs".to_owned(), brackets: brackets.collect() }),
        mark: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_each_pair_in_the_bucket_of_its_length() {
        let mut pairs = Vec::new();
        let mut results = Vec::new();
        for (source, translation) in [("a", "x"), ("a b", "y")] {
            pairs.extend(vec![Pair::new(source, "x"); 12]);
            results.extend([PairResult { translation, reference: "x", likelihood: None, links: None }; 12]);
        }
        let found = LengthBuckets::new(&pairs, ScoreOptions::default()).unwrap().scores(&results);
        let found: Vec<_> = found
            .iter()
            .map(|LengthScores { mean_length, scores, .. }| (*mean_length, scores.pairs, scores.exact_match))
            .collect();
        assert_eq!(found, [(1.0, 12, 100.0), (2.0, 12, 0.0)]);
        assert!(LengthBuckets::new(&[Pair::new(" ", "x")], ScoreOptions::default()).is_err(), "no source has a word");
    }
}
