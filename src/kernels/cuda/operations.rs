//! Operations on tensors, each one kernel or a loop of a few.

use candle_core::{Result, Tensor, bail};

use super::Argument::{self, Bits, Integer, Number, Optional, Tensor as T};
use super::{Grid, cuda_device, launch, plain, product, transposed, uninitialized, with_derivative};

/// Threads of each side of a block that sums columns.
const WARP: usize = 32;

/// Blocks that share the squares of one gradient.
const SQUARE_BLOCKS: usize = 64;

/// One step of a GRU.
#[derive(Clone, Copy)]
pub struct GruStepInputs<'a> {
    /// x W_ihᵀ: `[batch, 3h]`
    pub input: &'a Tensor,
    /// h W_hhᵀ: `[batch, 3h]`
    pub recurrent: &'a Tensor,
    /// b_ih: `[3h]`; absent if `input` contains it
    pub bias_ih: Option<&'a Tensor>,
    /// b_hh: `[3h]`
    pub bias_hh: &'a Tensor,
    /// h: `[batch, h]`
    pub state: &'a Tensor,
    /// `[batch]`: 0 in rows that keep their state.
    pub mask: Option<&'a Tensor>,
}

/// Derivatives of one step of a GRU.
pub struct GruStepGrads<'a> {
    /// Derivatives with respect to h' that are to be added up: `[batch, h]`
    pub next: [Option<&'a Tensor>; 3],
    /// Derivative with respect to x W_ihᵀ: `[batch, 3h]`
    pub input: &'a Tensor,
    /// Derivative with respect to h W_hhᵀ: `[batch, 3h]`
    pub recurrent: &'a Tensor,
    /// Derivative with respect to h, without the part through h W_hhᵀ: `[batch, h]`
    pub state: &'a Tensor,
}

impl GruStepInputs<'_> {
    fn sizes(&self) -> Result<[Argument<'static>; 2]> {
        let (rows, size) = self.state.dims2()?;
        expect([self.input, self.recurrent], 3 * rows * size)?;
        expect(self.bias_ih.into_iter().chain([self.bias_hh]), 3 * size)?;
        expect(self.mask, rows)?;
        Ok([Integer(rows), Integer(size)])
    }
}

/// Checks that tensors have `count` values, as many as a kernel reads or writes.
fn expect<'a>(tensors: impl IntoIterator<Item = &'a Tensor>, count: usize) -> Result<()> {
    match tensors.into_iter().find(|tensor| tensor.elem_count() != count) {
        Some(other) => bail!("a tensor of shape {:?} instead of {count} values", other.shape()),
        None => Ok(()),
    }
}

/// Writes h' into `next`.
///
/// # Errors
/// The shapes do not match.
pub fn gru_forward(step: GruStepInputs, next: &Tensor) -> Result<()> {
    let [rows, size] = step.sizes()?;
    expect([next], step.state.elem_count())?;
    let arguments = [
        T(step.input),
        T(step.recurrent),
        Optional(step.bias_ih),
        T(step.bias_hh),
        T(step.state),
        Optional(step.mask),
        T(next),
        rows,
        size,
    ];
    launch(cuda_device(next)?, "gru_forward", Grid::over(next.elem_count()), &arguments)
}

/// Writes the derivatives of a step.
///
/// # Errors
/// The shapes do not match.
pub fn gru_backward(step: GruStepInputs, grads: &GruStepGrads) -> Result<()> {
    let [rows, size] = step.sizes()?;
    let [d_next, d_direct, d_product] = grads.next;
    let states = step.state.elem_count();
    expect(grads.next.into_iter().flatten().chain([grads.state]), states)?;
    expect([grads.input, grads.recurrent], 3 * states)?;
    let arguments = [
        Optional(d_next),
        Optional(d_direct),
        Optional(d_product),
        T(step.input),
        T(step.recurrent),
        Optional(step.bias_ih),
        T(step.bias_hh),
        T(step.state),
        Optional(step.mask),
        T(grads.input),
        T(grads.recurrent),
        T(grads.state),
        rows,
        size,
    ];
    launch(cuda_device(step.state)?, "gru_backward", Grid::over(step.state.elem_count()), &arguments)
}

