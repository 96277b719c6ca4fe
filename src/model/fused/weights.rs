//! Parameters as slices and as packed matrices while a batch runs.

use std::array::from_fn;
use std::collections::BTreeMap;

use candle_core::{CpuStorage, Result, Storage, bail};
use rayon::prelude::*;

use super::super::{Architecture, Parameters};
use super::products::gather;
use crate::kernels::buffer::Buffer;
use crate::kernels::matrix::{Into, Matrix, Packed, multiply_packed};

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

/// A weight matrix, laid out for the products that meet it at every step.
#[derive(Default)]
pub struct Linear {
    /// Wᵀ
    forward: Packed,
    /// W, where derivatives are wanted
    backward: Packed,
}

/// The weights of one direction of one encoder layer.
pub struct EncoderCell<'a> {
    /// W_ih: `[3h, input]`
    pub input: Linear,
    /// W_hh: `[3h, h]`
    pub state: Linear,
    /// b_ih
    pub bias_ih: &'a [f32],
    /// b_hh
    pub bias_hh: &'a [f32],
}

/// The parameters of the model.
pub struct Weights<'a> {
    /// The model's sizes.
    pub architecture: &'a Architecture,
    slices: BTreeMap<&'a str, &'a [f32]>,
    /// Both directions of each layer.
    pub encoder: Vec<[EncoderCell<'a>; 2]>,
    /// W_init
    pub initial: Linear,
    /// W_k
    pub key: Linear,
    /// W_q
    pub query: Linear,
    /// The decoder's W_hh
    pub state_gates: Linear,
    /// The columns of the decoder's W_ih that the embedding meets
    pub embedding_gates: Linear,
    /// Those that the context meets
    pub context_gates: Linear,
    /// W_r
    pub readout: Linear,
    /// E_out
    pub output: Linear,
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
    let mut guards = Vec::new();
    for (name, tensor) in parameters.iter() {
        guards.push((name.as_str(), tensor.storage_and_layout()));
    }
    let mut slices = BTreeMap::new();
    for (name, (storage, layout)) in &guards {
        match (&**storage, layout.contiguous_offsets()) {
            (Storage::Cpu(CpuStorage::F32(values)), Some((start, end))) => slices.insert(*name, &values[start..end]),
            _ => bail!("parameter {name} does not lie on the CPU as one block of f32"),
        };
    }
    work(&Weights::new(architecture, slices, purpose))
}

impl<'a> Weights<'a> {
    fn new(architecture: &'a Architecture, slices: BTreeMap<&'a str, &'a [f32]>, purpose: Purpose) -> Self {
        let (a, e, n) = (architecture.attention_size, architecture.embedding_size, architecture.hidden_size);
        let by_rows = |name: &str, rows: usize| Matrix::new(slices[name], rows, slices[name].len() / rows);
        let gates = by_rows("decoder.cell.weight_ih", 3 * n);
        let [output, query, state_gates, initial, key, embedding_gates, context_gates, readout] = pack(
            [
                by_rows(output_name(architecture), architecture.target_vocabulary),
                by_rows("attention.query.weight", a),
                by_rows("decoder.cell.weight_hh", 3 * n),
                by_rows("decoder.initial.weight", n),
                by_rows("attention.key.weight", a),
                gates.columns(0, e),
                gates.columns(e, n),
                by_rows("readout.weight", e),
            ],
            purpose,
        );
        let cell = |suffix: String| {
            let part = |name: &str| format!("encoder.{name}{suffix}");
            let matrices = ["weight_ih", "weight_hh"].map(|name| by_rows(&part(name), 3 * n / 2));
            let [input, state] = pack(matrices, purpose);
            EncoderCell { input, state, bias_ih: slices[&*part("bias_ih")], bias_hh: slices[&*part("bias_hh")] }
        };
        let layer = |layer: usize| [0, 1].map(|direction| cell(encoder_suffix(layer, direction)));
        let encoder = (0..architecture.layers).map(layer).collect();
        let mut weights = Self {
            architecture,
            encoder,
            initial,
            key,
            query,
            state_gates,
            embedding_gates,
            context_gates,
            readout,
            output,
            gates_by_unit: None,
            slices,
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
            self.embedding_gates.apply(gates, 3 * n, embedded, Into::Row(self.get("decoder.cell.bias_ih")));
        });
        Some(table)
    }

    /// The last words' share of the decoder's gates, by units: `[rows, 3n]`.
    pub fn gates_of_units(&self, gates: &mut [f32], units: &[u32], embedded: &[f32]) {
        let width = 3 * self.architecture.hidden_size;
        match &self.gates_by_unit {
            Some(table) => gather(gates, table, units, width),
            None => self.embedding_gates.apply(gates, width, embedded, Into::Row(self.get("decoder.cell.bias_ih"))),
        }
    }

    /// A parameter's values. The architecture's plan guarantees that the names used are there.
    pub fn get(&self, name: &str) -> &'a [f32] {
        self.slices[name]
    }
}

/// What the names of an encoder cell's parameters end with.
pub fn encoder_suffix(layer: usize, direction: usize) -> String {
    format!("_l{layer}{}", ["", "_reverse"][direction])
}

/// The output layer's matrix by name: its own, or the target embedding.
pub fn output_name(architecture: &Architecture) -> &'static str {
    if architecture.tied_output { "target_embedding.weight" } else { "output.weight" }
}

fn pack<const COUNT: usize>(matrices: [Matrix; COUNT], purpose: Purpose) -> [Linear; COUNT] {
    let mut linears = from_fn(|_| Linear::default());
    linears.par_iter_mut().zip(matrices).for_each(|(linear, matrix): (&mut Linear, Matrix)| {
        *linear = Linear::new(matrix, purpose);
    });
    linears
}

impl Linear {
    fn new(weight: Matrix, purpose: Purpose) -> Self {
        match purpose {
            Purpose::Inference | Purpose::LongInference => {
                Self { forward: Packed::new(weight.t()), backward: Packed::default() }
            }
            Purpose::Training => {
                let (forward, backward) = rayon::join(|| Packed::new(weight.t()), || Packed::new(weight));
                Self { forward, backward }
            }
        }
    }

    /// x Wᵀ of rows x, into rows `stride` apart.
    pub fn apply(&self, out: &mut [f32], stride: usize, x: &[f32], into: Into) {
        multiply_packed(out, stride, Matrix::rows_of(x, self.forward.rows()), &self.forward, into);
    }

    /// dy W: the derivative by x of rows of derivatives by x Wᵀ.
    pub fn apply_back(&self, by_x: &mut [f32], by_y: &[f32], into: Into) {
        let (rows, columns) = (self.backward.rows(), self.backward.columns());
        multiply_packed(by_x, columns, Matrix::rows_of(by_y, rows), &self.backward, into);
    }
}
