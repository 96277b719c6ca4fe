//! Recurrent cell of encoder and decoder, forward and backward: a GRU; equations in `kernels/cpu/gru.rs`.
//!
//! Only this file and the kernel know the gates. The inputs' share of the gates is computed for many positions at once; the
//! recurrence goes step by step. A step is a range of positions, one for each row.

use std::ops::Range;
use std::sync::Arc;

use candle_core::Result;

use super::packer::Packer;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::gru::{GruStep, gru_backward, gru_forward};
use crate::kernels::matrix::{
    MatrixView, PackedWeight, Precision, WeightFactors, WriteMode, bias_gradient, weight_gradient,
};
use crate::parameters::Gradients;

/// Number of gates of a GRU: r, z and n.
const GATES: usize = 3;

/// Packed parameters of a cell with inputs of size i and a state of size h.
pub struct CellWeights<'a> {
    /// W_ih: `[3h, i]`
    input: Arc<PackedWeight>,
    /// W_hh: `[3h, h]`
    state: Arc<PackedWeight>,
    /// b_ih: `[3h]`
    bias_ih: &'a [f32],
    /// b_hh: `[3h]`
    bias_hh: &'a [f32],
}

impl<'a> CellWeights<'a> {
    /// Packs a cell, of W_ih only the first columns if their number is given; `name` maps PyTorch's parameter names to full
    /// ones.
    pub fn new(packer: Packer<'_, 'a>, name: &(dyn Fn(&str) -> String + Sync), inputs: Option<usize>) -> Self {
        let inputs = inputs.unwrap_or_else(|| packer.parameters.matrix(&name("weight_ih")).column_count());
        let (input, state) =
            rayon::join(|| packer.columns(&name("weight_ih"), 0..inputs), || packer.matrix(&name("weight_hh")));
        let [bias_ih, bias_hh] = ["bias_ih", "bias_hh"].map(|part| packer.parameters.get(&name(part)));
        Self { input, state, bias_ih, bias_hh }
    }

    /// h: size of the state.
    pub fn state_size(&self) -> usize {
        self.gate_size() / GATES
    }

    /// 3h: size of all gates of one position.
    pub fn gate_size(&self) -> usize {
        self.bias_hh.len()
    }

    /// Writes the share of inputs, `[positions, i]`, in the gates, `[positions, 3h]`, with b_ih.
    pub fn input_gates(&self, inputs: &[f32], gates: &mut [f32]) {
        self.input.forward(gates, self.gate_size(), inputs, WriteMode::AddBias(self.bias_ih));
    }
}

/// Values of all steps of a cell.
pub struct CellTape<'w> {
    weights: &'w CellWeights<'w>,
    /// Inputs' share of the gates, `[positions, 3h]`; see [`GruStep`]. After the backward pass the derivatives with respect to
    /// it.
    gates: Buffer,
    /// `[positions, h]`, see [`GruStep`]
    candidates: Buffer,
    /// W_hh s of the current step, `[rows, 3h]`; in the backward pass the derivatives with respect to it at all positions,
    /// `[positions, 3h]`
    state_gates: Buffer,
}

impl<'w> CellTape<'w> {
    /// Tape of a cell, given the inputs' share of the gates at all positions, `[positions, 3h]`. A step has at most `rows`
    /// positions.
    pub fn new(weights: &'w CellWeights<'w>, gates: Buffer, rows: usize) -> Self {
        let candidates = Buffer::scratch(gates.len() / GATES);
        Self { weights, gates, candidates, state_gates: Buffer::scratch(rows * weights.gate_size()) }
    }

    /// Tape of a cell whose inputs are not known yet; see [`Self::new`].
    pub fn without_inputs(weights: &'w CellWeights<'w>, positions: usize, rows: usize) -> Self {
        Self::new(weights, Buffer::scratch(positions * weights.gate_size()), rows)
    }

    /// Parameters of the cell.
    pub fn weights(&self) -> &'w CellWeights<'w> {
        self.weights
    }

    /// All positions.
    pub fn positions(&self) -> Range<usize> {
        0..self.gates.len() / self.weights.gate_size()
    }

    /// Writes the share of inputs, `[positions, i]`, in the gates of some positions.
    pub fn write_inputs(&mut self, positions: &Range<usize>, inputs: &[f32]) {
        self.weights.input_gates(inputs, part_mut(&mut self.gates, positions, self.weights.gate_size()));
    }

    /// Adds the share of further inputs, `[positions, ·]`, which have columns of W_ih of their own.
    pub fn add_inputs(&mut self, columns: &PackedWeight, positions: &Range<usize>, inputs: &[f32]) {
        let gate_size = self.weights.gate_size();
        columns.forward(part_mut(&mut self.gates, positions, gate_size), gate_size, inputs, WriteMode::Accumulate);
    }

    /// Forward pass of one step: states `before` to `after`, both `[rows, h]`.
    pub fn forward_step(&mut self, positions: &Range<usize>, before: &[f32], after: &mut [f32]) {
        let Self { weights, gates, candidates, state_gates } = self;
        let (h, gate_size) = (weights.state_size(), weights.gate_size());
        let state_gates = &mut state_gates[..positions.len() * gate_size];
        weights.state.forward(state_gates, gate_size, before, WriteMode::Overwrite);
        let step =
            GruStep { gates: part_mut(gates, positions, gate_size), candidate: part_mut(candidates, positions, h) };
        gru_forward(step, state_gates, weights.bias_hh, before, after);
    }

