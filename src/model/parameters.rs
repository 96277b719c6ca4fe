//! The model's sizes, and its parameters by PyTorch's names and layouts.

use std::collections::BTreeMap;

use candle_core::{Device, Result, Shape, Tensor, Var, bail};
use serde::{Deserialize, Serialize};

use crate::kernels::gru::GruWeights;
use crate::kernels::values::all_finite;
use crate::random::Stream;

/// What the decoder's first state is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InitialState {
    /// The mean of all annotations.
    Mean,
    /// The backward encoder's state at the first word, as in the paper's appendix A.2.2.
    BackwardFirst,
}

/// Everything that decides the shapes of the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Architecture {
    /// Source units.
    pub source_vocabulary: usize,
    /// Target units.
    pub target_vocabulary: usize,
    /// Dimension of both embeddings and of the readout.
    pub embedding_size: usize,
    /// n: the decoder's state and the annotations; each encoder direction has n/2.
    pub hidden_size: usize,
    /// Dimension in which queries and keys are compared.
    pub attention_size: usize,
    /// Encoder layers.
    pub layers: usize,
    /// Whether the output layer's matrix is the target embedding.
    pub tied_output: bool,
    /// Source of the decoder's first state.
    pub initial_state: InitialState,
}

/// How a parameter begins.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Start {
    Zero,
    /// Normal with this standard deviation.
    Normal(f64),
    /// Uniform within ±√(6 / (rows + columns)), each block of `rows` by itself (Glorot & Bengio 2010).
    Glorot,
    /// Orthogonal, each square block by itself (Saxe et al. 2014): a recurrence that neither fades nor explodes.
    Orthogonal,
}

impl Architecture {
    /// Every parameter's name, shape and start, in a fixed order.
    fn plan(&self) -> Vec<(String, Vec<usize>, Start)> {
        let Self { embedding_size: e, hidden_size: n, attention_size: a, .. } = *self;
        let half = n / 2;
        let spread = Start::Normal((e as f64).powf(-0.5));
        let mut plan = vec![("source_embedding.weight".to_owned(), vec![self.source_vocabulary, e], spread)];
        let mut add = |name: &str, shape: &[usize], start| plan.push((name.to_owned(), shape.to_vec(), start));
        add("target_embedding.weight", &[self.target_vocabulary, e], spread);
        for layer in 0..self.layers {
            let input = if layer == 0 { e } else { n };
            for direction in ["", "_reverse"] {
                let name = |part: &str| format!("encoder.{part}_l{layer}{direction}");
                add(&name("weight_ih"), &[3 * half, input], Start::Glorot);
                add(&name("weight_hh"), &[3 * half, half], Start::Orthogonal);
                add(&name("bias_ih"), &[3 * half], Start::Zero);
                add(&name("bias_hh"), &[3 * half], Start::Zero);
            }
        }
        let summary = match self.initial_state {
            InitialState::Mean => n,
            InitialState::BackwardFirst => half,
        };
        add("decoder.initial.weight", &[n, summary], Start::Glorot);
        add("decoder.initial.bias", &[n], Start::Zero);
        add("attention.query.weight", &[a, n], Start::Glorot);
        add("attention.key.weight", &[a, n], Start::Glorot);
        add("attention.energy.weight", &[1, a], Start::Glorot);
        add("decoder.cell.weight_ih", &[3 * n, e + n], Start::Glorot);
        add("decoder.cell.weight_hh", &[3 * n, n], Start::Orthogonal);
        add("decoder.cell.bias_ih", &[3 * n], Start::Zero);
        add("decoder.cell.bias_hh", &[3 * n], Start::Zero);
        add("readout.weight", &[e, n + e + n], Start::Glorot);
        add("readout.bias", &[e], Start::Zero);
        if !self.tied_output {
            add("output.weight", &[self.target_vocabulary, e], spread);
        }
        add("output.bias", &[self.target_vocabulary], Start::Zero);
        plan
    }

    /// How many numbers the parameters hold in all.
    pub fn parameter_count(&self) -> usize {
        self.plan().iter().map(|(_, shape, _)| shape.iter().product::<usize>()).sum()
    }
}

/// The parameters of one model.
#[derive(Clone, Debug)]
pub struct Parameters {
    tensors: BTreeMap<String, Tensor>,
}

