//! Shape of sequences of different lengths without padding.

use std::ops::Range;

use crate::kernels::buffer_pool::Buffer;

/// Shape of a shard's sources, the longest first. Positions are stored step by step for the recurrence, where a step's rows
/// are a prefix of all rows, and row by row for attention.
pub struct Ragged {
    row_starts: Vec<usize>,
    step_starts: Vec<usize>,
}

/// Position of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Index within the row.
    pub step: usize,
    /// Row.
    pub row: usize,
}

impl Ragged {
    /// Shape of rows with these lengths, in non-increasing order.
    pub fn new(lengths: &[usize]) -> Self {
        debug_assert!(lengths.is_sorted_by(|before, after| before >= after));
        let longest = lengths.first().copied().unwrap_or(0);
        let rows_of_steps = (0..longest).map(|step| lengths.partition_point(|&length| length > step));
        Self { row_starts: sums(lengths.iter().copied()), step_starts: sums(rows_of_steps) }
    }

    /// Number of positions of all rows.
    pub fn size(&self) -> usize {
        self.row_starts.last().copied().unwrap_or(0)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Length of the longest row.
    pub fn steps(&self) -> usize {
        self.step_starts.len() - 1
    }

    /// Length of a row.
    pub fn length(&self, row: usize) -> usize {
        self.row(row).len()
    }

    /// A row's positions when stored row by row.
    pub fn row(&self, row: usize) -> Range<usize> {
        self.row_starts[row]..self.row_starts[row + 1]
    }

    /// A step's positions when stored step by step: one for each row that is long enough, a prefix of all rows.
    pub fn step(&self, step: usize) -> Range<usize> {
        self.step_starts[step]..self.step_starts[step + 1]
    }

    /// First position of each row when stored row by row, and the end of the last.
    pub fn row_starts(&self) -> &[usize] {
        &self.row_starts
    }

    /// All positions, step by step.
    pub fn positions(&self) -> impl Iterator<Item = Position> {
        (0..self.steps()).flat_map(|step| (0..self.step(step).len()).map(move |row| Position { step, row }))
    }

    /// Reorders values, `[positions, width]`, from step by step to row by row.
    pub fn by_rows(&self, by_steps: &[f32], width: usize) -> Buffer {
        let mut by_rows = Buffer::scratch(by_steps.len());
        for (Position { step, row }, values) in self.positions().zip(by_steps.chunks_exact(width)) {
            by_rows[(self.row_starts[row] + step) * width..][..width].copy_from_slice(values);
        }
        by_rows
    }

    /// Reorders values, `[positions, width]`, from row by row to step by step.
    pub fn by_steps(&self, by_rows: &[f32], width: usize) -> Buffer {
        let mut by_steps = Buffer::scratch(by_rows.len());
        for (Position { step, row }, values) in self.positions().zip(by_steps.chunks_exact_mut(width)) {
            values.copy_from_slice(&by_rows[(self.row_starts[row] + step) * width..][..width]);
        }
        by_steps
    }
}

/// Cumulative sums, starting with 0.
fn sums(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sums = vec![0];
    let mut sum = 0;
    for number in numbers {
        sum += number;
        sums.push(sum);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_reorder_between_steps_and_rows() {
        let ragged = Ragged::new(&[3, 3, 1]);
        assert_eq!((ragged.size(), ragged.rows(), ragged.steps(), ragged.length(2)), (7, 3, 3, 1));
        assert_eq!([ragged.step(0), ragged.step(1), ragged.step(2)], [0..3, 3..5, 5..7]);
        assert_eq!([ragged.row(0), ragged.row(1), ragged.row(2)], [0..3, 3..6, 6..7]);
        // Tens encode the row, ones the step.
        let by_steps = [0.0, 10.0, 20.0, 1.0, 11.0, 2.0, 12.0];
        let by_rows = ragged.by_rows(&by_steps, 1);
        assert_eq!(&*by_rows, [0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 20.0]);
        assert_eq!(&*ragged.by_steps(&by_rows, 1), by_steps);
    }

    #[test]
    fn shape_may_be_empty() {
        let ragged = Ragged::new(&[]);
        assert_eq!((ragged.size(), ragged.rows(), ragged.steps()), (0, 0, 0));
        assert_eq!(ragged.positions().count(), 0);
    }
}
