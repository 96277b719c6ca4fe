//! All steps of the decoder with additive soft attention on a GPU: a few kernels and products per step, and a hand-written
//! derivative.
//!
//! Both kinds of decoder end a step with a cell that consumes the context. The conditional decoder has the word's cell before
//! it, whose state attends; in the other, s_{t-1} attends, and the word's share of the gates is added to the context's.

use std::sync::Arc;

use candle_core::{Error, Result, Tensor};

use super::decoder_loop::{ContextInput, DecoderCells, Unrolled};
use crate::attention::{Memory, SoftAdditive};
use crate::kernels::cuda::{
    AttentionInputs, GruStepGrads, GruStepInputs, attention_backward, attention_forward, gru_backward, gru_forward,
    outer_products, plain, product, sum_of_columns, transposed, uninitialized, weight_gradient, with_derivative,
};

/// Inputs of the loop in candle's graph.
pub struct FusedLoop {
    gates: Tensor,
    initial: Tensor,
    keys: Tensor,
    values: Tensor,
    weights: Weights,
    lengths: Tensor,
    scale: f64,
}

/// Weights of the cells and of the attention.
struct Weights {
    /// Of the word's own cell, if it has one.
    word: Option<WordWeights>,
    query: Tensor,
    v: Tensor,
    /// Of the cell that consumes the context.
    context_ih: Tensor,
    /// Absent if the word's share of the gates contains it.
    context_bias_ih: Option<Tensor>,
    context_hh: Tensor,
    context_bias_hh: Tensor,
}

struct WordWeights {
    hh: Tensor,
    bias: Tensor,
}

impl Weights {
    fn new(cells: &DecoderCells, additive: SoftAdditive) -> Self {
        let (word, (query, v)) = (&cells.word, (additive.query.clone(), additive.v.clone()));
        match &cells.context {
            ContextInput::Gates(context_ih) => Self {
                word: None,
                query,
                v,
                context_ih: context_ih.clone(),
                context_bias_ih: None,
                context_hh: word.weight_hh.clone(),
                context_bias_hh: word.bias_hh.clone(),
            },
            ContextInput::Cell(context) => Self {
                word: Some(WordWeights { hh: word.weight_hh.clone(), bias: word.bias_hh.clone() }),
                query,
                v,
                context_ih: context.weight_ih.clone(),
                context_bias_ih: Some(context.bias_ih.clone()),
                context_hh: context.weight_hh.clone(),
                context_bias_hh: context.bias_hh.clone(),
            },
        }
    }

    fn all(&self) -> Vec<&Tensor> {
        let word = self.word.iter().flat_map(|word| [&word.hh, &word.bias]);
        let others = [&self.query, &self.v, &self.context_ih, &self.context_hh, &self.context_bias_hh];
        word.chain(others).chain(&self.context_bias_ih).collect()
    }

    fn detached(&self) -> Result<Self> {
        Ok(Self {
            word: self.word.as_ref().map(WordWeights::detached).transpose()?,
            query: detached(&self.query)?,
            v: detached(&self.v)?,
            context_ih: detached(&self.context_ih)?,
            context_bias_ih: self.context_bias_ih.as_ref().map(detached).transpose()?,
            context_hh: detached(&self.context_hh)?,
            context_bias_hh: detached(&self.context_bias_hh)?,
        })
    }
}

impl WordWeights {
    fn detached(&self) -> Result<Self> {
        Ok(Self { hh: detached(&self.hh)?, bias: detached(&self.bias)? })
    }
}

/// Contiguous values outside candle's graph.
fn detached(tensor: &Tensor) -> Result<Tensor> {
    tensor.detach().contiguous()
}

/// One vector of several tensors' values.
fn pack(tensors: &[&Tensor]) -> Result<Tensor> {
    Tensor::cat(&tensors.iter().map(|tensor| tensor.flatten_all()).collect::<Result<Vec<_>>>()?, 0)
}

/// Tensors of these shapes whose values follow each other in a vector.
fn unpack<const N: usize>(packed: &Tensor, shapes: [&[usize]; N]) -> Result<[Tensor; N]> {
    let mut start = 0;
    let mut tensors = Vec::with_capacity(N);
    for shape in shapes {
        let count = shape.iter().product();
        tensors.push(packed.narrow(0, start, count)?.reshape(shape)?);
        start += count;
    }
    tensors.try_into().map_err(|_| Error::Msg("one tensor per shape".to_owned()))
}

