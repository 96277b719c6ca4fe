//! Batches: examples of like length side by side, padded to a rectangle.

use std::fmt;

use super::{END, PADDING};
use crate::random::SeededRng;

/// A sentence pair as ids, without begin and end marks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// Source unit ids.
    pub source: Vec<u32>,
    /// Target unit ids.
    pub target: Vec<u32>,
    /// Where attention should look, target unit by target unit; empty if nobody says.
    pub guide: Vec<GuideWeight>,
}

/// Attention that a target unit should pay to a source unit; each may be the `</s>`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuideWeight {
    /// Position of the target unit.
    pub target: u32,
    /// Position of the source unit.
    pub source: u32,
    /// Share of the attention, times what such advice counts beside the prediction of a unit.
    pub weight: f32,
}

impl Example {
    /// A pair without a guide.
    pub fn new(source: Vec<u32>, target: Vec<u32>) -> Self {
        Self { source, target, guide: Vec::new() }
    }
}

/// Sequences of ids, each ended by `</s>`, padded to the longest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaddedBatch {
    /// `[batch × length]`, row by row.
    pub ids: Vec<u32>,
    /// Real length of each row, its `</s>` included.
    pub lengths: Vec<usize>,
    /// The longest row's length.
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

    /// How many sequences there are.
    pub fn batch(&self) -> usize {
        self.lengths.len()
    }

    /// How many ids are no padding.
    pub fn units(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// The id at one position of one sequence.
    pub fn id(&self, row: usize, position: usize) -> u32 {
        self.ids[row * self.length + position]
    }
}

/// What the model is trained on at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Sources with `</s>`.
    pub source: PaddedBatch,
    /// Targets with `</s>`: what is to be predicted.
    pub target: PaddedBatch,
    /// Each pair's guide.
    pub alignment_targets: Vec<Vec<GuideWeight>>,
}

impl Batch {
    /// Sources alone, for encoding; every target is empty.
    pub fn of_sources(source: &PaddedBatch) -> Self {
        let empty: [&[u32]; 1] = [&[]];
        let target = PaddedBatch::new(empty.repeat(source.batch()).into_iter());
        Self { source: source.clone(), target, alignment_targets: vec![Vec::new(); source.batch()] }
    }

    /// Puts the chosen examples side by side.
    pub fn new(examples: &[Example], chosen: &[usize]) -> Self {
        Self {
            source: PaddedBatch::new(chosen.iter().map(|&index| examples[index].source.as_slice())),
            target: PaddedBatch::new(chosen.iter().map(|&index| examples[index].target.as_slice())),
            alignment_targets: chosen.iter().map(|&index| examples[index].guide.clone()).collect(),
        }
    }
}

/// How large a batch may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchSize {
    /// So many sentence pairs.
    Sentences(usize),
    /// So many target units at most, padding counted; a longer single sentence stands alone.
    Tokens(usize),
}

impl fmt::Display for BatchSize {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Sentences(most) => write!(formatter, "{most} pairs"),
            Self::Tokens(most) => write!(formatter, "{most} target units"),
        }
    }
}

/// Deals all examples into batches of like length, the batches in random order. `lengths` holds each example's source
/// and target length. The order within equal lengths is random too, so that no epoch has the same batches.
pub fn bucketed(lengths: &[(usize, usize)], size: BatchSize, stream: &mut SeededRng) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    stream.shuffle(&mut order);
    order.sort_by_key(|&index| (lengths[index].1, lengths[index].0));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for index in order {
        // Sorted by target length, so the newcomer is the longest.
        let full = |batch: &Vec<usize>| match size {
            BatchSize::Sentences(most) => batch.len() >= most,
            BatchSize::Tokens(most) => (batch.len() + 1) * (lengths[index].1 + 1) > most,
        };
        match batches.last_mut().filter(|batch| !full(batch)) {
            Some(batch) => batch.push(index),
            None => batches.push(vec![index]),
        }
    }
    stream.shuffle(&mut batches);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_fills_the_rectangle() {
        let sequences: [&[u32]; 3] = [&[5, 6], &[], &[7]];
        let padded = PaddedBatch::new(sequences.into_iter());
        assert_eq!(padded.ids, [5, 6, END, END, PADDING, PADDING, 7, END, PADDING]);
        assert_eq!(padded.lengths, [3, 1, 2]);
        assert_eq!((padded.length, padded.units(), padded.id(2, 1)), (3, 6, END));
        assert_eq!(PaddedBatch::new([].into_iter()).length, 0);
    }

    #[test]
    fn every_example_is_dealt_once_and_budgets_hold() {
        let lengths: Vec<(usize, usize)> = (0..103).map(|i| (i % 7, i % 11)).collect();
        for size in [BatchSize::Sentences(8), BatchSize::Tokens(40), BatchSize::Tokens(1)] {
            let batches = bucketed(&lengths, size, &mut SeededRng::new(1, "shuffle", 0));
            let mut dealt: Vec<usize> = batches.concat();
            dealt.sort_unstable();
            assert_eq!(dealt, (0..103).collect::<Vec<_>>());
            for batch in &batches {
                let longest = batch.iter().map(|&index| lengths[index].1 + 1).max().unwrap();
                match size {
                    BatchSize::Sentences(most) => assert!(batch.len() <= most),
                    BatchSize::Tokens(most) => assert!(batch.len() == 1 || batch.len() * longest <= most),
                }
            }
        }
        assert!(bucketed(&[], BatchSize::Sentences(4), &mut SeededRng::new(1, "shuffle", 0)).is_empty());
    }

    #[test]
    fn the_seed_decides_the_batches() {
        let lengths = vec![(3, 3); 50];
        let deal = |epoch| bucketed(&lengths, BatchSize::Sentences(5), &mut SeededRng::new(1, "shuffle", epoch));
        assert_eq!(deal(0), deal(0));
        assert_ne!(deal(0), deal(1));
    }
}
