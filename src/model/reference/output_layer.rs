//! Readout and output layer.
//!
//! ```text
//! r_t = tanh(W_r [s_t ; E_y[y_{t-1}] ; c_t] + b_r)            z_t = E_out r_t + b
//! ```

use candle_core::{Result, Tensor};

use crate::model::{Architecture, Dropout, DropoutSite};
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

    /// Logits `[rows, V]` from states, contexts `[rows, n]` and the last words' embeddings `[rows, e]`.
    pub fn logits(&self, state: &Tensor, embedded: &Tensor, context: &Tensor, dropout: &Dropout) -> Result<Tensor> {
        let state = dropout.apply(state, DropoutSite::States)?;
        let readout = self.readout.forward(&Tensor::cat(&[&state, embedded, context], 1)?)?.tanh()?;
        self.output.forward(&dropout.apply(&readout, DropoutSite::Readout)?)
    }
}
