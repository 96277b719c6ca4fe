//! Rows of a matrix by number: embeddings of ids, and the rows of a batch that are not padding.

use candle_core::{Result, Tensor};

/// Rows `numbers` of a matrix, with repetitions: `[numbers, width]`.
///
/// # Errors
/// A number is out of range.
pub fn select_rows(matrix: &Tensor, numbers: &[u32]) -> Result<Tensor> {
    #[cfg(feature = "cuda")]
    if matrix.device().is_cuda() {
        return crate::kernels::cuda::select_rows(matrix, numbers);
    }
    matrix.index_select(&Tensor::new(numbers, matrix.device())?, 0)
}
