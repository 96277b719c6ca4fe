//! Reading a safetensors file tensor by tensor, each straight to its place: a model is loaded in the time that its
//! numbers take to arrive.

use std::collections::HashMap;
use std::io::Read;

use anyhow::{Context, Result, ensure};
use bytemuck::{Pod, cast_slice_mut};
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};

/// The longest header that is believed: ours have some hundred bytes a tensor, and reading one takes many times its size.
const LONGEST: u64 = 1 << 20;

/// What a file says of itself before its numbers.
pub struct Header {
    /// What the writer noted.
    pub metadata: HashMap<String, String>,
    /// The tensors in the order of their numbers, which follow the header without gaps.
    pub tensors: Vec<(String, TensorInfo)>,
}

impl Header {
    /// Reads the header of a file of `length` bytes, and leaves the file where the numbers begin.
    ///
    /// # Errors
    /// This is no safetensors file, it is longer or shorter than its header says, or has a tensor whose numbers do not fill its shape.
    pub fn read(file: &mut impl Read, length: u64) -> Result<Self> {
        let mut size = [0; 8];
        file.read_exact(&mut size)?;
        let size = u64::from_le_bytes(size);
        ensure!(
            size <= LONGEST && size + 8 <= length,
            "a header of {size} bytes where at most {LONGEST} are believed, and {length} are there"
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
            let bits = count.and_then(|count| count.checked_mul(info.dtype.bitsize())).context("a tensor too large")?;
            ensure!(info.data_offsets == (end, end + bits / 8), "tensor {name} is not where its shape puts it");
            end = info.data_offsets.1;
        }
        ensure!(size + 8 + end as u64 == length, "{length} bytes where the header speaks of {}", size + 8 + end as u64);
        Ok(Self { metadata: header.metadata().clone().unwrap_or_default(), tensors })
    }
}

/// An array of a file, of one dimension.
///
/// # Errors
/// It is missing, or of another kind.
pub fn array<T: Pod>(file: &SafeTensors, name: &str, dtype: Dtype) -> Result<Vec<T>> {
    let view = file.tensor(name).with_context(|| format!("{name} is missing"))?;
    ensure!(view.dtype() == dtype && view.shape().len() == 1, "{name} is not of the right kind");
    // The file's bytes may lie anywhere, so they are not lent but copied.
    let mut values = vec![T::zeroed(); view.data().len() / size_of::<T>()];
    cast_slice_mut(&mut values).copy_from_slice(view.data());
    Ok(values)
}
