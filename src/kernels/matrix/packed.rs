//! The right factor of a product, laid out in the order in which the kernel reads it.

use super::Matrix;
use crate::kernels::buffer::Buffer;

/// Columns of a panel: three AVX-512 vectors, or six of AVX2.
pub(super) const WIDTH: usize = 48;

/// Rows that are turned at a time where the matrix lies column by column, so that what is read stays in the cache.
const TURNED: usize = 16;

/// A matrix cut into panels of [`WIDTH`] columns, each row by row; the last panel is filled up with zeros.
#[derive(Debug, Default)]
pub struct Packed {
    panels: Buffer,
    rows: usize,
    columns: usize,
}

impl Packed {
    /// Packs a matrix.
    pub fn new(matrix: Matrix) -> Self {
        let Matrix { rows, columns, .. } = matrix;
        let mut panels = Buffer::any(columns.div_ceil(WIDTH) * rows * WIDTH);
        for (panel, first) in panels.chunks_exact_mut((rows * WIDTH).max(1)).zip((0..columns).step_by(WIDTH)) {
            let part = matrix.columns(first, (columns - first).min(WIDTH));
            let panel = panel.as_chunks_mut::<WIDTH>().0;
            if part.column_stride == 1 { copy(panel, part) } else { turn(panel, part) }
        }
        Self { panels, rows, columns }
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the matrix.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Some rows of the panel that begins at a column.
    pub(super) fn panel(&self, column: usize, rows: std::ops::Range<usize>) -> &[[f32; WIDTH]] {
        let panel = &self.panels.as_chunks::<WIDTH>().0[column / WIDTH * self.rows..][..self.rows];
        &panel[rows]
    }
}

fn copy(panel: &mut [[f32; WIDTH]], part: Matrix) {
    for (row, packed) in panel.iter_mut().enumerate() {
        let (filled, rest) = packed.split_at_mut(part.columns);
        filled.copy_from_slice(&part.data[row * part.row_stride..][..part.columns]);
        rest.fill(0.0);
    }
}

fn turn(panel: &mut [[f32; WIDTH]], part: Matrix) {
    for (block, rows) in panel.chunks_mut(TURNED).enumerate() {
        for row in rows.iter_mut() {
            row[part.columns..].fill(0.0);
        }
        for column in 0..part.columns {
            let start = column * part.column_stride + block * TURNED * part.row_stride;
            for (row, value) in rows.iter_mut().zip(part.data[start..].iter().step_by(part.row_stride)) {
                row[column] = *value;
            }
        }
    }
}
