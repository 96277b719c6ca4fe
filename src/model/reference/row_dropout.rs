//! Dropout of a share of a batch.

use candle_core::{Result, Tensor};

use crate::model::{Dropout, DropoutSite};
use crate::text::{Batch, BatchShare};

/// Randomness of the rows of a share. Each row draws the numbers that it draws where one process computes the whole batch.
#[derive(Clone, Debug)]
pub struct RowDropout {
    dropout: Dropout,
    /// Where the rows are in the whole batch, unless the share is all of it.
    rows: Option<RowsOfShare>,
}

#[derive(Clone, Debug)]
struct RowsOfShare {
    share: BatchShare,
    /// Rows of the share and of the batch.
    sizes: [usize; 2],
    /// Numbers of the share's target tokens among those of the batch, step by step.
    tokens: Vec<u32>,
}

impl RowDropout {
    /// No dropout and no sampling.
    pub fn none() -> Self {
        Self { dropout: Dropout::none(), rows: None }
    }

    /// Returns the randomness of a share of `batch`.
    pub fn new(dropout: Dropout, batch: &Batch, share: BatchShare) -> Self {
        let rows = (share != BatchShare::WHOLE).then(|| RowsOfShare::new(batch, share));
        Self { dropout, rows }
    }

    /// Applies the mask of a site to a tensor `[rows, ·]`.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn apply(&self, tensor: &Tensor, site: DropoutSite) -> Result<Tensor> {
        let Some(rows) = &self.rows else { return self.dropout.apply(tensor, site, None) };
        match site {
            DropoutSite::States | DropoutSite::Readout => self.dropout.apply(tensor, site, Some(&rows.tokens)),
            DropoutSite::Source | DropoutSite::Annotations(_) | DropoutSite::Target => {
                let numbers: Vec<u32> = (0..tensor.dim(0)?).map(|row| rows.in_batch(row) as u32).collect();
                self.dropout.apply(tensor, site, Some(&numbers))
            }
        }
    }

    /// Returns the random numbers that sampled hard attention consumes in these rows, `[rows × heads]`, or `None` at
    /// inference.
    pub fn draws(&self, rows: std::ops::Range<usize>, heads: usize) -> Option<Vec<f32>> {
        let positions = self.dropout.selection_draws()?;
        let mut draws = Vec::with_capacity(rows.len() * heads);
        for row in rows {
            let row = self.rows.as_ref().map_or(row, |rows| rows.in_batch(row));
            draws.extend((0..heads).map(|head| positions.uniform((row * heads + head) as u32)));
        }
        Some(draws)
    }
}

impl RowsOfShare {
    fn new(batch: &Batch, share: BatchShare) -> Self {
        let lengths = &batch.target.lengths;
        let in_order = (0..batch.target.length)
            .flat_map(|step| (0..lengths.len()).filter(move |&row| step < lengths[row]))
            .zip(0..);
        let tokens = in_order.filter(|(row, _)| share.contains(*row)).map(|(_, number)| number).collect();
        Self { share, sizes: [share.rows(lengths.len()).len(), lengths.len()], tokens }
    }

    /// Returns the number in the batch of a row of the share; both count step by step.
    fn in_batch(&self, row: usize) -> usize {
        let [own, whole] = self.sizes;
        row / own * whole + self.share.index + row % own * self.share.count
    }
}
