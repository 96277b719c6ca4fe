//! The statistical aligner as a safetensors file: words as text with a line each, the form that they are in by its name, if
//! they are in one, all else as arrays.

use std::collections::HashMap;

use anyhow::{Context, Result};
use bytemuck::cast_slice;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::safetensors_io::{Header, array};
use crate::aligner::{SerializedAligner, WordAligner};
use crate::text::NormalForm;

/// The sides' names, in the order in which the tables have them.
const SIDES: [&str; 2] = ["source", "target"];
/// The array of the name of the words' form.
const FORM: &str = "words.form";

/// The file's content, with what is noted beside it.
pub fn serialise(aligner: &WordAligner, metadata: HashMap<String, String>) -> Result<Vec<u8>> {
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

/// The aligner of a file's content, and what is noted beside it.
///
/// # Errors
/// The file is damaged, or no aligner.
pub fn deserialise(bytes: &[u8]) -> Result<(WordAligner, HashMap<String, String>)> {
    let header = Header::read(&mut &bytes[..], bytes.len() as u64)?;
    let file = SafeTensors::deserialize(bytes)?;
    let words = |side: &str| -> Result<Vec<String>> {
        let text = String::from_utf8(array::<u8>(&file, &format!("{side}.words"), Dtype::U8)?)?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    let both = |name: &dyn Fn(&str, &str) -> String| SIDES.map(|side| name(side, SIDES[usize::from(side == SIDES[0])]));
    let u32s = |name: String| array::<u32>(&file, &name, Dtype::U32);
    let f32s = |name: String| array::<f32>(&file, &name, Dtype::F32);
    let [source, target] = SIDES.map(words);
    let [seen_source, seen_target] = both(&|side, _| format!("{side}.seen")).map(u32s);
    let [sources, targets] = both(&|side, _| format!("entries.{side}")).map(u32s);
    let [forward, backward] = both(&|side, other| format!("entries.{other}_given_{side}")).map(f32s);
    let [nothing_target, nothing_source] = both(&|_, other| format!("{other}.given_nothing")).map(f32s);
    let [jumps, jumps_back] =
        both(&|side, _| format!("jumps.{side}")).map(|name| array::<f64>(&file, &name, Dtype::F64));
    let form = match file.tensor(FORM) {
        Ok(name) => NormalForm::named(std::str::from_utf8(name.data())?).context("words of an unknown form")?,
        Err(_) => NormalForm::None,
    };
    let aligner = WordAligner::from_serialized(SerializedAligner {
        form,
        words: [source?, target?],
        entries: [sources?, targets?],
        translations: [forward?, backward?],
        null: [nothing_target?, nothing_source?],
        counts: [seen_source?, seen_target?],
        jumps: [jumps?, jumps_back?],
    })?;
    Ok((aligner, header.metadata))
}
