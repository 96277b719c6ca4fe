//! The encoder over one part of a batch, forward and backward.

use candle_core::Result;

use super::super::{Dropout, Gradients, Mask, Place};
use super::part::Part;
use super::products::{bias_gradient, gather, scatter, weight_gradient};
use super::weights::{EncoderCell, Weights, encoder_suffix};
use crate::kernels::buffer::Buffer;
use crate::kernels::gru::fused::{Step, backward, forward};
use crate::kernels::matrix::{Into, Matrix};

/// What the forward pass leaves behind, and later the backward pass.
pub struct EncoderPass {
    /// Source units, step by step.
    ids: Vec<u32>,
    layers: Vec<Layer>,
    /// `[rows, length, n]`
    pub annotations: Buffer,
    /// Derivatives by the embeddings, once there are any: `[length × rows, e]`
    by_embedded: Buffer,
}

/// One layer: its input `[length × rows, i]` and both directions.
struct Layer {
    input: Buffer,
    directions: [Direction; 2],
}

/// One direction of one layer; see [`Step`].
struct Direction {
    h: usize,
    size: usize,
    length: usize,
    backwards: bool,
    /// `[length × rows, 3h]`; after the backward pass the derivatives by the input gates
    gates: Buffer,
    /// `[length × rows, h]`
    candidates: Buffer,
    /// `[length × rows, h]`
    states: Buffer,
    /// Derivatives by the state gates, once there are any: `[length × rows, 3h]`
    by_state_gates: Buffer,
}

impl Direction {
    fn forward(cell: &EncoderCell, input: &[f32], part: &Part, backwards: bool) -> Self {
        let h = cell.bias_hh.len() / 3;
        let (size, length) = (part.size(), part.source_length);
        let mut pass = Self {
            h,
            size,
            length,
            backwards,
            gates: Buffer::any(length * size * 3 * h),
            candidates: Buffer::any(length * size * h),
            states: Buffer::any(length * size * h),
            by_state_gates: Buffer::default(),
        };
        cell.input.apply(&mut pass.gates, 3 * h, input, Into::Row(cell.bias_ih));
        let mut state_gates = Buffer::any(size * 3 * h);
        let mut state = Buffer::zeros(size * h);
        for (position, _) in pass.order() {
            cell.state.apply(&mut state_gates, 3 * h, &state, Into::Replace);
            let step = Step {
                gates: &mut pass.gates[position * size * 3 * h..][..size * 3 * h],
                candidate: &mut pass.candidates[position * size * h..][..size * h],
            };
            let next = &mut pass.states[position * size * h..][..size * h];
            forward(step, &state_gates, cell.bias_hh, &state, next);
            for row in padded_rows(part, position) {
                // Padding leaves the state as it was.
                next[row * h..][..h].copy_from_slice(&state[row * h..][..h]);
            }
            state.copy_from_slice(next);
        }
        pass
    }

    /// Positions in the order of this direction, each with the one before it.
    fn order(&self) -> impl DoubleEndedIterator<Item = (usize, Option<usize>)> + use<> {
        let (length, backwards) = (self.length, self.backwards);
        (0..length).map(move |step| {
            let position = |step: usize| if backwards { length - 1 - step } else { step };
            (position(step), step.checked_sub(1).map(position))
        })
    }

    /// Takes derivatives by the states, `[length × rows, h]`, and adds those by the input to `by_input`.
    fn backward(&mut self, cell: &EncoderCell, by_states: &mut [f32], by_input: &mut [f32], part: &Part) {
        let Self { h, size, length, .. } = *self;
        self.by_state_gates = Buffer::any(length * size * 3 * h);
        let mut carried = Buffer::zeros(size * h);
        let start = Buffer::zeros(size * h);
        for (position, before) in self.order().rev() {
            let by_next = &mut by_states[position * size * h..][..size * h];
            by_next.iter_mut().zip(&*carried).for_each(|(by_next, carried)| *by_next += carried);
            carried.copy_from_slice(by_next);
            let gates = &mut self.gates[position * size * 3 * h..][..size * 3 * h];
            let by_gates = &mut self.by_state_gates[position * size * 3 * h..][..size * 3 * h];
            let state = before.map_or(&*start, |before| &self.states[before * size * h..][..size * h]);
            let candidate = &mut self.candidates[position * size * h..][..size * h];
            backward(Step { gates: &mut *gates, candidate }, state, by_next, by_gates, h);
            for row in padded_rows(part, position) {
                gates[row * 3 * h..][..3 * h].fill(0.0);
                by_gates[row * 3 * h..][..3 * h].fill(0.0);
                by_next[row * h..][..h].copy_from_slice(&carried[row * h..][..h]);
            }
            carried.copy_from_slice(by_next);
            cell.state.apply_back(&mut carried, by_gates, Into::Add);
        }
        cell.input.apply_back(by_input, &self.gates, Into::Add);
    }

    /// Derivatives by the state gates of all steps but the first, beside the states that those steps began with.
    fn recurrence(&self) -> (Matrix<'_>, Matrix<'_>) {
        let step = self.size * self.h;
        let rest = (self.length - 1) * step;
        let (gates, states) = if self.backwards {
            (&self.by_state_gates[..3 * rest], &self.states[step..])
        } else {
            (&self.by_state_gates[3 * step..], &self.states[..rest])
        };
        (Matrix::rows_of(gates, 3 * self.h), Matrix::rows_of(states, self.h))
    }
}

