//! The product of two matrices: small tiles of the result are summed in registers.
//!
//! ```text
//! out[i, j] = Σ_k a[i, k] b[k, j]
//! ```
//!
//! A tile is some rows by three vectors of columns; each number of `a` meets three vectors of `b`. Around it, `k` is
//! cut so that a panel of `b` stays in the second-level cache, and the rows so that `a` does. An element's terms are
//! added in the same order whatever stands around it, so a row's product does not depend on the rows beside it.
//!
//! What is [`TINY`] becomes zero on its way in and out, since processors are many times slower with denormal numbers; a
//! left factor that lies row by row is read as it is.

use std::array::from_fn;
use std::cell::RefCell;

use pulp::{Simd, WithSimd};

use super::packed::WIDTH;
use super::{Matrix, Packed};
use crate::kernels::simd::{TINY, copy_flushed, dispatch};

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
pub enum Store<'a> {
    /// out = a b
    Replace,
    /// out = out + a b
    Add,
    /// out = a b, with this row added to each of its rows: a bias
    Row(&'a [f32]),
}

/// The product `a b` into `out`, `[a.rows × b.columns]`, whose rows lie `stride` apart.
pub fn multiply(out: &mut [f32], stride: usize, a: Matrix, b: Matrix, into: Store) {
    multiply_packed(out, stride, a, &Packed::new(b), into);
}

/// The same by a factor that is packed already.
pub fn multiply_packed(out: &mut [f32], stride: usize, a: Matrix, b: &Packed, into: Store) {
    let (rows, columns) = (a.rows, b.columns());
    assert!(b.rows() == a.columns && columns <= stride, "{rows} × {} by {} × {columns}", a.columns, b.rows());
    assert!(rows * columns == 0 || (rows - 1) * stride + columns <= out.len());
    if a.columns == 0 {
        for out in out.chunks_mut(stride).take(rows) {
            match into {
                Store::Replace => out[..columns].fill(0.0),
                Store::Add => {}
                Store::Row(row) => out[..columns].copy_from_slice(row),
            }
        }
    } else if rows * columns > 0 {
        SLIVERS.with_borrow_mut(|slivers| dispatch(Product { out, stride, a, b, into, slivers }));
    }
}

struct Product<'a> {
    out: &'a mut [f32],
    stride: usize,
    a: Matrix<'a>,
    b: &'a Packed,
    into: Store<'a>,
    slivers: &'a mut Vec<f32>,
}

/// A tile's place in the result.
struct Place<'a> {
    /// The result from the tile's first number on.
    out: &'a mut [f32],
    stride: usize,
    /// Columns of the panel that the result has.
    width: usize,
    into: Store<'a>,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As many sums as the registers hold beside the vectors that make them.
        match S::REGISTER_COUNT {
            32.. => self.by_tiles::<S, 8>(simd),
            _ => self.by_tiles::<S, 4>(simd),
        }
    }
}

impl Product<'_> {
    #[inline(always)]
    fn by_tiles<S: Simd, const ROWS: usize>(self, simd: S) {
        let Self { out, stride, a, b, mut into, slivers } = self;
        for first_term in (0..b.rows()).step_by(DEPTH) {
            let terms = first_term..b.rows().min(first_term + DEPTH);
            for first in (0..a.rows).step_by(BLOCK) {
                let block = a.rows(first, (a.rows - first).min(BLOCK)).columns(terms.start, terms.len());
                if block.column_stride != 1 {
                    cut::<ROWS>(slivers, block);
                }
                for column in (0..b.columns()).step_by(WIDTH) {
                    let panel = b.panel(column, terms.clone());
                    let width = (b.columns() - column).min(WIDTH);
                    let into = into.columns(column, width);
                    for row in (0..block.rows).step_by(ROWS) {
                        let out = &mut out[(first + row) * stride + column..];
                        tiles::<S, ROWS>(simd, block, row, slivers, panel, Place { out, stride, width, into });
                    }
                }
            }
            into = Store::Add;
        }
    }
}

impl Store<'_> {
    fn columns(self, first: usize, count: usize) -> Self {
        match self {
            Self::Row(row) => Self::Row(&row[first..first + count]),
            other => other,
        }
    }
}

/// Lays out a block that lies column by column: tiles of `ROWS` rows one after another, each column by column.
#[inline(always)]
fn cut<const ROWS: usize>(slivers: &mut Vec<f32>, block: Matrix) {
    let depth = block.columns;
    slivers.resize(block.rows * depth, 0.0);
    for term in 0..depth {
        let column = &block.data[term * block.column_stride..][..block.rows];
        let (tiles, rest) = column.as_chunks::<ROWS>();
        for (tile, part) in tiles.iter().enumerate() {
            copy_flushed(&mut slivers[(tile * depth + term) * ROWS..][..ROWS], part);
        }
        copy_flushed(&mut slivers[tiles.len() * ROWS * depth + term * rest.len()..], rest);
    }
}

