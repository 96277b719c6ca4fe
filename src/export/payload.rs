//! Arrays of a model in one block of bytes, compressed, as the page reads them.
//!
//! ```text
//! length of the header (u32, little endian) | header: JSON, padded with spaces | arrays, each padded to 8 bytes
//! ```
//!
//! The header has an entry `arrays`: name, type, shape and place of each array behind the header.

use std::io::Write;

use anyhow::Result;
use bytemuck::{Pod, cast_slice};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::{Map, Value};

/// Alignment of the arrays in bytes.
const ALIGNMENT: usize = 8;

/// Arrays of a model.
#[derive(Default)]
pub struct Payload {
    arrays: Vec<StoredArray>,
    bytes: Vec<u8>,
}

/// Place of an array.
#[derive(Serialize)]
struct StoredArray {
    name: String,
    r#type: &'static str,
    shape: Vec<usize>,
    /// Place of its first byte behind the header.
    offset: usize,
}

impl Payload {
    /// Adds an array of numbers of a type: `i8`, `u16` (also for the bits of 16-bit floats, `f16`), `u32`, `f32` or `f64`.
    pub fn add<T: Pod>(&mut self, name: impl Into<String>, kind: &'static str, shape: &[usize], values: &[T]) {
        let offset = self.bytes.len();
        self.arrays.push(StoredArray { name: name.into(), r#type: kind, shape: shape.to_vec(), offset });
        self.bytes.extend_from_slice(cast_slice(values));
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }

    /// Returns the block with these entries in its header, compressed by gzip.
    ///
    /// # Errors
    /// An entry cannot be written as JSON.
    pub fn compressed(&self, mut header: Map<String, Value>) -> Result<Vec<u8>> {
        header.insert("arrays".to_owned(), serde_json::to_value(&self.arrays)?);
        let mut header = serde_json::to_vec(&header)?;
        header.resize((header.len() + 4).next_multiple_of(ALIGNMENT) - 4, b' ');
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&(header.len() as u32).to_le_bytes())?;
        encoder.write_all(&header)?;
        encoder.write_all(&self.bytes)?;
        Ok(encoder.finish()?)
    }
}
