//! Product of a matrix and a packed factor by the fastest kernel of the processor.

use super::{Bf16Factor, LINES, Sums, Tile, portable};
use crate::kernels::matrix::{MatrixView, WriteMode};
use crate::kernels::simd::{flush_denormal, vectorized};

/// Tiles of terms that are added in registers before a sum goes to memory.
const DEPTH: usize = 16;
/// Rows of the left factor that pass through the right one together, so that their tiles stay in the L2 cache.
const BLOCK: usize = 128;
/// Rows and columns of [`Sums`].
const SIDE: usize = 2 * LINES;

/// Implementation of the product of tiles.
enum TileKernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    Amx(super::amx::TileRegisters),
}

impl TileKernel {
    /// Returns each kernel if this processor can run it, the fastest first.
    const ALL: &[fn() -> Option<Self>] = &[
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        || super::amx::TileRegisters::configure().map(Self::Amx),
        #[cfg(target_arch = "x86_64")]
        || super::avx512::is_available().then_some(Self::Avx512),
        || Some(Self::Portable),
    ];

    fn fastest() -> Self {
        Self::ALL.iter().find_map(|kernel| kernel()).expect("the last kernel runs everywhere")
    }

    /// Writes the sums over all tiles of terms of two tiles of rows and two tiles of columns, of which the second may be
    /// missing. Sums of missing tiles are undefined.
    fn multiply(&self, left: [&[Tile]; 2], right: [&[Tile]; 2], sums: &mut Sums) {
        match self {
            Self::Portable => portable::multiply(left, right, sums),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: there is such a kernel only if the processor has the instructions.
            Self::Avx512 => unsafe { super::avx512::multiply(left, right, sums) },
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Self::Amx(registers) => registers.multiply(left, right, sums),
        }
    }
}

/// Returns the name of the processor's instructions for bf16 products, or `None` if it has none.
pub fn bf16_instructions() -> Option<&'static str> {
    match TileKernel::fastest() {
        TileKernel::Portable => None,
        #[cfg(target_arch = "x86_64")]
        TileKernel::Avx512 => Some("AVX512-BF16"),
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        TileKernel::Amx(_) => Some("AMX"),
    }
}

/// Writes the product of `a`, rounded, and `b` to `out`, whose rows are `stride` apart. Neither factor is empty.
pub fn multiply_rounded(out: &mut [f32], stride: usize, a: MatrixView, b: &Bf16Factor, mode: WriteMode) {
    multiply_by(&TileKernel::fastest(), out, stride, a, b, mode);
}

fn multiply_by(
    kernel: &TileKernel,
    out: &mut [f32],
    stride: usize,
    a: MatrixView,
    b: &Bf16Factor,
    mut mode: WriteMode,
) {
    let mut sums = Sums([[0.0; SIDE]; SIDE]);
    for first_tile in (0..b.term_tiles()).step_by(DEPTH) {
        let terms = first_tile..b.term_tiles().min(first_tile + DEPTH);
        for first in (0..a.rows).step_by(BLOCK) {
            let block = Bf16Factor::left(a.rows(first, (a.rows - first).min(BLOCK)), terms.clone());
            for column in (0..b.lines()).step_by(SIDE) {
                let width = (b.lines() - column).min(SIDE);
                let right = [column, column + LINES].map(|line| b.tiles(line, terms.clone()));
                let mode = mode.columns(column, width);
                for row in (0..block.lines()).step_by(SIDE) {
                    let left = [row, row + LINES].map(|line| block.tiles(line, 0..terms.len()));
                    kernel.multiply(left, right, &mut sums);
                    let rows = (block.lines() - row).min(SIDE);
                    write(&mut out[(first + row) * stride + column..], stride, &sums.0[..rows], width, mode);
                }
            }
        }
        mode = WriteMode::Accumulate;
    }
}

/// Writes `width` columns of the sums.
fn write(out: &mut [f32], stride: usize, sums: &[[f32; SIDE]], width: usize, mode: WriteMode) {
    vectorized(
        #[inline(always)]
        || {
            for (out, sums) in out.chunks_mut(stride).zip(sums) {
                if width == SIDE
                    && let Some(out) = out.first_chunk_mut::<SIDE>()
                {
                    write_row(out, sums, mode);
                } else {
                    write_row(&mut out[..width], sums, mode);
                }
            }
        },
    );
}

