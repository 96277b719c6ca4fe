//! Safetensors file of the unit lexicon.

use std::collections::HashMap;

use anyhow::{Result, anyhow};
use bytemuck::cast_slice;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::safetensors_io::array;
use crate::model::UnitLexicon;

/// Returns the bytes of the file, with `metadata` in its header.
pub fn serialize(lexicon: &UnitLexicon, metadata: HashMap<String, String>) -> Result<Vec<u8>> {
    let ([starts, units], shares) = lexicon.parts();
    let view = |dtype, length, bytes| TensorView::new(dtype, vec![length], bytes);
    let views = [
        ("starts", view(Dtype::U32, starts.len(), cast_slice(starts))?),
        ("units", view(Dtype::U32, units.len(), cast_slice(units))?),
        ("shares", view(Dtype::F32, shares.len(), cast_slice(shares))?),
    ];
    Ok(safetensors::serialize(views, Some(metadata))?)
}

/// Reads the lexicon from the bytes of a file. `vocabularies` are the sizes of source and target vocabulary.
///
/// # Errors
/// The file is damaged or holds no lexicon of these vocabularies.
pub fn deserialize(bytes: &[u8], vocabularies: [usize; 2]) -> Result<UnitLexicon> {
    let file = SafeTensors::deserialize(bytes)?;
    let [starts, units] = ["starts", "units"].map(|name| array::<u32>(&file, name, Dtype::U32));
    let shares = array::<f32>(&file, "shares", Dtype::F32)?;
    UnitLexicon::from_parts([starts?, units?], shares, vocabularies).map_err(|reason| anyhow!(reason))
}
