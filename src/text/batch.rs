//! Padded batches of examples of similar length.

use std::fmt;

use super::{END, PADDING};
use crate::random::SeededRng;

/// Sentence pair as ids, without `<s>` and `</s>`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// Source token ids.
    pub source: Vec<u32>,
    /// Target token ids.
    pub target: Vec<u32>,
    /// Alignment targets for guided attention; empty if there are none.
    pub guide: Vec<GuideWeight>,
}

/// Attention weight that a target token should have on a source token; either may be `</s>`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuideWeight {
    /// Position of the target token.
    pub target: u32,
    /// Position of the source token.
    pub source: u32,
    /// Target attention weight, times the weight of the guided-alignment loss.
    pub weight: f32,
}

/// Numbers of tokens of an example.
#[derive(Clone, Copy, Debug)]
pub struct ExampleLength {
    /// Source tokens.
    pub source: usize,
    /// Target tokens.
    pub target: usize,
}

impl Example {
    /// Returns a pair without alignment targets.
    pub fn new(source: Vec<u32>, target: Vec<u32>) -> Self {
        Self { source, target, guide: Vec::new() }
    }

    /// Numbers of tokens, without `</s>`.
    pub fn length(&self) -> ExampleLength {
        ExampleLength { source: self.source.len(), target: self.target.len() }
    }
}

/// Id sequences, each ending in `</s>`, padded to the longest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaddedBatch {
    /// `[batch × length]`, row-major.
    pub ids: Vec<u32>,
    /// Length of each row, including `</s>`.
    pub lengths: Vec<usize>,
    /// Length of the longest row.
    pub length: usize,
}

impl PaddedBatch {
    /// Appends `</s>` to each sequence and pads.
    pub fn new<'a>(sequences: impl ExactSizeIterator<Item = &'a [u32]> + Clone) -> Self {
        let lengths: Vec<usize> = sequences.clone().map(|ids| ids.len() + 1).collect();
        let length = lengths.iter().copied().max().unwrap_or(0);
        let mut ids = Vec::with_capacity(lengths.len() * length);
        for sequence in sequences {
            ids.extend_from_slice(sequence);
            ids.push(END);
            ids.resize(ids.len() + length - sequence.len() - 1, PADDING);
        }
        Self { ids, lengths, length }
    }

    /// Returns some rows, padded to the longest of them.
    fn rows(&self, rows: impl ExactSizeIterator<Item = usize> + Clone) -> Self {
        Self::new(rows.map(|row| &self.ids[row * self.length..][..self.lengths[row] - 1]))
    }

    /// Number of sequences.
    pub fn batch(&self) -> usize {
        self.lengths.len()
    }

    /// Number of ids other than padding.
    pub fn tokens(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// Returns the id at a position of a sequence.
    pub fn id(&self, row: usize, position: usize) -> u32 {
        self.ids[row * self.length + position]
    }
}

/// Batch of sentence pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Sources with `</s>`.
    pub source: PaddedBatch,
    /// Targets with `</s>`, to be predicted.
    pub target: PaddedBatch,
    /// Alignment targets of each pair.
    pub alignment_targets: Vec<Vec<GuideWeight>>,
}

impl Batch {
    /// Returns a batch of sources with empty targets, for encoding.
    pub fn from_sources(source: &PaddedBatch) -> Self {
        let empty: [&[u32]; 1] = [&[]];
        let target = PaddedBatch::new(empty.repeat(source.batch()).into_iter());
        Self { source: source.clone(), target, alignment_targets: vec![Vec::new(); source.batch()] }
    }

    /// Returns a batch of the chosen examples.
    pub fn new(examples: &[Example], chosen: &[usize]) -> Self {
        Self {
            source: PaddedBatch::new(chosen.iter().map(|&index| examples[index].source.as_slice())),
            target: PaddedBatch::new(chosen.iter().map(|&index| examples[index].target.as_slice())),
            alignment_targets: chosen.iter().map(|&index| examples[index].guide.clone()).collect(),
        }
    }

    /// Returns the rows of a share as a batch of their own.
    pub fn of_share(&self, share: BatchShare) -> Self {
        let rows = share.rows(self.target.batch());
        Self {
            source: self.source.rows(rows.clone()),
            target: self.target.rows(rows.clone()),
            alignment_targets: rows.map(|row| self.alignment_targets[row].clone()).collect(),
        }
    }
}

