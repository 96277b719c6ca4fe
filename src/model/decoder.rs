//! The decoder: a GRU that takes in the last word and the context vector, and the output layer above it.

use candle_core::{Device, Result, Tensor};

use super::architecture::{context_cell_part, word_cell_part};
use super::{Annotations, Architecture, DecoderKind, Dropout, InitialState, Place};
use crate::attention::{Attended, Attention, Memory};
use crate::kernels::reference::gru::GruWeights;
use crate::parameters::{Linear, Parameters};

/// What one step left behind.
#[derive(Clone, Debug)]
pub struct DecoderStep {
    /// s_t: `[batch, n]`
    pub state: Tensor,
    /// c_t and α_t
    pub attended: Attended,
}

/// Attention, recurrent cell, readout and output layer.
pub struct AttentionDecoder {
    embedding: Tensor,
    initial_state: InitialState,
    initial: Linear,
    attention: Attention,
    /// The cell that takes in the word; the context's columns of `weight_ih`, if it has such, are kept apart.
    cell: GruWeights,
    context: ContextInput,
    readout: Linear,
    output: Linear,
}

/// How the context enters the state.
enum ContextInput {
    /// With the word, by these columns of the cell's `weight_ih`: `[3n, n]`.
    Gates(Tensor),
    /// After the word, by a cell of its own.
    Cell(GruWeights),
}

impl ContextInput {
    /// Takes the word's cell's columns away from it where they are meant.
    fn new(architecture: &Architecture, parameters: &Parameters, cell: &mut GruWeights) -> Result<Self> {
        let (e, n) = (architecture.embedding_size, architecture.hidden_size);
        match architecture.decoder {
            DecoderKind::Bahdanau => {
                let gates = cell.weight_ih.narrow(1, e, n)?;
                cell.weight_ih = cell.weight_ih.narrow(1, 0, e)?;
                Ok(Self::Gates(gates))
            }
            DecoderKind::Conditional => Ok(Self::Cell(parameters.gru(context_cell_part)?)),
        }
    }
}

impl AttentionDecoder {
    /// Picks the decoder's parameters.
    pub fn new(architecture: &Architecture, parameters: &Parameters) -> Result<Self> {
        let mut cell = parameters.gru(word_cell_part)?;
        let context = ContextInput::new(architecture, parameters, &mut cell)?;
        Ok(Self {
            embedding: parameters.get("target_embedding.weight")?,
            initial_state: architecture.initial_state,
            initial: Linear::new(parameters, "decoder.initial")?,
            attention: Attention::new(&architecture.attention, architecture.dimensions(), parameters)?,
            cell,
            context,
            readout: Linear::new(parameters, "readout")?,
            output: Linear {
                weight: parameters.get(architecture.output_weight())?,
                bias: parameters.get("output.bias")?,
            },
        })
    }

    /// Where the parameters lie.
    pub fn device(&self) -> &Device {
        self.embedding.device()
    }

    /// What attention can look at of annotated sources.
    pub fn remember(&self, annotations: Annotations) -> Result<Memory> {
        self.attention.remember(annotations.values, annotations.mask)
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

    /// One step from the state before it, `[batch, n]`, and the last words' gates, `[batch, 3n]`. `draws` has a number
    /// for each row and head where attention's choices are to be drawn.
    pub fn step(
        &self,
        memory: &Memory,
        input_gates: &Tensor,
        state: &Tensor,
        draws: Option<&[f32]>,
    ) -> Result<DecoderStep> {
        match &self.context {
            ContextInput::Gates(weight) => {
                let attended = self.attention.attend(memory, state, draws)?;
                let gates = (input_gates + attended.context.matmul(&weight.t()?)?)?;
                Ok(DecoderStep { state: self.cell.step(&gates, state)?, attended })
            }
            ContextInput::Cell(cell) => {
                let asking = self.cell.step(input_gates, state)?;
                let attended = self.attention.attend(memory, &asking, draws)?;
                let state = cell.step(&cell.input_gates(&attended.context)?, &asking)?;
                Ok(DecoderStep { state, attended })
            }
        }
    }

    /// Logits `[rows, V]` from states, contexts `[rows, n]` and the last words' embeddings `[rows, e]`.
    pub fn logits(&self, state: &Tensor, embedded: &Tensor, context: &Tensor, dropout: &Dropout) -> Result<Tensor> {
        let state = dropout.apply(state, Place::States)?;
        let readout = self.readout.forward(&Tensor::cat(&[&state, embedded, context], 1)?)?.tanh()?;
        self.output.forward(&dropout.apply(&readout, Place::Readout)?)
    }
}
