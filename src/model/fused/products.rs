//! Gradients of weights and embeddings: what is left to do when the loops of all parts are through.

use rayon::prelude::*;

use crate::kernels::matrix::{Into, Matrix, Packed, multiply_packed};

/// Rows of a gradient that one thread makes at a time.
const ROWS: usize = 128;

/// Σ dyᵀ x over the parts, for the gradient of W in y = x Wᵀ: each factor is `(dy, x)` with one row for each y. The result's
/// rows lie `stride` apart.
pub fn weight_gradient(out: &mut [f32], stride: usize, factors: &[(Matrix, Matrix)]) {
    let inputs: Vec<Packed> = factors.par_iter().map(|(_, input)| Packed::new(*input)).collect();
    out.par_chunks_mut(ROWS * stride).enumerate().for_each(|(block, out)| {
        for (index, ((by_output, _), input)) in factors.iter().zip(&inputs).enumerate() {
            let turned = by_output.t();
            let count = (turned.row_count() - block * ROWS).min(ROWS);
            let into = if index == 0 { Into::Replace } else { Into::Add };
            multiply_packed(out, stride, turned.rows(block * ROWS, count), input, into);
        }
    });
}

/// Rows of a table by ids.
pub fn gather(out: &mut [f32], table: &[f32], ids: &[u32], width: usize) {
    for (row, &id) in out.chunks_exact_mut(width).zip(ids) {
        row.copy_from_slice(&table[id as usize * width..][..width]);
    }
}

/// Adds rows to those of a table, by ids: the derivative of [`gather`].
pub fn scatter(table: &mut [f32], ids: &[u32], rows: &[f32], width: usize) {
    for (&id, row) in ids.iter().zip(rows.chunks_exact(width)) {
        let sum = &mut table[id as usize * width..][..width];
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}
