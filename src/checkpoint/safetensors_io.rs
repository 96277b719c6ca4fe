//! Reading of safetensors files tensor by tensor, without an intermediate copy of the file.

use std::collections::HashMap;
use std::io::Read;

use anyhow::{Context, Result, ensure};
use bytemuck::{Pod, cast_slice_mut};
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};

/// Maximum size of a header in bytes. Ours have some hundred bytes per tensor; parsing takes many times the size.
const MAX_HEADER: u64 = 1 << 20;

/// Header of a safetensors file.
pub struct Header {
    /// Free-form metadata.
    pub metadata: HashMap<String, String>,
    /// Tensors in the order of their data, which follow the header without gaps.
    pub tensors: Vec<(String, TensorInfo)>,
}

impl Header {
    /// Reads the header of a file of `length` bytes and leaves the file at the first tensor's data.
    ///
    /// # Errors
    /// This is not a safetensors file, its length contradicts its header, or a tensor's data do not fit its shape.
    pub fn read(file: &mut impl Read, length: u64) -> Result<Self> {
        let mut size = [0; 8];
        file.read_exact(&mut size)?;
        let size = u64::from_le_bytes(size);
        ensure!(
            size <= MAX_HEADER && size + 8 <= length,
            "header size of {size} bytes exceeds the limit of {MAX_HEADER} or the file size of {length}"
        );
        let mut json = vec![0; size as usize];
        file.read_exact(&mut json)?;
        let header: Metadata = serde_json::from_slice(&json)?;
        let tensors = header.tensors().into_iter().map(|(name, info)| (name, info.clone()));
        let mut tensors: Vec<(String, TensorInfo)> = tensors.collect();
        tensors.sort_by_key(|(_, info)| info.data_offsets);
        let mut end = 0;
        for (name, info) in &tensors {
            let count = info.shape.iter().try_fold(1usize, |count, &size| count.checked_mul(size));
            let bits =
                count.and_then(|count| count.checked_mul(info.dtype.bitsize())).context("a tensor is too large")?;
            ensure!(info.data_offsets == (end, end + bits / 8), "data offsets of tensor {name} do not match its shape");
            end = info.data_offsets.1;
        }
        let expected = size + 8 + end as u64;
        ensure!(expected == length, "file size is {length} bytes, but the header implies {expected}");
        Ok(Self { metadata: header.metadata().clone().unwrap_or_default(), tensors })
    }
}

/// Zeros, and the index from which on `count` of them are in huge pages where Linux offers these. It maps small pages in more
/// time than it reads a file into them.
pub fn zeros_in_huge_pages(count: usize) -> (Vec<f32>, usize) {
    const HUGE_PAGE: usize = 1 << 21;
    const PAGE: usize = 1 << 12;
    // The allocator writes to the first huge page, so none of the values are there. With the page that it adds, the block
    // is a multiple of huge pages, which Linux aligns to them.
    let bytes = HUGE_PAGE + (count * size_of::<f32>() + PAGE).next_multiple_of(HUGE_PAGE) - PAGE;
    let mut values = vec![0f32; bytes / size_of::<f32>()];
    let first = values.as_ptr().align_offset(HUGE_PAGE);
    #[cfg(target_os = "linux")]
    if let Some(part) = values.get_mut(first..) {
        // SAFETY: these are whole pages of the block, and the advice does not change their contents.
        unsafe { libc::madvise(part.as_mut_ptr().cast(), size_of_val(part), libc::MADV_HUGEPAGE) };
    }
    values.truncate(first + count);
    (values, first)
}

/// Reads a one-dimensional array.
///
/// # Errors
/// The array is missing, or has another type or more dimensions.
pub fn array<T: Pod>(file: &SafeTensors, name: &str, dtype: Dtype) -> Result<Vec<T>> {
    let view = file.tensor(name).with_context(|| format!("{name} is missing"))?;
    ensure!(
        view.dtype() == dtype && view.shape().len() == 1,
        "{name} is not a one-dimensional array of type {dtype:?}"
    );
    // Copied, as the bytes may be unaligned.
    let mut values = vec![T::zeroed(); view.data().len() / size_of::<T>()];
    cast_slice_mut(&mut values).copy_from_slice(view.data());
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_have_their_number_at_any_size() {
        for count in [0, 1, (1 << 19) - 1, 1 << 19, (1 << 19) + 1, 3_000_000] {
            let (values, first) = zeros_in_huge_pages(count);
            assert_eq!(values.len(), first + count);
            assert!(values.iter().all(|&value| value == 0.0));
        }
    }
}
