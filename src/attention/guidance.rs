//! Guides for attention (Chen, Matusov, Khadivi & Peter 2016, "Guided Alignment Training for Topic-Aware Neural Machine
//! Translation").
//!
//! A guide says how much a target unit should look at some source units, w. Over N heads their mean is guided:
//!
//! ```text
//! loss = −Σ_j w_j log ᾱ_j            ᾱ = Σ_h α_h / N
//!
//! with r_hj = α_hj / (N ᾱ_j), which is 1 where there is one head, by head h's energies over the temperature:
//! de_hj = α_hj Σ_i w_i r_hi − w_j r_hj
//! ```

use candle_core::{Result, Tensor};

use crate::text::Look;

/// Weights below this are taken for it in a guide's logarithm.
const LEAST_WEIGHT: f32 = 1e-10;

/// The loss over the looks of each row of a batch, for mean weights `[target length, batch, source length]`.
pub fn guidance(alphas: &Tensor, guides: &[Vec<Look>]) -> Result<Tensor> {
    let (length, size, sources) = alphas.dims3()?;
    let mut looks = vec![0f32; length * size * sources];
    for (row, guide) in guides.iter().enumerate() {
        for look in guide {
            looks[(look.target as usize * size + row) * sources + look.source as usize] -= look.weight;
        }
    }
    let looks = Tensor::from_vec(looks, alphas.shape(), alphas.device())?;
    (alphas.maximum(f64::from(LEAST_WEIGHT))?.log()? * looks)?.sum_all()
}

/// The weights of one step and row: `[heads, longest]`, of which each head has its first `length`.
#[derive(Clone, Copy)]
pub(super) struct Heads {
    pub heads: usize,
    pub length: usize,
    pub longest: usize,
}

impl Heads {
    /// −w log ᾱ of one look at `position`; adds `scale` times its derivatives by the energies over the temperature.
    pub fn guide(self, alphas: &[f32], position: usize, weight: f32, scale: f32, d_energies: &mut [f32]) -> f64 {
        let sum: f32 = (0..self.heads).map(|head| alphas[head * self.longest + position]).sum();
        let mean = sum / self.heads as f32;
        for head in 0..self.heads {
            let alphas = &alphas[head * self.longest..][..self.length];
            let share = if sum > 0.0 { alphas[position] / sum } else { 1.0 / self.heads as f32 };
            let d_energies = &mut d_energies[head * self.longest..][..self.length];
            for (d_energy, alpha) in d_energies.iter_mut().zip(alphas) {
                *d_energy += weight * scale * share * alpha;
            }
            d_energies[position] -= weight * scale * share;
        }
        -f64::from(weight) * f64::from(mean.max(LEAST_WEIGHT).ln())
    }
}