impl FusedLoop {
    /// Returns the loop if there is one for the device, the decoder and its attention. `gates` is the previous words' share,
    /// `[steps, batch, 3n]`, and `initial` s_0, `[batch, n]`.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn new(cells: &DecoderCells, memory: &Memory, gates: &Tensor, initial: &Tensor) -> Result<Option<Self>> {
        let Some(additive) = cells.attention.soft_additive() else { return Ok(None) };
        if !gates.device().is_cuda() {
            return Ok(None);
        }
        let scale = additive.inverse_temperature;
        Ok(Some(Self {
            gates: gates.clone(),
            initial: initial.clone(),
            keys: memory.keys().clone(),
            values: memory.values().clone(),
            weights: Weights::new(cells, additive),
            lengths: memory.lengths()?,
            scale,
        }))
    }

    /// Runs all steps.
    ///
    /// # Errors
    /// The device is out of memory.
    pub fn unroll(self) -> Result<Unrolled> {
        let tape = Tape::forward(Self {
            gates: detached(&self.gates)?,
            initial: detached(&self.initial)?,
            keys: detached(&self.keys)?,
            values: detached(&self.values)?,
            weights: self.weights.detached()?,
            lengths: self.lengths.clone(),
            scale: self.scale,
        })?;
        let ([steps, batch, length, hidden], outputs) = (tape.dims, tape.outputs.clone());
        let inputs =
            [pack(&[&self.gates, &self.initial])?, pack(&[&self.keys, &self.values])?, pack(&self.weights.all())?];
        let tape = Arc::new(tape);
        let outputs = with_derivative(inputs.each_ref(), outputs, move |d_outputs| tape.backward(d_outputs))?;
        let [states, contexts, alphas] =
            unpack(&outputs, [&[steps * batch, hidden], &[steps * batch, hidden], &[steps, batch, length]])?;
        Ok(Unrolled { states, contexts, reported: alphas.clone(), alphas })
    }
}

/// Results of the forward pass, and what the backward pass needs of it.
struct Tape {
    inputs: FusedLoop,
    /// Steps, batch, source length, n
    dims: [usize; 4],
    /// s, c and α of all steps, packed
    outputs: Tensor,
    states: Tensor,
    contexts: Tensor,
    alphas: Tensor,
    /// W_q times the states that attend: `[steps, batch, d]`
    queries: Tensor,
    /// Of the word's cell, if it has one.
    word: Option<WordTape>,
    /// The input's share of the gates of the cell that consumes the context: `[steps, batch, 3n]`
    context_input: Tensor,
    /// The state's share of the same.
    context_recurrent: Tensor,
}

/// Results of the word's cell.
struct WordTape {
    /// The state's share of the gates: `[steps, batch, 3n]`
    recurrent: Tensor,
    /// `[steps, batch, n]`
    states: Tensor,
}

impl Tape {
    fn forward(inputs: FusedLoop) -> Result<Self> {
        let ((steps, batch, _), (length, size)) = (inputs.gates.dims3()?, (inputs.keys.dim(1)?, inputs.keys.dim(2)?));
        let hidden = inputs.initial.dim(1)?;
        let new = |width: usize| uninitialized((steps, batch, width), inputs.gates.device());
        let outputs = uninitialized(steps * batch * (2 * hidden + length), inputs.gates.device())?;
        let [states, contexts, alphas] =
            unpack(&outputs, [&[steps, batch, hidden], &[steps, batch, hidden], &[steps, batch, length]])?;
        let word = match &inputs.weights.word {
            Some(_) => Some(WordTape { recurrent: new(3 * hidden)?, states: new(hidden)? }),
            None => None,
        };
        let tape = Self {
            dims: [steps, batch, length, hidden],
            outputs,
            states,
            contexts,
            alphas,
            queries: new(size)?,
            context_input: if word.is_some() { new(3 * hidden)? } else { inputs.gates.copy()? },
            word,
            context_recurrent: new(3 * hidden)?,
            inputs,
        };
        for step in 0..steps {
            tape.forward_step(step)?;
        }
        Ok(tape)
    }