/// States of whole sequences from a zero state, `[length, batch, h]`, in candle's graph; see
/// [`crate::kernels::reference::gru::GruWeights::sequence`]. `gates` is `[length, batch, 3h]`, `mask` `[length, batch, 1]`.
///
/// # Errors
/// The shapes do not match.
pub fn gru_sequence(
    gates: &Tensor,
    weight_hh: &Tensor,
    bias_hh: &Tensor,
    mask: &Tensor,
    backwards: bool,
) -> Result<Tensor> {
    let sequence = GruSequence {
        gates: gates.detach().contiguous()?,
        weight: weight_hh.detach().contiguous()?,
        bias: bias_hh.detach().contiguous()?,
        mask: mask.detach().contiguous()?,
        backwards,
    };
    let (states, recurrent) = sequence.forward()?;
    let result = states.clone();
    with_derivative([gates, weight_hh, bias_hh], result, move |d_states| {
        sequence.backward(&states, &recurrent, d_states)
    })
}

struct GruSequence {
    gates: Tensor,
    weight: Tensor,
    bias: Tensor,
    mask: Tensor,
    backwards: bool,
}

/// Step of a recurrence.
struct SequenceStep {
    position: usize,
    /// Position of the step before; `None` for the first.
    before: Option<usize>,
}

impl GruSequence {
    /// Steps in the order of computation.
    fn steps(&self) -> Result<Vec<SequenceStep>> {
        let length = self.gates.dim(0)?;
        let mut steps = Vec::with_capacity(length);
        let mut before = None;
        for step in 0..length {
            let position = if self.backwards { length - 1 - step } else { step };
            steps.push(SequenceStep { position, before });
            before = Some(position);
        }
        Ok(steps)
    }

    /// h before a position.
    fn state(&self, states: &Tensor, before: Option<usize>) -> Result<Tensor> {
        match before {
            Some(position) => states.get(position),
            None => states.get(0)?.zeros_like(),
        }
    }

    /// h before every position.
    fn states_before(&self, states: &Tensor) -> Result<Tensor> {
        let length = states.dim(0)?;
        let zero = states.narrow(0, 0, 1)?.zeros_like()?;
        let parts = if self.backwards {
            [states.narrow(0, 1, length - 1)?, zero]
        } else {
            [zero, states.narrow(0, 0, length - 1)?]
        };
        Tensor::cat(&parts, 0)
    }

    /// States and the states' share of the gates.
    fn forward(&self) -> Result<(Tensor, Tensor)> {
        let (length, batch, gate_size) = self.gates.dims3()?;
        let states = uninitialized((length, batch, gate_size / 3), self.gates.device())?;
        let recurrent = uninitialized(self.gates.shape(), self.gates.device())?;
        for SequenceStep { position, before } in self.steps()? {
            let (state, recurrent) = (self.state(&states, before)?, recurrent.get(position)?);
            product(plain(&state), transposed(&self.weight), 0.0, &recurrent)?;
            let (input, mask) = (self.gates.get(position)?, self.mask.get(position)?);
            let step = self.step(&input, &recurrent, &state, &mask);
            gru_forward(step, &states.get(position)?)?;
        }
        Ok((states, recurrent))
    }

