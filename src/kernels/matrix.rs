//! Products of matrices that lie in plain slices, on one thread.
//!
//! The work is divided over threads above this level, by sentences; products of a part are too small to divide again.

/// A matrix over a slice.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix that lies row by row.
    pub fn new(data: &'a [f32], rows: usize, columns: usize) -> Self {
        assert!(rows * columns <= data.len(), "{rows} × {columns} in {}", data.len());
        Self { data, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// All rows that the slice holds.
    pub fn rows_of(data: &'a [f32], columns: usize) -> Self {
        Self::new(data, data.len() / columns, columns)
    }

    /// The transpose.
    pub fn t(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// `count` columns from `first` on.
    pub fn columns(self, first: usize, count: usize) -> Self {
        assert!(first + count <= self.columns);
        Self { data: &self.data[first * self.column_stride..], columns: count, ..self }
    }

    fn is_inside(&self) -> bool {
        let last = |count: usize, stride: usize| count.saturating_sub(1) * stride;
        self.rows * self.columns == 0
            || last(self.rows, self.row_stride) + last(self.columns, self.column_stride) < self.data.len()
    }
}

/// Whether a product replaces what is there or is added to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// out = a b
    Replace,
    /// out = out + a b
    Add,
}

/// The product `a b` into `out`, `[a.rows × b.columns]`, whose rows lie `stride` apart.
pub fn multiply(out: &mut [f32], stride: usize, a: Matrix, b: Matrix, into: Into) {
    let (rows, columns, depth) = (a.rows, b.columns, a.columns);
    assert!(b.rows == depth && columns <= stride, "{rows} × {depth} by {} × {columns}", b.rows);
    assert!(rows * columns == 0 || (rows - 1) * stride + columns <= out.len());
    assert!(a.is_inside() && b.is_inside());
    // SAFETY: the assertions keep every index that follows from sizes and strides inside its slice.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            depth,
            out.as_mut_ptr(),
            1,
            stride as isize,
            into == Into::Add,
            a.data.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// Adds the sum of all rows to `sums`: a bias' gradient.
pub fn add_row_sums(sums: &mut [f32], rows: &[f32]) {
    super::simd::vectorised(
        #[inline(always)]
        || {
            for row in rows.chunks_exact(sums.len()) {
                super::simd::add_scaled(sums, 1.0, row);
            }
        },
    );
}

/// Adds `bias` to every row.
pub fn add_bias(rows: &mut [f32], bias: &[f32]) {
    super::simd::vectorised(
        #[inline(always)]
        || {
            for row in rows.chunks_exact_mut(bias.len()) {
                super::simd::add_scaled(row, 1.0, bias);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_all_shapes() {
        let value = |i: usize| ((i * 7919) % 23) as f32 - 11.0;
        for (m, k, n) in [(1, 1, 1), (1, 5, 9), (3, 0, 4), (0, 2, 2), (17, 9, 33), (5, 64, 1)] {
            let a: Vec<f32> = (0..m * k).map(value).collect();
            let b: Vec<f32> = (0..n * k).map(|i| value(i + 3)).collect();
            let stride = n + 2;
            let mut out = vec![1.0; m * stride];
            multiply(&mut out, stride, Matrix::new(&a, m, k), Matrix::new(&b, n, k).t(), Into::Add);
            for (row, column) in (0..m).flat_map(|row| (0..stride).map(move |column| (row, column))) {
                let sum: f32 = if column < n { (0..k).map(|i| a[row * k + i] * b[column * k + i]).sum() } else { 0.0 };
                assert_eq!(out[row * stride + column], 1.0 + sum, "{m} {k} {n}");
            }
        }
    }

    #[test]
    fn columns_of_a_matrix() {
        let a: Vec<f32> = (0..12).map(|i| i as f32).collect();
        // [[1, 5], [2, 6]]: two columns of the first two rows, turned.
        let part = Matrix::new(&a, 3, 4).columns(1, 2).t().columns(0, 2);
        let mut out = vec![0.0; 2];
        multiply(&mut out, 2, Matrix::new(&[1.0, 1.0], 1, 2), part, Into::Replace);
        assert_eq!(out, [3.0, 11.0]);
    }
}
