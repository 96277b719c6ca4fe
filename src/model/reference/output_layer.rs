//! Readout and output layer.
//!
//! ```text
//! r_t = tanh(W_r [s_t ; E_y[y_{t-1}] ; c_t] + b_r)            z_t = E_out r_t + b
//! ```
//!
//! Under exact hard attention, the annotation h_j of each position takes the place of c_t, which gives logits z_tj, and
//! p_t = Σ_j α_tj softmax(z_tj). A lexicon adds the bias of source token j to z_tj.

use candle_core::{Result, Tensor};

use super::row_dropout::RowDropout;
use crate::model::{Architecture, DropoutSite};
use crate::parameters::{Linear, Parameters};

/// Readout and output layer over one set of parameters.
pub struct OutputLayer {
    readout: Linear,
    output: Linear,
}

impl OutputLayer {
    /// Selects the parameters of both layers.
    ///
    /// # Errors
    /// A parameter is missing.
    pub fn new(architecture: &Architecture, parameters: &Parameters) -> Result<Self> {
        let output =
            Linear { weight: parameters.get(architecture.output_weight())?, bias: parameters.get("output.bias")? };
        Ok(Self { readout: Linear::new(parameters, "readout")?, output })
    }

    /// V
    ///
    /// # Errors
    /// The weight is no matrix.
    pub fn vocabulary(&self) -> Result<usize> {
        self.output.weight.dim(0)
    }

    /// Returns the layers with the logits of some tokens only.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn restricted(&self, tokens: &Tensor) -> Result<Self> {
        let Linear { weight, bias } = &self.output;
        let output = Linear { weight: weight.index_select(tokens, 0)?, bias: bias.index_select(tokens, 0)? };
        Ok(Self { readout: self.readout.clone(), output })
    }

    /// Logits `[rows, V]` from states, contexts `[rows, n]` and the last words' embeddings `[rows, e]`.
    pub fn logits(&self, state: &Tensor, embedded: &Tensor, context: &Tensor, dropout: &RowDropout) -> Result<Tensor> {
        let state = dropout.apply(state, DropoutSite::States)?;
        let readout = self.readout.forward(&Tensor::cat(&[&state, embedded, context], 1)?)?.tanh()?;
        self.output.forward(&dropout.apply(&readout, DropoutSite::Readout)?)
    }

    /// Logits from each source token, `[rows, S, V]`, given their contexts `[rows, S, n]`. All positions of a row share their
    /// dropout.
    pub fn logits_by_position(
        &self,
        state: &Tensor,
        embedded: &Tensor,
        contexts: &Tensor,
        dropout: &RowDropout,
    ) -> Result<Tensor> {
        let (rows, length, _) = contexts.dims3()?;
        let state = repeat_rows(&dropout.apply(state, DropoutSite::States)?, length)?;
        let input = Tensor::cat(&[&state, &repeat_rows(embedded, length)?, &contexts.contiguous()?], 2)?;
        let readout = self.readout.forward(&input.flatten(0, 1)?)?.tanh()?;
        let kept = Tensor::ones((rows, readout.dim(1)?), readout.dtype(), readout.device())?;
        let kept = repeat_rows(&dropout.apply(&kept, DropoutSite::Readout)?, length)?.flatten(0, 1)?;
        let logits = self.output.forward(&(readout * kept)?)?;
        logits.reshape((rows, length, logits.dim(1)?))
    }
}

/// Repeats each row of `[rows, width]`: `[rows, count, width]`.
fn repeat_rows(tensor: &Tensor, count: usize) -> Result<Tensor> {
    let (rows, width) = tensor.dims2()?;
    tensor.unsqueeze(1)?.broadcast_as((rows, count, width))?.contiguous()
}
