//! Guided alignment on slices; the loss is in `reference/guided_alignment.rs`.
//!
//! With r_hj = α_hj / (N ᾱ_j), which is 1 for a single head, and e the energies over the temperature:
//!
//! ```text
//! de_hj = α_hj Σ_i w_i r_hi − w_j r_hj
//! ```

use crate::attention::reference::guided_alignment::MIN_MEAN_WEIGHT;

/// Shape of one row's weights at one step: `[heads, longest]`, of which the first `length` are real positions.
#[derive(Clone, Copy)]
pub(super) struct HeadAlphas {
    pub heads: usize,
    pub length: usize,
    pub longest: usize,
}

impl HeadAlphas {
    /// Returns −w log ᾱ of one link to `position`, and adds `scale` times its derivatives with respect to the energies
    /// over the temperature to `d_energies`.
    pub fn guided_alignment_backward(
        self,
        alphas: &[f32],
        position: usize,
        weight: f32,
        scale: f32,
        d_energies: &mut [f32],
    ) -> f64 {
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
        -f64::from(weight) * f64::from(mean.max(MIN_MEAN_WEIGHT).ln())
    }
}
