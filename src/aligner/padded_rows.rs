//! Matrices whose rows are whole vectors.

/// Numbers per vector.
const LANES: usize = 8;

/// Vector that loops work on. Sums over lanes have a fixed order, so that results do not depend on the processor.
pub type Lanes = [f32; LANES];

/// Matrix whose rows are padded with zeros to whole vectors, so that loops over them have no remainder.
#[derive(Clone, Debug, Default)]
pub struct PaddedRows {
    vectors: Vec<Lanes>,
    columns: usize,
    /// Vectors per row.
    width: usize,
}

impl PaddedRows {
    /// Zeros: `[rows × columns]`.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        let mut matrix = Self::default();
        matrix.reset(rows, columns);
        matrix
    }

    /// Becomes a zero matrix of the given shape.
    pub fn reset(&mut self, rows: usize, columns: usize) {
        (self.columns, self.width) = (columns, columns.div_ceil(LANES));
        self.vectors.clear();
        self.vectors.resize(rows * self.width, [0.0; LANES]);
    }

    /// Number of columns without padding.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row with its padding, as whole vectors.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[Lanes] {
        &self.vectors[row * self.width..][..self.width]
    }

    /// One row with its padding, which must stay zero, as whole vectors.
    #[inline(always)]
    pub fn row_mut(&mut self, row: usize) -> &mut [Lanes] {
        &mut self.vectors[row * self.width..][..self.width]
    }

    /// One row without its padding: `[columns]`.
    #[inline(always)]
    pub fn values(&self, row: usize) -> &[f32] {
        &self.row(row).as_flattened()[..self.columns]
    }

    /// One row without its padding: `[columns]`.
    #[inline(always)]
    pub fn values_mut(&mut self, row: usize) -> &mut [f32] {
        let columns = self.columns;
        &mut self.row_mut(row).as_flattened_mut()[..columns]
    }

    /// Number in a row and a column.
    #[inline(always)]
    pub fn get(&self, row: usize, column: usize) -> f32 {
        self.row(row).as_flattened()[column]
    }

    /// Sums all rows, each times its factor: `sum = Σ_i factors_i row_i`.
    #[inline(always)]
    pub fn weighted_sum(&self, factors: &[f32], sum: &mut [Lanes]) {
        for (index, out) in sum.iter_mut().enumerate() {
            let mut total = [0.0; LANES];
            for (row, &factor) in factors.iter().enumerate() {
                let vector = &self.vectors[row * self.width + index];
                for lane in 0..LANES {
                    total[lane] += factor * vector[lane];
                }
            }
            *out = total;
        }
    }
}

/// Updates each number of `out` by the one in `values`.
#[inline(always)]
pub fn update(out: &mut [Lanes], values: &[Lanes], f: impl Fn(&mut f32, f32)) {
    for (out, values) in out.iter_mut().zip(values) {
        for lane in 0..LANES {
            f(&mut out[lane], values[lane]);
        }
    }
}

/// Σ f(a, b) over two rows.
#[inline(always)]
pub fn sum_of(a: &[Lanes], b: &[Lanes], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += f(a[lane], b[lane]);
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Largest number of a row, but at least the smallest positive normal number.
#[inline(always)]
pub fn largest(row: &[Lanes]) -> f32 {
    row.as_flattened().iter().copied().fold(f32::MIN_POSITIVE, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_updates_skip_no_column() {
        for columns in [1, 7, 8, 9, 20] {
            let mut matrix = PaddedRows::zeros(3, columns);
            for row in 0..3 {
                let values = matrix.values_mut(row).iter_mut().enumerate();
                values.for_each(|(column, value)| *value = (row * 100 + column) as f32);
            }
            let mut sum = vec![[7.0; LANES]; columns.div_ceil(LANES)];
            matrix.weighted_sum(&[1.0, 2.0, 0.5], &mut sum);
            let expected: Vec<f32> = (0..columns).map(|column| 300.0 + 3.5 * column as f32).collect();
            assert_eq!(sum.as_flattened()[..columns], expected);
            assert!(sum.as_flattened()[columns..].iter().all(|&value| value == 0.0));
            let product: f32 = (0..columns).map(|column| (column * (100 + column)) as f32).sum();
            assert_eq!(sum_of(matrix.row(0), matrix.row(1), |a, b| a * b), product);
            let last = matrix.row(2).to_vec();
            update(matrix.row_mut(1), &last, |out, value| *out -= value);
            assert_eq!(matrix.values(1), vec![-100.0; columns]);
            assert_eq!(largest(matrix.row(2)), matrix.get(2, columns - 1));
        }
    }
}
