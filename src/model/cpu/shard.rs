//! Shard of a batch: the sentences that one thread computes.

use std::cmp::Reverse;

use super::ragged::{Position, Ragged};
use crate::model::DropoutMask;
use crate::random::CounterRng;
use crate::text::{BEGIN, Batch, BatchShare, GuideWeight};

/// Some sentences of a batch, the longest source first. Target-side arrays are `[length, rows, ·]`, padded to the
/// shard's longest target; source-side arrays have no padding.
pub struct Shard<'a> {
    batch: &'a Batch,
    /// Rows of the batch.
    pub rows: Vec<usize>,
    /// Shape of the sources.
    pub source: Ragged,
    /// Length of the longest target.
    pub target_length: usize,
    /// Target positions without padding, step by step.
    pub positions: Vec<TargetPosition>,
}

/// Target token to predict.
#[derive(Clone, Copy)]
pub struct TargetPosition {
    /// Step of the decoder.
    pub step: usize,
    /// Row in the shard.
    pub row: usize,
    /// Index among all target tokens of the batch, step by step.
    pub index: usize,
}

impl<'a> Shard<'a> {
    /// Splits a share of a batch round-robin, so that all shards have equally many long sentences.
    pub fn split(batch: &'a Batch, share: BatchShare, shards: usize) -> Vec<Self> {
        let size = batch.target.batch();
        let BatchShare { index: first, count } = share;
        let shards = shards.clamp(1, share.rows(size).len().max(1));
        let mut split: Vec<Self> = Vec::with_capacity(shards);
        for shard in 0..shards {
            let rows = (first + shard * count..size).step_by(shards * count);
            split.push(Self::new(batch, rows.collect()));
        }
        let mut index_in_shard = vec![0; size];
        for shard in &split {
            shard.rows.iter().enumerate().for_each(|(index, &row)| index_in_shard[row] = index);
        }
        let mut index = 0;
        for step in 0..batch.target.length {
            for row in (0..size).filter(|&row| step < batch.target.lengths[row]) {
                if share.contains(row) {
                    let position = TargetPosition { step, row: index_in_shard[row], index };
                    split[row / count % shards].positions.push(position);
                }
                index += 1;
            }
        }
        split
    }

    fn new(batch: &'a Batch, mut rows: Vec<usize>) -> Self {
        rows.sort_by_key(|&row| Reverse(batch.source.lengths[row]));
        let lengths: Vec<usize> = rows.iter().map(|&row| batch.source.lengths[row]).collect();
        Self {
            source: Ragged::new(&lengths),
            target_length: rows.iter().map(|&row| batch.target.lengths[row]).max().unwrap_or(0),
            batch,
            rows,
            positions: Vec::new(),
        }
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.rows.len()
    }

    /// Source tokens, step by step.
    pub fn source_ids(&self) -> Vec<u32> {
        self.source.positions().map(|Position { step, row }| self.batch.source.id(self.rows[row], step)).collect()
    }

    /// Source tokens of one row.
    pub fn source_of(&self, row: usize) -> impl Iterator<Item = u32> + Clone + use<'a> {
        let (batch, index) = (self.batch, self.rows[row]);
        (0..self.source.length(row)).map(move |step| batch.source.id(index, step))
    }

    /// y_{t-1} of each target position, step by step.
    pub fn previous_ids(&self) -> Vec<u32> {
        let mut ids = Vec::with_capacity(self.target_length * self.size());
        for step in 0..self.target_length {
            ids.extend(self.rows.iter().map(|&row| match step {
                0 => BEGIN,
                _ => self.batch.target.id(row, step - 1),
            }));
        }
        ids
    }

    /// Tokens to predict, in the order of `positions`.
    pub fn targets(&self) -> Vec<u32> {
        self.positions.iter().map(|position| self.batch.target.id(self.rows[position.row], position.step)).collect()
    }

    /// Alignment links of one row for guided alignment.
    pub fn guide(&self, row: usize) -> &'a [GuideWeight] {
        &self.batch.alignment_targets[self.rows[row]]
    }

    /// Applies dropout to source tokens, `[positions, width]` step by step; positions of masks count the whole batch, `[length,
    /// batch, width]`.
    pub fn apply_source_dropout(&self, values: &mut [f32], mask: Option<DropoutMask>, width: usize) {
        self.drop(values, mask, width, self.source.positions());
    }

    /// Applies dropout to target tokens, `[length × rows, width]`; positions count the whole batch.
    pub fn apply_target_dropout(&self, values: &mut [f32], mask: Option<DropoutMask>, width: usize) {
        let positions =
            (0..self.target_length).flat_map(|step| (0..self.size()).map(move |row| Position { step, row }));
        self.drop(values, mask, width, positions);
    }

    /// Random numbers of hard attention at one step: `count` per row, indexed by the whole batch's positions,
    /// `[length, batch, count]`.
    pub fn draws(&self, rng: Option<CounterRng>, step: usize, count: usize) -> Option<Vec<f32>> {
        let rng = rng.filter(|_| count > 0)?;
        let before = step * self.batch.target.batch();
        let positions = self.rows.iter().flat_map(|row| ((before + row) * count..).take(count));
        Some(positions.map(|position| rng.uniform(position as u32)).collect())
    }

    fn drop(
        &self,
        values: &mut [f32],
        mask: Option<DropoutMask>,
        width: usize,
        positions: impl Iterator<Item = Position>,
    ) {
        let Some(mask) = mask else { return };
        for (Position { step, row }, values) in positions.zip(values.chunks_exact_mut(width)) {
            mask.apply(values, (step * self.batch.target.batch() + self.rows[row]) * width);
        }
    }
}

/// Applies dropout to the first `width` numbers of rows `stride` apart; positions count all target tokens of the batch,
/// `[tokens, width]`.
pub fn apply_output_dropout(
    positions: &[TargetPosition],
    values: &mut [f32],
    mask: Option<DropoutMask>,
    width: usize,
    stride: usize,
) {
    let Some(mask) = mask else { return };
    for (row, position) in values.chunks_mut(stride).zip(positions) {
        mask.apply(&mut row[..width], position.index * width);
    }
}
