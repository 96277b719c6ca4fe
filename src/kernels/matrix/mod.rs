//! Products of matrices in slices.
//!
//! Each product runs on one thread; batches are divided over the cores above this level. The right factor is packed
//! into [`PackedMatrix`] panels, once for a weight that many steps multiply by.

mod bf16;
mod gradients;
mod packed;
mod packed_weight;
mod product;

pub use bf16::bf16_instructions;
pub use gradients::{WeightFactors, bias_gradient, weight_gradient};
pub use packed::PackedMatrix;
pub use packed_weight::PackedWeight;
pub use product::{multiply, multiply_packed};

use serde::{Deserialize, Serialize};

use super::simd::{add_scaled, vectorized};

/// Precision of the factors of a product, whose sums are f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 24 bits.
    #[default]
    F32,
    /// 8 bits, with the exponent of f32.
    Bf16,
}

/// Treatment of the destination of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteMode<'a> {
    /// out = a b
    Overwrite,
    /// out = out + a b
    Accumulate,
    /// out = a b + row, for each row of the product
    AddBias(&'a [f32]),
}

impl WriteMode<'_> {
    /// Mode of some columns of the product.
    fn columns(self, first: usize, count: usize) -> Self {
        match self {
            Self::AddBias(row) => Self::AddBias(&row[first..first + count]),
            other => other,
        }
    }
}

