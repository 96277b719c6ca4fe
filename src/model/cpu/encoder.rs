//! Encoder over one shard of a batch, forward and backward.

use std::ops::Range;

use candle_core::Result;

use super::ragged::Ragged;
use super::shard::Shard;
use super::weights::{CellWeights, PackedModel};
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::embedding::{gather_backward, gather_forward};
use crate::kernels::cpu::gru::{GruStep, gru_backward, gru_forward};
use crate::kernels::matrix::{MatrixView, Precision, WriteMode, bias_gradient, weight_gradient};
use crate::model::architecture::encoder_cell_param;
use crate::model::{Dropout, DropoutMask, DropoutSite};
use crate::parameters::Gradients;

/// Forward pass of one shard. Cells are source tokens without padding; see [`Ragged`].
pub struct EncoderPass {
    /// Source tokens, step by step.
    ids: Vec<u32>,
    layers: Vec<EncoderLayer<DirectionPass>>,
}

/// Finished backward pass of one shard, with the inputs of the parameter gradients.
pub struct EncoderBackward {
    /// Source tokens, step by step.
    ids: Vec<u32>,
    layers: Vec<EncoderLayer<DirectionBackward>>,
    /// With respect to the embeddings: `[cells, e]`
    d_embedded: Buffer,
}

/// One layer: its input, `[cells, i]`, and both directions.
struct EncoderLayer<D> {
    input: Buffer,
    directions: [D; 2],
}

/// Forward pass of one direction of one layer, step by step; see [`GruStep`].
struct DirectionPass {
    h: usize,
    backwards: bool,
    /// `[cells, 3h]`
    gates: Buffer,
    /// `[cells, h]`
    candidates: Buffer,
    /// States before the steps: `[cells, h]`
    before: Buffer,
    /// States after the steps: `[cells, h]`
    states: Buffer,
}

/// Finished backward pass of one direction of one layer.
struct DirectionBackward {
    h: usize,
    /// States before the steps: `[cells, h]`
    before: Buffer,
    /// `[cells, 3h]`
    d_input_gates: Buffer,
    /// `[cells, 3h]`
    d_state_gates: Buffer,
}

impl DirectionPass {
    fn forward(cell: &CellWeights, input: &[f32], source: &Ragged, backwards: bool) -> Self {
        let h = cell.bias_hh.len() / 3;
        let cells = source.cells();
        let mut pass = Self {
            h,
            backwards,
            gates: Buffer::scratch(cells * 3 * h),
            candidates: Buffer::scratch(cells * h),
            before: Buffer::zeros(cells * h),
            states: Buffer::scratch(cells * h),
        };
        cell.input.forward(&mut pass.gates, 3 * h, input, WriteMode::AddBias(cell.bias_ih));
        let mut state_gates = Buffer::scratch(source.rows() * 3 * h);
        for (cells, next) in pass.order(source) {
            let state_gates = &mut state_gates[..cells.len() * 3 * h];
            let before = &pass.before[cells.start * h..cells.end * h];
            cell.state.forward(state_gates, 3 * h, before, WriteMode::Overwrite);
            let step = GruStep {
                gates: &mut pass.gates[cells.start * 3 * h..cells.end * 3 * h],
                candidate: &mut pass.candidates[cells.start * h..cells.end * h],
            };
            let after = &mut pass.states[cells.start * h..cells.end * h];
            gru_forward(step, state_gates, cell.bias_hh, before, after);
            let both = cells.len().min(next.len()) * h;
            pass.before[next.start * h..][..both].copy_from_slice(&after[..both]);
        }
        pass
    }

    /// Cells of each step in this direction's order, with those of the step after it. Rows in both steps come first;
    /// the others end or begin there.
    fn order(&self, source: &Ragged) -> impl DoubleEndedIterator<Item = (Range<usize>, Range<usize>)> + use<> {
        let mut steps: Vec<_> = (0..source.steps()).map(|step| source.step(step)).collect();
        if self.backwards {
            steps.reverse();
        }
        (0..steps.len()).map(move |step| (steps[step].clone(), steps.get(step + 1).cloned().unwrap_or_default()))
    }

