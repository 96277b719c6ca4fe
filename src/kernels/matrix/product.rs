//! Product of two matrices, in f32 by register tiles.
//!
//! ```text
//! out[i, j] = Σ_k a[i, k] b[k, j]
//! ```
//!
//! A tile is some rows by some vectors of columns, whose sums stay in registers. Around it, `k` is blocked so that a panel of
//! `b` stays in the L2 cache, and the rows so that a block of `a` does. An element's terms are added in the same order
//! whatever surrounds it, so that the product of a row does not depend on its neighbors.
//!
//! Magnitudes below [`FLUSH_THRESHOLD`] are flushed to zero on the way in and out, because denormal numbers are many
//! times slower; a row-major left factor is read as it is.

use std::array::from_fn;
use std::cell::RefCell;

use pulp::{Simd, WithSimd};

use super::bf16::multiply_rounded;
use super::packed::{Panels, WIDTH};
use super::{MatrixView, PackedMatrix, Precision, WriteMode};
use crate::kernels::simd::{FLUSH_THRESHOLD, copy_flush_denormals, dispatch};

/// Terms added in registers before a sum goes to memory.
const DEPTH: usize = 512;
/// Rows of `a` that pass through all panels together: a multiple of each tile's rows.
const BLOCK: usize = 240;
/// Rows of a tile on processors with 32 vector registers.
const ROWS_OF_32: usize = 8;
/// Rows of a tile with 16 registers. Sums and factors leave one free; without it, the compiler spills sums to memory.
const ROWS_OF_16: usize = 6;

thread_local! {
    /// Rows of a column-major left factor in tile order.
    static SLIVERS: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// Writes the product `a b` to `out`, `[a.rows × b.columns]`, whose rows are `stride` apart.
pub fn multiply(out: &mut [f32], stride: usize, a: MatrixView, b: MatrixView, mode: WriteMode) {
    multiply_packed(out, stride, a, &PackedMatrix::new(b, Precision::F32), mode);
}

/// [`multiply`] with a packed right factor, in its precision.
pub fn multiply_packed(out: &mut [f32], stride: usize, a: MatrixView, b: &PackedMatrix, mode: WriteMode) {
    let (rows, columns) = (a.rows, b.columns());
    assert!(b.rows() == a.columns && columns <= stride, "{rows} × {} by {} × {columns}", a.columns, b.rows());
    assert!(rows * columns == 0 || (rows - 1) * stride + columns <= out.len());
    if a.columns == 0 {
        for out in out.chunks_mut(stride).take(rows) {
            match mode {
                WriteMode::Overwrite => out[..columns].fill(0.0),
                WriteMode::Accumulate => {}
                WriteMode::AddBias(row) => out[..columns].copy_from_slice(row),
            }
        }
    } else if rows * columns > 0 {
        match b {
            PackedMatrix::F32(b) => {
                SLIVERS.with_borrow_mut(|slivers| dispatch(Product { out, stride, a, b, mode, slivers }));
            }
            PackedMatrix::Bf16(b) => multiply_rounded(out, stride, a, b, mode),
        }
    }
}

struct Product<'a> {
    out: &'a mut [f32],
    stride: usize,
    a: MatrixView<'a>,
    b: &'a Panels,
    mode: WriteMode<'a>,
    slivers: &'a mut Vec<f32>,
}

/// Destination of a tile.
struct TileOutput<'a> {
    /// Starts at the tile's first number.
    out: &'a mut [f32],
    stride: usize,
    /// Columns of the panel that are not padding.
    width: usize,
    mode: WriteMode<'a>,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::REGISTER_COUNT {
            32.. => self.run::<S, ROWS_OF_32>(simd),
            _ => self.run::<S, ROWS_OF_16>(simd),
        }
    }
}

