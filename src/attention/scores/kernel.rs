//! The kernels of Nadaraya and Watson (both 1964) as scores: with energies ln K the softmax is their regression.
//!
//! ```text
//! u_j = ‖q − k_j‖ w            w = 1 / width, which may be learnt
//! e_j = ln K(u_j)              α_j = K(u_j) / Σ_i K(u_i)
//! ```
//!
//! Where no key supports a query, all energies are the same and the softmax makes all weights alike: the query gets the
//! values' mean.

use candle_core::{D, Result, Tensor};

use crate::attention::score::Score;

/// The logarithm of 0, as far as a softmax can tell.
const NO_SUPPORT: f64 = -1e30;

/// A kernel's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelShape {
    /// exp(−½ u²)
    Gaussian,
    /// 1 within a distance of one width, else 0
    Boxcar,
    /// max(0, 1 − u), as the lecture notes have it
    Epanechnikov,
    /// 1 everywhere
    Constant,
}

/// A kernel with its width.
pub struct Kernel {
    /// What falls off with the distance.
    pub shape: KernelShape,
    /// w = 1 / width, `[1]`
    pub inverse_width: Tensor,
}

impl Score for Kernel {
    fn energies(&self, queries: &Tensor, keys: &Tensor) -> Result<Tensor> {
        let differences = queries.unsqueeze(2)?.broadcast_sub(&keys.unsqueeze(1)?)?;
        let squares = differences.sqr()?.sum(D::Minus1)?.broadcast_mul(&self.inverse_width.sqr()?)?;
        match self.shape {
            KernelShape::Gaussian => squares * -0.5,
            KernelShape::Boxcar => {
                let inside = squares.le(1.0)?.to_dtype(squares.dtype())?;
                (1.0 - inside)? * NO_SUPPORT
            }
            KernelShape::Epanechnikov => {
                let inside = squares.lt(1.0)?;
                // Outside the root and the logarithm would have no derivative.
                let within = inside.where_cond(&squares, &squares.zeros_like()?)?;
                let falling = (1.0 - (within + 1e-12)?.sqrt()?)?.maximum(1e-12)?.log()?;
                inside.where_cond(&falling, &(squares.zeros_like()? + NO_SUPPORT)?)
            }
            KernelShape::Constant => squares.zeros_like(),
        }
    }
}
