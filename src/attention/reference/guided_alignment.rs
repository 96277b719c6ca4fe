//! GuidedTape alignment (Chen, Matusov, Khadivi & Peter 2016, "GuidedTape Alignment Training for Topic-Aware Neural Machine
//! Translation"): a loss that pulls attention toward given alignment links.
//!
//! A link gives the weight w_j that a target unit should have on source unit j. With N heads their mean is guided:
//!
//! ```text
//! loss = −Σ_j w_j log ᾱ_j            ᾱ = Σ_h α_h / N
//! ```

use candle_core::{Result, Tensor};

use crate::text::Look;

/// Weights below this are taken for it in a guide's logarithm.
pub(in crate::attention) const MIN_MEAN_WEIGHT: f32 = 1e-10;

/// The loss over the looks of each row of a batch, for mean weights `[target length, batch, source length]`.
pub fn guided_alignment_loss(alphas: &Tensor, guides: &[Vec<Look>]) -> Result<Tensor> {
    let (length, size, sources) = alphas.dims3()?;
    let mut looks = vec![0f32; length * size * sources];
    for (row, guide) in guides.iter().enumerate() {
        for look in guide {
            looks[(look.target as usize * size + row) * sources + look.source as usize] -= look.weight;
        }
    }
    let looks = Tensor::from_vec(looks, alphas.shape(), alphas.device())?;
    (alphas.maximum(f64::from(MIN_MEAN_WEIGHT))?.log()? * looks)?.sum_all()
}
