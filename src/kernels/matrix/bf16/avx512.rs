//! Product of tiles by AVX512-BF16: `vdpbf16ps` multiplies 16 pairs and adds both products to 16 sums.

use std::arch::x86_64::{
    __m512, __m512bh, __m512i, _mm512_dpbf16_ps, _mm512_permutex2var_epi32, _mm512_set1_epi32, _mm512_setzero_ps,
};
use std::array::from_fn;

use super::{LINES, Sums, Tile};
use crate::kernels::simd::allows_avx512;

/// Rows of a register tile; its columns are two vectors.
const ROWS: usize = 8;

/// True if the processor has the instructions and [`limit_simd`](crate::kernels::simd::limit_simd) allows them.
pub(super) fn is_available() -> bool {
    allows_avx512() && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16")
}

/// Writes the sums over all tiles of terms of two tiles of rows and two tiles of columns; see
/// [`TileKernel::multiply`](super::product::TileKernel::multiply).
///
/// # Safety
/// [`is_available`] must be true.
#[target_feature(enable = "avx512f,avx512bf16")]
pub(super) unsafe fn multiply(left: [&[Tile]; 2], right: [&[Tile]; 2], sums: &mut Sums) {
    for (left, sums) in left.into_iter().zip(sums.0.as_chunks_mut::<LINES>().0) {
        for (rows, sums) in sums.as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
            if !left.is_empty() {
                match right[1].is_empty() {
                    true => multiply_columns(left, rows * ROWS, [right[0]], sums),
                    false => multiply_columns(left, rows * ROWS, right, sums),
                }
            }
        }
    }
}

/// Writes the product of `ROWS` rows and `COUNT` tiles of columns.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn multiply_columns<const COUNT: usize>(
    left: &[Tile],
    row: usize,
    right: [&[Tile]; COUNT],
    sums: &mut [[f32; 2 * LINES]; ROWS],
) {
    let mut products = [[_mm512_setzero_ps(); COUNT]; ROWS];
    for (index, left) in left.iter().enumerate() {
        for pair in 0..LINES {
            let right = right.map(|tiles| bf16_pairs(tiles[index].0[pair]));
            for (products, left) in products.iter_mut().zip(&left.0[row..]) {
                let left = broadcast(left[pair]);
                for (product, right) in products.iter_mut().zip(right) {
                    *product = _mm512_dpbf16_ps(*product, left, right);
                }
            }
        }
    }
    for (sums, products) in sums.iter_mut().zip(products) {
        for (sums, product) in sums.as_chunks_mut::<LINES>().0.iter_mut().zip(products) {
            *sums = numbers(product);
        }
    }
}

/// Transposes a tile by perfect shuffles: the first row of the upper half with the first of the lower half, and so on, number
/// by number. Four shuffles bring each row's index to the place of its column's.
#[target_feature(enable = "avx512f")]
pub(super) fn transpose(tile: &mut Tile) {
    const HALF: usize = LINES / 2;
    // Numbers of two rows in turn; those of the second have indices from 16.
    let halves = [0, HALF].map(|first| from_fn(|i| (first + i / 2 + i % 2 * LINES) as u32)).map(vector);
    for _ in 0..LINES.ilog2() {
        let rows = tile.0.map(vector);
        for (row, [low, high]) in tile.0.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            *low = pairs(_mm512_permutex2var_epi32(rows[row], halves[0], rows[HALF + row]));
            *high = pairs(_mm512_permutex2var_epi32(rows[row], halves[1], rows[HALF + row]));
        }
    }
}

#[inline(always)]
fn vector(pairs: [u32; LINES]) -> __m512i {
    // SAFETY: both types are 64 bytes without invalid values.
    unsafe { std::mem::transmute(pairs) }
}

#[inline(always)]
fn pairs(vector: __m512i) -> [u32; LINES] {
    // SAFETY: both types are 64 bytes without invalid values.
    unsafe { std::mem::transmute(vector) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(pair: u32) -> __m512bh {
    let pairs: __m512i = _mm512_set1_epi32(pair.cast_signed());
    // SAFETY: both types are 64 bytes without invalid values.
    unsafe { std::mem::transmute(pairs) }
}

#[inline(always)]
fn bf16_pairs(pairs: [u32; LINES]) -> __m512bh {
    // SAFETY: both types are 64 bytes without invalid values.
    unsafe { std::mem::transmute(pairs) }
}

#[inline(always)]
fn numbers(vector: __m512) -> [f32; LINES] {
    // SAFETY: both types are 64 bytes without invalid values.
    unsafe { std::mem::transmute(vector) }
}
