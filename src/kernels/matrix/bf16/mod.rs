//! Products of factors rounded to bf16, with f32 sums.
//!
//! bf16 has the exponent of f32 and 8 instead of 24 bits of precision. The product of two such numbers is exact in f32, so
//! that the result differs from an f32 product by the rounding of the factors alone.
//!
//! Both factors are cut into [`Tile`]s of 16 lines by 32 terms, the shape of AMX's registers. A line is a row of the
//! left or a column of the right factor; a term is an index that the product sums over. The tiles of a line's terms follow each
//! other, so that the kernels read memory in order.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
mod product;
mod tiles;

pub use product::{bf16_instructions, multiply_rounded};
pub use tiles::Bf16Factor;

use std::sync::Mutex;

use crate::kernels::buffer_pool::{BufferPool, PoolElement};
use crate::kernels::simd::flush_denormal;

/// Lines of a tile.
const LINES: usize = 16;
/// Pairs of terms of a tile.
const PAIRS: usize = 16;
/// Terms of a tile.
const TERMS: usize = 2 * PAIRS;

/// 16 lines of 32 terms, padded with zeros. Each number holds a pair of terms in bf16, the first in its low half. Tiles of a
/// left factor are indexed `[line][pair]`, those of a right factor `[pair][line]`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Tile([[u32; 16]; 16]);

/// Product of up to two tiles of rows and two tiles of columns.
#[repr(C, align(64))]
struct Sums([[f32; 2 * LINES]; 2 * LINES]);

impl PoolElement for Tile {
    fn pool() -> &'static Mutex<BufferPool<Self>> {
        static POOL: Mutex<BufferPool<Tile>> = Mutex::new(BufferPool::empty());
        &POOL
    }
}

/// Rounds to the nearest bf16, ties to even, in the high half of the result; the low half is undefined.
#[inline(always)]
fn round(x: f32) -> u32 {
    const QUIET: u32 = 1 << 22;
    let bits = flush_denormal(x).to_bits();
    if x.is_nan() { bits | QUIET } else { bits + 0x7FFF + (bits >> 16 & 1) }
}

/// Rounds two terms to a pair.
#[inline(always)]
fn round_pair(first: f32, second: f32) -> u32 {
    round(first) >> 16 | round(second) & 0xFFFF_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(x: f32) -> f32 {
        f32::from_bits(round(x) & 0xFFFF_0000)
    }

    #[test]
    fn rounds_to_nearest_even() {
        let cases = [(0x7FFF, 0), (0x8000, 0), (0x8001, 0x1_0000), (0x1_8000, 0x2_0000), (0x2_8000, 0x2_0000)];
        for (bits, expected) in cases {
            let [x, expected] = [bits, expected].map(|bits| f32::from_bits(0x3F80_0000 + bits));
            assert_eq!([rounded(x), rounded(-x)], [expected, -expected]);
        }
        for same in [0.0, 1.5, -3.0, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(rounded(same), same);
        }
        assert_eq!([1e-42, -1e-20, f32::MAX].map(rounded), [0.0, 0.0, f32::INFINITY]);
        // The payload of the first is in the low half alone.
        assert!([f32::from_bits(0x7F80_0001), f32::NAN, -f32::NAN].iter().all(|&nan| rounded(nan).is_nan()));
    }
}