    fn step<'a>(
        &'a self,
        input: &'a Tensor,
        recurrent: &'a Tensor,
        state: &'a Tensor,
        mask: &'a Tensor,
    ) -> GruStepInputs<'a> {
        GruStepInputs { input, recurrent, bias_ih: None, bias_hh: &self.bias, state, mask: Some(mask) }
    }

    fn backward(&self, states: &Tensor, recurrent: &Tensor, d_states: &Tensor) -> Result<[Option<Tensor>; 3]> {
        let (d_gates, d_recurrent) = (uninitialized_like(&self.gates)?, uninitialized_like(&self.gates)?);
        let (d_direct, d_product) = (uninitialized_like(states)?, uninitialized_like(&states.get(0)?)?);
        let mut later = None;
        for SequenceStep { position, before } in self.steps()?.into_iter().rev() {
            let state = self.state(states, before)?;
            let (input, mask) = (self.gates.get(position)?, self.mask.get(position)?);
            let (recurrent, d_state) = (recurrent.get(position)?, d_states.get(position)?);
            let d_later = later.map(|later: usize| d_direct.get(later)).transpose()?;
            let grads = GruStepGrads {
                next: [Some(&d_state), d_later.as_ref(), d_later.as_ref().map(|_| &d_product)],
                input: &d_gates.get(position)?,
                recurrent: &d_recurrent.get(position)?,
                state: &d_direct.get(position)?,
            };
            gru_backward(self.step(&input, &recurrent, &state, &mask), &grads)?;
            product(plain(grads.recurrent), plain(&self.weight), 0.0, &d_product)?;
            later = Some(position);
        }
        let d_weight = weight_gradient(&d_recurrent, &self.states_before(states)?)?;
        Ok([Some(d_gates), Some(d_weight), Some(sum_of_columns(&d_recurrent)?)])
    }
}

fn uninitialized_like(tensor: &Tensor) -> Result<Tensor> {
    uninitialized(tensor.shape(), tensor.device())
}

/// d_outᵀ x over all rows: the gradient of W in out = x Wᵀ.
///
/// # Errors
/// The shapes do not match.
pub fn weight_gradient(d_out: &Tensor, x: &Tensor) -> Result<Tensor> {
    let shape = (d_out.dim(candle_core::D::Minus1)?, x.dim(candle_core::D::Minus1)?);
    let gradient = uninitialized(shape, x.device())?;
    product(transposed(d_out), plain(x), 0.0, &gradient)?;
    Ok(gradient)
}

/// Sums over all dimensions but the last.
///
/// # Errors
/// The tensor is not on a GPU.
pub fn sum_of_columns(input: &Tensor) -> Result<Tensor> {
    let width = input.dim(candle_core::D::Minus1)?;
    let output = uninitialized(width, input.device())?;
    let grid = Grid { blocks: width.div_ceil(WARP), threads: [WARP, WARP], shared_bytes: 0 };
    let arguments = [T(input), T(&output), Integer(input.elem_count() / width.max(1)), Integer(width)];
    launch(cuda_device(input)?, "sum_of_columns", grid, &arguments)?;
    Ok(output)
}

/// Inputs of additive attention in one step.
#[derive(Clone, Copy)]
pub struct AttentionInputs<'a> {
    /// q: `[batch, d]`
    pub query: &'a Tensor,
    /// k: `[batch, length, d]`
    pub keys: &'a Tensor,
    /// h: `[batch, length, n]`
    pub values: &'a Tensor,
    /// v: `[1, d]`
    pub v: &'a Tensor,
    /// Number of real positions of each row, at least 1: `[batch]`, u32
    pub lengths: &'a Tensor,
    /// 1 / temperature
    pub scale: f64,
}

impl AttentionInputs<'_> {
    /// Starts a kernel that also takes tensors like the weights, the contexts and the queries.
    fn launch(&self, kernel: &str, [alphas, contexts, queries]: [&[&Tensor]; 3], others: &[Argument]) -> Result<()> {
        let ((batch, length, size), hidden) = (self.keys.dims3()?, self.values.dim(2)?);
        expect([self.values], batch * length * hidden)?;
        expect([self.v], size)?;
        expect([self.lengths], batch)?;
        expect(alphas.iter().copied(), batch * length)?;
        expect(contexts.iter().copied(), batch * hidden)?;
        expect(queries.iter().copied().chain([self.query]), batch * size)?;
        let mut arguments = vec![T(self.query), T(self.keys), T(self.values), T(self.v), T(self.lengths)];
        arguments.push(Number(self.scale));
        arguments.extend_from_slice(others);
        arguments.extend([length, size, hidden].map(Integer));
        let grid = Grid { shared_bytes: 4 * length, ..Grid::blocks(batch) };
        launch(cuda_device(self.keys)?, kernel, grid, &arguments)
    }
}