    /// Backward pass from derivatives with respect to the states, `[cells, h]`; adds those with respect to the input to
    /// `d_input`.
    fn backward(
        self,
        cell: &CellWeights,
        d_states: &mut [f32],
        d_input: &mut [f32],
        source: &Ragged,
    ) -> DirectionBackward {
        let order = self.order(source).rev();
        // Derivatives with respect to the gates overwrite the gates.
        let Self { h, gates: mut d_input_gates, mut candidates, before: states_before, .. } = self;
        let mut d_state_gates = Buffer::scratch(source.cells() * 3 * h);
        // With respect to the states before the step that follows, which rows that end here do not have.
        let mut carried = Buffer::zeros(source.rows() * h);
        for (cells, next) in order {
            let d_state = &mut d_states[cells.start * h..cells.end * h];
            let both = cells.len().min(next.len()) * h;
            d_state.iter_mut().zip(&carried[..both]).for_each(|(d_state, carried)| *d_state += carried);
            let gates = &mut d_input_gates[cells.start * 3 * h..cells.end * 3 * h];
            let d_state_gates = &mut d_state_gates[cells.start * 3 * h..cells.end * 3 * h];
            let candidate = &mut candidates[cells.start * h..cells.end * h];
            let before = &states_before[cells.start * h..cells.end * h];
            gru_backward(GruStep { gates, candidate }, before, d_state, d_state_gates, h);
            let carried = &mut carried[..d_state.len()];
            carried.copy_from_slice(d_state);
            cell.state.backward(carried, d_state_gates, WriteMode::Accumulate);
        }
        cell.input.backward(d_input, &d_input_gates, WriteMode::Accumulate);
        DirectionBackward { h, before: states_before, d_input_gates, d_state_gates }
    }
}

impl EncoderPass {
    /// Forward pass; returns annotations `[cells, n]`, row by row.
    pub fn forward(weights: &PackedModel, shard: &Shard, dropout: &Dropout) -> (Self, Buffer) {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let ids = shard.source_ids();
        let mut input = Buffer::scratch(ids.len() * e);
        gather_forward(&mut input, weights.get("source_embedding.weight"), &ids, e);
        shard.apply_source_dropout(&mut input, dropout.mask(DropoutSite::Source), e);
        let mut layers = Vec::new();
        for (layer, cells) in weights.encoder.iter().enumerate() {
            let [forward, backward] = cells;
            let directions = [(forward, false), (backward, true)]
                .map(|(cell, backwards)| DirectionPass::forward(cell, &input, &shard.source, backwards));
            let mut output = join(&directions);
            shard.apply_source_dropout(&mut output, layer_mask(dropout, layer), n);
            layers.push(EncoderLayer { input: std::mem::replace(&mut input, output), directions });
        }
        let annotations = shard.source.by_rows(&input, n);
        (Self { ids, layers }, annotations)
    }

    /// Backward pass from derivatives with respect to the annotations, `[cells, n]` row by row.
    pub fn backward(
        self,
        weights: &PackedModel,
        shard: &Shard,
        dropout: &Dropout,
        d_annotations: &[f32],
    ) -> EncoderBackward {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let h = n / 2;
        let mut d_output = shard.source.by_steps(d_annotations, n);
        let mut layers = Vec::new();
        for (layer, EncoderLayer { input, directions }) in self.layers.into_iter().enumerate().rev() {
            shard.apply_source_dropout(&mut d_output, layer_mask(dropout, layer), n);
            let mut d_input = Buffer::zeros(input.len());
            let mut d_states = Buffer::scratch(d_output.len() / 2);
            let ([forward, backward], [forward_cell, backward_cell]) = (directions, &weights.encoder[layer]);
            let directions =
                [(forward, forward_cell, 0), (backward, backward_cell, h)].map(|(direction, cell, first)| {
                    for (d_state, row) in d_states.chunks_exact_mut(h).zip(d_output.chunks_exact(n)) {
                        d_state.copy_from_slice(&row[first..][..h]);
                    }
                    direction.backward(cell, &mut d_states, &mut d_input, &shard.source)
                });
            layers.push(EncoderLayer { input, directions });
            d_output = d_input;
        }
        layers.reverse();
        shard.apply_source_dropout(&mut d_output, dropout.mask(DropoutSite::Source), e);
        EncoderBackward { ids: self.ids, layers, d_embedded: d_output }
    }
}

