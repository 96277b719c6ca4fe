//! Which parameters a model has: names, shapes and starts.

use crate::random::SeededRng;

/// Every parameter of a model, in a fixed order.
#[derive(Clone, Debug, Default)]
pub struct Plan(Vec<Planned>);

/// One parameter to be.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub name: String,
    pub shape: Vec<usize>,
    pub start: Start,
}

/// How a parameter begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// All numbers are this one.
    Constant(f32),
    /// Normal with this standard deviation.
    Normal(f64),
    /// Uniform within ±√(6 / (rows + columns)) of the whole matrix (Glorot & Bengio 2010).
    Glorot,
    /// Orthogonal, each square block by itself (Saxe et al. 2014): a recurrence that neither fades nor explodes.
    Orthogonal,
}

impl Plan {
    /// Plans one parameter.
    pub fn add(&mut self, name: impl Into<String>, shape: &[usize], start: Start) {
        self.0.push(Planned { name: name.into(), shape: shape.to_vec(), start });
    }

    /// Plans W `[outputs, inputs]` and b of `x Wᵀ + b`, as `name.weight` and `name.bias`.
    pub fn linear(&mut self, name: &str, outputs: usize, inputs: usize) {
        self.add(format!("{name}.weight"), &[outputs, inputs], Start::Glorot);
        self.add(format!("{name}.bias"), &[outputs], Start::Constant(0.0));
    }

    /// Plans a recurrent cell of state size `state`; `name` makes the name of each part, such as `weight_ih`.
    pub fn gru(&mut self, name: impl Fn(&str) -> String, inputs: usize, state: usize) {
        self.add(name("weight_ih"), &[3 * state, inputs], Start::Glorot);
        self.add(name("weight_hh"), &[3 * state, state], Start::Orthogonal);
        self.add(name("bias_ih"), &[3 * state], Start::Constant(0.0));
        self.add(name("bias_hh"), &[3 * state], Start::Constant(0.0));
    }

    /// How many numbers the parameters hold in all.
    pub fn count(&self) -> usize {
        self.0.iter().map(|planned| planned.shape.iter().product::<usize>()).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Planned> {
        self.0.iter()
    }
}

impl Start {
    pub(super) fn draw(self, shape: &[usize], stream: &mut SeededRng) -> Vec<f32> {
        let count: usize = shape.iter().product();
        match self {
            Self::Constant(value) => vec![value; count],
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
fn orthogonal(size: usize, stream: &mut SeededRng) -> Vec<f32> {
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
        let matrix = orthogonal(size, &mut SeededRng::new(1, "test", 0));
        for a in 0..size {
            for b in 0..size {
                let dot: f32 = (0..size).map(|k| matrix[a * size + k] * matrix[b * size + k]).sum();
                assert!((dot - if a == b { 1.0 } else { 0.0 }).abs() < 1e-5);
            }
        }
    }
}