impl Product<'_> {
    #[inline(always)]
    fn run<S: Simd, const ROWS: usize>(self, simd: S) {
        let Self { out, stride, a, b, mut mode, slivers } = self;
        for first_term in (0..b.rows()).step_by(DEPTH) {
            let terms = first_term..b.rows().min(first_term + DEPTH);
            for first in (0..a.rows).step_by(BLOCK) {
                // [≤ BLOCK, terms]
                let block = a.rows(first, (a.rows - first).min(BLOCK)).columns(terms.start, terms.len());
                if block.column_stride != 1 {
                    pack_slivers::<ROWS>(slivers, block);
                }
                for column in (0..b.columns()).step_by(WIDTH) {
                    let panel = b.panel(column, terms.clone()); // [terms, WIDTH]
                    let width = (b.columns() - column).min(WIDTH);
                    let mode = mode.columns(column, width);
                    for row in (0..block.rows).step_by(ROWS) {
                        let out = &mut out[(first + row) * stride + column..];
                        multiply_tiles::<S, ROWS>(
                            simd,
                            block,
                            row,
                            slivers,
                            panel,
                            TileOutput { out, stride, width, mode },
                        );
                    }
                }
            }
            mode = WriteMode::Accumulate;
        }
    }
}

/// Packs a column-major block into slivers: groups of `ROWS` rows, each column-major.
#[inline(always)]
fn pack_slivers<const ROWS: usize>(slivers: &mut Vec<f32>, block: MatrixView) {
    let depth = block.columns;
    slivers.resize(block.rows * depth, 0.0);
    for term in 0..depth {
        let column = &block.data[term * block.column_stride..][..block.rows];
        let (tiles, rest) = column.as_chunks::<ROWS>();
        for (tile, part) in tiles.iter().enumerate() {
            copy_flush_denormals(&mut slivers[(tile * depth + term) * ROWS..][..ROWS], part);
        }
        copy_flush_denormals(&mut slivers[tiles.len() * ROWS * depth + term * rest.len()..], rest);
    }
}

/// Multiplies up to `ROWS` rows of a block by one panel.
#[inline(always)]
fn multiply_tiles<S: Simd, const ROWS: usize>(
    simd: S,
    block: MatrixView,
    row: usize,
    slivers: &[f32],
    panel: &[[f32; WIDTH]],
    output: TileOutput,
) {
    let height = (block.rows - row).min(ROWS);
    // With few registers, fewer rows take more vectors, so that enough sums are in flight.
    match (ROWS, height) {
        (ROWS_OF_32, 8) => multiply_tile::<S, 8, 3>(simd, block, row, slivers, panel, output),
        (ROWS_OF_32, 7) => multiply_tile::<S, 7, 3>(simd, block, row, slivers, panel, output),
        (ROWS_OF_32, 6) => multiply_tile::<S, 6, 3>(simd, block, row, slivers, panel, output),
        (ROWS_OF_32, 5) => multiply_tile::<S, 5, 3>(simd, block, row, slivers, panel, output),
        (ROWS_OF_32, 4) => multiply_tile::<S, 4, 3>(simd, block, row, slivers, panel, output),
        (_, 6) => multiply_tile::<S, 6, 2>(simd, block, row, slivers, panel, output),
        (_, 5) => multiply_tile::<S, 5, 2>(simd, block, row, slivers, panel, output),
        (_, 4) => multiply_tile::<S, 4, 2>(simd, block, row, slivers, panel, output),
        (_, 3) => multiply_tile::<S, 3, 3>(simd, block, row, slivers, panel, output),
        (_, 2) => multiply_tile::<S, 2, 3>(simd, block, row, slivers, panel, output),
        (ROWS_OF_32, _) => multiply_tile::<S, 1, 3>(simd, block, row, slivers, panel, output),
        _ => multiply_tile::<S, 1, 6>(simd, block, row, slivers, panel, output),
    }
}

/// Multiplies exactly `ROWS` rows by one panel, `VECTORS` vectors at a time.
#[inline(always)]
fn multiply_tile<S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    block: MatrixView,
    row: usize,
    slivers: &[f32],
    panel: &[[f32; WIDTH]],
    output: TileOutput,
) {
    let depth = panel.len();
    if block.column_stride == 1 {
        // [ROWS, depth]
        let rows: [&[f32]; ROWS] = from_fn(|i| &block.data[(row + i) * block.row_stride..][..depth]);
        multiply_vectors::<S, ROWS, VECTORS>(simd, |i, k| rows[i][k], panel, output);
    } else {
        let sliver = slivers[row * depth..][..ROWS * depth].as_chunks::<ROWS>().0;
        let sliver = &sliver[..depth]; // [depth, ROWS]
        multiply_vectors::<S, ROWS, VECTORS>(simd, |i, k| sliver[k][i], panel, output);
    }
}

