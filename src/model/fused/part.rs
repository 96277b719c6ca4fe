//! The part of a batch that one thread runs.

use super::super::Mask;
use crate::text::{BEGIN, Batch, Look, Padded};

/// Some sentences of a batch. Within a part everything lies `[length, rows, ·]` by the part's own rows and lengths.
pub struct Part<'a> {
    batch: &'a Batch,
    /// The sentences, as rows of the batch.
    pub rows: Vec<usize>,
    /// Real source length of each row.
    pub source_lengths: Vec<usize>,
    /// The longest source.
    pub source_length: usize,
    /// The longest target.
    pub target_length: usize,
    /// The target positions that are no padding, step by step.
    pub positions: Vec<Position>,
}

/// A target unit to be predicted.
#[derive(Clone, Copy)]
pub struct Position {
    /// Its step.
    pub step: usize,
    /// Its row in the part.
    pub row: usize,
    /// How many units of the whole batch stand before it, step by step.
    pub index: usize,
}

impl<'a> Part<'a> {
    /// Deals a batch's rows in turn, so that all parts have as many long sentences.
    pub fn deal(batch: &'a Batch, parts: usize) -> Vec<Self> {
        let size = batch.target.batch();
        let parts = parts.clamp(1, size.max(1));
        let mut dealt: Vec<Self> =
            (0..parts).map(|part| Self::new(batch, (part..size).step_by(parts).collect())).collect();
        let mut index = 0;
        for step in 0..batch.target.length {
            for row in (0..size).filter(|&row| step < batch.target.lengths[row]) {
                dealt[row % parts].positions.push(Position { step, row: row / parts, index });
                index += 1;
            }
        }
        dealt
    }

    fn new(batch: &'a Batch, rows: Vec<usize>) -> Self {
        let lengths = |padded: &Padded| -> Vec<usize> { rows.iter().map(|&row| padded.lengths[row]).collect() };
        let source_lengths = lengths(&batch.source);
        let longest = |lengths: &[usize]| lengths.iter().copied().max().unwrap_or(0);
        Self {
            source_length: longest(&source_lengths),
            target_length: longest(&lengths(&batch.target)),
            batch,
            rows,
            source_lengths,
            positions: Vec::new(),
        }
    }

    /// How many rows there are.
    pub fn size(&self) -> usize {
        self.rows.len()
    }

    /// The source units, step by step.
    pub fn source_ids(&self) -> Vec<u32> {
        let id = |step| self.rows.iter().map(move |&row| self.batch.source.id(row, step));
        (0..self.source_length).flat_map(id).collect()
    }

    /// The words before each target unit, step by step.
    pub fn previous_ids(&self) -> Vec<u32> {
        let before = |step: usize| {
            let id = move |&row: &usize| if step == 0 { BEGIN } else { self.batch.target.id(row, step - 1) };
            self.rows.iter().map(id)
        };
        (0..self.target_length).flat_map(before).collect()
    }

    /// The units to be predicted, by [`Self::positions`].
    pub fn targets(&self) -> Vec<u32> {
        let target = |position: &Position| self.batch.target.id(self.rows[position.row], position.step);
        self.positions.iter().map(target).collect()
    }

    /// The guide of one of its rows.
    pub fn guide(&self, row: usize) -> &'a [Look] {
        &self.batch.guides[self.rows[row]]
    }

    /// Drops numbers of rows `[length × size, width]`; the mask counts those of the whole batch, `[length, batch, width]`.
    pub fn drop(&self, values: &mut [f32], mask: Option<Mask>, width: usize) {
        let Some(mask) = mask else { return };
        let all = self.batch.target.batch();
        for (index, row) in values.chunks_exact_mut(width).enumerate() {
            let place = index / self.size() * all + self.rows[index % self.size()];
            mask.apply(row, place * width);
        }
    }
}

/// Drops numbers of rows `stride` apart, of which each has its first `width` numbers; the mask counts those of all the batch's
/// units, `[units, width]`.
pub fn drop_positions(positions: &[Position], values: &mut [f32], mask: Option<Mask>, width: usize, stride: usize) {
    let Some(mask) = mask else { return };
    for (row, position) in values.chunks_mut(stride).zip(positions) {
        mask.apply(&mut row[..width], position.index * width);
    }
}