/// The tiles of up to `ROWS` rows of a block by one panel.
#[inline(always)]
fn tiles<S: Simd, const ROWS: usize>(
    simd: S,
    block: Matrix,
    row: usize,
    slivers: &[f32],
    panel: &[[f32; WIDTH]],
    place: Place,
) {
    let height = (block.rows - row).min(ROWS);
    if height > 4 && ROWS > 4 {
        match height {
            8 => tile::<S, 8>(simd, block, row, slivers, panel, place),
            7 => tile::<S, 7>(simd, block, row, slivers, panel, place),
            6 => tile::<S, 6>(simd, block, row, slivers, panel, place),
            _ => tile::<S, 5>(simd, block, row, slivers, panel, place),
        }
    } else {
        match height {
            4 => tile::<S, 4>(simd, block, row, slivers, panel, place),
            3 => tile::<S, 3>(simd, block, row, slivers, panel, place),
            2 => tile::<S, 2>(simd, block, row, slivers, panel, place),
            _ => tile::<S, 1>(simd, block, row, slivers, panel, place),
        }
    }
}

/// Exactly `ROWS` rows by one panel.
#[inline(always)]
fn tile<S: Simd, const ROWS: usize>(
    simd: S,
    block: Matrix,
    row: usize,
    slivers: &[f32],
    panel: &[[f32; WIDTH]],
    place: Place,
) {
    let depth = panel.len();
    if block.column_stride == 1 {
        let rows: [&[f32]; ROWS] = from_fn(|i| &block.data[(row + i) * block.row_stride..][..depth]);
        by_vectors::<S, ROWS>(simd, |i, k| rows[i][k], panel, place);
    } else {
        let sliver = slivers[row * depth..][..ROWS * depth].as_chunks::<ROWS>().0;
        let sliver = &sliver[..depth];
        by_vectors::<S, ROWS>(simd, |i, k| sliver[k][i], panel, place);
    }
}

/// Goes along a panel, three vectors at a time and fewer at its end.
#[inline(always)]
fn by_vectors<S: Simd, const ROWS: usize>(
    simd: S,
    left: impl Fn(usize, usize) -> f32 + Copy,
    panel: &[[f32; WIDTH]],
    mut place: Place,
) {
    let step = VECTORS * S::F32_LANES;
    for column in (0..place.width).step_by(step) {
        let width = (place.width - column).min(step);
        match width.div_ceil(S::F32_LANES) {
            1 => store(simd, sums::<S, ROWS, 1>(simd, left, panel, column), &mut place, column, width),
            2 => store(simd, sums::<S, ROWS, 2>(simd, left, panel, column), &mut place, column, width),
            _ => store(simd, sums::<S, ROWS, VECTORS>(simd, left, panel, column), &mut place, column, width),
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

/// As [`flushed`](crate::kernels::simd::flushed).
#[inline(always)]
fn flushed_all<S: Simd>(simd: S, values: S::f32s) -> S::f32s {
    let tiny = simd.less_than_f32s(simd.abs_f32s(values), simd.splat_f32s(TINY));
    simd.select_f32s(tiny, simd.splat_f32s(0.0), values)
}

#[inline(always)]
fn store<S: Simd, const ROWS: usize, const COUNT: usize>(
    simd: S,
    sums: [[S::f32s; COUNT]; ROWS],
    place: &mut Place,
    column: usize,
    width: usize,
) {
    for (i, sum) in sums.into_iter().enumerate() {
        let out = &mut place.out[i * place.stride + column..][..width];
        if width == COUNT * S::F32_LANES {
            let out = S::as_mut_simd_f32s(out).0;
            for (vector, sum) in sum.into_iter().enumerate() {
                let sum = flushed_all(simd, sum);
                out[vector] = match place.into {
                    Store::Replace => sum,
                    Store::Add => simd.add_f32s(out[vector], sum),
                    Store::Row(row) => simd.add_f32s(S::as_simd_f32s(&row[column..]).0[vector], sum),
                };
            }
        } else {
            let mut flat = [0.0; WIDTH];
            for (flat, sum) in S::as_mut_simd_f32s(&mut flat).0.iter_mut().zip(sum) {
                *flat = flushed_all(simd, sum);
            }
            for (j, (out, sum)) in out.iter_mut().zip(flat).enumerate() {
                *out = match place.into {
                    Store::Replace => sum,
                    Store::Add => *out + sum,
                    Store::Row(row) => row[column + j] + sum,
                };
            }
        }
    }
}
