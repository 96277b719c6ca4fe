//! Parameters packed for products while a batch runs.

use std::sync::{Arc, OnceLock};

use candle_core::Result;
use rayon::prelude::*;

use super::cell::CellWeights;
use super::packer::Packer;
use super::unlisted::UnlistedOutput;
use crate::attention::cpu as attention;
use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::embedding::gather_forward;
use crate::kernels::matrix::{MatrixView, PackedWeight, Precision};
use crate::model::architecture::{context_cell_param, encoder_cell_param, word_cell_param};
use crate::model::view::ModelView;
use crate::model::{Architecture, DecoderKind, FREQUENT_TOKENS, TokenLexicon};
use crate::parameters::{ParameterViews, Parameters};

/// Maximum size of a gate table: 128 MiB.
const MAX_TABLE: usize = 1 << 25;
/// Rows of a gate table per rayon task.
const TABLE_ROWS: usize = 256;

/// Use that weights are packed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackingMode {
    /// Forward passes.
    Inference,
    /// Forward passes over so many rows that a table of the target embeddings' share of the gates pays off.
    LongInference,
    /// Forward and backward passes.
    Training,
}

/// Path of the context into the decoder's state.
pub enum PackedContextInput<'a> {
    /// Consumed with the word, by these columns of the cell's W_ih.
    Gates(Arc<PackedWeight>),
    /// Consumed after the word, by a cell of its own.
    Cell(CellWeights<'a>),
}

/// Packed parameters of the model.
pub struct PackedModel<'a> {
    /// Sizes and variants.
    pub architecture: &'a Architecture,
    /// Lexicon that biases the output, if any.
    pub lexicon: Option<&'a TokenLexicon>,
    /// Precision of products
    pub precision: Precision,
    parameters: ParameterViews<'a>,
    /// Cells of each encoder layer: forward and backward in the sentence.
    pub encoder: Vec<[CellWeights<'a>; 2]>,
    /// W_init
    pub initial: Arc<PackedWeight>,
    /// Attention's parameters.
    pub attention: attention::PackedAttention<'a>,
    /// Decoder's cell that consumes the word, with the embedding's columns of W_ih only
    pub word_cell: CellWeights<'a>,
    /// Path of the context into the state
    pub context: PackedContextInput<'a>,
    /// W_r
    pub readout: Arc<PackedWeight>,
    /// E_out, packed when it is first used, since posterior attention does not need it.
    output: OnceLock<Arc<PackedWeight>>,
    /// First [`FREQUENT_TOKENS`] rows of E_out, which all shortlists have.
    frequent_output: OnceLock<Arc<PackedWeight>>,
    unlisted_output: OnceLock<Arc<UnlistedOutput>>,
    /// Embeddings' share of the gates for every target token, `[V, gates]`, under [`PackingMode::LongInference`]
    gate_table: Option<Buffer>,
}

/// Packs a model's parameters and passes them to `work`.
///
/// # Errors
/// A parameter is not a contiguous f32 tensor on the CPU, or `work` fails.
pub fn with_packed<R>(model: ModelView, mode: PackingMode, work: impl FnOnce(&PackedModel) -> Result<R>) -> Result<R> {
    with_all_packed(&[model], mode, |packed| work(&packed[0]))
}

/// [`with_packed`] for several models.
///
/// # Errors
/// As [`with_packed`].
pub fn with_all_packed<R>(
    models: &[ModelView],
    mode: PackingMode,
    work: impl FnOnce(&[PackedModel]) -> Result<R>,
) -> Result<R> {
    let parameters: Vec<&Parameters> = models.iter().map(|model| model.parameters).collect();
    Parameters::with_views(&parameters, |slices| {
        let mut packed = Vec::with_capacity(models.len());
        for (&model, slices) in models.iter().zip(slices) {
            packed.push(PackedModel::new(model, slices.clone(), mode));
        }
        work(&packed)
    })
}