/// Writes the weights `[batch, length]` and the contexts `[batch, n]`.
///
/// # Errors
/// The shapes do not match.
pub fn attention_forward(inputs: AttentionInputs, alphas: &Tensor, context: &Tensor) -> Result<()> {
    inputs.launch("attention_forward", [&[alphas], &[context], &[]], &[T(alphas), T(context)])
}

/// Derivatives of one step given those of the contexts and of the weights: writes that of the queries, and adds those of the
/// keys and, for each row, of v, `[batch, d]`.
///
/// # Errors
/// The shapes do not match.
pub fn attention_backward(
    inputs: AttentionInputs,
    alphas: &Tensor,
    [d_context, d_alphas]: [&Tensor; 2],
    [d_query, d_keys, d_v]: [&Tensor; 3],
) -> Result<()> {
    expect([d_keys], inputs.keys.elem_count())?;
    let others = [T(alphas), T(d_context), T(d_alphas), T(d_query), T(d_keys), T(d_v)];
    inputs.launch("attention_backward", [&[alphas, d_alphas], &[d_context], &[d_query, d_v]], &others)
}

/// Smoothed loss and negative log-likelihood, each summed over the rows of `logits`, `[rows, V]`, in candle's graph; see
/// [`crate::kernels::reference::cross_entropy::cross_entropy_sums`].
///
/// # Errors
/// The shapes do not match.
pub fn cross_entropy(logits: &Tensor, targets: &Tensor, smoothing: f64) -> Result<(Tensor, Tensor)> {
    let (rows, vocabulary) = logits.dims2()?;
    expect([targets], rows)?;
    let (detached, targets) = (logits.detach().contiguous()?, targets.clone());
    let losses = uninitialized((rows, 2), logits.device())?;
    let denominators = uninitialized(rows, logits.device())?;
    let sizes = [Integer(vocabulary), Number(smoothing)];
    let arguments = [T(&detached), T(&targets), T(&losses), T(&denominators), sizes[0], sizes[1]];
    launch(cuda_device(logits)?, "cross_entropy_forward", Grid::blocks(rows), &arguments)?;
    let losses = with_derivative([logits; 3], losses, move |d_losses| {
        let d_logits = uninitialized((rows, vocabulary), d_losses.device())?;
        let sizes = [Integer(vocabulary), Number(smoothing)];
        let arguments = [T(&detached), T(&targets), T(&denominators), T(d_losses), T(&d_logits), sizes[0], sizes[1]];
        launch(cuda_device(d_losses)?, "cross_entropy_backward", Grid::blocks(rows), &arguments)?;
        Ok([Some(d_logits), None, None])
    })?;
    Ok((losses.narrow(1, 0, 1)?.sum_all()?, losses.narrow(1, 1, 1)?.sum_all()?))
}

/// Dropout in candle's graph: each value of `[rows, ·]` times 0 or `keep`, by the bits of a [`crate::random::CounterRng`] with
/// these keys. Bits are counted by the rows' numbers, or from 0 without any.
///
/// # Errors
/// The tensor is too large.
pub fn dropout(tensor: &Tensor, rows: Option<&[u32]>, keys: [u32; 2], threshold: u32, keep: f32) -> Result<Tensor> {
    let rows = rows.map(|rows| Tensor::new(rows, tensor.device())).transpose()?;
    expect(&rows, tensor.dim(0)?)?;
    let mask = DropoutMask { rows, width: tensor.dim(1)?, keys, threshold, keep };
    let result = mask.apply(&tensor.detach().contiguous()?)?;
    with_derivative([tensor; 3], result, move |d_result| Ok([Some(mask.apply(d_result)?), None, None]))
}

/// Mask of a [`dropout`].
struct DropoutMask {
    /// Numbers of the rows, if any: `[rows]`
    rows: Option<Tensor>,
    width: usize,
    keys: [u32; 2],
    threshold: u32,
    keep: f32,
}

