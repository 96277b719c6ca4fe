//! The values of a tensor on the CPU, to be changed where they lie.

use std::cell::RefCell;

use candle_core::{CpuStorage, InplaceOp1, Layout, Result, Tensor, bail};

/// Lends a tensor's values to be changed in place.
///
/// # Errors
/// The tensor does not lie on the CPU as one block of f32.
pub fn with_values<F: FnOnce(&mut [f32]) -> Result<()>>(tensor: &Tensor, work: F) -> Result<()> {
    tensor.inplace_op1(&InPlace(RefCell::new(Some(work))))
}

struct InPlace<F>(RefCell<Option<F>>);

impl<F: FnOnce(&mut [f32]) -> Result<()>> InplaceOp1 for InPlace<F> {
    fn name(&self) -> &'static str {
        "in place"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        match (storage, layout.contiguous_offsets(), self.0.take()) {
            (CpuStorage::F32(values), Some((start, end)), Some(work)) => work(&mut values[start..end]),
            _ => bail!("a tensor does not lie on the CPU as one block of f32"),
        }
    }
}
