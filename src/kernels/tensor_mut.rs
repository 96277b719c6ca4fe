//! In-place access to the values of a tensor on the CPU.

use std::cell::RefCell;

use candle_core::{CpuStorage, InplaceOp1, Layout, Result, Storage, Tensor, bail};

/// Passes a tensor's values to `work` for modification in place.
///
/// # Errors
/// The tensor is not a contiguous f32 tensor on the CPU, or `work` fails.
pub fn with_slice_mut<F: FnOnce(&mut [f32]) -> Result<()>>(tensor: &Tensor, work: F) -> Result<()> {
    tensor.inplace_op1(&InPlace(RefCell::new(Some(work))))
}

/// Returns true if an f32 tensor has neither infinities nor NaN.
pub fn all_finite(tensor: &Tensor) -> Result<bool> {
    let (storage, layout) = tensor.storage_and_layout();
    match (&*storage, layout.contiguous_offsets()) {
        (Storage::Cpu(CpuStorage::F32(values)), Some((start, end))) => Ok(are_finite(&values[start..end])),
        _ => Ok(are_finite(&tensor.flatten_all()?.to_vec1()?)),
    }
}

fn are_finite(values: &[f32]) -> bool {
    values.chunks(4096).all(|part| part.iter().fold(true, |all, x| all & x.is_finite()))
}

struct InPlace<F>(RefCell<Option<F>>);

impl<F: FnOnce(&mut [f32]) -> Result<()>> InplaceOp1 for InPlace<F> {
    fn name(&self) -> &'static str {
        "in place"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        match (storage, layout.contiguous_offsets(), self.0.take()) {
            (CpuStorage::F32(values), Some((start, end)), Some(work)) => work(&mut values[start..end]),
            _ => bail!("the tensor is not a contiguous f32 tensor on the CPU"),
        }
    }
}
