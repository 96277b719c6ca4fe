//! Safetensors file of the unit lexicon.

use std::collections::HashMap;

use anyhow::{Result, anyhow};
use bytemuck::cast_slice;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::safetensors_io::array;
use crate::model::{UnitLexicon, UnitRows};

/// Row starts and units.
const LINKS: [&str; 2] = ["starts", "units"];
const UNLINKED: [&str; 2] = ["unlinked_starts", "unlinked_units"];
/// Probabilities of the links.
const SHARES: &str = "shares";

/// Returns the bytes of the file, with `metadata` in its header.
pub fn serialize(lexicon: &UnitLexicon, metadata: HashMap<String, String>) -> Result<Vec<u8>> {
    let (links, shares) = lexicon.links();
    let unlinked = lexicon.unlinked().into_iter().flat_map(|unlinked| arrays(UNLINKED, unlinked));
    let view = |dtype, length, bytes| TensorView::new(dtype, vec![length], bytes);
    let mut views = vec![(SHARES, view(Dtype::F32, shares.len(), cast_slice(shares))?)];
    for (name, values) in arrays(LINKS, links).chain(unlinked) {
        views.push((name, view(Dtype::U32, values.len(), cast_slice(values))?));
    }
    Ok(safetensors::serialize(views, Some(metadata))?)
}

fn arrays<'r>(
    names: [&'static str; 2],
    UnitRows { starts, units }: &'r UnitRows,
) -> impl Iterator<Item = (&'static str, &'r [u32])> {
    names.into_iter().zip([&starts[..], units])
}

/// Reads the lexicon from the bytes of a file. `vocabularies` are the sizes of source and target vocabulary. Earlier versions
/// did not write unlinked units.
///
/// # Errors
/// The file is damaged or holds no lexicon of these vocabularies.
pub fn deserialize(bytes: &[u8], vocabularies: [usize; 2]) -> Result<UnitLexicon> {
    let file = SafeTensors::deserialize(bytes)?;
    let rows = |[starts, units]: [&str; 2]| -> Result<UnitRows> {
        Ok(UnitRows { starts: array(&file, starts, Dtype::U32)?, units: array(&file, units, Dtype::U32)? })
    };
    let has_unlinked = UNLINKED.iter().any(|name| file.tensor(name).is_ok());
    let unlinked = has_unlinked.then(|| rows(UNLINKED)).transpose()?;
    let shares = array::<f32>(&file, SHARES, Dtype::F32)?;
    UnitLexicon::from_parts(rows(LINKS)?, shares, unlinked, vocabularies).map_err(|reason| anyhow!(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_links_and_unlinked_units_if_they_are_known() {
        let rows = |rows: [&[u32]; 3]| UnitRows::new(rows.into_iter().map(|row| row.iter().copied()));
        for unlinked in [None, Some(rows([&[4], &[], &[1, 2]]))] {
            let probabilities = vec![0.25, 0.75, 1.0];
            let lexicon = UnitLexicon::from_parts(rows([&[], &[0, 3], &[2]]), probabilities, unlinked, [3, 5]).unwrap();
            let bytes = serialize(&lexicon, HashMap::new()).unwrap();
            assert_eq!(deserialize(&bytes, [3, 5]).unwrap(), lexicon);
            assert!(deserialize(&bytes, [3, 3]).is_err() && deserialize(&bytes, [2, 5]).is_err());
        }
    }
}
