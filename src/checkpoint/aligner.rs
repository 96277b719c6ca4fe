//! Safetensors file of the statistical aligner: words as text, one per line; the name of their normal form, if any; all
//! else as arrays.

use std::collections::HashMap;

use anyhow::{Context, Result};
use bytemuck::{Pod, cast_slice};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::safetensors_io::{Header, array};
use crate::aligner::{SerializedAligner, WordAligner};
use crate::text::NormalForm;

/// Names of the sides, in the order of [`SerializedAligner`].
const SIDES: [&str; 2] = ["source", "target"];
/// Array with the name of the words' normal form.
const FORM: &str = "words.form";

/// One-dimensional array of the file.
struct StoredArray {
    name: String,
    dtype: Dtype,
    bytes: Vec<u8>,
}

impl StoredArray {
    fn new<T: Pod>(name: String, dtype: Dtype, values: &[T]) -> Self {
        Self { name, dtype, bytes: cast_slice(values).to_vec() }
    }
}

/// Returns the bytes of the file, with `metadata` in its header.
pub fn serialize(aligner: &WordAligner, metadata: HashMap<String, String>) -> Result<Vec<u8>> {
    let tables = aligner.to_serialized();
    let mut arrays = Vec::new();
    for (index, side) in SIDES.iter().enumerate() {
        let text: String = tables.words[index].iter().flat_map(|word| [word, "\n"]).collect();
        let other = SIDES[1 - index];
        arrays.push(StoredArray::new(format!("{side}.words"), Dtype::U8, text.as_bytes()));
        arrays.push(StoredArray::new(format!("{side}.seen"), Dtype::U32, &tables.counts[index]));
        arrays.push(StoredArray::new(format!("entries.{side}"), Dtype::U32, &tables.entries[index]));
        let given_side = format!("entries.{other}_given_{side}");
        arrays.push(StoredArray::new(given_side, Dtype::F32, &tables.translations[index]));
        arrays.push(StoredArray::new(format!("{other}.given_nothing"), Dtype::F32, &tables.null[index]));
        arrays.push(StoredArray::new(format!("jumps.{side}"), Dtype::F64, &tables.jumps[index]));
    }
    if tables.form != NormalForm::None {
        arrays.push(StoredArray::new(FORM.to_owned(), Dtype::U8, tables.form.name().as_bytes()));
    }
    let mut views = Vec::new();
    for StoredArray { name, dtype, bytes } in &arrays {
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
    let form = match file.tensor(FORM) {
        Ok(name) => NormalForm::from_name(std::str::from_utf8(name.data())?).context("unknown normal form")?,
        Err(_) => NormalForm::None,
    };
    let mut tables = SerializedAligner { form, ..SerializedAligner::default() };
    for (index, side) in SIDES.iter().enumerate() {
        let other = SIDES[1 - index];
        let text = String::from_utf8(array::<u8>(&file, &format!("{side}.words"), Dtype::U8)?)?;
        tables.words[index] = text.lines().map(str::to_owned).collect();
        tables.counts[index] = array(&file, &format!("{side}.seen"), Dtype::U32)?;
        tables.entries[index] = array(&file, &format!("entries.{side}"), Dtype::U32)?;
        tables.translations[index] = array(&file, &format!("entries.{other}_given_{side}"), Dtype::F32)?;
        tables.null[index] = array(&file, &format!("{other}.given_nothing"), Dtype::F32)?;
        tables.jumps[index] = array(&file, &format!("jumps.{side}"), Dtype::F64)?;
    }
    let aligner = WordAligner::from_serialized(tables)?;
    Ok((aligner, header.metadata))
}
