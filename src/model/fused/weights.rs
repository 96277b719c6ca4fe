//! Parameters as slices while a batch runs, and gradients of the same shapes.

use std::collections::BTreeMap;

use candle_core::{CpuStorage, Result, Storage, bail};

use super::super::{Architecture, Parameters};

/// The parameters' values by name.
pub struct Weights<'a> {
    /// The model's sizes.
    pub architecture: &'a Architecture,
    slices: BTreeMap<&'a str, &'a [f32]>,
    /// [W_q ; W_hh] of the decoder, `[a + 3n, n]`: what a step asks of the state, in one product.
    pub query_and_state_gates: Vec<f32>,
}

/// Lends the parameters to `work`.
///
/// # Errors
/// A parameter does not lie on the CPU as one block of f32.
pub fn with<R>(
    architecture: &Architecture,
    parameters: &Parameters,
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
    let query_and_state_gates = [slices["attention.query.weight"], slices["decoder.cell.weight_hh"]].concat();
    work(&Weights { architecture, slices, query_and_state_gates })
}

impl<'a> Weights<'a> {
    /// A parameter's values. The architecture's plan guarantees that the names used are there.
    pub fn get(&self, name: &str) -> &'a [f32] {
        self.slices[name]
    }

    /// The output layer's matrix by name: its own, or the target embedding.
    pub fn output_name(&self) -> &'static str {
        if self.architecture.tied_output { "target_embedding.weight" } else { "output.weight" }
    }
}

/// Gradients of one part of a batch.
pub struct PartGradients<'a> {
    values: BTreeMap<&'a str, Vec<f32>>,
}

impl<'a> PartGradients<'a> {
    /// All zero.
    pub fn zeros(weights: &Weights<'a>) -> Self {
        Self { values: weights.slices.iter().map(|(name, slice)| (*name, vec![0.0; slice.len()])).collect() }
    }

    /// One parameter's gradient.
    pub fn get(&self, name: &str) -> &[f32] {
        &self.values[name]
    }

    /// One parameter's gradient, to be added to.
    pub fn of(&mut self, name: &str) -> &mut [f32] {
        self.values.get_mut(name).map_or(&mut [], Vec::as_mut_slice)
    }

    /// All gradients by name.
    pub fn into_map(self) -> BTreeMap<&'a str, Vec<f32>> {
        self.values
    }
}
