//! Encoder over one shard of a batch, forward and backward.

use std::ops::Range;

use candle_core::Result;

use super::cell::{CellBackward, CellTape, CellWeights};
use super::ragged::Ragged;
use super::shard::Shard;
use super::weights::PackedModel;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::embedding::{RowGrads, gather_backward, gather_forward};
use crate::model::architecture::encoder_cell_param;
use crate::model::{Dropout, DropoutMask, DropoutSite};
use crate::parameters::Gradients;

/// Forward pass of one shard. Positions are source tokens without padding; see [`Ragged`].
pub struct EncoderPass<'w> {
    /// Source tokens, step by step.
    ids: Vec<u32>,
    layers: Vec<EncoderLayer<DirectionPass<'w>>>,
}

/// Finished backward pass of one shard, with the inputs of the parameter gradients.
pub struct EncoderBackward<'w> {
    /// Source tokens, step by step.
    ids: Vec<u32>,
    layers: Vec<EncoderLayer<DirectionBackward<'w>>>,
    /// With respect to the embeddings: `[positions, e]`
    d_embedded: Buffer,
}

/// One layer: its input, `[positions, i]`, and both directions.
struct EncoderLayer<D> {
    input: Buffer,
    directions: [D; 2],
}

/// Forward pass of one direction of one layer, step by step.
struct DirectionPass<'w> {
    cell: CellTape<'w>,
    backwards: bool,
    /// States before the steps: `[positions, h]`
    before: Buffer,
    /// States after the steps: `[positions, h]`
    states: Buffer,
}

/// Finished backward pass of one direction of one layer.
struct DirectionBackward<'w> {
    cell: CellTape<'w>,
    /// States before the steps: `[positions, h]`
    before: Buffer,
}

/// Step of one direction. Rows in both this step and the next come first; the others end or begin there.
struct DirectionStep {
    positions: Range<usize>,
    /// Positions of the step after it in this direction, none after the last.
    next: Range<usize>,
}

impl DirectionStep {
    /// Steps in the order of a direction.
    fn all(source: &Ragged, backwards: bool) -> Vec<Self> {
        let mut steps: Vec<_> = (0..source.steps()).map(|step| source.step(step)).collect();
        if backwards {
            steps.reverse();
        }
        let next = steps.iter().skip(1).cloned().chain(std::iter::once(0..0));
        steps.iter().cloned().zip(next).map(|(positions, next)| Self { positions, next }).collect()
    }

    /// Number of rows that are also in the next step.
    fn lasting_rows(&self) -> usize {
        self.positions.len().min(self.next.len())
    }
}

impl<'w> DirectionPass<'w> {
    fn forward(weights: &'w CellWeights<'w>, input: &[f32], source: &Ragged, backwards: bool) -> Self {
        let h = weights.state_size();
        let mut cell = CellTape::without_inputs(weights, source.size(), source.rows());
        cell.write_inputs(&cell.positions(), input);
        let mut before = Buffer::zeros(source.size() * h);
        let mut states = Buffer::scratch(source.size() * h);
        for step in DirectionStep::all(source, backwards) {
            let DirectionStep { positions, next } = &step;
            let after = &mut states[positions.start * h..positions.end * h];
            cell.forward_step(positions, &before[positions.start * h..positions.end * h], after);
            let lasting = step.lasting_rows() * h;
            before[next.start * h..][..lasting].copy_from_slice(&after[..lasting]);
        }
        Self { cell, backwards, before, states }
    }

    /// Backward pass from derivatives with respect to the states, `[positions, h]`; adds those with respect to the input to
    /// `d_input`.
    fn backward(self, d_states: &mut [f32], d_input: &mut [f32], source: &Ragged) -> DirectionBackward<'w> {
        let Self { mut cell, backwards, before, .. } = self;
        let h = cell.weights().state_size();
        // With respect to the states before the step that follows, which rows that end here do not have: [rows, h]
        let mut carried = Buffer::zeros(source.rows() * h);
        for step in DirectionStep::all(source, backwards).iter().rev() {
            let positions = &step.positions;
            let d_state = &mut d_states[positions.start * h..positions.end * h];
            let lasting = &carried[..step.lasting_rows() * h];
            d_state.iter_mut().zip(lasting).for_each(|(d_state, carried)| *d_state += carried);
            cell.backward_step(positions, &before[positions.start * h..positions.end * h], d_state);
            let carried = &mut carried[..d_state.len()];
            carried.copy_from_slice(d_state);
            cell.add_state_grads(positions, carried);
        }
        cell.add_input_grads(&cell.positions(), d_input);
        DirectionBackward { cell, before }
    }
}

