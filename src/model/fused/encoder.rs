//! The encoder over one part of a batch, forward and backward.

use super::part::{Masks, Part};
use super::weights::{PartGradients, Weights};
use crate::kernels::gru::fused::{Step, backward, forward};
use crate::kernels::matrix::{Into, Matrix, add_bias, add_row_sums, multiply};

/// What the forward pass leaves behind.
pub struct EncoderPass {
    /// Source units, step by step.
    ids: Vec<u32>,
    layers: Vec<Layer>,
    /// `[rows, length, n]`
    pub annotations: Vec<f32>,
}

/// One layer: its input `[length × rows, i]` and both directions.
struct Layer {
    input: Vec<f32>,
    directions: [Direction; 2],
}

/// One direction of one layer; see [`Step`].
struct Direction {
    /// `[length × rows, 3h]`
    gates: Vec<f32>,
    /// `[length × rows, h]`
    candidates: Vec<f32>,
    /// `[length × rows, h]`
    states: Vec<f32>,
}

/// One direction's parameters.
struct Cell<'a> {
    suffix: String,
    weight_ih: Matrix<'a>,
    weight_hh: Matrix<'a>,
    bias_ih: &'a [f32],
    bias_hh: &'a [f32],
    h: usize,
    backwards: bool,
}

impl<'a> Cell<'a> {
    fn new(weights: &Weights<'a>, layer: usize, direction: usize) -> Self {
        let suffix = format!("_l{layer}{}", ["", "_reverse"][direction]);
        let part = |name: &str| weights.get(&format!("encoder.{name}{suffix}"));
        let h = weights.architecture.hidden_size / 2;
        let weight_ih = part("weight_ih");
        Self {
            weight_ih: Matrix::new(weight_ih, 3 * h, weight_ih.len() / (3 * h)),
            weight_hh: Matrix::new(part("weight_hh"), 3 * h, h),
            bias_ih: part("bias_ih"),
            bias_hh: part("bias_hh"),
            h,
            backwards: direction == 1,
            suffix,
        }
    }

    fn gradient<'g>(&self, gradients: &'g mut PartGradients, name: &str) -> &'g mut [f32] {
        gradients.of(&format!("encoder.{name}{}", self.suffix))
    }

    /// Positions in the order of this direction, each with the one before it.
    fn order(&self, length: usize) -> impl DoubleEndedIterator<Item = (usize, Option<usize>)> {
        let backwards = self.backwards;
        (0..length).map(move |step| {
            let position = |step: usize| if backwards { length - 1 - step } else { step };
            (position(step), step.checked_sub(1).map(position))
        })
    }

    fn forward(&self, input: &[f32], part: &Part) -> Direction {
        let (h, size, length) = (self.h, part.size(), part.source_length);
        let mut gates = vec![0.0; length * size * 3 * h];
        multiply(
            &mut gates,
            3 * h,
            Matrix::rows_of(input, input.len() / (length * size)),
            self.weight_ih.t(),
            Into::Replace,
        );
        add_bias(&mut gates, self.bias_ih);
        let mut candidates = vec![0.0; length * size * h];
        let mut states = vec![0.0; length * size * h];
        let mut state_gates = vec![0.0; size * 3 * h];
        let mut state = vec![0.0; size * h];
        for (position, _) in self.order(length) {
            multiply(&mut state_gates, 3 * h, Matrix::rows_of(&state, h), self.weight_hh.t(), Into::Replace);
            let step = Step {
                gates: &mut gates[position * size * 3 * h..][..size * 3 * h],
                candidate: &mut candidates[position * size * h..][..size * h],
            };
            let next = &mut states[position * size * h..][..size * h];
            forward(step, &state_gates, 3 * h, self.bias_hh, &state, next);
            for row in padded_rows(part, position) {
                // Padding leaves the state as it was.
                next[row * h..(row + 1) * h].copy_from_slice(&state[row * h..(row + 1) * h]);
            }
            state.copy_from_slice(next);
        }
        Direction { gates, candidates, states }
    }

    /// Takes derivatives by the states, `[length × rows, h]`, and adds those by the input to `by_input`.
    fn backward(
        &self,
        mut direction: Direction,
        input: &[f32],
        by_states: &mut [f32],
        by_input: &mut [f32],
        part: &Part,
        gradients: &mut PartGradients,
    ) {
        let (h, size, length) = (self.h, part.size(), part.source_length);
        let mut by_state_gates = vec![0.0; length * size * 3 * h];
        let mut carried = vec![0.0; size * h];
        let start = vec![0.0; size * h];
        for (position, before) in self.order(length).rev() {
            let by_next = &mut by_states[position * size * h..][..size * h];
            by_next.iter_mut().zip(&carried).for_each(|(by_next, carried)| *by_next += carried);
            carried.copy_from_slice(by_next);
            let gates = &mut direction.gates[position * size * 3 * h..][..size * 3 * h];
            let by_gates = &mut by_state_gates[position * size * 3 * h..][..size * 3 * h];
            let state = before.map_or(start.as_slice(), |before| &direction.states[before * size * h..][..size * h]);
            let candidate = &mut direction.candidates[position * size * h..][..size * h];
            backward(Step { gates: &mut *gates, candidate }, state, by_next, by_gates, 3 * h, h);
            for row in padded_rows(part, position) {
                gates[row * 3 * h..(row + 1) * 3 * h].fill(0.0);
                by_gates[row * 3 * h..(row + 1) * 3 * h].fill(0.0);
                by_next[row * h..(row + 1) * h].copy_from_slice(&carried[row * h..(row + 1) * h]);
            }
            carried.copy_from_slice(by_next);
            multiply(&mut carried, h, Matrix::rows_of(by_gates, 3 * h), self.weight_hh, Into::Add);
        }
        // Each state but the last, beside the gates of the step after it.
        let step = size * h;
        let (states, later) = if self.backwards {
            (&direction.states[step..], &by_state_gates[..(length - 1) * 3 * step])
        } else {
            (&direction.states[..(length - 1) * step], &by_state_gates[3 * step..])
        };
        let by_weight = self.gradient(gradients, "weight_hh");
        multiply(by_weight, h, Matrix::rows_of(later, 3 * h).t(), Matrix::rows_of(states, h), Into::Add);
        add_row_sums(self.gradient(gradients, "bias_hh"), &by_state_gates);
        let by_gates = Matrix::rows_of(&direction.gates, 3 * h);
        let width = input.len() / (length * size);
        multiply(self.gradient(gradients, "weight_ih"), width, by_gates.t(), Matrix::rows_of(input, width), Into::Add);
        add_row_sums(self.gradient(gradients, "bias_ih"), &direction.gates);
        multiply(by_input, width, by_gates, self.weight_ih, Into::Add);
    }
}

