//! Choice of the precision of products.

use serde::{Deserialize, Serialize};

use crate::kernels::matrix::{Precision, bf16_instructions};

/// Precision of matrix products on the CPU.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum PrecisionOption {
    /// bf16 on a CPU with instructions for it (AMX or AVX512-BF16), else f32.
    Auto,
    /// Single precision.
    #[default]
    F32,
    /// Factors rounded to 8 bits, with f32 sums; slower than f32 on a CPU without such instructions.
    Bf16,
}

impl PrecisionOption {
    /// Returns the precision on a CPU or GPU.
    ///
    /// # Errors
    /// bf16 is required on a GPU.
    pub fn resolve(self, is_cpu: bool) -> Result<Precision, &'static str> {
        match self {
            Self::Bf16 if !is_cpu => Err("--precision bf16 needs the CPU: a GPU computes in f32"),
            Self::Bf16 => Ok(Precision::Bf16),
            Self::Auto if is_cpu && bf16_instructions().is_some() => Ok(Precision::Bf16),
            Self::Auto | Self::F32 => Ok(Precision::F32),
        }
    }
}

impl From<Precision> for PrecisionOption {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::F32,
            Precision::Bf16 => Self::Bf16,
        }
    }
}
