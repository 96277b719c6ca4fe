//! Gradients of linear layers, from the rows of all steps and shards at once.

use rayon::prelude::*;

use super::{MatrixView, PackedMatrix, Precision, WriteMode, add_row_sums, multiply_packed};
use crate::kernels::buffer_pool::Buffer;

/// Rows of a gradient per rayon task.
const ROWS: usize = 128;

/// Factors of the gradient of W in y = x Wᵀ, with one row per y.
#[derive(Clone, Copy)]
pub struct WeightFactors<'a> {
    /// dy, `[rows, outputs]`.
    pub d_output: MatrixView<'a>,
    /// x, `[rows, inputs]`.
    pub input: MatrixView<'a>,
}

/// Gradient of W in y = x Wᵀ: Σ dyᵀ x over `factors`. Rows of `out` are `stride` apart.
pub fn weight_gradient(
    out: &mut [f32],
    stride: usize,
    factors: &[WeightFactors],
    precision: Precision,
    mode: WriteMode,
) {
    let inputs: Vec<PackedMatrix> =
        factors.par_iter().map(|factors| PackedMatrix::new(factors.input, precision)).collect();
    out.par_chunks_mut(ROWS * stride).enumerate().for_each(|(block, out)| {
        for (index, (factors, input)) in factors.iter().zip(&inputs).enumerate() {
            let transposed = factors.d_output.t(); // [outputs, rows]
            let count = (transposed.row_count() - block * ROWS).min(ROWS);
            let mode = if index == 0 { mode } else { WriteMode::Accumulate };
            multiply_packed(out, stride, transposed.rows(block * ROWS, count), input, mode);
        }
    });
}

/// Gradient of b in y = x Wᵀ + b: Σ dy over the rows of all `d_outputs`.
pub fn bias_gradient(out: &mut [f32], d_outputs: &[&[f32]]) {
    let sums = d_outputs.par_iter().map(|d_output| {
        let mut sums = Buffer::zeros(out.len());
        add_row_sums(&mut sums, d_output);
        sums
    });
    let sums: Vec<Buffer> = sums.collect();
    out.fill(0.0);
    sums.iter().for_each(|sums| add_row_sums(out, sums));
}
