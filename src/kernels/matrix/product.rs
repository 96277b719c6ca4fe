//! The product of two matrices: small tiles of the result are summed in registers.
//!
//! ```text
//! out[i, j] = Σ_k a[i, k] b[k, j]
//! ```
//!
//! A tile is some rows by three vectors of columns; each number of `a` meets three vectors of `b`. Around it, `k` is
//! pack_slivers so that a panel of `b` stays in the second-level cache, and the rows so that `a` does. An element's terms are
//! added in the same order whatever stands around it, so a row's product does not depend on the rows beside it.
//!
//! What is [`FLUSH_THRESHOLD`] becomes zero on its way in and out, since processors are many times slower with denormal numbers; a
//! left factor that lies row by row is read as it is.

use std::array::from_fn;
use std::cell::RefCell;

use pulp::{Simd, WithSimd};

use super::packed::WIDTH;
use super::{Matrix, PackedMatrix};
use crate::kernels::simd::{FLUSH_THRESHOLD, copy_flush_denormals, dispatch};

/// Terms that are added before a sum goes to memory.
const DEPTH: usize = 512;
/// Rows of `a` that are taken through all panels together.
const BLOCK: usize = 256;
/// Vectors in a tile's row.
const VECTORS: usize = 3;

thread_local! {
    /// Rows of a left factor that lies column by column, in the order of the tiles.
    static SLIVERS: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// What becomes of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteMode<'a> {
    /// out = a b
    Overwrite,
    /// out = out + a b
    Accumulate,
    /// out = a b, with this row added to each of its rows: a bias
    AddBias(&'a [f32]),
}

/// The product `a b` mode `out`, `[a.rows × b.columns]`, whose rows lie `stride` apart.
pub fn multiply(out: &mut [f32], stride: usize, a: Matrix, b: Matrix, mode: WriteMode) {
    multiply_packed(out, stride, a, &PackedMatrix::new(b), mode);
}

/// The same by a factor that is packed already.
pub fn multiply_packed(out: &mut [f32], stride: usize, a: Matrix, b: &PackedMatrix, mode: WriteMode) {
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
        SLIVERS.with_borrow_mut(|slivers| dispatch(Product { out, stride, a, b, mode, slivers }));
    }
}

struct Product<'a> {
    out: &'a mut [f32],
    stride: usize,
    a: Matrix<'a>,
    b: &'a PackedMatrix,
    mode: WriteMode<'a>,
    slivers: &'a mut Vec<f32>,
}

/// A tile's output in the result.
struct TileOutput<'a> {
    /// The result from the tile's first number on.
    out: &'a mut [f32],
    stride: usize,
    /// Columns of the panel that the result has.
    width: usize,
    mode: WriteMode<'a>,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As many sums as the registers hold beside the vectors that make them.
        match S::REGISTER_COUNT {
            32.. => self.run::<S, 8>(simd),
            _ => self.run::<S, 4>(simd),
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
                let block = a.rows(first, (a.rows - first).min(BLOCK)).columns(terms.start, terms.len());
                if block.column_stride != 1 {
                    pack_slivers::<ROWS>(slivers, block);
                }
                for column in (0..b.columns()).step_by(WIDTH) {
                    let panel = b.panel(column, terms.clone());
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

impl WriteMode<'_> {
    fn columns(self, first: usize, count: usize) -> Self {
        match self {
            Self::AddBias(row) => Self::AddBias(&row[first..first + count]),
            other => other,
        }
    }
}

/// Lays out a block that lies column by column: tiles of `ROWS` rows one after another, each column by column.
#[inline(always)]
fn pack_slivers<const ROWS: usize>(slivers: &mut Vec<f32>, block: Matrix) {
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

/// The tiles of up to `ROWS` rows of a block by one panel.
#[inline(always)]
fn multiply_tiles<S: Simd, const ROWS: usize>(
    simd: S,
    block: Matrix,
    row: usize,
    slivers: &[f32],
    panel: &[[f32; WIDTH]],
    output: TileOutput,
) {
    let height = (block.rows - row).min(ROWS);
    if height > 4 && ROWS > 4 {
        match height {
            8 => multiply_tile::<S, 8>(simd, block, row, slivers, panel, output),
            7 => multiply_tile::<S, 7>(simd, block, row, slivers, panel, output),
            6 => multiply_tile::<S, 6>(simd, block, row, slivers, panel, output),
            _ => multiply_tile::<S, 5>(simd, block, row, slivers, panel, output),
        }
    } else {
        match height {
            4 => multiply_tile::<S, 4>(simd, block, row, slivers, panel, output),
            3 => multiply_tile::<S, 3>(simd, block, row, slivers, panel, output),
            2 => multiply_tile::<S, 2>(simd, block, row, slivers, panel, output),
            _ => multiply_tile::<S, 1>(simd, block, row, slivers, panel, output),
        }
    }
}

/// Exactly `ROWS` rows by one panel.
#[inline(always)]
fn multiply_tile<S: Simd, const ROWS: usize>(
    simd: S,
    block: Matrix,
    row: usize,
    slivers: &[f32],
    panel: &[[f32; WIDTH]],
    output: TileOutput,
) {
    let depth = panel.len();
    if block.column_stride == 1 {
        let rows: [&[f32]; ROWS] = from_fn(|i| &block.data[(row + i) * block.row_stride..][..depth]);
        multiply_vectors::<S, ROWS>(simd, |i, k| rows[i][k], panel, output);
    } else {
        let sliver = slivers[row * depth..][..ROWS * depth].as_chunks::<ROWS>().0;
        let sliver = &sliver[..depth];
        multiply_vectors::<S, ROWS>(simd, |i, k| sliver[k][i], panel, output);
    }
}

/// Goes along a panel, three vectors at a time and fewer at its end.
#[inline(always)]
fn multiply_vectors<S: Simd, const ROWS: usize>(
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
            2 => store(simd, sums::<S, ROWS, 2>(simd, left, panel, column), &mut output, column, width),
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

/// As [`flush_denormal`](crate::kernels::simd::flush_denormal).
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