    /// Backward pass of one step up to the gates. `d_state` is the derivative with respect to the state after it,
    /// `[rows, h]`, and is replaced by the elementwise part of the one with respect to the state before.
    pub fn backward_step(&mut self, positions: &Range<usize>, before: &[f32], d_state: &mut [f32]) {
        let Self { weights, gates, candidates, state_gates } = self;
        let (h, gate_size) = (weights.state_size(), weights.gate_size());
        state_gates.resize_scratch(gates.len());
        let step =
            GruStep { gates: part_mut(gates, positions, gate_size), candidate: part_mut(candidates, positions, h) };
        gru_backward(step, before, d_state, part_mut(state_gates, positions, gate_size), h);
    }

    /// Adds the part of the derivatives with respect to the state before, `[rows, h]`, that passes through W_hh, after
    /// [`Self::backward_step`].
    pub fn add_state_grads(&self, positions: &Range<usize>, d_state: &mut [f32]) {
        let d_gates = part(&self.state_gates, positions, self.weights.gate_size());
        self.weights.state.backward(d_state, d_gates, WriteMode::Accumulate);
    }

    /// Adds the derivatives with respect to the inputs, `[positions, i]`, after [`Self::backward_step`].
    pub fn add_input_grads(&self, positions: &Range<usize>, d_inputs: &mut [f32]) {
        self.add_grads_of_columns(&self.weights.input, positions, d_inputs);
    }

    /// Adds the derivatives with respect to the inputs of [`Self::add_inputs`], `[positions, ·]`.
    pub fn add_grads_of_columns(&self, columns: &PackedWeight, positions: &Range<usize>, d_inputs: &mut [f32]) {
        let d_gates = part(&self.gates, positions, self.weights.gate_size());
        columns.backward(d_inputs, d_gates, WriteMode::Accumulate);
    }
}

/// Finished backward pass of a cell over one shard.
pub struct CellBackward<'p> {
    /// Derivatives with respect to the gates.
    pub tape: &'p CellTape<'p>,
    /// Inputs by blocks of columns of W_ih, each `[positions, ·]`.
    pub inputs: Vec<&'p [f32]>,
    /// States before the steps: `[positions, h]`, or more.
    pub before: &'p [f32],
}

impl CellBackward<'_> {
    /// Writes the gradients of a cell's parameters from all shards; `name` maps PyTorch's parameter names to full ones.
    pub fn gradients(
        shards: &[Self],
        name: impl Fn(&str) -> String,
        precision: Precision,
        gradients: &mut Gradients,
    ) -> Result<()> {
        gradients.with_slice_mut(&name("weight_ih"), |out| {
            let stride = out.len() / shards[0].tape.weights.gate_size();
            let mut first = 0;
            for block in 0..shards[0].inputs.len() {
                let factors: Vec<_> = shards.iter().map(|shard| shard.input_factors(block)).collect();
                weight_gradient(&mut out[first..], stride, &factors, precision, WriteMode::Overwrite);
                first += factors[0].input.column_count();
            }
        })?;
        let factors: Vec<_> = shards.iter().map(Self::state_factors).collect();
        gradients.with_slice_mut(&name("weight_hh"), |out| {
            weight_gradient(out, factors[0].input.column_count(), &factors, precision, WriteMode::Overwrite)
        })?;
        let d_gates: Vec<&[f32]> = shards.iter().map(|shard| &shard.tape.gates[..]).collect();
        gradients.with_slice_mut(&name("bias_ih"), |out| bias_gradient(out, &d_gates))?;
        let d_gates: Vec<&[f32]> = shards.iter().map(|shard| &shard.tape.state_gates[..]).collect();
        gradients.with_slice_mut(&name("bias_hh"), |out| bias_gradient(out, &d_gates))
    }

    /// Factors of the gradient of a block of columns of W_ih: the derivatives with respect to the gates, and the inputs.
    fn input_factors(&self, block: usize) -> WeightFactors<'_> {
        let d_output = MatrixView::rows_of(&self.tape.gates, self.tape.weights.gate_size());
        let inputs = self.inputs[block];
        WeightFactors { d_output, input: MatrixView::rows_of(inputs, inputs.len() / d_output.row_count()) }
    }

    /// Factors of the gradient of W_hh.
    fn state_factors(&self) -> WeightFactors<'_> {
        let d_output = MatrixView::rows_of(&self.tape.state_gates, self.tape.weights.gate_size());
        let input = MatrixView::new(self.before, d_output.row_count(), self.tape.weights.state_size());
        WeightFactors { d_output, input }
    }
}

/// Rows of some positions.
fn part<'v>(values: &'v [f32], positions: &Range<usize>, width: usize) -> &'v [f32] {
    &values[positions.start * width..positions.end * width]
}

/// Mutable [`part`].
fn part_mut<'v>(values: &'v mut [f32], positions: &Range<usize>, width: usize) -> &'v mut [f32] {
    &mut values[positions.start * width..positions.end * width]
}
