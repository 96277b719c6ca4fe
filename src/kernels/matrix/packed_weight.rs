//! Weight of a linear layer, packed once for many products.

use super::{MatrixView, PackedMatrix, Precision, WriteMode, multiply_packed};

/// W of y = x Wᵀ, packed.
#[derive(Debug, Default)]
pub struct PackedWeight {
    /// Wᵀ: `[inputs, outputs]`
    forward: PackedMatrix,
    /// W: `[outputs, inputs]`; empty without derivatives
    backward: PackedMatrix,
}

impl PackedWeight {
    /// Packs a matrix `[outputs, inputs]`; `derivatives` enables [`Self::backward`].
    pub fn new(weight: MatrixView, precision: Precision, derivatives: bool) -> Self {
        if !derivatives {
            return Self { forward: PackedMatrix::new(weight.t(), precision), backward: PackedMatrix::default() };
        }
        let (forward, backward) =
            rayon::join(|| PackedMatrix::new(weight.t(), precision), || PackedMatrix::new(weight, precision));
        Self { forward, backward }
    }

    /// Length of y.
    pub fn outputs(&self) -> usize {
        self.forward.columns()
    }

    /// y = x Wᵀ for rows x; rows of y are `stride` apart.
    pub fn forward(&self, y: &mut [f32], stride: usize, x: &[f32], mode: WriteMode) {
        multiply_packed(y, stride, MatrixView::rows_of(x, self.forward.rows()), &self.forward, mode);
    }

    /// dx = dy W for rows dy.
    pub fn backward(&self, d_x: &mut [f32], d_y: &[f32], mode: WriteMode) {
        let (rows, columns) = (self.backward.rows(), self.backward.columns());
        multiply_packed(d_x, columns, MatrixView::rows_of(d_y, rows), &self.backward, mode);
    }
}