    fn forward_step(&self, step: usize) -> Result<()> {
        let weights = &self.inputs.weights;
        let part = StepParts::new(self, step)?;
        if let Some((word, cell)) = weights.word.as_ref().zip(part.word_cell()) {
            product(plain(cell.state), transposed(&word.hh), 0.0, cell.recurrent)?;
            gru_forward(cell, &part.attending)?;
        }
        product(plain(&part.attending), transposed(&weights.query), 0.0, &part.query)?;
        let context = self.contexts.get(step)?;
        attention_forward(part.attention(), &self.alphas.get(step)?, &context)?;
        let words = if weights.word.is_some() { 0.0 } else { 1.0 };
        product(plain(&context), transposed(&weights.context_ih), words, &part.context_input)?;
        product(plain(&part.attending), transposed(&weights.context_hh), 0.0, &part.context_recurrent)?;
        gru_forward(part.context_cell(), &self.states.get(step)?)
    }

    /// Derivatives of the packed inputs.
    fn backward(&self, d_outputs: &Tensor) -> Result<[Option<Tensor>; 3]> {
        let grads = TapeGrads::new(self, d_outputs)?;
        for step in (0..self.dims[0]).rev() {
            self.backward_step(step, &grads)?;
        }
        let before =
            Tensor::cat(&[&self.inputs.initial.unsqueeze(0)?, &self.states.narrow(0, 0, self.dims[0] - 1)?], 0)?;
        let attending = self.word.as_ref().map_or(&before, |word| &word.states);
        let word = match &grads.word_recurrent {
            Some(d_recurrent) => {
                Some(WordWeights { hh: weight_gradient(d_recurrent, &before)?, bias: sum_of_columns(d_recurrent)? })
            }
            None => None,
        };
        let d_weights = Weights {
            word,
            query: weight_gradient(&grads.queries, attending)?,
            v: sum_of_columns(&grads.v)?,
            context_ih: weight_gradient(&grads.context_input, &self.contexts)?,
            context_bias_ih: self.word.as_ref().map(|_| sum_of_columns(&grads.context_input)).transpose()?,
            context_hh: weight_gradient(&grads.context_recurrent, attending)?,
            context_bias_hh: sum_of_columns(&grads.context_recurrent)?,
        };
        let d_initial = (&grads.state_direct + &grads.state_product)?;
        Ok([
            Some(pack(&[&grads.gates, &d_initial])?),
            Some(pack(&[&grads.keys, &outer_products(&self.alphas, &grads.contexts)?])?),
            Some(pack(&d_weights.all())?),
        ])
    }

    fn backward_step(&self, step: usize, grads: &TapeGrads) -> Result<()> {
        let weights = &self.inputs.weights;
        let part = StepParts::new(self, step)?;
        let (d_state, d_context, d_query) =
            (grads.states.get(step)?, grads.contexts.get(step)?, grads.queries.get(step)?);
        let has_later = step + 1 < self.dims[0];
        let later = [&grads.state_direct, &grads.state_product].map(|tensor| has_later.then_some(tensor));
        let cell = GruStepGrads {
            next: [Some(&d_state), later[0], later[1]],
            input: &grads.context_input.get(step)?,
            recurrent: &grads.context_recurrent.get(step)?,
            state: &grads.attending_direct,
        };
        gru_backward(part.context_cell(), &cell)?;
        product(plain(cell.input), plain(&weights.context_ih), 1.0, &d_context)?;
        let (alphas, d_outputs) = (self.alphas.get(step)?, [&d_context, &grads.alphas.get(step)?]);
        attention_backward(part.attention(), &alphas, d_outputs, [&d_query, &grads.keys, &grads.v])?;
        product(plain(cell.recurrent), plain(&weights.context_hh), 0.0, &grads.attending_product)?;
        product(plain(&d_query), plain(&weights.query), 1.0, &grads.attending_product)?;
        let word = weights.word.as_ref().zip(part.word_cell()).zip(grads.word_recurrent.as_ref());
        if let Some(((word, cell), d_recurrent)) = word {
            let d_cell = GruStepGrads {
                next: [Some(&grads.attending_direct), Some(&grads.attending_product), None],
                input: &grads.gates.get(step)?,
                recurrent: &d_recurrent.get(step)?,
                state: &grads.state_direct,
            };
            gru_backward(cell, &d_cell)?;
            product(plain(d_cell.recurrent), plain(&word.hh), 0.0, &grads.state_product)?;
        }
        Ok(())
    }
}

