//! Safetensors file of the statistical aligner: words as text, one per line; the name of their normal form, if any; all
//! else as arrays.

use std::collections::HashMap;

use anyhow::{Context, Result};
use bytemuck::cast_slice;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::safetensors_io::{Header, array};
use crate::aligner::{SerializedAligner, WordAligner};
use crate::text::NormalForm;

/// Names of the sides, in the order of [`SerializedAligner`].
const SIDES: [&str; 2] = ["source", "target"];
/// Array with the name of the words' normal form.
const FORM: &str = "words.form";

/// Returns the bytes of the file, with `metadata` in its header.
pub fn serialize(aligner: &WordAligner, metadata: HashMap<String, String>) -> Result<Vec<u8>> {
    let tables = aligner.to_serialized();
    let mut arrays: Vec<(String, Dtype, Vec<u8>)> = Vec::new();
    for (index, side) in SIDES.iter().enumerate() {
        let text: String = tables.words[index].iter().flat_map(|word| [word, "\n"]).collect();
        let other = SIDES[1 - index];
        arrays.push((format!("{side}.words"), Dtype::U8, text.into_bytes()));
        arrays.push((format!("{side}.seen"), Dtype::U32, cast_slice(&tables.counts[index]).to_vec()));
        arrays.push((format!("entries.{side}"), Dtype::U32, cast_slice(&tables.entries[index]).to_vec()));
        arrays.push((
            format!("entries.{other}_given_{side}"),
            Dtype::F32,
            cast_slice(&tables.translations[index]).to_vec(),
        ));
        arrays.push((format!("{other}.given_nothing"), Dtype::F32, cast_slice(&tables.null[index]).to_vec()));
        arrays.push((format!("jumps.{side}"), Dtype::F64, cast_slice(&tables.jumps[index]).to_vec()));
    }
    if tables.form != NormalForm::None {
        arrays.push((FORM.to_owned(), Dtype::U8, tables.form.name().as_bytes().to_vec()));
    }
    let mut views = Vec::new();
    for (name, dtype, bytes) in &arrays {
        views.push((name, TensorView::new(*dtype, vec![bytes.len() * 8 / dtype.bitsize()], bytes)?));
    }
    Ok(safetensors::serialize(views, Some(metadata))?)
}

/// Reads the aligner and the header's metadata from the bytes of a file.
///
/// # Errors
/// The file is damaged or holds no aligner.
pub fn deserialize(bytes: &[u8]) -> Result<(WordAligner, HashMap<String, String>)> {
    let header = Header::read(&mut &bytes[..], bytes.len() as u64)?;
    let file = SafeTensors::deserialize(bytes)?;
    let words = |side: &str| -> Result<Vec<String>> {
        let text = String::from_utf8(array::<u8>(&file, &format!("{side}.words"), Dtype::U8)?)?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    let names =
        |name: &dyn Fn(&str, &str) -> String| SIDES.map(|side| name(side, SIDES[usize::from(side == SIDES[0])]));
    let u32s = |name: String| array::<u32>(&file, &name, Dtype::U32);
    let f32s = |name: String| array::<f32>(&file, &name, Dtype::F32);
    let [source, target] = SIDES.map(words);
    let [source_counts, target_counts] = names(&|side, _| format!("{side}.seen")).map(u32s);
    let [sources, targets] = names(&|side, _| format!("entries.{side}")).map(u32s);
    let [forward, backward] = names(&|side, other| format!("entries.{other}_given_{side}")).map(f32s);
    let [null_target, null_source] = names(&|_, other| format!("{other}.given_nothing")).map(f32s);
    let [source_jumps, target_jumps] =
        names(&|side, _| format!("jumps.{side}")).map(|name| array::<f64>(&file, &name, Dtype::F64));
    let form = match file.tensor(FORM) {
        Ok(name) => NormalForm::from_name(std::str::from_utf8(name.data())?).context("unknown normal form")?,
        Err(_) => NormalForm::None,
    };
    let aligner = WordAligner::from_serialized(SerializedAligner {
        form,
        words: [source?, target?],
        entries: [sources?, targets?],
        translations: [forward?, backward?],
        null: [null_target?, null_source?],
        counts: [source_counts?, target_counts?],
        jumps: [source_jumps?, target_jumps?],
    })?;
    Ok((aligner, header.metadata))
}