#[inline(always)]
fn write_row(out: &mut [f32], sums: &[f32], mode: WriteMode) {
    let sums = sums.iter().map(|&sum| flush_denormal(sum));
    match mode {
        WriteMode::Overwrite => out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum),
        WriteMode::Accumulate => out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum),
        WriteMode::AddBias(row) => out.iter_mut().zip(sums).zip(row).for_each(|((out, sum), bias)| *out = bias + sum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRng;

    /// Nearest bf16, by way of f64.
    fn rounded(x: f32) -> f64 {
        let unit = 2f64.powi(f64::from(x).abs().log2().floor() as i32 - 7);
        (f64::from(x) / unit).round_ties_even() * unit
    }

    fn values(count: usize, seed: u64) -> Vec<f32> {
        let mut rng = SeededRng::new(seed, "test", 0);
        (0..count).map(|_| rng.uniform() as f32 - 0.5).collect()
    }

    fn transposed(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
        (0..columns).flat_map(|column| (0..rows).map(move |row| values[row * columns + column])).collect()
    }

    /// Compares a product with f64 sums of rounded factors, in all modes. Rows have three numbers more than columns.
    fn check(kernel: &TileKernel, left: MatrixView, right: &Bf16Factor, [a, b, bias]: [&[f32]; 3]) {
        let (m, k, n) = (left.row_count(), left.column_count(), bias.len());
        let stride = n + 3;
        for mode in [WriteMode::Overwrite, WriteMode::Accumulate, WriteMode::AddBias(bias)] {
            let mut out = vec![0.25; m * stride];
            multiply_by(kernel, &mut out, stride, left, right, mode);
            for (i, j) in (0..m).flat_map(|i| (0..stride).map(move |j| (i, j))) {
                let products = (0..if j < n { k } else { 0 }).map(|l| rounded(a[i * k + l]) * rounded(b[l * n + j]));
                let before = match mode {
                    WriteMode::Overwrite if j < n => 0.0,
                    WriteMode::AddBias(bias) if j < n => bias[j],
                    _ => 0.25,
                };
                let expected = f64::from(before) + products.sum::<f64>();
                let error = (f64::from(out[i * stride + j]) - expected).abs();
                assert!(error < 2e-7 * (k as f64).sqrt() + 1e-7, "{m} {k} {n} {i} {j} {mode:?}: {error}");
            }
        }
    }

    #[test]
    fn every_kernel_adds_the_products_of_rounded_factors() {
        for (m, k, n) in [(1, 1, 1), (2, 3, 5), (16, 32, 16), (17, 33, 33), (32, 513, 48), (161, 70, 31), (3, 1100, 20)]
        {
            let (a, b, bias) = (values(m * k, 1), values(k * n, 2), values(n, 3));
            let (at, bt) = (transposed(&a, m, k), transposed(&b, k, n));
            let lefts = [MatrixView::new(&a, m, k), MatrixView::new(&at, k, m).t()];
            let rights = [MatrixView::new(&b, k, n), MatrixView::new(&bt, n, k).t()].map(Bf16Factor::right);
            for kernel in TileKernel::ALL.iter().filter_map(|kernel| kernel()) {
                for (left, right) in lefts.iter().flat_map(|left| rights.iter().map(move |right| (left, right))) {
                    check(&kernel, *left, right, [&a, &b, &bias]);
                }
            }
        }
    }

    #[test]
    fn product_of_a_row_does_not_depend_on_other_rows() {
        let (a, b) = (values(37 * 600, 1), values(600 * 70, 2));
        let b = Bf16Factor::right(MatrixView::new(&b, 600, 70));
        for kernel in TileKernel::ALL.iter().filter_map(|kernel| kernel()) {
            let [mut together, mut alone] = [vec![0.0; 37 * 70], vec![0.0; 37 * 70]];
            multiply_by(&kernel, &mut together, 70, MatrixView::new(&a, 37, 600), &b, WriteMode::Overwrite);
            for (row, out) in alone.chunks_exact_mut(70).enumerate() {
                let a = MatrixView::new(&a, 37, 600).rows(row, 1);
                multiply_by(&kernel, out, 70, a, &b, WriteMode::Overwrite);
            }
            assert_eq!(together, alone);
        }
    }

    #[test]
    fn infinities_and_nan_are_kept() {
        for kernel in TileKernel::ALL.iter().filter_map(|kernel| kernel()) {
            for (x, is_expected) in [(f32::INFINITY, f32::is_infinite as fn(f32) -> bool), (f32::NAN, f32::is_nan)] {
                let b = Bf16Factor::right(MatrixView::new(&[2.0, 1.0], 2, 1));
                let mut out = [0.0];
                multiply_by(&kernel, &mut out, 1, MatrixView::new(&[x, 1.0], 1, 2), &b, WriteMode::Overwrite);
                assert!(is_expected(out[0]), "{} from {x}", out[0]);
            }
        }
    }
}
