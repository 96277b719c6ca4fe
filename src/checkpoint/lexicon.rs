//! The translations of units that are known beforehand, as a safetensors file.

use std::collections::HashMap;

use anyhow::{Result, anyhow};
use bytemuck::cast_slice;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::safetensors_io::array;
use crate::model::UnitLexicon;

/// The file's content, with what is noted beside it.
pub fn serialise(lexicon: &UnitLexicon, metadata: HashMap<String, String>) -> Result<Vec<u8>> {
    let ([starts, units], shares) = lexicon.parts();
    let view = |dtype, length, bytes| TensorView::new(dtype, vec![length], bytes);
    let views = [
        ("starts", view(Dtype::U32, starts.len(), cast_slice(starts))?),
        ("units", view(Dtype::U32, units.len(), cast_slice(units))?),
        ("shares", view(Dtype::F32, shares.len(), cast_slice(shares))?),
    ];
    Ok(safetensors::serialize(views, Some(metadata))?)
}

/// The lexicon of a file's content between vocabularies of these sizes.
///
/// # Errors
/// The file is damaged, or holds no such lexicon.
pub fn deserialise(bytes: &[u8], vocabularies: [usize; 2]) -> Result<UnitLexicon> {
    let file = SafeTensors::deserialize(bytes)?;
    let [starts, units] = ["starts", "units"].map(|name| array::<u32>(&file, name, Dtype::U32));
    let shares = array::<f32>(&file, "shares", Dtype::F32)?;
    UnitLexicon::from_parts([starts?, units?], shares, vocabularies).map_err(|reason| anyhow!(reason))
}
