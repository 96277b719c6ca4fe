//! Embedding lookup and its derivative.

use rayon::prelude::*;

/// Rows of the table's gradient per rayon task.
const BLOCK_ROWS: usize = 1024;

/// Copies rows of a table of row length `width` by ids: `out[i] = table[ids[i]]`.
pub fn gather_forward(out: &mut [f32], table: &[f32], ids: &[u32], width: usize) {
    for (row, &id) in out.chunks_exact_mut(width).zip(ids) {
        row.copy_from_slice(&table[id as usize * width..][..width]);
    }
}

/// Backward pass of [`gather_forward`]: adds each part's row derivatives to the rows of the table's gradient, by ids.
pub fn gather_backward(table: &mut [f32], width: usize, parts: &[(&[u32], &[f32])]) {
    table.par_chunks_mut(BLOCK_ROWS * width).enumerate().for_each(|(block, table)| {
        for (ids, rows) in parts {
            for (&id, row) in ids.iter().zip(rows.chunks_exact(width)) {
                let unit = (id as usize).wrapping_sub(block * BLOCK_ROWS);
                if let Some(sum) = table.chunks_exact_mut(width).nth(unit) {
                    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
            }
        }
    });
}