fn padded_rows(part: &Part, position: usize) -> impl Iterator<Item = usize> {
    part.source_lengths.iter().enumerate().filter(move |&(_, &length)| position >= length).map(|(row, _)| row)
}

impl EncoderPass {
    /// Annotates a part's sources.
    pub fn forward(weights: &Weights, part: &Part, masks: &Masks) -> Self {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let ids = part.source_ids();
        let mut input = gather(weights.get("source_embedding.weight"), &ids, e);
        part.drop(&mut input, &masks.source, e);
        let mut layers = Vec::new();
        for (layer, mask) in masks.annotations.iter().enumerate() {
            let directions = [0, 1].map(|direction| Cell::new(weights, layer, direction).forward(&input, part));
            let mut output = join(&directions, n);
            part.drop(&mut output, mask, n);
            layers.push(Layer { input: std::mem::replace(&mut input, output), directions });
        }
        let annotations = turn(&input, part.source_length, part.size(), n);
        Self { ids, layers, annotations }
    }

    /// Takes derivatives by the annotations, `[rows, length, n]`, to the gradients of the encoder's parameters.
    pub fn backward(
        self,
        weights: &Weights,
        part: &Part,
        masks: &Masks,
        by_annotations: Vec<f32>,
        gradients: &mut PartGradients,
    ) {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let h = n / 2;
        let mut by_output = turn(&by_annotations, part.size(), part.source_length, n);
        for (layer, pass) in self.layers.into_iter().enumerate().rev() {
            part.drop(&mut by_output, &masks.annotations[layer], n);
            let mut by_input = vec![0.0; pass.input.len()];
            for (direction, states) in pass.directions.into_iter().enumerate() {
                let halves = by_output.chunks_exact(n).flat_map(|row| &row[direction * h..(direction + 1) * h]);
                let mut by_states: Vec<f32> = halves.copied().collect();
                let cell = Cell::new(weights, layer, direction);
                cell.backward(states, &pass.input, &mut by_states, &mut by_input, part, gradients);
            }
            by_output = by_input;
        }
        part.drop(&mut by_output, &masks.source, e);
        scatter(gradients.of("source_embedding.weight"), &self.ids, &by_output, e);
    }
}

/// Rows of a table by ids.
pub fn gather(table: &[f32], ids: &[u32], width: usize) -> Vec<f32> {
    let row = |&id: &u32| &table[id as usize * width..(id as usize + 1) * width];
    ids.iter().flat_map(row).copied().collect()
}

/// Adds rows to those of a table, by ids: the derivative of [`gather`].
pub fn scatter(table: &mut [f32], ids: &[u32], rows: &[f32], width: usize) {
    for (&id, row) in ids.iter().zip(rows.chunks_exact(width)) {
        let sum = &mut table[id as usize * width..(id as usize + 1) * width];
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}

/// Both directions' states side by side.
fn join(directions: &[Direction; 2], n: usize) -> Vec<f32> {
    let mut joined = Vec::with_capacity(directions[0].states.len() * 2);
    let [forward, backward] = directions.each_ref().map(|direction| direction.states.chunks_exact(n / 2));
    for (forward, backward) in forward.zip(backward) {
        joined.extend_from_slice(forward);
        joined.extend_from_slice(backward);
    }
    joined
}

/// `[outer, inner, width]` to `[inner, outer, width]`.
fn turn(values: &[f32], outer: usize, inner: usize, width: usize) -> Vec<f32> {
    let mut turned = Vec::with_capacity(values.len());
    for i in 0..inner {
        for o in 0..outer {
            turned.extend_from_slice(&values[(o * inner + i) * width..][..width]);
        }
    }
    turned
}
