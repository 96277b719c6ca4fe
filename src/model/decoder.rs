//! The decoder: a GRU that takes in the last word and the context vector, and the output layer above it.

use candle_core::{Device, Result, Tensor};

use super::{AdditiveAttention, Architecture, Dropout, InitialState, Memory, Parameters, Place};
use crate::kernels::gru::GruWeights;

/// What one step, or all steps of a batch, left behind.
#[derive(Clone, Debug)]
pub struct DecoderStep {
    /// s_t: `[batch, n]`
    pub state: Tensor,
    /// c_t: `[batch, n]`
    pub context: Tensor,
    /// α_t: `[batch, source length]`
    pub weights: Tensor,
}

/// Attention, recurrent cell, readout and output layer.
pub struct AttentionDecoder {
    embedding: Tensor,
    initial_state: InitialState,
    initial: Linear,
    attention: AdditiveAttention,
    /// The cell; its input is the embedding alone, the context's columns of `weight_ih` being kept apart.
    cell: GruWeights,
    /// `[3n, n]`
    context_gates: Tensor,
    readout: Linear,
    output: Linear,
}

/// `x Wᵀ + b`
struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    fn new(parameters: &Parameters, name: &str) -> Result<Self> {
        let part = |part: &str| parameters.get(&format!("{name}.{part}"));
        Ok(Self { weight: part("weight")?, bias: part("bias")? })
    }

    fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        rows.matmul(&self.weight.t()?)?.broadcast_add(&self.bias)
    }
}

impl AttentionDecoder {
    /// Picks the decoder's parameters.
    pub fn new(architecture: &Architecture, parameters: &Parameters) -> Result<Self> {
        let embedding = parameters.get("target_embedding.weight")?;
        let mut cell = parameters.gru("decoder.cell", "")?;
        let (e, n) = (architecture.embedding_size, architecture.hidden_size);
        let context_gates = cell.weight_ih.narrow(1, e, n)?;
        cell.weight_ih = cell.weight_ih.narrow(1, 0, e)?;
        let output = if architecture.tied_output {
            Linear { weight: embedding.clone(), bias: parameters.get("output.bias")? }
        } else {
            Linear::new(parameters, "output")?
        };
        Ok(Self {
            embedding,
            initial_state: architecture.initial_state,
            initial: Linear::new(parameters, "decoder.initial")?,
            attention: AdditiveAttention::new(parameters)?,
            cell,
            context_gates,
            readout: Linear::new(parameters, "readout")?,
            output,
        })
    }

    /// Where the parameters lie.
    pub fn device(&self) -> &Device {
        self.embedding.device()
    }

    /// The attention's parameters.
    pub fn attention(&self) -> &AdditiveAttention {
        &self.attention
    }

    /// s_0: `[batch, n]`.
    pub fn initial_state(&self, memory: &Memory) -> Result<Tensor> {
        let summary = match self.initial_state {
            InitialState::Mean => memory.mean()?,
            InitialState::BackwardFirst => memory.backward_first()?,
        };
        self.initial.forward(&summary)?.tanh()
    }

    /// E_y of ids: `[rows, e]`.
    pub fn embed(&self, ids: &Tensor) -> Result<Tensor> {
        self.embedding.index_select(ids, 0)
    }

    /// The last words' share of the gates, for all steps at once: embeddings `[rows, e]` to `[rows, 3n]`.
    pub fn input_gates(&self, embedded: &Tensor) -> Result<Tensor> {
        self.cell.input_gates(embedded)
    }

    /// One step from the state before it, `[batch, n]`, and the last words' gates, `[batch, 3n]`.
    pub fn step(&self, memory: &Memory, input_gates: &Tensor, state: &Tensor) -> Result<DecoderStep> {
        let (weights, context) = self.attention.attend(memory, state)?;
        let gates = (input_gates + context.matmul(&self.context_gates.t()?)?)?;
        Ok(DecoderStep { state: self.cell.step(&gates, state)?, context, weights })
    }

    /// Logits `[rows, V]` from states, contexts `[rows, n]` and the last words' embeddings `[rows, e]`.
    pub fn logits(&self, state: &Tensor, embedded: &Tensor, context: &Tensor, dropout: &Dropout) -> Result<Tensor> {
        let state = dropout.apply(state, Place::States)?;
        let readout = self.readout.forward(&Tensor::cat(&[&state, embedded, context], 1)?)?.tanh()?;
        self.output.forward(&dropout.apply(&readout, Place::Readout)?)
    }
}
