//! A weight matrix, laid out for the products that meet it at every step.

use rayon::prelude::*;

use super::{Matrix, PackedMatrix, WriteMode, multiply_packed};

/// W of y = x Wᵀ.
#[derive(Debug, Default)]
pub struct PackedWeight {
    /// Wᵀ
    forward: PackedMatrix,
    /// W, where derivatives are wanted
    backward: PackedMatrix,
}

impl PackedWeight {
    /// Lays out matrices `[outputs, inputs]`, side by side on the cores; `derivatives` says whether there is a way back.
    pub fn pack_all<const COUNT: usize>(weights: [Matrix; COUNT], derivatives: bool) -> [Self; COUNT] {
        let mut packed = std::array::from_fn(|_| Self::default());
        packed.par_iter_mut().zip(weights).for_each(|(packed, weight)| *packed = Self::new(weight, derivatives));
        packed
    }

    /// Lays out one matrix.
    pub fn new(weight: Matrix, derivatives: bool) -> Self {
        if derivatives {
            let (forward, backward) = rayon::join(|| PackedMatrix::new(weight.t()), || PackedMatrix::new(weight));
            Self { forward, backward }
        } else {
            Self { forward: PackedMatrix::new(weight.t()), backward: PackedMatrix::default() }
        }
    }

    /// How long y is.
    pub fn outputs(&self) -> usize {
        self.forward.columns()
    }

    /// x Wᵀ of rows x, into rows `stride` apart.
    pub fn forward(&self, y: &mut [f32], stride: usize, x: &[f32], mode: WriteMode) {
        multiply_packed(y, stride, Matrix::rows_of(x, self.forward.rows()), &self.forward, mode);
    }

    /// dy W: the derivative by x of rows of derivatives by y.
    pub fn backward(&self, d_x: &mut [f32], d_y: &[f32], mode: WriteMode) {
        let (rows, columns) = (self.backward.rows(), self.backward.columns());
        multiply_packed(d_x, columns, Matrix::rows_of(d_y, rows), &self.backward, mode);
    }
}