/// Iterates over a panel, `VECTORS` vectors at a time and fewer at its end.
#[inline(always)]
fn multiply_vectors<S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    left: impl Fn(usize, usize) -> f32 + Copy,
    panel: &[[f32; WIDTH]],
    mut output: TileOutput,
) {
    let step = VECTORS * S::F32_LANES;
    for column in (0..output.width).step_by(step) {
        let width = (output.width - column).min(step);
        match width.div_ceil(S::F32_LANES) {
            1 => store(simd, sums::<S, ROWS, 1>(simd, left, panel, column), &mut output, column, width),
            2 if VECTORS > 2 => store(simd, sums::<S, ROWS, 2>(simd, left, panel, column), &mut output, column, width),
            3 if VECTORS > 3 => store(simd, sums::<S, ROWS, 3>(simd, left, panel, column), &mut output, column, width),
            _ => store(simd, sums::<S, ROWS, VECTORS>(simd, left, panel, column), &mut output, column, width),
        }
    }
}

#[inline(always)]
fn sums<S: Simd, const ROWS: usize, const COUNT: usize>(
    simd: S,
    left: impl Fn(usize, usize) -> f32,
    panel: &[[f32; WIDTH]],
    column: usize,
) -> [[S::f32s; COUNT]; ROWS] {
    let mut sums = [[simd.splat_f32s(0.0); COUNT]; ROWS];
    for (k, row) in panel.iter().enumerate() {
        let right = S::as_simd_f32s(&row[column..column + COUNT * S::F32_LANES]).0;
        let right: [S::f32s; COUNT] = from_fn(|vector| right[vector]);
        for (i, sums) in sums.iter_mut().enumerate() {
            let left = simd.splat_f32s(left(i, k));
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum = simd.mul_add_e_f32s(left, right, *sum);
            }
        }
    }
    sums
}

/// Vector form of [`flush_denormal`](crate::kernels::simd::flush_denormal).
#[inline(always)]
fn flush_denormals<S: Simd>(simd: S, values: S::f32s) -> S::f32s {
    let tiny = simd.less_than_f32s(simd.abs_f32s(values), simd.splat_f32s(FLUSH_THRESHOLD));
    simd.select_f32s(tiny, simd.splat_f32s(0.0), values)
}

#[inline(always)]
fn store<S: Simd, const ROWS: usize, const COUNT: usize>(
    simd: S,
    sums: [[S::f32s; COUNT]; ROWS],
    output: &mut TileOutput,
    column: usize,
    width: usize,
) {
    for (i, sum) in sums.into_iter().enumerate() {
        let out = &mut output.out[i * output.stride + column..][..width];
        if width == COUNT * S::F32_LANES {
            let out = S::as_mut_simd_f32s(out).0;
            for (vector, sum) in sum.into_iter().enumerate() {
                let sum = flush_denormals(simd, sum);
                out[vector] = match output.mode {
                    WriteMode::Overwrite => sum,
                    WriteMode::Accumulate => simd.add_f32s(out[vector], sum),
                    WriteMode::AddBias(row) => simd.add_f32s(S::as_simd_f32s(&row[column..]).0[vector], sum),
                };
            }
        } else {
            let mut flat = [0.0; WIDTH];
            for (flat, sum) in S::as_mut_simd_f32s(&mut flat).0.iter_mut().zip(sum) {
                *flat = flush_denormals(simd, sum);
            }
            for (j, (out, sum)) in out.iter_mut().zip(flat).enumerate() {
                *out = match output.mode {
                    WriteMode::Overwrite => sum,
                    WriteMode::Accumulate => *out + sum,
                    WriteMode::AddBias(row) => row[column + j] + sum,
                };
            }
        }
    }
}