/// View of a matrix in a slice.
#[derive(Clone, Copy, Debug)]
pub struct MatrixView<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> MatrixView<'a> {
    /// Row-major matrix.
    pub fn new(data: &'a [f32], rows: usize, columns: usize) -> Self {
        assert!(rows * columns <= data.len(), "{rows} × {columns} in {}", data.len());
        Self { data, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// Row-major matrix of all rows that the slice holds.
    pub fn rows_of(data: &'a [f32], columns: usize) -> Self {
        Self::new(data, data.len() / columns, columns)
    }

    /// Matrix of `columns` columns whose rows are `stride` apart.
    pub fn strided(data: &'a [f32], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(rows == 0 || (rows - 1) * stride + columns <= data.len(), "{rows} × {columns} in {}", data.len());
        Self { data, rows, columns, row_stride: stride, column_stride: 1 }
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn column_count(&self) -> usize {
        self.columns
    }

    /// Transpose.
    pub fn t(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// `count` rows, from row `first`.
    pub fn rows(self, first: usize, count: usize) -> Self {
        assert!(first + count <= self.rows);
        let start = (first * self.row_stride).min(self.data.len());
        Self { data: &self.data[start..], rows: count, ..self }
    }

    /// `count` columns, from column `first`.
    pub fn columns(self, first: usize, count: usize) -> Self {
        self.t().rows(first, count).t()
    }
}

/// Adds the sum of all rows to `sums`.
pub fn add_row_sums(sums: &mut [f32], rows: &[f32]) {
    vectorized(
        #[inline(always)]
        || {
            for row in rows.chunks_exact(sums.len().max(1)) {
                add_scaled(sums, 1.0, row);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(count: usize, shift: usize) -> Vec<f32> {
        (0..count).map(|i| (((i + shift) * 7919) % 23) as f32 - 11.0).collect()
    }

    #[test]
    fn product_matches_naive_sum_in_all_shapes_and_modes() {
        let shapes = [
            (1, 1, 1),
            (1, 5, 9),
            (3, 0, 4),
            (0, 2, 2),
            (17, 9, 33),
            (5, 64, 1),
            (9, 700, 100),
            (300, 3, 50),
            (2, 6, 97),
            (22, 5, 48),
        ];
        for (m, k, n) in shapes {
            let (a, b) = (values(m * k, 0), values(n * k, 3));
            let (at, bt) = (transposed(&a, m, k), transposed(&b, k, n));
            let stride = n + 2;
            let row: Vec<f32> = values(n, 5);
            let lefts = [MatrixView::new(&a, m, k), MatrixView::new(&at, k, m).t()];
            let rights = [MatrixView::new(&b, k, n), MatrixView::new(&bt, n, k).t()];
            for (left, right) in lefts.into_iter().flat_map(|left| rights.map(|right| (left, right))) {
                for mode in [WriteMode::Overwrite, WriteMode::Accumulate, WriteMode::AddBias(&row)] {
                    let mut out = vec![1.0; m * stride];
                    multiply(&mut out, stride, left, right, mode);
                    for (i, j) in (0..m).flat_map(|i| (0..stride).map(move |j| (i, j))) {
                        let sum: f32 = if j < n { (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum() } else { 0.0 };
                        let before = match mode {
                            WriteMode::Overwrite if j < n => 0.0,
                            WriteMode::AddBias(row) if j < n => row[j],
                            _ => 1.0,
                        };
                        assert_eq!(out[i * stride + j], before + sum, "{m} {k} {n} {mode:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn tiny_factors_and_products_are_flushed_to_zero() {
        let tiny = [1e-42, -1e-20, 1e-18, f32::NAN];
        for columns in [1, 48, 50] {
            let right: Vec<f32> = tiny.iter().flat_map(|&x| vec![x; columns]).collect();
            for (left, expected) in [
                (&[1e9, 1e9][..], 0.0),
                (&[1.0, 1.0, 2.0], 2e-18),
                (&[1.0, 1.0, 0.5], 5e-19),
                (&[1.0, 1.0, 0.01], 0.0),
                (&[1.0; 4], f32::NAN),
            ] {
                let mut out = vec![1.0; columns];
                let (row, right) = (MatrixView::new(left, 1, left.len()), MatrixView::new(&right, left.len(), columns));
                multiply(&mut out, columns, row, right, WriteMode::Overwrite);
                assert!(out.iter().all(|&x| x == expected || x.is_nan() && expected.is_nan()), "{left:?}: {out:?}");
            }
            let left: Vec<f32> = [1e-20; 17].into_iter().chain([1.0; 17]).collect();
            let mut out = vec![1.0; 17];
            multiply(
                &mut out,
                1,
                MatrixView::new(&left, 2, 17).t(),
                MatrixView::new(&[1e18, 3.0], 2, 1),
                WriteMode::Overwrite,
            );
            assert_eq!(out, vec![3.0; 17]);
        }
    }

    fn transposed(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
        (0..columns).flat_map(|column| (0..rows).map(move |row| values[row * columns + column])).collect()
    }

    #[test]
    fn product_of_a_transposed_submatrix() {
        let a: Vec<f32> = (0..12).map(|i| i as f32).collect();
        // [[1, 5], [2, 6]]: the transpose of two columns of the first two rows.
        let part = MatrixView::new(&a, 3, 4).columns(1, 2).t().columns(0, 2);
        let mut out = vec![0.0; 2];
        multiply(&mut out, 2, MatrixView::new(&[1.0, 1.0], 1, 2), part, WriteMode::Overwrite);
        assert_eq!(out, [3.0, 11.0]);
        let empty = MatrixView::new(&a, 3, 4).rows(3, 0);
        assert_eq!((empty.rows, empty.columns), (0, 4));
    }

    #[test]
    fn product_of_a_row_does_not_depend_on_other_rows() {
        let (a, b) = (values(21 * 600, 1), values(600 * 70, 2));
        let a: Vec<f32> = a.iter().map(|x| x * 0.123).collect();
        let b = PackedMatrix::new(MatrixView::new(&b, 600, 70), Precision::F32);
        let [mut together, mut alone] = [vec![0.0; 21 * 70], vec![0.0; 21 * 70]];
        multiply_packed(&mut together, 70, MatrixView::new(&a, 21, 600), &b, WriteMode::Overwrite);
        for (row, out) in alone.chunks_exact_mut(70).enumerate() {
            multiply_packed(out, 70, MatrixView::new(&a, 21, 600).rows(row, 1), &b, WriteMode::Overwrite);
        }
        assert_eq!(together, alone);
    }

    #[test]
    fn row_sums_are_added() {
        let mut sums = [1.0, 1.0];
        add_row_sums(&mut sums, &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(sums, [5.0, 7.0]);
    }
}
