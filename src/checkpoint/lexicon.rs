//! Safetensors file of the token lexicon.

use std::collections::HashMap;

use anyhow::{Result, anyhow};
use bytemuck::cast_slice;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::safetensors_io::array;
use crate::model::{TokenLexicon, TokenRows};

/// Arrays of the linked tokens: row starts and tokens.
const LINKS: [&str; 2] = ["starts", "tokens"];
const UNLINKED: [&str; 2] = ["unlinked_starts", "unlinked_tokens"];
/// Former names, which are still read.
const FORMER_LINKS: [&str; 2] = ["starts", "units"];
const FORMER_UNLINKED: [&str; 2] = ["unlinked_starts", "unlinked_units"];
/// Probabilities of the links.
const SHARES: &str = "shares";

/// Returns the bytes of the file, with `metadata` in its header.
pub fn serialize(lexicon: &TokenLexicon, metadata: HashMap<String, String>) -> Result<Vec<u8>> {
    let (links, shares) = lexicon.links();
    let unlinked = lexicon.unlinked().into_iter().flat_map(|unlinked| arrays(UNLINKED, unlinked));
    let mut views = vec![(SHARES, TensorView::new(Dtype::F32, vec![shares.len()], cast_slice(shares))?)];
    for (name, values) in arrays(LINKS, links).chain(unlinked) {
        views.push((name, TensorView::new(Dtype::U32, vec![values.len()], cast_slice(values))?));
    }
    Ok(safetensors::serialize(views, Some(metadata))?)
}

fn arrays<'r>(
    names: [&'static str; 2],
    TokenRows { starts, tokens }: &'r TokenRows,
) -> impl Iterator<Item = (&'static str, &'r [u32])> {
    names.into_iter().zip([&starts[..], tokens])
}

/// Reads the lexicon from the bytes of a file. `vocabularies` are the sizes of source and target vocabulary. Earlier versions
/// did not write unlinked tokens.
///
/// # Errors
/// The file is damaged or holds no lexicon of these vocabularies.
pub fn deserialize(bytes: &[u8], vocabularies: [usize; 2]) -> Result<TokenLexicon> {
    let file = SafeTensors::deserialize(bytes)?;
    let is_former = file.tensor(FORMER_LINKS[1]).is_ok();
    let (links, unlinked) = if is_former { (FORMER_LINKS, FORMER_UNLINKED) } else { (LINKS, UNLINKED) };
    let has_unlinked = unlinked.iter().any(|name| file.tensor(name).is_ok());
    let unlinked = has_unlinked.then(|| rows(&file, unlinked)).transpose()?;
    let shares = array::<f32>(&file, SHARES, Dtype::F32)?;
    TokenLexicon::from_parts(rows(&file, links)?, shares, unlinked, vocabularies).map_err(|reason| anyhow!(reason))
}

fn rows(file: &SafeTensors, [starts, tokens]: [&str; 2]) -> Result<TokenRows> {
    Ok(TokenRows { starts: array(file, starts, Dtype::U32)?, tokens: array(file, tokens, Dtype::U32)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_rows(rows: [&[u32]; 3]) -> TokenRows {
        TokenRows::new(rows.into_iter().map(|row| row.iter().copied()))
    }

    #[test]
    fn file_has_links_and_unlinked_tokens_if_they_are_known() {
        for unlinked in [None, Some(token_rows([&[4], &[], &[1, 2]]))] {
            let links = token_rows([&[], &[0, 3], &[2]]);
            let lexicon = TokenLexicon::from_parts(links, vec![0.25, 0.75, 1.0], unlinked, [3, 5]).unwrap();
            let bytes = serialize(&lexicon, HashMap::new()).unwrap();
            assert_eq!(deserialize(&bytes, [3, 5]).unwrap(), lexicon);
            assert!(deserialize(&bytes, [3, 3]).is_err() && deserialize(&bytes, [2, 5]).is_err());
        }
    }
}
