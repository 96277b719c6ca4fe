//! Factors of a product, rounded and cut into tiles.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::{LINES, PAIRS, TERMS, Tile, round_pair};
use crate::kernels::buffer_pool::PooledBuffer;
use crate::kernels::matrix::MatrixView;
use crate::kernels::simd::vectorized;

/// Matrix `[lines, terms]` in bf16.
#[derive(Debug)]
pub struct Bf16Factor {
    /// `[tiles of lines, tiles of terms]`
    tiles: PooledBuffer<Tile>,
    lines: usize,
    terms: usize,
}

/// Order of a tile's numbers.
#[derive(Clone, Copy, PartialEq)]
enum TileOrder {
    /// `[line][pair]`
    Lines,
    /// `[pair][line]`
    Pairs,
}

impl Bf16Factor {
    /// Left factor with these rows, of which it has the terms in a range of tiles.
    pub(super) fn left(matrix: MatrixView, tiles: Range<usize>) -> Self {
        let first = tiles.start * TERMS;
        Self::new(matrix.columns(first, (tiles.end * TERMS).min(matrix.columns) - first), TileOrder::Lines)
    }

    /// Right factor with these columns.
    pub fn right(matrix: MatrixView) -> Self {
        Self::new(matrix.t(), TileOrder::Pairs)
    }

    fn new(matrix: MatrixView, order: TileOrder) -> Self {
        let (lines, terms) = (matrix.rows, matrix.columns);
        let term_tiles = terms.div_ceil(TERMS);
        let mut tiles = PooledBuffer::scratch(lines.div_ceil(LINES) * term_tiles);
        vectorized(
            #[inline(always)]
            || {
                for (index, tile) in tiles.iter_mut().enumerate() {
                    let (line, term) = (index / term_tiles * LINES, index % term_tiles * TERMS);
                    let part = matrix.rows(line, (lines - line).min(LINES)).columns(term, (terms - term).min(TERMS));
                    pack(tile, part, order);
                }
            },
        );
        Self { tiles, lines, terms }
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Number of terms.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// Number of tiles that hold a line's terms.
    pub(super) fn term_tiles(&self) -> usize {
        self.terms.div_ceil(TERMS)
    }

    /// Tiles of the lines from `line`, of which there may be none, for a range of tiles of terms.
    pub(super) fn tiles(&self, line: usize, terms: Range<usize>) -> &[Tile] {
        if line >= self.lines {
            return &[];
        }
        &self.tiles[line / LINES * self.term_tiles()..][terms]
    }
}

/// Packs a part of a matrix, whose terms or lines follow each other in memory.
#[inline(always)]
fn pack(tile: &mut Tile, part: MatrixView, order: TileOrder) {
    let natural = if part.column_stride == 1 {
        pack_lines(tile, part);
        TileOrder::Lines
    } else {
        pack_pairs(tile, part);
        TileOrder::Pairs
    };
    if natural != order {
        transpose(tile);
    }
}

#[inline(always)]
fn pack_lines(tile: &mut Tile, part: MatrixView) {
    for (line, pairs) in tile.0.iter_mut().enumerate() {
        let values = if line < part.rows { &part.data[line * part.row_stride..] } else { &[] };
        let terms: [f32; TERMS] = padded(values, part.columns);
        for (pair, terms) in pairs.iter_mut().zip(terms.as_chunks::<2>().0) {
            *pair = round_pair(terms[0], terms[1]);
        }
    }
}

#[inline(always)]
fn pack_pairs(tile: &mut Tile, part: MatrixView) {
    for (pair, lines) in tile.0.iter_mut().enumerate() {
        let [first, second] = [2 * pair, 2 * pair + 1].map(|term| -> [f32; LINES] {
            let values = if term < part.columns { &part.data[term * part.column_stride..] } else { &[] };
            padded(values, part.rows)
        });
        for ((number, first), second) in lines.iter_mut().zip(first).zip(second) {
            *number = round_pair(first, second);
        }
    }
}

/// Returns the first `count` values, if there are any, and zeros.
#[inline(always)]
fn padded<const N: usize>(values: &[f32], count: usize) -> [f32; N] {
    match values.first_chunk() {
        // Whole vectors are loaded without a call that copies memory.
        Some(values) if count == N => *values,
        _ => {
            let mut padded = [0.0; N];
            let count = count.min(values.len());
            padded[..count].copy_from_slice(&values[..count]);
            padded
        }
    }
}

#[inline(always)]
fn transpose(tile: &mut Tile) {
    #[cfg(target_arch = "x86_64")]
    if avx512::is_available() {
        // SAFETY: the processor has the instructions.
        return unsafe { avx512::transpose(tile) };
    }
    let from = tile.0;
    for (row, to) in tile.0.iter_mut().enumerate() {
        for column in 0..PAIRS {
            to[column] = from[column][row];
        }
    }
}
