//! Parameters as slices and as packed matrices while a batch runs.

use candle_core::Result;
use rayon::prelude::*;

use crate::attention::cpu as attention;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::embedding::gather_forward;
use crate::kernels::matrix::{Matrix, PackedWeight, WriteMode};
use crate::model::architecture::encoder_cell_param;
use crate::model::architecture::{context_cell_param, word_cell_param};
use crate::model::view::ModelView;
use crate::model::{Architecture, DecoderKind, UnitLexicon};
use crate::parameters::{ParameterViews, Parameters};

/// Numbers in a table of gates, at most: 128 MiB.
const MAX_TABLE: usize = 1 << 25;
/// Rows of it that one thread makes at a time.
const TABLE_ROWS: usize = 256;

/// What the weights are wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackingMode {
    /// Forward passes alone.
    Inference,
    /// The same over so many rows that the target embeddings' share of the gates is worth a table.
    LongInference,
    /// Derivatives as well.
    Training,
}

/// The weights of a recurrent cell of state size h.
pub struct CellWeights<'a> {
    /// W_ih: `[3h, input]`
    pub input: PackedWeight,
    /// W_hh: `[3h, h]`
    pub state: PackedWeight,
    /// b_ih
    pub bias_ih: &'a [f32],
    /// b_hh
    pub bias_hh: &'a [f32],
}

/// How the context enters the decoder's state.
pub enum PackedContextInput<'a> {
    /// With the word, by these columns of the cell's W_ih.
    Gates(PackedWeight),
    /// After the word, by a cell of its own.
    Cell(CellWeights<'a>),
}

/// The parameters of the model.
pub struct PackedModel<'a> {
    /// The model's sizes.
    pub architecture: &'a Architecture,
    /// Translations that are known beforehand.
    pub lexicon: Option<&'a UnitLexicon>,
    parameters: ParameterViews<'a>,
    /// Both directions of each layer.
    pub encoder: Vec<[CellWeights<'a>; 2]>,
    /// W_init
    pub initial: PackedWeight,
    /// What attention has.
    pub attention: attention::PackedAttention<'a>,
    /// The decoder's cell that takes in the word; its input is the embedding alone
    pub word_cell: CellWeights<'a>,
    /// How the context enters the state
    pub context: PackedContextInput<'a>,
    /// W_r
    pub readout: PackedWeight,
    /// E_out
    pub output: PackedWeight,
    /// The embeddings' share of the gates for every target unit, `[V, 3n]`, where it pays
    gate_table: Option<Buffer>,
}

/// Lends the parameters to `work`.
///
/// # Errors
/// A parameter does not lie on the CPU as one block of f32.
pub fn with_packed<R>(model: ModelView, mode: PackingMode, work: impl FnOnce(&PackedModel) -> Result<R>) -> Result<R> {
    with_all_packed(&[model], mode, |weights| work(&weights[0]))
}

/// The same for several models.
///
/// # Errors
/// Those of any of them.
pub fn with_all_packed<R>(
    models: &[ModelView],
    mode: PackingMode,
    work: impl FnOnce(&[PackedModel]) -> Result<R>,
) -> Result<R> {
    let parameters: Vec<&Parameters> = models.iter().map(|model| model.parameters).collect();
    Parameters::with_views(&parameters, |slices| {
        let mut weights = Vec::with_capacity(models.len());
        for (&ModelView { architecture, lexicon, .. }, slices) in models.iter().zip(slices) {
            weights.push(PackedModel { lexicon, ..PackedModel::new(architecture, slices.clone(), mode) });
        }
        work(&weights)
    })
}

impl<'a> CellWeights<'a> {
    /// Lays out a cell, whose parts `name` names, with those columns of W_ih that `columns` picks.
    fn new(
        parameters: &ParameterViews<'a>,
        name: impl Fn(&str) -> String,
        columns: impl FnOnce(Matrix<'a>) -> Matrix<'a>,
        derivatives: bool,
    ) -> Self {
        let [input, state] = ["weight_ih", "weight_hh"].map(|part| parameters.matrix(&name(part)));
        let [input, state] = PackedWeight::pack_all([columns(input), state], derivatives);
        let [bias_ih, bias_hh] = ["bias_ih", "bias_hh"].map(|part| parameters.get(&name(part)));
        Self { input, state, bias_ih, bias_hh }
    }
}

impl<'a> PackedModel<'a> {
    fn new(architecture: &'a Architecture, parameters: ParameterViews<'a>, mode: PackingMode) -> Self {
        let (e, n) = (architecture.embedding_size, architecture.hidden_size);
        let derivatives = mode == PackingMode::Training;
        let [output, initial, readout] = PackedWeight::pack_all(
            [
                parameters.matrix(architecture.output_weight()),
                parameters.matrix("decoder.initial.weight"),
                parameters.matrix("readout.weight"),
            ],
            derivatives,
        );
        let encoder_cell = |layer: usize, direction: usize| {
            let name = |part: &str| encoder_cell_param(part, layer, direction);
            CellWeights::new(&parameters, name, |input| input, derivatives)
        };
        let encoder = (0..architecture.layers).map(|layer| [0, 1].map(|direction| encoder_cell(layer, direction)));
        let encoder = encoder.collect();
        // The embedding's columns come first, and are all where the context has a cell of its own.
        let word_cell = CellWeights::new(&parameters, word_cell_param, |input| input.columns(0, e), derivatives);
        let context = match architecture.decoder {
            DecoderKind::Bahdanau => {
                let input = parameters.matrix(&word_cell_param("weight_ih"));
                PackedContextInput::Gates(PackedWeight::new(input.columns(e, n), derivatives))
            }
            DecoderKind::Conditional => {
                PackedContextInput::Cell(CellWeights::new(&parameters, context_cell_param, |input| input, derivatives))
            }
        };
        let dimensions = architecture.dimensions();
        let mut weights = Self {
            architecture,
            lexicon: None,
            encoder,
            attention: attention::PackedAttention::new(&architecture.attention, dimensions, &parameters, derivatives),
            initial,
            word_cell,
            context,
            readout,
            output,
            gate_table: None,
            parameters,
        };
        if mode == PackingMode::LongInference {
            weights.gate_table = weights.build_gate_table();
        }
        weights
    }

    fn build_gate_table(&self) -> Option<Buffer> {
        let Architecture { target_vocabulary: units, embedding_size: e, hidden_size: n, .. } = *self.architecture;
        if units * 3 * n > MAX_TABLE {
            return None;
        }
        let mut table = Buffer::scratch(units * 3 * n);
        let embeddings = self.get("target_embedding.weight").par_chunks(TABLE_ROWS * e);
        table.par_chunks_mut(TABLE_ROWS * 3 * n).zip(embeddings).for_each(|(gates, embedded)| {
            self.word_cell.input.forward(gates, 3 * n, embedded, WriteMode::AddBias(self.word_cell.bias_ih));
        });
        Some(table)
    }

    /// The last words' share of the decoder's gates, by units: `[rows, 3n]`.
    pub fn input_gates(&self, units: &[u32], embedded: &[f32]) -> Buffer {
        let width = 3 * self.architecture.hidden_size;
        let mut gates = Buffer::scratch(units.len() * width);
        match &self.gate_table {
            Some(table) => gather_forward(&mut gates, table, units, width),
            None => {
                self.word_cell.input.forward(&mut gates, width, embedded, WriteMode::AddBias(self.word_cell.bias_ih));
            }
        }
        gates
    }

    /// A parameter's values. The architecture's plan guarantees that the names used are there.
    pub fn get(&self, name: &str) -> &'a [f32] {
        self.parameters.get(name)
    }
}