impl DropoutMask {
    /// Multiplies `[rows, width]` by the mask.
    fn apply(&self, input: &Tensor) -> Result<Tensor> {
        let output = uninitialized_like(input)?;
        let positions = [Integer(input.elem_count()), Optional(self.rows.as_ref()), Integer(self.width)];
        let mask = [Bits(self.keys[0]), Bits(self.keys[1]), Bits(self.threshold), Number(f64::from(self.keep))];
        let arguments = [&[T(input), T(&output)][..], &positions, &mask].concat();
        launch(cuda_device(input)?, "dropout", Grid::over(input.elem_count()), &arguments)?;
        Ok(output)
    }
}

/// Rows of a matrix by number, in candle's graph.
///
/// # Errors
/// A number is out of range.
pub fn select_rows(matrix: &Tensor, numbers: &[u32]) -> Result<Tensor> {
    let (rows, width) = matrix.dims2()?;
    let device = matrix.device();
    // Positions of each row number among `numbers`, one row after another.
    let mut starts = vec![0u32; rows + 1];
    for &number in numbers {
        match starts.get_mut(number as usize + 1) {
            Some(count) => *count += 1,
            None => bail!("row {number} of {rows}"),
        }
    }
    for row in 0..rows {
        starts[row + 1] += starts[row];
    }
    let (mut next, mut members) = (starts.clone(), vec![0u32; numbers.len()]);
    for (position, &number) in numbers.iter().enumerate() {
        members[next[number as usize] as usize] = position as u32;
        next[number as usize] += 1;
    }
    let result = matrix.detach().index_select(&Tensor::new(numbers, device)?, 0)?;
    let (starts, members) = (Tensor::new(starts, device)?, Tensor::new(members, device)?);
    with_derivative([matrix; 3], result, move |d_result| {
        let d_matrix = uninitialized((rows, width), d_result.device())?;
        let arguments = [T(d_result), T(&starts), T(&members), T(&d_matrix), Integer(width)];
        launch(cuda_device(d_result)?, "sum_of_rows", Grid::blocks(rows), &arguments)?;
        Ok([Some(d_matrix), None, None])
    })
}

/// Σ g² of all gradients.
///
/// # Errors
/// The tensors are not on a GPU.
pub fn sum_of_squares(gradients: &[&Tensor]) -> Result<f64> {
    let Some(first) = gradients.first() else { return Ok(0.0) };
    let sums = uninitialized((gradients.len(), SQUARE_BLOCKS), first.device())?;
    for (number, gradient) in gradients.iter().enumerate() {
        let arguments = [T(gradient), T(&sums.get(number)?), Integer(gradient.elem_count())];
        launch(cuda_device(gradient)?, "sum_of_squares", Grid::blocks(SQUARE_BLOCKS), &arguments)?;
    }
    Ok(sums.flatten_all()?.to_vec1::<f32>()?.into_iter().map(f64::from).sum())
}

/// One Adam step of a parameter, given both moments and the gradient, in place. `numbers` are the factor on the gradient, β₁, β₂,
/// ε, η / (1 − β₁ᵗ) and 1 / (1 − β₂ᵗ).
///
/// # Errors
/// The tensors are not on a GPU, or differ in size.
pub fn adam_step(parameter: &Tensor, moments: [&Tensor; 2], gradient: &Tensor, numbers: [f64; 6]) -> Result<()> {
    let count = parameter.elem_count();
    expect(moments.into_iter().chain([gradient]), count)?;
    let mut arguments = vec![T(parameter), T(moments[0]), T(moments[1]), T(gradient), Integer(count)];
    arguments.extend(numbers.map(Number));
    launch(cuda_device(parameter)?, "adam", Grid::over(count), &arguments)
}

/// θ̄ ← d θ̄ + (1 − d) θ with d = `decay`, in place.
///
/// # Errors
/// The tensors are not on a GPU.
pub fn update_ema(average: &Tensor, parameter: &Tensor, decay: f64) -> Result<()> {
    let count = parameter.elem_count();
    expect([average], count)?;
    let arguments = [T(average), T(parameter), Integer(count), Number(decay)];
    launch(cuda_device(parameter)?, "moving_average", Grid::over(count), &arguments)
}
