//! Bidirectional GRU encoder (Bahdanau et al. 2014, section 3.2): one annotation per source token.

use candle_core::{Device, Result, Tensor};

use super::row_dropout::RowDropout;
use crate::kernels::reference::embedding::select_rows;
use crate::kernels::reference::gru::GruWeights;
use crate::model::DropoutSite;
use crate::model::architecture::encoder_cell_param;
use crate::parameters::Parameters;
use crate::text::PaddedBatch;

/// Annotations of a batch of sources.
#[derive(Clone, Debug)]
pub struct Annotations {
    /// H: `[batch, length, n]`, the forward direction's half first; unspecified on padding.
    pub values: Tensor,
    /// `[batch, length]`: 1 on real positions, 0 on padding.
    pub mask: Tensor,
}

/// Embedding and bidirectional GRU, in one or more layers.
pub struct BidirectionalEncoder {
    embedding: Tensor,
    /// Forward and backward cell of each layer.
    layers: Vec<[GruWeights; 2]>,
}

impl BidirectionalEncoder {
    /// Selects the parameters of `layers` layers.
    ///
    /// # Errors
    /// A parameter is missing.
    pub fn new(layers: usize, parameters: &Parameters) -> Result<Self> {
        let mut cells = Vec::with_capacity(layers);
        for layer in 0..layers {
            let [forward, backward] =
                [0, 1].map(|direction| parameters.gru(|part| encoder_cell_param(part, layer, direction)));
            cells.push([forward?, backward?]);
        }
        Ok(Self { embedding: parameters.get("source_embedding.weight")?, layers: cells })
    }

    /// Encodes a batch of sources.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn annotate(&self, source: &PaddedBatch, dropout: &RowDropout) -> Result<Annotations> {
        let device = self.embedding.device();
        let (batch, length) = (source.batch(), source.length);
        let ids: Vec<u32> =
            (0..length).flat_map(|position| (0..batch).map(move |row| source.id(row, position))).collect();
        let mut rows = dropout.apply(&select_rows(&self.embedding, &ids)?, DropoutSite::Source)?;
        let mask = mask(source, device)?;
        let step_mask = mask.t()?.unsqueeze(2)?;
        for (layer, [forward, backward]) in self.layers.iter().enumerate() {
            let mut states = Vec::with_capacity(2);
            for (cell, backwards) in [(forward, false), (backward, true)] {
                let gates = cell.input_gates(&rows)?;
                states.push(cell.sequence(&gates.reshape((length, batch, gates.dim(1)?))?, &step_mask, backwards)?);
            }
            let states = Tensor::cat(&states, 2)?.flatten_to(1)?;
            rows = dropout.apply(&states, DropoutSite::Annotations(layer))?;
        }
        let size = rows.dim(1)?;
        let values = rows.reshape((length, batch, size))?.transpose(0, 1)?.contiguous()?;
        Ok(Annotations { values, mask })
    }
}

/// `[batch, length]`: 1 on real positions, 0 on padding.
fn mask(sequences: &PaddedBatch, device: &Device) -> Result<Tensor> {
    let mut mask = Vec::with_capacity(sequences.ids.len());
    for &length in &sequences.lengths {
        mask.extend((0..sequences.length).map(|position| if position < length { 1.0f32 } else { 0.0 }));
    }
    Tensor::from_vec(mask, (sequences.batch(), sequences.length), device)
}