/// Rows of a batch that one of several processes computes: `index`, `index + count`, `index + 2 count` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchShare {
    /// Number of the process, from 0.
    pub index: usize,
    /// Number of processes.
    pub count: usize,
}

impl BatchShare {
    /// All rows.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Returns the rows of a batch of `size` rows.
    pub fn rows(self, size: usize) -> impl ExactSizeIterator<Item = usize> + Clone {
        (self.index..size.max(self.index)).step_by(self.count)
    }

    /// Returns true for a row of the share.
    pub fn contains(self, row: usize) -> bool {
        row % self.count == self.index
    }
}

/// Maximum size of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchSize {
    /// Number of sentence pairs.
    Sentences(usize),
    /// Number of target tokens, including padding; a longer sentence forms a batch of its own.
    Tokens(usize),
}

impl BatchSize {
    /// True if a batch may have this many sentence pairs. `length` is the longest target with `</s>`.
    fn allows(self, pairs: usize, length: usize) -> bool {
        match self {
            Self::Sentences(max) => pairs <= max,
            Self::Tokens(max) => pairs * length <= max,
        }
    }
}

impl fmt::Display for BatchSize {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Sentences(max) => write!(formatter, "{max} pairs"),
            Self::Tokens(max) => write!(formatter, "{max} target tokens"),
        }
    }
}

/// Splits all examples into batches of similar length, in random order. Examples of equal lengths are shuffled, so batches
/// differ between epochs.
pub fn bucketed(lengths: &[ExampleLength], size: BatchSize, rng: &mut SeededRng) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    rng.shuffle(&mut order);
    order.sort_by_key(|&index| (lengths[index].target, lengths[index].source));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for index in order {
        // Sorted by target length, so this example is the longest.
        let target_length = lengths[index].target;
        match batches.last_mut() {
            Some(batch) if size.allows(batch.len() + 1, target_length + 1) => batch.push(index),
            _ => batches.push(vec![index]),
        }
    }
    rng.shuffle(&mut batches);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pads_to_longest_sequence() {
        let sequences: [&[u32]; 3] = [&[5, 6], &[], &[7]];
        let padded = PaddedBatch::new(sequences.into_iter());
        assert_eq!(padded.ids, [5, 6, END, END, PADDING, PADDING, 7, END, PADDING]);
        assert_eq!(padded.lengths, [3, 1, 2]);
        assert_eq!((padded.length, padded.tokens(), padded.id(2, 1)), (3, 6, END));
        assert_eq!(PaddedBatch::new([].into_iter()).length, 0);
    }

    #[test]
    fn batches_hold_every_example_once_within_limits() {
        let lengths = Vec::from_iter((0..103).map(|i| ExampleLength { source: i % 7, target: i % 11 }));
        for size in [BatchSize::Sentences(8), BatchSize::Tokens(40), BatchSize::Tokens(1)] {
            let batches = bucketed(&lengths, size, &mut SeededRng::new(1, "shuffle", 0));
            let mut batched: Vec<usize> = batches.concat();
            batched.sort_unstable();
            assert_eq!(batched, (0..103).collect::<Vec<_>>());
            for batch in &batches {
                let longest = batch.iter().map(|&index| lengths[index].target + 1).max().unwrap();
                match size {
                    BatchSize::Sentences(max) => assert!(batch.len() <= max),
                    BatchSize::Tokens(max) => assert!(batch.len() == 1 || batch.len() * longest <= max),
                }
            }
        }
        assert!(bucketed(&[], BatchSize::Sentences(4), &mut SeededRng::new(1, "shuffle", 0)).is_empty());
    }

    #[test]
    fn batches_depend_on_seed() {
        let lengths = [ExampleLength { source: 3, target: 3 }; 50];
        let [first, again, other] = [0, 0, 1]
            .map(|epoch| bucketed(&lengths, BatchSize::Sentences(5), &mut SeededRng::new(1, "shuffle", epoch)));
        assert_eq!(first, again);
        assert_ne!(first, other);
    }
}
