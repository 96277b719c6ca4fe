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

/// Derivatives with respect to rows that were looked up.
#[derive(Clone, Copy)]
pub struct RowGrads<'g> {
    /// Row of the table that each row is a copy of.
    pub ids: &'g [u32],
    /// `[ids, width]`
    pub d_rows: &'g [f32],
}

/// Backward pass of [`gather_forward`]: adds each part's row derivatives to the table's gradient by ids.
pub fn gather_backward(table: &mut [f32], width: usize, parts: &[RowGrads]) {
    table.par_chunks_mut(BLOCK_ROWS * width).enumerate().for_each(|(block, table)| {
        for RowGrads { ids, d_rows } in parts {
            for (&id, row) in ids.iter().zip(d_rows.chunks_exact(width)) {
                let row_index = (id as usize).wrapping_sub(block * BLOCK_ROWS);
                if let Some(sum) = table.chunks_exact_mut(width).nth(row_index) {
                    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor, Var};

    use super::*;
    use crate::random::SeededRng;

    fn numbers(stream: &mut SeededRng, count: usize) -> Vec<f32> {
        (0..count).map(|_| stream.normal() as f32).collect()
    }

    #[test]
    fn lookup_and_its_derivative_equal_index_select() {
        let (rows, width) = (BLOCK_ROWS + 3, 5);
        let mut stream = SeededRng::new(1, "table", 0);
        let table = numbers(&mut stream, rows * width);
        let parts =
            [vec![7u32, 0, 7], vec![rows as u32 - 1, 7]].map(|ids| (numbers(&mut stream, ids.len() * width), ids));
        let variable = Var::from_tensor(&Tensor::from_slice(&table, (rows, width), &Device::Cpu).unwrap()).unwrap();
        let mut loss = Tensor::zeros((), candle_core::DType::F32, &Device::Cpu).unwrap();
        for (derivatives, ids) in &parts {
            let expected = variable.index_select(&Tensor::new(&ids[..], &Device::Cpu).unwrap(), 0).unwrap();
            let mut found = vec![0.0; ids.len() * width];
            gather_forward(&mut found, &table, ids, width);
            assert_eq!(found, expected.flatten_all().unwrap().to_vec1::<f32>().unwrap());
            let derivatives = Tensor::from_slice(derivatives, (ids.len(), width), &Device::Cpu).unwrap();
            loss = (loss + (expected * derivatives).unwrap().sum_all().unwrap()).unwrap();
        }
        let mut d_table = vec![0.0; rows * width];
        let views: Vec<RowGrads> = parts.iter().map(|(d_rows, ids)| RowGrads { ids, d_rows }).collect();
        gather_backward(&mut d_table, width, &views);
        let gradients = loss.backward().unwrap();
        let expected: Vec<f32> = gradients.get(&variable).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        assert!(d_table.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5));
    }
}
