//! The part of a batch that one thread runs.

use std::cmp::Reverse;

use super::super::Mask;
use super::ragged::Ragged;
use crate::random::CounterRng;
use crate::text::{BEGIN, Batch, Look};

/// Some sentences of a batch, the longest source first. What belongs to target units lies `[length, rows, ·]`, by the
/// part's own rows and longest target; what belongs to source units lies without padding.
pub struct Part<'a> {
    batch: &'a Batch,
    /// The sentences, as rows of the batch.
    pub rows: Vec<usize>,
    /// The sources' lengths.
    pub source: Ragged,
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
        let mut place_of_row = vec![0; size];
        for part in &dealt {
            part.rows.iter().enumerate().for_each(|(place, &row)| place_of_row[row] = place);
        }
        let mut index = 0;
        for step in 0..batch.target.length {
            for row in (0..size).filter(|&row| step < batch.target.lengths[row]) {
                dealt[row % parts].positions.push(Position { step, row: place_of_row[row], index });
                index += 1;
            }
        }
        dealt
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

    /// How many rows there are.
    pub fn size(&self) -> usize {
        self.rows.len()
    }

    /// The source units, step by step.
    pub fn source_ids(&self) -> Vec<u32> {
        self.source.places().map(|(step, row)| self.batch.source.id(self.rows[row], step)).collect()
    }

    /// The source units of one of its rows.
    pub fn source_of(&self, row: usize) -> impl Iterator<Item = u32> + Clone + use<'a> {
        let (batch, place) = (self.batch, self.rows[row]);
        (0..self.source.length(row)).map(move |step| batch.source.id(place, step))
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

    /// Drops numbers of source units, `[cells, width]` step by step; the mask counts those of the whole batch,
    /// `[length, batch, width]`.
    pub fn drop_of_source(&self, values: &mut [f32], mask: Option<Mask>, width: usize) {
        self.drop(values, mask, width, self.source.places());
    }

    /// Drops numbers of target units, `[length × size, width]`; the mask counts those of the whole batch.
    pub fn drop_of_target(&self, values: &mut [f32], mask: Option<Mask>, width: usize) {
        let places = (0..self.target_length).flat_map(|step| (0..self.size()).map(move |row| (step, row)));
        self.drop(values, mask, width, places);
    }

    /// What attention draws its choices by at one step: `count` numbers for each row, which are those of the whole
    /// batch's cells, `[length, batch, count]`.
    pub fn draws(&self, chance: Option<CounterRng>, step: usize, count: usize) -> Option<Vec<f32>> {
        let first = |row: &usize| (step * self.batch.target.batch() + row) * count;
        let chance = chance.filter(|_| count > 0)?;
        let positions = self.rows.iter().flat_map(|row| (first(row)..).take(count));
        Some(positions.map(|position| chance.uniform(position as u32)).collect())
    }

    fn drop(&self, values: &mut [f32], mask: Option<Mask>, width: usize, places: impl Iterator<Item = (usize, usize)>) {
        let Some(mask) = mask else { return };
        for ((step, row), values) in places.zip(values.chunks_exact_mut(width)) {
            mask.apply(values, (step * self.batch.target.batch() + self.rows[row]) * width);
        }
    }
}

/// Drops numbers of rows `stride` apart, of which each has its first `width` numbers; the mask counts those of all the
/// batch's units, `[units, width]`.
pub fn drop_positions(positions: &[Position], values: &mut [f32], mask: Option<Mask>, width: usize, stride: usize) {
    let Some(mask) = mask else { return };
    for (row, position) in values.chunks_mut(stride).zip(positions) {
        mask.apply(&mut row[..width], position.index * width);
    }
}
