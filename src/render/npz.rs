//! NumPy's .npz: for each sentence an array `[target words × source words]` of f32, named by the sentence's number.
//!
//! What a row lacks of 1 is the weight on the source's end of sentence. An .npz is a zip of .npy files (NumPy's "NPY
//! format", version 1.0).

use std::io::{Cursor, Result, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{Item, Renderer};
use crate::alignment::Alignment;

/// Writes the archive, an array for each sentence.
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
            Some(rank) if rank > 1 => format!("{}.{rank}.npy", item.id),
            _ => format!("{}.npy", item.id),
        };
        // The archive's bytes depend on nothing but its content.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default());
        self.archive.start_file(name, options)?;
        self.archive.write_all(&npy(item.alignment))
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        let archive = std::mem::take(self).archive.finish()?;
        out.write_all(archive.get_ref())
    }
}

/// One array as a .npy file.
fn npy(alignment: &Alignment) -> Vec<u8> {
    let (rows, columns) = (alignment.target().len(), alignment.source().len());
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // Magic, version and length take 10 bytes; the header ends in a line feed at a multiple of 64.
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend(alignment.weights().iter().flat_map(|weight| weight.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn snapshot() {
        let bytes = samples::render(&mut Npz::default());
        assert_eq!(bytes, samples::render(&mut Npz::default()), "the same bytes each time");
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        assert_eq!(archive.file_names().collect::<Vec<_>>(), ["0.npy", "1.npy"]);
        let mut array = Vec::new();
        std::io::Read::read_to_end(&mut archive.by_name("0.npy").unwrap(), &mut array).unwrap();
        assert_eq!(&array[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let header = std::str::from_utf8(&array[10..128]).unwrap();
        assert_eq!(header.trim_end(), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }");
        let values: Vec<f32> =
            array[128..].chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
        assert_eq!(values, [0.9, 0.05, 0.02, 0.0, 0.25, 0.75, 0.004, 0.846, 0.1]);
    }
}
