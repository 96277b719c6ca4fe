//! Product of tiles in f32 arithmetic: the specification, and the kernel of processors without bf16 instructions.

use pulp::{Simd, WithSimd};

use super::{LINES, Sums, Tile};
use crate::kernels::simd::dispatch;

/// Rows of a register tile; its columns are one vector.
const ROWS: usize = 4;

/// Arguments of [`multiply`].
struct TileProduct<'a> {
    left: [&'a [Tile]; 2],
    right: [&'a [Tile]; 2],
    sums: &'a mut Sums,
}

/// Writes the sums over all tiles of terms of two tiles of rows and two tiles of columns; see
/// [`TileKernel::multiply`](super::product::TileKernel::multiply).
pub(super) fn multiply(left: [&[Tile]; 2], right: [&[Tile]; 2], sums: &mut Sums) {
    dispatch(TileProduct { left, right, sums });
}

impl WithSimd for TileProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { left, right, sums } = self;
        for (left, sums) in left.into_iter().zip(sums.0.as_chunks_mut::<LINES>().0) {
            for (rows, sums) in sums.as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
                for (column, right) in right.into_iter().enumerate() {
                    for first in (0..LINES).step_by(S::F32_LANES) {
                        let products = product(simd, left, rows * ROWS, right, first);
                        for (sums, product) in sums.iter_mut().zip(products) {
                            S::as_mut_simd_f32s(&mut sums[column * LINES + first..][..S::F32_LANES]).0[0] = product;
                        }
                    }
                }
            }
        }
    }
}

/// Products of `ROWS` rows and a vector of columns.
#[inline(always)]
fn product<S: Simd>(simd: S, left: &[Tile], row: usize, right: &[Tile], column: usize) -> [S::f32s; ROWS] {
    let half = simd.splat_u32s(16);
    let high = simd.splat_u32s(0xFFFF_0000);
    let first = |pair| simd.transmute_f32s_u32s(simd.wrapping_dyn_shl_u32s(pair, half));
    let second = |pair| simd.transmute_f32s_u32s(simd.and_u32s(pair, high));
    let mut sums = [simd.splat_f32s(0.0); ROWS];
    for (left, right) in left.iter().zip(right) {
        for (pair, right) in right.0.iter().enumerate() {
            let right = S::as_simd_u32s(&right[column..][..S::F32_LANES]).0[0];
            for (sum, left) in sums.iter_mut().zip(&left.0[row..]) {
                let left = simd.splat_u32s(left[pair]);
                *sum = simd.mul_add_e_f32s(first(left), first(right), *sum);
                *sum = simd.mul_add_e_f32s(second(left), second(right), *sum);
            }
        }
    }
    sums
}
