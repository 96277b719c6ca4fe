//! Guided alignment (Chen, Matusov, Khadivi & Peter 2016, "Guided Alignment Training for Topic-Aware Neural Machine
//! Translation"): a loss that pulls attention toward given alignment links.
//!
//! A link gives the weight w_j that a target token should have on source token j. With N heads their mean is guided:
//!
//! ```text
//! loss = −Σ_j w_j log ᾱ_j            ᾱ = Σ_h α_h / N
//! ```

use candle_core::{Result, Tensor};

use crate::text::GuideWeight;

/// Lower bound of ᾱ inside the logarithm.
pub(in crate::attention) const MIN_MEAN_WEIGHT: f32 = 1e-10;

/// Guided alignment loss of a batch for mean weights `[target length, batch, source length]` and each sentence's links.
///
/// # Errors
/// The shapes do not match.
pub fn guided_alignment_loss(alphas: &Tensor, alignment_targets: &[Vec<GuideWeight>]) -> Result<Tensor> {
    let (length, size, sources) = alphas.dims3()?;
    let mut targets = vec![0f32; length * size * sources];
    for (row, links) in alignment_targets.iter().enumerate() {
        for link in links {
            targets[(link.target as usize * size + row) * sources + link.source as usize] -= link.weight;
        }
    }
    // [target length, batch, source length]
    let targets = Tensor::from_vec(targets, alphas.shape(), alphas.device())?;
    (alphas.maximum(f64::from(MIN_MEAN_WEIGHT))?.log()? * targets)?.sum_all()
}
