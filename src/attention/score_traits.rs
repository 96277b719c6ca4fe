//! What a score is: a comparison of queries with keys that gives energies.
//!
//! It comes in two forms. [`Score`] is in candle's operations, with automatic derivatives, for any shape. Its fast form
//! is a [`CpuScore`]: one query and all positions of one sentence on plain slices, so that what the positions
//! share stays in registers, with derivatives written by hand.

use candle_core::{Result, Tensor};

/// A comparison in candle's operations.
pub trait Score: Send + Sync {
    /// Energies a(q, k), `[batch, m, length]`, of queries `[batch, m, d]` and keys `[batch, length, d]`.
    ///
    /// # Errors
    /// The shapes do not fit.
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor>;
}

impl<S: Score + ?Sized> Score for Box<S> {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        (**self).energies(queries, keys)
    }
}

/// A score at a temperature: above 1 its weights are more even, below 1 sharper.
pub struct ScaledScore<S> {
    /// What is compared by.
    pub score: S,
    /// What energies are divided by.
    pub temperature: f64,
}

impl<S: Score> Score for ScaledScore<S> {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        self.score.energies(queries, keys)? / self.temperature
    }
}

/// A comparison of one query with the keys of one sentence, on plain slices. What it is asked to inline runs inside
/// [`crate::kernels::simd::vectorized`].
pub trait CpuScore: Copy + Send + Sync {
    /// The same comparison as one of several heads makes it, each with its own part of the score's parameters.
    fn head(self, head: usize, heads: usize) -> Self;

    /// e_j = a(q, k_j): query `[d]`, keys `[length, d]`, energies `[length]`.
    fn energies_forward(self, query: &[f32], keys: HeadRows, energies: &mut [f32]);

    /// What derivatives by the energies, `[length]`, mean for all that the energies are made from.
    fn energies_backward(self, query: &[f32], keys: HeadRows, d_energies: &[f32], d: ScoreGrads);
}

/// Where the derivatives of a score go.
pub struct ScoreGrads<'a> {
    /// By the query, `[d]`: written.
    pub d_query: &'a mut [f32],
    /// By the keys, `[length, d]`: added to.
    pub d_keys: HeadRowsMut<'a>,
    /// By the score's own parameters, as far as the head has a part in them: added to.
    pub d_param: &'a mut [f32],
}

/// HeadRows of `width` neighbouring columns of a matrix that lies row by row.
#[derive(Clone, Copy)]
pub struct HeadRows<'a> {
    /// The matrix' rows, whole.
    values: &'a [f32],
    columns: HeadColumns,
}

/// [`HeadRows`] that can be changed.
pub struct HeadRowsMut<'a> {
    values: &'a mut [f32],
    columns: HeadColumns,
}

/// Neighbouring columns of a matrix.
#[derive(Clone, Copy)]
pub struct HeadColumns {
    /// How long the matrix' rows are.
    pub stride: usize,
    /// The first one.
    pub first: usize,
    /// How many.
    pub width: usize,
}

impl HeadColumns {
    /// The columns of one of several heads that share a matrix.
    pub fn new(head: usize, heads: usize, stride: usize) -> Self {
        let width = stride / heads;
        Self { stride, first: head * width, width }
    }

    /// Of some rows of a matrix.
    #[inline(always)]
    pub fn rows(self, matrix: &[f32], rows: std::ops::Range<usize>) -> HeadRows<'_> {
        HeadRows { values: &matrix[rows.start * self.stride..rows.end * self.stride], columns: self }
    }

    /// [`Self::of`], to be changed.
    #[inline(always)]
    pub fn rows_mut(self, matrix: &mut [f32], rows: std::ops::Range<usize>) -> HeadRowsMut<'_> {
        HeadRowsMut { values: &mut matrix[rows.start * self.stride..rows.end * self.stride], columns: self }
    }

    /// Of one row of a matrix.
    #[inline(always)]
    pub fn row(self, matrix: &[f32], row: usize) -> &[f32] {
        &matrix[row * self.stride + self.first..][..self.width]
    }

    /// [`Self::row`], to be changed.
    #[inline(always)]
    pub fn row_mut(self, matrix: &mut [f32], row: usize) -> &mut [f32] {
        &mut matrix[row * self.stride + self.first..][..self.width]
    }
}

impl<'a> HeadRows<'a> {
    /// One after the other.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = &'a [f32]> {
        self.block(0, self.columns.width)
    }

    /// `width` columns of all rows, from `start` on.
    #[inline(always)]
    pub fn block(self, start: usize, width: usize) -> impl Iterator<Item = &'a [f32]> {
        let HeadColumns { stride, first, .. } = self.columns;
        self.values.chunks_exact(stride).map(move |row| &row[first + start..][..width])
    }
}

impl HeadRowsMut<'_> {
    /// One after the other.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.block(0, self.columns.width)
    }

    /// `width` columns of all rows, from `start` on.
    #[inline(always)]
    pub fn block(&mut self, start: usize, width: usize) -> impl Iterator<Item = &mut [f32]> {
        let HeadColumns { stride, first, .. } = self.columns;
        self.values.chunks_exact_mut(stride).map(move |row| &mut row[first + start..][..width])
    }
}