/// Derivatives, named after what they belong to.
struct TapeGrads {
    states: Tensor,
    /// Starts as the derivative of the outputs, to which the cell's is added.
    contexts: Tensor,
    alphas: Tensor,
    /// Of the word's share of the gates; the same as `context_input` if the word has no cell.
    gates: Tensor,
    word_recurrent: Option<Tensor>,
    queries: Tensor,
    keys: Tensor,
    /// Of v, for each row of the batch.
    v: Tensor,
    context_input: Tensor,
    context_recurrent: Tensor,
    /// Of s, apart from its share of the gates; the same as `attending_direct` if the word has no cell.
    state_direct: Tensor,
    /// Of s, through its share of the gates and the query.
    state_product: Tensor,
    attending_direct: Tensor,
    attending_product: Tensor,
}

impl TapeGrads {
    fn new(tape: &Tape, d_outputs: &Tensor) -> Result<Self> {
        let [steps, batch, length, hidden] = tape.dims;
        let [states, contexts, alphas] =
            unpack(d_outputs, [&[steps, batch, hidden], &[steps, batch, hidden], &[steps, batch, length]])?;
        let (inputs, has_word_cell) = (&tape.inputs, tape.word.is_some());
        let (context_input, attending_direct, attending_product) = (
            uninitialized_like(&inputs.gates)?,
            uninitialized_like(&inputs.initial)?,
            uninitialized_like(&inputs.initial)?,
        );
        Ok(Self {
            states,
            contexts: contexts.copy()?,
            alphas,
            gates: new_or_same(has_word_cell, &context_input)?,
            word_recurrent: has_word_cell.then(|| uninitialized_like(&inputs.gates)).transpose()?,
            queries: uninitialized_like(&tape.queries)?,
            keys: inputs.keys.zeros_like()?,
            v: tape.queries.get(0)?.zeros_like()?,
            context_recurrent: uninitialized_like(&inputs.gates)?,
            state_direct: new_or_same(has_word_cell, &attending_direct)?,
            state_product: new_or_same(has_word_cell, &attending_product)?,
            context_input,
            attending_direct,
            attending_product,
        })
    }
}

fn uninitialized_like(tensor: &Tensor) -> Result<Tensor> {
    uninitialized(tensor.shape(), tensor.device())
}

/// Returns a tensor of the same shape, or the same one.
fn new_or_same(is_new: bool, tensor: &Tensor) -> Result<Tensor> {
    if is_new { uninitialized_like(tensor) } else { Ok(tensor.clone()) }
}

/// One step's part of a tape.
struct StepParts<'a> {
    inputs: &'a FusedLoop,
    /// s_{t-1}
    state: Tensor,
    gates: Tensor,
    word_recurrent: Option<Tensor>,
    /// State that attends.
    attending: Tensor,
    query: Tensor,
    context_input: Tensor,
    context_recurrent: Tensor,
}

impl<'a> StepParts<'a> {
    fn new(tape: &'a Tape, step: usize) -> Result<Self> {
        let state = if step == 0 { tape.inputs.initial.clone() } else { tape.states.get(step - 1)? };
        Ok(Self {
            inputs: &tape.inputs,
            gates: tape.inputs.gates.get(step)?,
            word_recurrent: tape.word.as_ref().map(|word| word.recurrent.get(step)).transpose()?,
            attending: tape.word.as_ref().map_or(Ok(state.clone()), |word| word.states.get(step))?,
            state,
            query: tape.queries.get(step)?,
            context_input: tape.context_input.get(step)?,
            context_recurrent: tape.context_recurrent.get(step)?,
        })
    }

    fn word_cell(&self) -> Option<GruStepInputs<'_>> {
        Some(GruStepInputs {
            input: &self.gates,
            recurrent: self.word_recurrent.as_ref()?,
            bias_ih: None,
            bias_hh: &self.inputs.weights.word.as_ref()?.bias,
            state: &self.state,
            mask: None,
        })
    }

    fn context_cell(&self) -> GruStepInputs<'_> {
        GruStepInputs {
            input: &self.context_input,
            recurrent: &self.context_recurrent,
            bias_ih: self.inputs.weights.context_bias_ih.as_ref(),
            bias_hh: &self.inputs.weights.context_bias_hh,
            state: &self.attending,
            mask: None,
        }
    }

    fn attention(&self) -> AttentionInputs<'_> {
        let FusedLoop { keys, values, weights, lengths, scale, .. } = self.inputs;
        AttentionInputs { query: &self.query, keys, values, v: &weights.v, lengths, scale: *scale }
    }
}
