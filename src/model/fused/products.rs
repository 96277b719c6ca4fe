//! Gradients of weights and embeddings: what is left to do when the loops of all parts are through.

use rayon::prelude::*;

use crate::kernels::buffer::Buffer;
use crate::kernels::matrix::{Into, Matrix, Packed, add_row_sums, multiply_packed};

/// Rows of a gradient that one thread makes at a time.
const ROWS: usize = 128;
/// Rows of an embedding's gradient that one thread makes at a time.
const UNITS: usize = 1024;

/// Σ dyᵀ x over the parts, for the gradient of W in y = x Wᵀ: each factor is `(dy, x)` with one row for each y. The
/// result's rows lie `stride` apart.
pub fn weight_gradient(out: &mut [f32], stride: usize, factors: &[(Matrix, Matrix)], into: Into) {
    let inputs: Vec<Packed> = factors.par_iter().map(|(_, input)| Packed::new(*input)).collect();
    out.par_chunks_mut(ROWS * stride).enumerate().for_each(|(block, out)| {
        for (index, ((by_output, _), input)) in factors.iter().zip(&inputs).enumerate() {
            let turned = by_output.t();
            let count = (turned.row_count() - block * ROWS).min(ROWS);
            let into = if index == 0 { into } else { Into::Add };
            multiply_packed(out, stride, turned.rows(block * ROWS, count), input, into);
        }
    });
}

/// Σ dy over the rows of all parts, for the gradient of b in y = x Wᵀ + b.
pub fn bias_gradient(out: &mut [f32], by_outputs: &[&[f32]]) {
    let sums = |by_output: &&[f32]| {
        let mut sums = Buffer::zeros(out.len());
        add_row_sums(&mut sums, by_output);
        sums
    };
    let sums: Vec<Buffer> = by_outputs.par_iter().map(sums).collect();
    out.fill(0.0);
    sums.iter().for_each(|sums| add_row_sums(out, sums));
}

/// Rows of a table by ids.
pub fn gather(out: &mut [f32], table: &[f32], ids: &[u32], width: usize) {
    for (row, &id) in out.chunks_exact_mut(width).zip(ids) {
        row.copy_from_slice(&table[id as usize * width..][..width]);
    }
}

/// Adds the rows of all parts to those of a table, by ids: the derivative of [`gather`].
pub fn scatter(table: &mut [f32], width: usize, parts: &[(&[u32], &[f32])]) {
    table.par_chunks_mut(UNITS * width).enumerate().for_each(|(block, table)| {
        for (ids, rows) in parts {
            for (&id, row) in ids.iter().zip(rows.chunks_exact(width)) {
                let unit = (id as usize).wrapping_sub(block * UNITS);
                if let Some(sum) = table.chunks_exact_mut(width).nth(unit) {
                    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
            }
        }
    });
}