fn padded_rows(part: &Part, position: usize) -> impl Iterator<Item = usize> {
    part.source_lengths.iter().enumerate().filter(move |&(_, &length)| position >= length).map(|(row, _)| row)
}

impl EncoderPass {
    /// Annotates a part's sources.
    pub fn forward(weights: &Weights, part: &Part, dropout: &Dropout) -> Self {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let ids = part.source_ids();
        let mut input = Buffer::any(ids.len() * e);
        gather(&mut input, weights.get("source_embedding.weight"), &ids, e);
        part.drop(&mut input, dropout.mask(Place::Source), e);
        let mut layers = Vec::new();
        for (layer, cells) in weights.encoder.iter().enumerate() {
            let [forward, backward] = cells;
            let directions = [(forward, false), (backward, true)]
                .map(|(cell, turned)| Direction::forward(cell, &input, part, turned));
            let mut output = join(&directions);
            part.drop(&mut output, layer_mask(dropout, layer), n);
            layers.push(Layer { input: std::mem::replace(&mut input, output), directions });
        }
        let annotations = turn(&input, part.source_length, part.size(), n);
        Self { ids, layers, annotations, by_embedded: Buffer::default() }
    }

    /// Takes derivatives by the annotations, `[rows, length, n]`, back to the embeddings.
    pub fn backward(&mut self, weights: &Weights, part: &Part, dropout: &Dropout, by_annotations: &[f32]) {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let h = n / 2;
        let mut by_output = turn(by_annotations, part.size(), part.source_length, n);
        for (layer, pass) in self.layers.iter_mut().enumerate().rev() {
            part.drop(&mut by_output, layer_mask(dropout, layer), n);
            let mut by_input = Buffer::zeros(pass.input.len());
            let mut by_states = Buffer::any(by_output.len() / 2);
            for (direction, cell) in weights.encoder[layer].iter().enumerate() {
                for (by_state, row) in by_states.chunks_exact_mut(h).zip(by_output.chunks_exact(n)) {
                    by_state.copy_from_slice(&row[direction * h..][..h]);
                }
                pass.directions[direction].backward(cell, &mut by_states, &mut by_input, part);
            }
            by_output = by_input;
        }
        part.drop(&mut by_output, dropout.mask(Place::Source), e);
        self.by_embedded = by_output;
    }

    /// The gradients of the encoder's parameters, when all parts have gone back.
    pub fn gradients(passes: &[&Self], weights: &Weights, gradients: &mut Gradients) -> Result<()> {
        let e = weights.architecture.embedding_size;
        let embedded: Vec<_> = passes.iter().map(|pass| (&*pass.ids, &*pass.by_embedded)).collect();
        gradients.clear("source_embedding.weight")?;
        gradients.fill("source_embedding.weight", |values| scatter(values, e, &embedded))?;
        for layer in 0..weights.architecture.layers {
            for direction in 0..2 {
                let passes: Vec<(&Layer, &Direction)> = passes
                    .iter()
                    .map(|pass| (&pass.layers[layer], &pass.layers[layer].directions[direction]))
                    .collect();
                cell_gradients(&passes, &encoder_suffix(layer, direction), gradients)?;
            }
        }
        Ok(())
    }
}

fn cell_gradients(passes: &[(&Layer, &Direction)], suffix: &str, gradients: &mut Gradients) -> Result<()> {
    let name = |part: &str| format!("encoder.{part}{suffix}");
    let inputs: Vec<_> = passes
        .iter()
        .map(|(layer, direction)| {
            let rows = direction.length * direction.size;
            let input = Matrix::new(&layer.input, rows, layer.input.len() / rows);
            (Matrix::rows_of(&direction.gates, 3 * direction.h), input)
        })
        .collect();
    gradients
        .fill(&name("weight_ih"), |out| weight_gradient(out, inputs[0].1.column_count(), &inputs, Into::Replace))?;
    let states: Vec<_> = passes.iter().map(|(_, direction)| direction.recurrence()).collect();
    gradients
        .fill(&name("weight_hh"), |out| weight_gradient(out, states[0].1.column_count(), &states, Into::Replace))?;
    let all = |of: fn(&Direction) -> &[f32]| -> Vec<&[f32]> { passes.iter().map(|(_, pass)| of(pass)).collect() };
    gradients.fill(&name("bias_ih"), |out| bias_gradient(out, &all(|direction| &direction.gates)))?;
    gradients.fill(&name("bias_hh"), |out| bias_gradient(out, &all(|direction| &direction.by_state_gates)))
}

fn layer_mask(dropout: &Dropout, layer: usize) -> Option<Mask> {
    dropout.mask(Place::Annotations(layer))
}

/// Both directions' states side by side.
fn join(directions: &[Direction; 2]) -> Buffer {
    let h = directions[0].h;
    let mut joined = Buffer::any(directions[0].states.len() * 2);
    let [forward, backward] = directions.each_ref().map(|direction| direction.states.chunks_exact(h));
    for (row, (forward, backward)) in joined.chunks_exact_mut(2 * h).zip(forward.zip(backward)) {
        row[..h].copy_from_slice(forward);
        row[h..].copy_from_slice(backward);
    }
    joined
}

/// `[outer, inner, width]` to `[inner, outer, width]`.
fn turn(values: &[f32], outer: usize, inner: usize, width: usize) -> Buffer {
    let mut turned = Buffer::any(values.len());
    for (index, row) in turned.chunks_exact_mut(width).enumerate() {
        let (i, o) = (index / outer, index % outer);
        row.copy_from_slice(&values[(o * inner + i) * width..][..width]);
    }
    turned
}
