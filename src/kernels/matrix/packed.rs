//! Right factor of a product, in the memory order in which the product reads it.

use super::bf16::Bf16Factor;
use super::{MatrixView, Precision};
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::simd::{copy_flush_denormals, vectorized};

/// Columns of a panel: three AVX-512 vectors, or six of AVX2.
pub(super) const WIDTH: usize = 48;

/// Rows and columns of a block that is transposed.
const TILE: usize = 16;

/// Right factor of products, in the precision of the factors.
#[derive(Debug)]
pub enum PackedMatrix {
    /// Factors are multiplied as they are.
    F32(Panels),
    /// Factors are rounded to bf16.
    Bf16(Bf16Factor),
}

/// Matrix cut into panels of 48 columns, each row-major; the last panel is zero-padded.
#[derive(Debug, Default)]
pub struct Panels {
    panels: Buffer,
    rows: usize,
    columns: usize,
}

impl PackedMatrix {
    /// Packs a matrix.
    pub fn new(matrix: MatrixView, precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::F32(Panels::new(matrix)),
            Precision::Bf16 => Self::Bf16(Bf16Factor::right(matrix)),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::F32(panels) => panels.rows,
            Self::Bf16(factor) => factor.terms(),
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::F32(panels) => panels.columns,
            Self::Bf16(factor) => factor.lines(),
        }
    }
}

impl Default for PackedMatrix {
    fn default() -> Self {
        Self::F32(Panels::default())
    }
}

impl Panels {
    fn new(matrix: MatrixView) -> Self {
        let MatrixView { rows, columns, .. } = matrix;
        let mut panels = Buffer::scratch(columns.div_ceil(WIDTH) * rows * WIDTH);
        if matrix.column_stride == 1 {
            pack_rows(&mut panels, matrix);
        } else {
            for (panel, first) in panels.chunks_exact_mut((rows * WIDTH).max(1)).zip((0..columns).step_by(WIDTH)) {
                let part = matrix.columns(first, (columns - first).min(WIDTH));
                pack_transposed(panel.as_chunks_mut::<WIDTH>().0, part);
            }
        }
        Self { panels, rows, columns }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// `rows` of the panel that starts at `column`.
    pub(super) fn panel(&self, column: usize, rows: std::ops::Range<usize>) -> &[[f32; WIDTH]] {
        let panel = &self.panels.as_chunks::<WIDTH>().0[column / WIDTH * self.rows..][..self.rows];
        &panel[rows]
    }
}

/// Packs a row-major matrix, reading each row once for all panels.
fn pack_rows(panels: &mut [f32], matrix: MatrixView) {
    let panels = panels.as_chunks_mut::<WIDTH>().0;
    for row in 0..matrix.rows {
        let values = &matrix.data[row * matrix.row_stride..][..matrix.columns];
        let (whole, rest) = values.as_chunks::<WIDTH>();
        for (panel, part) in whole.iter().enumerate() {
            copy_flush_denormals(&mut panels[panel * matrix.rows + row], part);
        }
        if !rest.is_empty() {
            let last = &mut panels[whole.len() * matrix.rows + row];
            copy_flush_denormals(last, rest);
            last[rest.len()..].fill(0.0);
        }
    }
}

/// Packs a column-major panel, whose columns are gathered in the L1 cache before their rows are written.
fn pack_transposed(panel: &mut [[f32; WIDTH]], part: MatrixView) {
    vectorized(
        #[inline(always)]
        || {
            for first in (0..WIDTH).step_by(TILE) {
                let count = part.columns.saturating_sub(first).min(TILE);
                for (block, rows) in panel.chunks_mut(TILE).enumerate() {
                    let mut columns = [[0.0; TILE]; TILE];
                    for (index, column) in columns[..count].iter_mut().enumerate() {
                        let start = (first + index) * part.column_stride + block * TILE;
                        copy_flush_denormals(column, &part.data[start..][..rows.len()]);
                    }
                    for (index, row) in rows.iter_mut().enumerate() {
                        for (value, column) in row[first..][..TILE].iter_mut().zip(&columns) {
                            *value = column[index];
                        }
                    }
                }
            }
        },
    );
}