impl<'w> EncoderPass<'w> {
    /// Forward pass; returns annotations `[positions, n]`, row by row.
    pub fn forward(weights: &'w PackedModel<'w>, shard: &Shard, dropout: &Dropout) -> (Self, Buffer) {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let ids = shard.source_ids();
        let mut input = Buffer::scratch(ids.len() * e);
        gather_forward(&mut input, weights.get("source_embedding.weight"), &ids, e);
        shard.apply_source_dropout(&mut input, dropout.mask(DropoutSite::Source), e);
        let mut layers = Vec::new();
        for (layer, [forward, backward]) in weights.encoder.iter().enumerate() {
            let directions = [(forward, false), (backward, true)]
                .map(|(cell, backwards)| DirectionPass::forward(cell, &input, &shard.source, backwards));
            // [positions, n]
            let mut output = join(&directions);
            shard.apply_source_dropout(&mut output, layer_mask(dropout, layer), n);
            layers.push(EncoderLayer { input: std::mem::replace(&mut input, output), directions });
        }
        let annotations = shard.source.by_rows(&input, n);
        (Self { ids, layers }, annotations)
    }

    /// Backward pass from derivatives with respect to the annotations, `[positions, n]` row by row.
    pub fn backward(
        self,
        weights: &PackedModel,
        shard: &Shard,
        dropout: &Dropout,
        d_annotations: &[f32],
    ) -> EncoderBackward<'w> {
        let (e, n) = (weights.architecture.embedding_size, weights.architecture.hidden_size);
        let h = n / 2;
        let mut d_output = shard.source.by_steps(d_annotations, n);
        let mut layers = Vec::new();
        for (layer, EncoderLayer { input, directions }) in self.layers.into_iter().enumerate().rev() {
            shard.apply_source_dropout(&mut d_output, layer_mask(dropout, layer), n);
            let mut d_input = Buffer::zeros(input.len());
            // Of one direction: [positions, h]
            let mut d_states = Buffer::scratch(d_output.len() / 2);
            let [forward, backward] = directions;
            let directions = [(forward, 0), (backward, h)].map(|(direction, first)| {
                for (d_state, row) in d_states.chunks_exact_mut(h).zip(d_output.chunks_exact(n)) {
                    d_state.copy_from_slice(&row[first..][..h]);
                }
                direction.backward(&mut d_states, &mut d_input, &shard.source)
            });
            layers.push(EncoderLayer { input, directions });
            d_output = d_input;
        }
        layers.reverse();
        shard.apply_source_dropout(&mut d_output, dropout.mask(DropoutSite::Source), e);
        EncoderBackward { ids: self.ids, layers, d_embedded: d_output }
    }
}

impl EncoderBackward<'_> {
    /// Writes the gradients of the encoder's parameters from all shards.
    pub fn gradients(passes: &[Self], weights: &PackedModel, gradients: &mut Gradients) -> Result<()> {
        let e = weights.architecture.embedding_size;
        let embedded: Vec<RowGrads> =
            passes.iter().map(|pass| RowGrads { ids: &pass.ids, d_rows: &pass.d_embedded }).collect();
        gradients.zero("source_embedding.weight")?;
        gradients.with_slice_mut("source_embedding.weight", |values| gather_backward(values, e, &embedded))?;
        for layer in 0..weights.architecture.layers {
            for direction in 0..2 {
                let mut shards = Vec::with_capacity(passes.len());
                for EncoderLayer { input, directions } in passes.iter().map(|pass| &pass.layers[layer]) {
                    let DirectionBackward { cell, before } = &directions[direction];
                    shards.push(CellBackward { tape: cell, inputs: vec![&input[..]], before });
                }
                CellBackward::gradients(
                    &shards,
                    |part| encoder_cell_param(part, layer, direction),
                    weights.precision,
                    gradients,
                )?;
            }
        }
        Ok(())
    }
}

fn layer_mask(dropout: &Dropout, layer: usize) -> Option<DropoutMask> {
    dropout.mask(DropoutSite::Annotations(layer))
}

/// Concatenates both directions' states, `[positions, h]` each: `[positions, 2h]`.
fn join(directions: &[DirectionPass; 2]) -> Buffer {
    let h = directions[0].cell.weights().state_size();
    let mut joined = Buffer::scratch(directions[0].states.len() * 2);
    let [forward, backward] = directions.each_ref().map(|direction| direction.states.chunks_exact(h));
    for (row, (forward, backward)) in joined.chunks_exact_mut(2 * h).zip(forward.zip(backward)) {
        row[..h].copy_from_slice(forward);
        row[h..].copy_from_slice(backward);
    }
    joined
}
