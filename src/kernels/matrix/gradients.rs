//! Gradients of weights, made of the rows of all steps and parts at once.

use rayon::prelude::*;

use super::{Matrix, PackedMatrix, WriteMode, add_row_sums, multiply_packed};
use crate::kernels::buffer_pool::Buffer;

/// Rows of a gradient that one thread makes at a time.
const ROWS: usize = 128;

/// Σ dyᵀ x over the parts, for the gradient of W in y = x Wᵀ: each factor is `(dy, x)` with one row for each y. The
/// result's rows lie `stride` apart.
pub fn weight_gradient(out: &mut [f32], stride: usize, factors: &[(Matrix, Matrix)], mode: WriteMode) {
    let inputs: Vec<PackedMatrix> = factors.par_iter().map(|(_, input)| PackedMatrix::new(*input)).collect();
    out.par_chunks_mut(ROWS * stride).enumerate().for_each(|(block, out)| {
        for (index, ((d_output, _), input)) in factors.iter().zip(&inputs).enumerate() {
            let transposed = d_output.t();
            let count = (transposed.row_count() - block * ROWS).min(ROWS);
            let mode = if index == 0 { mode } else { WriteMode::Accumulate };
            multiply_packed(out, stride, transposed.rows(block * ROWS, count), input, mode);
        }
    });
}

/// Σ dy over the rows of all parts, for the gradient of b in y = x Wᵀ + b.
pub fn bias_gradient(out: &mut [f32], d_outputs: &[&[f32]]) {
    let sums = |d_output: &&[f32]| {
        let mut sums = Buffer::zeros(out.len());
        add_row_sums(&mut sums, d_output);
        sums
    };
    let sums: Vec<Buffer> = d_outputs.par_iter().map(sums).collect();
    out.fill(0.0);
    sums.iter().for_each(|sums| add_row_sums(out, sums));
}