impl EncoderBackward {
    /// Writes the gradients of the encoder's parameters from all shards.
    pub fn gradients(passes: &[Self], weights: &PackedModel, gradients: &mut Gradients) -> Result<()> {
        let e = weights.architecture.embedding_size;
        let embedded: Vec<_> = passes.iter().map(|pass| (&*pass.ids, &*pass.d_embedded)).collect();
        gradients.zero("source_embedding.weight")?;
        gradients.with_slice_mut("source_embedding.weight", |values| gather_backward(values, e, &embedded))?;
        for layer in 0..weights.architecture.layers {
            for direction in 0..2 {
                let passes: Vec<(&Buffer, &DirectionBackward)> = passes
                    .iter()
                    .map(|pass| (&pass.layers[layer].input, &pass.layers[layer].directions[direction]))
                    .collect();
                let name = |name: &str| encoder_cell_param(name, layer, direction);
                cell_gradients(&passes, name, weights.precision, gradients)?;
            }
        }
        Ok(())
    }
}

/// Writes the gradients of one direction of one layer, given with the layer's inputs; `name` maps PyTorch's parameter
/// names to full ones.
fn cell_gradients(
    passes: &[(&Buffer, &DirectionBackward)],
    name: impl Fn(&str) -> String,
    precision: Precision,
    gradients: &mut Gradients,
) -> Result<()> {
    let inputs: Vec<_> = passes
        .iter()
        .map(|(input, direction)| {
            let d_gates = MatrixView::rows_of(&direction.d_input_gates, 3 * direction.h);
            (d_gates, MatrixView::rows_of(input, input.len() / d_gates.row_count()))
        })
        .collect();
    gradients.with_slice_mut(&name("weight_ih"), |out| {
        weight_gradient(out, inputs[0].1.column_count(), &inputs, precision, WriteMode::Overwrite)
    })?;
    let states: Vec<_> = passes
        .iter()
        .map(|(_, DirectionBackward { d_state_gates, before, h, .. })| {
            (MatrixView::rows_of(d_state_gates, 3 * h), MatrixView::rows_of(before, *h))
        })
        .collect();
    gradients.with_slice_mut(&name("weight_hh"), |out| {
        weight_gradient(out, states[0].1.column_count(), &states, precision, WriteMode::Overwrite)
    })?;
    let all =
        |of: fn(&DirectionBackward) -> &[f32]| -> Vec<&[f32]> { passes.iter().map(|(_, pass)| of(pass)).collect() };
    gradients.with_slice_mut(&name("bias_ih"), |out| bias_gradient(out, &all(|direction| &direction.d_input_gates)))?;
    gradients.with_slice_mut(&name("bias_hh"), |out| bias_gradient(out, &all(|direction| &direction.d_state_gates)))
}

fn layer_mask(dropout: &Dropout, layer: usize) -> Option<DropoutMask> {
    dropout.mask(DropoutSite::Annotations(layer))
}

/// Concatenates both directions' states.
fn join(directions: &[DirectionPass; 2]) -> Buffer {
    let h = directions[0].h;
    let mut joined = Buffer::scratch(directions[0].states.len() * 2);
    let [forward, backward] = directions.each_ref().map(|direction| direction.states.chunks_exact(h));
    for (row, (forward, backward)) in joined.chunks_exact_mut(2 * h).zip(forward.zip(backward)) {
        row[..h].copy_from_slice(forward);
        row[h..].copy_from_slice(backward);
    }
    joined
}
