//! NumPy archives: for each sentence, an f32 array `[target words × source words]` named by its index, and the words of both
//! sides as `0.source` and `0.target`.
//!
//! Rows sum to 1 with the weight on the source's end of sentence. An .npz is a zip of .npy files (NPY format 1.0).

use std::io::{Cursor, Result, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{Item, Renderer};
use crate::alignment::Alignment;

/// Maximum characters of a word: every word of an array is as wide as its longest.
const MAX_WORD_CHARS: usize = 256;

/// Renders an archive of arrays per sentence.
pub struct Npz {
    archive: ZipWriter<Cursor<Vec<u8>>>,
}

impl Default for Npz {
    fn default() -> Self {
        Self { archive: ZipWriter::new(Cursor::new(Vec::new())) }
    }
}

impl Renderer for Npz {
    fn item(&mut self, _out: &mut dyn Write, item: &Item) -> Result<()> {
        let name = match item.rank {
            Some(rank) if rank > 1 => format!("{}.{rank}", item.id),
            _ => item.id.to_string(),
        };
        self.add(&name, &weights(item.alignment))?;
        self.add(&format!("{name}.source"), &texts(item.alignment.source()))?;
        self.add(&format!("{name}.target"), &texts(item.alignment.target()))
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        let archive = std::mem::take(self).archive.finish()?;
        out.write_all(archive.get_ref())
    }
}

impl Npz {
    fn add(&mut self, name: &str, npy: &[u8]) -> Result<()> {
        // A fixed date makes the bytes reproducible.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default());
        self.archive.start_file(format!("{name}.npy"), options)?;
        self.archive.write_all(npy)
    }
}

fn weights(alignment: &Alignment) -> Vec<u8> {
    let shape = format!("{}, {}", alignment.target().len(), alignment.source().len());
    npy("<f4", &shape, alignment.weights().iter().flat_map(|weight| weight.to_le_bytes()))
}

/// Words as a NumPy array of fixed-width strings.
fn texts(words: &[String]) -> Vec<u8> {
    let longest = words.iter().map(|word| word.chars().count()).max().unwrap_or(0);
    let width = longest.clamp(1, MAX_WORD_CHARS);
    let characters = words.iter().flat_map(|word| {
        let characters = word.chars().map(u32::from);
        characters.chain(std::iter::repeat(0)).take(width)
    });
    npy(&format!("<U{width}"), &format!("{},", words.len()), characters.flat_map(u32::to_le_bytes))
}

/// Array as a .npy file.
fn npy(kind: &str, shape: &str, values: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length take 10 bytes; the header is padded to a multiple of 64 and ends in a line feed.
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend(values);
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn matches_snapshot() {
        let bytes = samples::render(&mut Npz::default());
        assert_eq!(bytes, samples::render(&mut Npz::default()), "the same bytes each time");
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let names = ["0.npy", "0.source.npy", "0.target.npy", "1.npy", "1.source.npy", "1.target.npy"];
        assert_eq!(archive.file_names().map(|name| name.unwrap()).collect::<Vec<_>>(), names);
        let mut array = Vec::new();
        std::io::Read::read_to_end(&mut archive.by_name("0.npy").unwrap(), &mut array).unwrap();
        assert_eq!(&array[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let header = std::str::from_utf8(&array[10..128]).unwrap();
        assert_eq!(header.trim_end(), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }");
        let values: Vec<f32> =
            array[128..].chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
        let mut words = Vec::new();
        std::io::Read::read_to_end(&mut archive.by_name("1.source.npy").unwrap(), &mut words).unwrap();
        let header = std::str::from_utf8(&words[10..128]).unwrap();
        assert_eq!(header.trim_end(), "{'descr': '<U6', 'fortran_order': False, 'shape': (2,), }");
        let text: String = words[128..]
            .chunks(4)
            .filter_map(|bytes| char::from_u32(u32::from_le_bytes(bytes.try_into().unwrap())))
            .collect();
        assert_eq!(text, "नमस्ते世界\0\0\0\0");
        assert_eq!(values, [0.9, 0.05, 0.02, 0.0, 0.25, 0.75, 0.004, 0.846, 0.1]);
    }
}