impl Parameters {
    /// Draws initial parameters; each from a stream of its own, so that none depends on another's size.
    pub fn initialise(architecture: &Architecture, seed: u64, device: &Device) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for (name, shape, start) in architecture.plan() {
            let values = start.draw(&shape, &mut Stream::new(seed, &name, 0));
            tensors.insert(name, Tensor::from_vec(values, shape, device)?);
        }
        Ok(Self { tensors })
    }

    /// Takes parameters from elsewhere, checking that each is there, has its shape and holds finite numbers.
    ///
    /// # Errors
    /// Names the first parameter that is missing, surplus, misshapen or not finite.
    pub fn from_tensors(architecture: &Architecture, mut found: BTreeMap<String, Tensor>) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for (name, shape, _) in architecture.plan() {
            let Some(tensor) = found.remove(&name) else { bail!("parameter {name} is missing") };
            if tensor.shape() != &Shape::from(shape.clone()) {
                bail!("parameter {name} has shape {:?} where the settings ask for {shape:?}", tensor.dims());
            }
            if !all_finite(&tensor)? {
                bail!("parameter {name} holds numbers that are not finite");
            }
            tensors.insert(name, tensor);
        }
        match found.keys().next() {
            Some(surplus) => bail!("parameter {surplus} does not belong to this model"),
            None => Ok(Self { tensors }),
        }
    }

    /// The same values as variables, whose operations are recorded for back-propagation.
    pub fn tracked(&self) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for (name, tensor) in &self.tensors {
            tensors.insert(name.clone(), Var::from_tensor(tensor)?.into_inner());
        }
        Ok(Self { tensors })
    }

    /// All parameters by name, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Tensor)> {
        self.tensors.iter()
    }

    /// The parameter of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        match self.tensors.get(name) {
            Some(tensor) => Ok(tensor.clone()),
            None => bail!("no parameter {name}"),
        }
    }

    /// The four tensors of a recurrent cell; PyTorch ends the names of an encoder's with layer and direction.
    pub fn gru(&self, prefix: &str, suffix: &str) -> Result<GruWeights> {
        let part = |name: &str| self.get(&format!("{prefix}.{name}{suffix}"));
        Ok(GruWeights {
            weight_ih: part("weight_ih")?,
            weight_hh: part("weight_hh")?,
            bias_ih: part("bias_ih")?,
            bias_hh: part("bias_hh")?,
        })
    }
}

impl Start {
    fn draw(self, shape: &[usize], stream: &mut Stream) -> Vec<f32> {
        let count: usize = shape.iter().product();
        match self {
            Self::Zero => vec![0.0; count],
            Self::Normal(deviation) => (0..count).map(|_| (stream.normal() * deviation) as f32).collect(),
            Self::Glorot => {
                let bound = (6.0 / shape.iter().sum::<usize>() as f64).sqrt();
                (0..count).map(|_| ((2.0 * stream.uniform() - 1.0) * bound) as f32).collect()
            }
            Self::Orthogonal => {
                let size = shape[1];
                (0..shape[0] / size).flat_map(|_| orthogonal(size, stream)).collect()
            }
        }
    }
}

/// A random orthogonal matrix `[size × size]`: normal rows, made orthonormal one after another (Gram & Schmidt).
fn orthogonal(size: usize, stream: &mut Stream) -> Vec<f32> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(size);
    while rows.len() < size {
        let mut row: Vec<f64> = (0..size).map(|_| stream.normal()).collect();
        // Twice, because once leaves rounding errors behind.
        for _ in 0..2 {
            for earlier in &rows {
                let overlap: f64 = row.iter().zip(earlier).map(|(a, b)| a * b).sum();
                row.iter_mut().zip(earlier).for_each(|(a, b)| *a -= overlap * b);
            }
        }
        let norm = row.iter().map(|a| a * a).sum::<f64>().sqrt();
        if norm > 1e-6 {
            row.iter_mut().for_each(|a| *a /= norm);
            rows.push(row);
        }
    }
    rows.concat().into_iter().map(|value| value as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orthogonal_rows_are_orthonormal() {
        let size = 17;
        let matrix = orthogonal(size, &mut Stream::new(1, "test", 0));
        for a in 0..size {
            for b in 0..size {
                let dot: f32 = (0..size).map(|k| matrix[a * size + k] * matrix[b * size + k]).sum();
                assert!((dot - if a == b { 1.0 } else { 0.0 }).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn foreign_parameters_are_named() {
        let architecture = Architecture {
            source_vocabulary: 7,
            target_vocabulary: 6,
            embedding_size: 4,
            hidden_size: 4,
            attention_size: 3,
            layers: 1,
            tied_output: true,
            initial_state: InitialState::Mean,
        };
        let parameters = Parameters::initialise(&architecture, 1, &Device::Cpu).unwrap();
        let count: usize = parameters.iter().map(|(_, tensor)| tensor.elem_count()).sum();
        assert_eq!(count, architecture.parameter_count());
        let attempt = |change: &dyn Fn(&mut BTreeMap<String, Tensor>)| {
            let mut tensors = parameters.tensors.clone();
            change(&mut tensors);
            Parameters::from_tensors(&architecture, tensors).map(|_| ()).map_err(|error| error.to_string())
        };
        attempt(&|_| {}).unwrap();
        let tensor = |value: f32| Tensor::full(value, (1, 3), &Device::Cpu).unwrap();
        let name = "attention.energy.weight".to_owned();
        assert!(attempt(&|map| drop(map.remove(&name))).unwrap_err().contains("energy.weight is missing"));
        assert!(attempt(&|map| drop(map.insert(name.clone(), tensor(f32::NAN)))).unwrap_err().contains("not finite"));
        assert!(attempt(&|map| drop(map.insert("x".into(), tensor(0.0)))).unwrap_err().contains("does not belong"));
        let misshapen = attempt(&|map| drop(map.insert("readout.bias".into(), tensor(0.0)))).unwrap_err();
        assert!(misshapen.contains("[1, 3] where the settings ask for [4]"), "{misshapen}");
    }
}
