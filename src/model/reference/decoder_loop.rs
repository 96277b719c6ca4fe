//! One step of the decoder: attention and the recurrent cells.
//!
//! ```text
//! one cell (Bahdanau)            c_t = attention(s_{t-1})      s_t = GRU([E_y[y_{t-1}] ; c_t], s_{t-1})
//! two cells (conditional)        u_t = GRU(E_y[y_{t-1}], s_{t-1})
//!                                c_t = attention(u_t)          s_t = GRU'(c_t, u_t)
//! ```

use candle_core::{Result, Tensor};

use crate::attention::{Attention, AttentionOutput, AttentionWeights, Memory};
use crate::kernels::reference::gru::GruWeights;
use crate::model::architecture::{context_cell_param, word_cell_param};
use crate::model::{Architecture, DecoderKind};
use crate::parameters::Parameters;

/// State and attention after one step.
#[derive(Clone, Debug)]
pub struct DecoderStep {
    /// s_t: `[batch, n]`
    pub state: Tensor,
    /// c_t and α_t
    pub attention: AttentionOutput,
}

/// States and attention of all steps.
pub struct Unrolled {
    /// s: `[steps × batch, n]`
    pub states: Tensor,
    /// c: `[steps × batch, n]`
    pub contexts: Tensor,
    /// α, mean over the heads: `[steps, batch, length]`
    pub alphas: Tensor,
    /// Reported weights: `[steps, batch, length]`
    pub reported: Tensor,
}

impl Unrolled {
    /// Joins single steps.
    ///
    /// # Errors
    /// There is no step.
    pub fn new(steps: &[DecoderStep]) -> Result<Self> {
        let states: Vec<&Tensor> = steps.iter().map(|step| &step.state).collect();
        let contexts: Vec<&Tensor> = steps.iter().map(|step| &step.attention.context).collect();
        let alphas: Vec<&Tensor> = steps.iter().map(|step| &step.attention.alphas).collect();
        let reported: Vec<&Tensor> = steps.iter().map(|step| &step.attention.reported).collect();
        Ok(Self {
            states: Tensor::cat(&states, 0)?,
            contexts: Tensor::cat(&contexts, 0)?,
            alphas: Tensor::stack(&alphas, 0)?,
            reported: Tensor::stack(&reported, 0)?,
        })
    }
}

/// Attention and recurrent cells.
pub struct DecoderCells {
    /// Attention over the annotations.
    pub attention: Attention,
    /// Cell that consumes the word; without the context's columns of `weight_ih`, if it has any.
    pub(super) word: GruWeights,
    pub(super) context: ContextInput,
}

/// Path of the context into the state.
pub(super) enum ContextInput {
    /// Consumed with the word, by these columns of the cell's `weight_ih`: `[3n, n]`.
    Gates(Tensor),
    /// Consumed after the word, by a cell of its own.
    Cell(GruWeights),
}

impl ContextInput {
    /// Splits the context's columns from the word's cell, if it has any.
    fn new(architecture: &Architecture, parameters: &Parameters, cell: &mut GruWeights) -> Result<Self> {
        let (e, n) = (architecture.embedding_size, architecture.hidden_size);
        match architecture.decoder {
            DecoderKind::Bahdanau => {
                let gates = cell.weight_ih.narrow(1, e, n)?;
                cell.weight_ih = cell.weight_ih.narrow(1, 0, e)?;
                Ok(Self::Gates(gates))
            }
            DecoderKind::Conditional => Ok(Self::Cell(parameters.gru(context_cell_param)?)),
        }
    }
}

impl DecoderCells {
    /// Selects the parameters of attention and cells.
    ///
    /// # Errors
    /// A parameter is missing.
    pub fn new(architecture: &Architecture, parameters: &Parameters) -> Result<Self> {
        let mut word = parameters.gru(word_cell_param)?;
        let context = ContextInput::new(architecture, parameters, &mut word)?;
        let attention = Attention::new(&architecture.attention, architecture.dimensions(), parameters)?;
        Ok(Self { attention, word, context })
    }

    /// Previous words' share of the gates, for any number of steps at once: embeddings `[rows, e]` to `[rows, 3n]`.
    pub fn input_gates(&self, embedded: &Tensor) -> Result<Tensor> {
        self.word.input_gates(embedded)
    }

    /// One step from s_{t-1}, `[batch, n]`, and the previous words' share of the gates, `[batch, 3n]`.
    pub fn step(
        &self,
        memory: &Memory,
        input_gates: &Tensor,
        state: &Tensor,
        weights: AttentionWeights,
    ) -> Result<DecoderStep> {
        match &self.context {
            ContextInput::Gates(weight) => {
                let attention = self.attention.attend(memory, state, weights)?;
                let gates = (input_gates + attention.context.matmul(&weight.contiguous()?.t()?)?)?;
                Ok(DecoderStep { state: self.word.step(&gates, state)?, attention })
            }
            ContextInput::Cell(cell) => {
                let query = self.word.step(input_gates, state)?;
                let attention = self.attention.attend(memory, &query, weights)?;
                let state = cell.step(&cell.input_gates(&attention.context)?, &query)?;
                Ok(DecoderStep { state, attention })
            }
        }
    }
}
