//! Parameters as slices and as packed matrices while a batch runs.

use candle_core::Result;
use rayon::prelude::*;

use super::super::Architecture;
use super::super::encoder::cell_part;
use crate::attention::fused as attention;
use crate::kernels::buffer::Buffer;
use crate::kernels::embedding::gather;
use crate::kernels::matrix::{PackedWeight, Store};
use crate::parameters::{Parameters, Slices};

/// Numbers in a table of gates, at most: 128 MiB.
const LARGEST_TABLE: usize = 1 << 25;
/// Rows of it that one thread makes at a time.
const TABLE_ROWS: usize = 256;

/// What the weights are wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Forward passes alone.
    Inference,
    /// The same over so many rows that the target embeddings' share of the gates is worth a table.
    LongInference,
    /// Derivatives as well.
    Training,
}

/// The weights of one direction of one encoder layer.
pub struct EncoderCell<'a> {
    /// W_ih: `[3h, input]`
    pub input: PackedWeight,
    /// W_hh: `[3h, h]`
    pub state: PackedWeight,
    /// b_ih
    pub bias_ih: &'a [f32],
    /// b_hh
    pub bias_hh: &'a [f32],
}

/// The parameters of the model.
pub struct Weights<'a> {
    /// The model's sizes.
    pub architecture: &'a Architecture,
    parameters: Slices<'a>,
    /// Both directions of each layer.
    pub encoder: Vec<[EncoderCell<'a>; 2]>,
    /// W_init
    pub initial: PackedWeight,
    /// What attention has.
    pub attention: attention::Weights<'a>,
    /// The decoder's W_hh
    pub state_gates: PackedWeight,
    /// The columns of the decoder's W_ih that the embedding meets
    pub embedding_gates: PackedWeight,
    /// Those that the context meets
    pub context_gates: PackedWeight,
    /// W_r
    pub readout: PackedWeight,
    /// E_out
    pub output: PackedWeight,
    /// The embeddings' share of the gates for every target unit, `[V, 3n]`, where it pays
    gates_by_unit: Option<Buffer>,
}

/// Lends the parameters to `work`.
///
/// # Errors
/// A parameter does not lie on the CPU as one block of f32.
pub fn with<R>(
    architecture: &Architecture,
    parameters: &Parameters,
    purpose: Purpose,
    work: impl FnOnce(&Weights) -> Result<R>,
) -> Result<R> {
    parameters.lend(|slices| work(&Weights::new(architecture, slices.clone(), purpose)))
}

impl<'a> Weights<'a> {
    fn new(architecture: &'a Architecture, parameters: Slices<'a>, purpose: Purpose) -> Self {
        let (e, n) = (architecture.embedding_size, architecture.hidden_size);
        let derivatives = purpose == Purpose::Training;
        let gates = parameters.matrix("decoder.cell.weight_ih");
        let [output, state_gates, initial, embedding_gates, context_gates, readout] = PackedWeight::all(
            [
                parameters.matrix(architecture.output_weight()),
                parameters.matrix("decoder.cell.weight_hh"),
                parameters.matrix("decoder.initial.weight"),
                gates.columns(0, e),
                gates.columns(e, n),
                parameters.matrix("readout.weight"),
            ],
            derivatives,
        );
        let cell = |layer: usize, direction: usize| {
            let name = |part: &str| cell_part(part, layer, direction);
            let matrices = ["weight_ih", "weight_hh"].map(|part| parameters.matrix(&name(part)));
            let [input, state] = PackedWeight::all(matrices, derivatives);
            let [bias_ih, bias_hh] = ["bias_ih", "bias_hh"].map(|part| parameters.get(&name(part)));
            EncoderCell { input, state, bias_ih, bias_hh }
        };
        let encoder = (0..architecture.layers).map(|layer| [0, 1].map(|direction| cell(layer, direction))).collect();
        let dimensions = architecture.dimensions();
        let mut weights = Self {
            architecture,
            encoder,
            attention: attention::Weights::new(&architecture.attention, dimensions, &parameters, derivatives),
            initial,
            state_gates,
            embedding_gates,
            context_gates,
            readout,
            output,
            gates_by_unit: None,
            parameters,
        };
        if purpose == Purpose::LongInference {
            weights.gates_by_unit = weights.table();
        }
        weights
    }

    fn table(&self) -> Option<Buffer> {
        let Architecture { target_vocabulary: units, embedding_size: e, hidden_size: n, .. } = *self.architecture;
        if units * 3 * n > LARGEST_TABLE {
            return None;
        }
        let mut table = Buffer::any(units * 3 * n);
        let embeddings = self.get("target_embedding.weight").par_chunks(TABLE_ROWS * e);
        table.par_chunks_mut(TABLE_ROWS * 3 * n).zip(embeddings).for_each(|(gates, embedded)| {
            self.embedding_gates.apply(gates, 3 * n, embedded, Store::Row(self.get("decoder.cell.bias_ih")));
        });
        Some(table)
    }

    /// The last words' share of the decoder's gates, by units: `[rows, 3n]`.
    pub fn gates_of_units(&self, units: &[u32], embedded: &[f32]) -> Buffer {
        let width = 3 * self.architecture.hidden_size;
        let mut gates = Buffer::any(units.len() * width);
        match &self.gates_by_unit {
            Some(table) => gather(&mut gates, table, units, width),
            None => {
                let bias = Store::Row(self.get("decoder.cell.bias_ih"));
                self.embedding_gates.apply(&mut gates, width, embedded, bias);
            }
        }
        gates
    }

    /// A parameter's values. The architecture's plan guarantees that the names used are there.
    pub fn get(&self, name: &str) -> &'a [f32] {
        self.parameters.get(name)
    }
}
