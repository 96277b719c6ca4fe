//! Specification of a model's parameters: names, shapes and initialization.

use crate::random::SeededRng;

/// All parameters of a model, in a fixed order.
#[derive(Clone, Debug, Default)]
pub struct ParameterSpec(Vec<ParameterEntry>);

/// Specification of one parameter.
#[derive(Clone, Debug)]
pub(super) struct ParameterEntry {
    pub name: String,
    pub shape: Vec<usize>,
    pub init: Init,
}

/// Initialization of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// All numbers equal this one.
    Constant(f32),
    /// Normal distribution with mean 0 and this standard deviation.
    Normal(f64),
    /// Uniform within ±√(6 / (rows + columns)) of the whole matrix (Glorot & Bengio 2010).
    Glorot,
    /// Orthogonal square blocks (Saxe et al. 2014), against vanishing and exploding gradients in recurrences.
    Orthogonal,
}

impl ParameterSpec {
    /// Adds one parameter.
    pub fn add(&mut self, name: impl Into<String>, shape: &[usize], init: Init) {
        self.0.push(ParameterEntry { name: name.into(), shape: shape.to_vec(), init });
    }

    /// Adds W `[outputs, inputs]` and b of a linear layer, as `name.weight` and `name.bias`.
    pub fn linear(&mut self, name: &str, outputs: usize, inputs: usize) {
        self.add(format!("{name}.weight"), &[outputs, inputs], Init::Glorot);
        self.add(format!("{name}.bias"), &[outputs], Init::Constant(0.0));
    }

    /// Adds a GRU cell of state size `state`; `name` maps PyTorch's parameter names, such as `weight_ih`, to full ones.
    pub fn gru(&mut self, name: impl Fn(&str) -> String, inputs: usize, state: usize) {
        self.add(name("weight_ih"), &[3 * state, inputs], Init::Glorot);
        self.add(name("weight_hh"), &[3 * state, state], Init::Orthogonal);
        self.add(name("bias_ih"), &[3 * state], Init::Constant(0.0));
        self.add(name("bias_hh"), &[3 * state], Init::Constant(0.0));
    }

    /// Total number of values.
    pub fn count(&self) -> usize {
        self.0.iter().map(|entry| entry.shape.iter().product::<usize>()).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ParameterEntry> {
        self.0.iter()
    }
}

impl Init {
    pub(super) fn draw(self, shape: &[usize], rng: &mut SeededRng) -> Vec<f32> {
        let count: usize = shape.iter().product();
        match self {
            Self::Constant(value) => vec![value; count],
            Self::Normal(deviation) => (0..count).map(|_| (rng.normal() * deviation) as f32).collect(),
            Self::Glorot => {
                let bound = (6.0 / shape.iter().sum::<usize>() as f64).sqrt();
                (0..count).map(|_| ((2.0 * rng.uniform() - 1.0) * bound) as f32).collect()
            }
            Self::Orthogonal => {
                let size = shape[1];
                (0..shape[0] / size).flat_map(|_| orthogonal(size, rng)).collect()
            }
        }
    }
}

/// Random orthogonal matrix `[size × size]`: normal rows, orthonormalized by the Gram–Schmidt process.
fn orthogonal(size: usize, rng: &mut SeededRng) -> Vec<f32> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(size);
    while rows.len() < size {
        let mut row: Vec<f64> = (0..size).map(|_| rng.normal()).collect();
        // A second pass removes rounding errors.
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
        let matrix = orthogonal(size, &mut SeededRng::new(1, "test", 0));
        for a in 0..size {
            for b in 0..size {
                let dot: f32 = (0..size).map(|k| matrix[a * size + k] * matrix[b * size + k]).sum();
                assert!((dot - if a == b { 1.0 } else { 0.0 }).abs() < 1e-5);
            }
        }
    }
}
