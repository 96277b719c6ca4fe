//! Traits of attention scores.
//!
//! [`Score`] is the reference in candle's operations, for any shapes. [`CpuScore`] computes one query and all positions
//! of one sentence on slices, with hand-written derivatives, so that values shared by the positions stay in registers.

use candle_core::{Result, Tensor};

/// Attention score in candle's operations.
pub trait Score: Send + Sync {
    /// Energies a(q, k), `[batch, m, length]`, of queries `[batch, m, d]` and keys `[batch, length, d]`.
    ///
    /// # Errors
    /// The shapes do not match.
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor>;
}

impl<S: Score + ?Sized> Score for Box<S> {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        (**self).energies(queries, keys)
    }
}

/// Score divided by a temperature: above 1 the weights become more uniform, below 1 more peaked.
pub struct ScaledScore<S> {
    /// Score before scaling.
    pub score: S,
    /// Divisor of the energies.
    pub temperature: f64,
}

impl<S: Score> Score for ScaledScore<S> {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        self.score.energies(queries, keys)? / self.temperature
    }
}

/// Attention score of one query and the keys of one sentence on slices. Its inlined methods run inside
/// [`vectorized`](crate::kernels::simd::vectorized).
pub trait CpuScore: Copy + Send + Sync {
    /// Returns the score of one of several heads, with that head's slice of the score's parameter, if any.
    #[inline(always)]
    fn head(self, _head: usize, _heads: usize) -> Self {
        self
    }

    /// Forward pass: e_j = a(q, k_j) for query `[d]`, keys `[length, d]`, energies `[length]`.
    fn energies_forward(self, query: &[f32], keys: HeadRows, energies: &mut [f32]);

    /// Backward pass, given the derivatives with respect to the energies, `[length]`. By default the energies depend on
    /// neither query nor keys.
    #[inline(always)]
    fn energies_backward(self, _query: &[f32], _keys: HeadRows, _d_energies: &[f32], grads: ScoreGrads) {
        grads.d_query.fill(0.0);
    }
}

/// Destinations of a score's derivatives.
pub struct ScoreGrads<'a> {
    /// Derivative with respect to the query, `[d]`: overwritten.
    pub d_query: &'a mut [f32],
    /// Derivative with respect to the keys, `[length, d]`: accumulated.
    pub d_keys: HeadRowsMut<'a>,
    /// Derivative with respect to the head's slice of the score's parameter: accumulated.
    pub d_param: &'a mut [f32],
}

/// One head's columns of some rows of a row-major matrix.
#[derive(Clone, Copy)]
pub struct HeadRows<'a> {
    /// Whole rows.
    values: &'a [f32],
    columns: HeadColumns,
}

/// One head's columns of some rows of a row-major matrix, for writing.
pub struct HeadRowsMut<'a> {
    values: &'a mut [f32],
    columns: HeadColumns,
}

/// One head's columns of a row-major matrix.
#[derive(Clone, Copy)]
pub struct HeadColumns {
    /// Row length of the matrix.
    pub stride: usize,
    /// First column.
    pub first: usize,
    /// Number of columns.
    pub width: usize,
}

impl HeadColumns {
    /// Columns of head `head` of `heads` in rows of length `stride`.
    pub fn new(head: usize, heads: usize, stride: usize) -> Self {
        let width = stride / heads;
        Self { stride, first: head * width, width }
    }

    /// The head's columns of `rows` of a matrix.
    #[inline(always)]
    pub fn rows(self, matrix: &[f32], rows: std::ops::Range<usize>) -> HeadRows<'_> {
        HeadRows { values: &matrix[rows.start * self.stride..rows.end * self.stride], columns: self }
    }

    /// The head's columns of `rows` of a matrix, for writing.
    #[inline(always)]
    pub fn rows_mut(self, matrix: &mut [f32], rows: std::ops::Range<usize>) -> HeadRowsMut<'_> {
        HeadRowsMut { values: &mut matrix[rows.start * self.stride..rows.end * self.stride], columns: self }
    }

    /// The head's columns of one row of a matrix: `[width]`.
    #[inline(always)]
    pub fn row(self, matrix: &[f32], row: usize) -> &[f32] {
        &matrix[row * self.stride + self.first..][..self.width]
    }

    /// The head's columns of one row of a matrix, for writing: `[width]`.
    #[inline(always)]
    pub fn row_mut(self, matrix: &mut [f32], row: usize) -> &mut [f32] {
        &mut matrix[row * self.stride + self.first..][..self.width]
    }
}

impl<'a> HeadRows<'a> {
    /// Iterates over the rows.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = &'a [f32]> {
        self.block(0, self.columns.width)
    }

    /// Iterates over `width` columns, from column `start`, of all rows.
    #[inline(always)]
    pub fn block(self, start: usize, width: usize) -> impl Iterator<Item = &'a [f32]> {
        let HeadColumns { stride, first, .. } = self.columns;
        self.values.chunks_exact(stride).map(move |row| &row[first + start..][..width])
    }
}

impl HeadRowsMut<'_> {
    /// Iterates over the rows.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.block(0, self.columns.width)
    }

    /// Iterates over `width` columns, from column `start`, of all rows.
    #[inline(always)]
    pub fn block(&mut self, start: usize, width: usize) -> impl Iterator<Item = &mut [f32]> {
        let HeadColumns { stride, first, .. } = self.columns;
        self.values.chunks_exact_mut(stride).map(move |row| &mut row[first + start..][..width])
    }
}