impl<'a> PackedModel<'a> {
    fn new(model: ModelView<'a>, parameters: ParameterViews<'a>, mode: PackingMode) -> Self {
        let ModelView { architecture, lexicon, precision, .. } = model;
        let (e, n) = (architecture.embedding_size, architecture.hidden_size);
        let derivatives = mode == PackingMode::Training;
        let packer = Packer { parameters: &parameters, precision, derivatives };
        let (initial, readout) =
            rayon::join(|| packer.matrix("decoder.initial.weight"), || packer.matrix("readout.weight"));
        let output = OnceLock::new();
        if derivatives {
            output.get_or_init(|| packer.matrix(architecture.output_weight()));
        }
        let mut encoder = Vec::with_capacity(architecture.layers);
        for layer in 0..architecture.layers {
            encoder.push([0, 1].map(|direction| {
                CellWeights::new(packer, &|part: &str| encoder_cell_param(part, layer, direction), None)
            }));
        }
        // The embedding's columns come first; they are all columns if the context has a cell of its own.
        let word_cell = CellWeights::new(packer, &word_cell_param, Some(e));
        let context = match architecture.decoder {
            DecoderKind::Bahdanau => PackedContextInput::Gates(packer.columns(&word_cell_param("weight_ih"), e..e + n)),
            DecoderKind::Conditional => PackedContextInput::Cell(CellWeights::new(packer, &context_cell_param, None)),
        };
        let (settings, dimensions) = (&architecture.attention, architecture.dimensions());
        let attention = attention::PackedAttention::new(settings, dimensions, &parameters, precision, derivatives);
        let mut packed = Self {
            architecture,
            lexicon,
            precision,
            encoder,
            attention,
            initial,
            word_cell,
            context,
            readout,
            output,
            frequent_output: OnceLock::new(),
            unlisted_output: OnceLock::new(),
            gate_table: None,
            parameters,
        };
        if mode == PackingMode::LongInference {
            packed.gate_table = packed.build_gate_table();
        }
        packed
    }

    fn build_gate_table(&self) -> Option<Buffer> {
        let Architecture { target_vocabulary: tokens, embedding_size: e, .. } = *self.architecture;
        let gate_size = self.word_cell.gate_size();
        if tokens * gate_size > MAX_TABLE {
            return None;
        }
        let mut table = Buffer::scratch(tokens * gate_size);
        let embeddings = self.get("target_embedding.weight").par_chunks(TABLE_ROWS * e);
        let rows = table.par_chunks_mut(TABLE_ROWS * gate_size).zip(embeddings);
        rows.for_each(|(gates, embedded)| self.word_cell.input_gates(embedded, gates));
        Some(table)
    }

    /// E_out
    pub fn output(&self) -> &PackedWeight {
        self.output.get_or_init(|| self.parameters.pack(self.architecture.output_weight(), self.precision, false))
    }

    /// Packs the rows of E_out for some tokens.
    pub fn output_of_tokens(&self, tokens: &[u32]) -> PackedWeight {
        let e = self.architecture.embedding_size;
        let mut rows = Buffer::scratch(tokens.len() * e);
        gather_forward(&mut rows, self.get(self.architecture.output_weight()), tokens, e);
        self.pack(MatrixView::rows_of(&rows, e))
    }

    /// Packs a matrix for forward passes.
    fn pack(&self, weight: MatrixView) -> PackedWeight {
        PackedWeight::new(weight, self.precision, false)
    }

    /// First [`FREQUENT_TOKENS`] rows of E_out
    pub fn frequent_output(&self) -> &PackedWeight {
        let e = self.architecture.embedding_size;
        self.frequent_output.get_or_init(|| {
            self.parameters.derived(format_args!("frequent rows of the output layer, {:?}", self.precision), || {
                let rows = &self.get(self.architecture.output_weight())[..FREQUENT_TOKENS as usize * e];
                self.pack(MatrixView::rows_of(rows, e))
            })
        })
    }

    /// Logits of the tokens that a shortlist leaves out, together.
    pub fn unlisted_output(&self) -> &UnlistedOutput {
        self.unlisted_output.get_or_init(|| {
            self.parameters.derived("logits of unlisted tokens", || {
                UnlistedOutput::new(self.get(self.architecture.output_weight()), self.get("output.bias"))
            })
        })
    }

    /// Previous words' share of the gates of the decoder's cell that consumes them: `[rows, gates]`.
    pub fn input_gates(&self, tokens: &[u32], embedded: &[f32]) -> Buffer {
        let gate_size = self.word_cell.gate_size();
        let mut gates = Buffer::scratch(tokens.len() * gate_size);
        match &self.gate_table {
            Some(table) => gather_forward(&mut gates, table, tokens, gate_size),
            None => self.word_cell.input_gates(embedded, &mut gates),
        }
        gates
    }

    /// Returns a parameter's values. The name must be in the architecture's parameter spec.
    pub fn get(&self, name: &str) -> &'a [f32] {
        self.parameters.get(name)
    }
}
