//! Decoder: embedding, initial state, recurrent loop and output layer.

use candle_core::{Device, Result, Tensor};

use super::decoder_loop::{DecoderCells, DecoderStep, Unrolled};
use super::encoder::Annotations;
use super::output_layer::OutputLayer;
use crate::attention::{AttentionWeights, Memory};
use crate::kernels::reference::embedding::select_rows;
use crate::model::{Architecture, InitialState};
use crate::parameters::{Linear, Parameters};

/// Decoder over one set of parameters.
pub struct AttentionDecoder {
    embedding: Tensor,
    initial_state: InitialState,
    initial: Linear,
    cells: DecoderCells,
    /// Readout and output layer.
    pub output: OutputLayer,
}

impl AttentionDecoder {
    /// Selects the decoder's parameters.
    ///
    /// # Errors
    /// A parameter is missing.
    pub fn new(architecture: &Architecture, parameters: &Parameters) -> Result<Self> {
        Ok(Self {
            embedding: parameters.get("target_embedding.weight")?,
            initial_state: architecture.initial_state,
            initial: Linear::new(parameters, "decoder.initial")?,
            cells: DecoderCells::new(architecture, parameters)?,
            output: OutputLayer::new(architecture, parameters)?,
        })
    }

    /// Returns the device that holds the parameters.
    pub fn device(&self) -> &Device {
        self.embedding.device()
    }

    /// Projects annotations to keys and values.
    pub fn project_memory(&self, annotations: Annotations) -> Result<Memory> {
        self.cells.attention.project_memory(annotations.values, annotations.mask)
    }

    /// Context of each source token if it has all the weight: `[batch, length, n]`.
    pub fn contexts_of_tokens(&self, memory: &Memory) -> Result<Tensor> {
        self.cells.attention.contexts_of_tokens(memory)
    }

    /// s_0 = tanh(W_init m + b): `[batch, n]`.
    pub fn initial_state(&self, memory: &Memory) -> Result<Tensor> {
        let summary = match self.initial_state {
            InitialState::Mean => memory.mean()?,
            InitialState::BackwardFirst => memory.backward_first()?,
        };
        self.initial.forward(&summary)?.tanh()
    }

    /// E_y of ids: `[rows, e]`.
    pub fn embed(&self, ids: &[u32]) -> Result<Tensor> {
        select_rows(&self.embedding, ids)
    }

    /// One step from state s_{t-1} `[batch, n]` and embeddings of y_{t-1}.
    pub fn step(
        &self,
        memory: &Memory,
        embedded: &Tensor,
        state: &Tensor,
        weights: AttentionWeights,
    ) -> Result<DecoderStep> {
        self.cells.step(memory, &self.cells.input_gates(embedded)?, state, weights)
    }

    /// All `length` steps given the embeddings of all previous words, `[length × batch, e]`; `draws(step)` has a number
    /// per row and head if hard attention is sampled.
    pub fn unroll(
        &self,
        memory: &Memory,
        embedded: &Tensor,
        [length, batch]: [usize; 2],
        draws: impl Fn(usize) -> Option<Vec<f32>>,
    ) -> Result<Unrolled> {
        let gates = self.cells.input_gates(embedded)?;
        let gates = gates.reshape((length, batch, gates.dim(1)?))?;
        let mut state = self.initial_state(memory)?;
        #[cfg(feature = "cuda")]
        if let Some(fused) = super::fused_loop::FusedLoop::new(&self.cells, memory, &gates, &state)? {
            return fused.unroll();
        }
        let mut steps: Vec<DecoderStep> = Vec::with_capacity(length);
        for step in 0..length {
            let output = self.cells.step(memory, &gates.get(step)?, &state, draws(step).as_deref().into())?;
            state = output.state.clone();
            steps.push(output);
        }
        Unrolled::new(&steps)
    }
}
