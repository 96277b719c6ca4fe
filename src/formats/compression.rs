//! Gzip and deflate, with a limit of what compressed data expand to.

use std::io::{Error, Read, Result};

use flate2::read::{DeflateDecoder, MultiGzDecoder};

/// Bytes that compressed data may always expand to.
const FREE_BYTES: u64 = 16 << 20;
/// Maximum ratio of expanded to compressed bytes beyond [`FREE_BYTES`]. Text expands to some 10 times its size.
const MAX_RATIO: u64 = 250;

/// True if a file begins like one of gzip.
pub(super) fn is_gzip(start: &[u8]) -> bool {
    start.starts_with(b"\x1f\x8b\x08")
}

/// Rejects compressed data that expand out of proportion: such files are made to fill memory or disk.
///
/// # Errors
/// The ratio is too large.
pub(super) fn check_expansion(compressed: u64, expanded: u64) -> Result<()> {
    if expanded > FREE_BYTES && expanded / MAX_RATIO > compressed {
        return Err(Error::other(format!("it expands to more than {MAX_RATIO} times its size, as no text does")));
    }
    Ok(())
}

/// Reader that counts its bytes.
struct Counter<R> {
    reader: R,
    count: u64,
}

impl<R: Read> Read for Counter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count += read as u64;
        Ok(read)
    }
}

/// Decompressed bytes of a gzip file, which may have several members.
pub(super) struct Gunzip<R> {
    decoder: MultiGzDecoder<Counter<R>>,
    expanded: u64,
}

impl<R: Read> Gunzip<R> {
    /// Decompresses a reader.
    pub fn new(reader: R) -> Self {
        Self { decoder: MultiGzDecoder::new(Counter { reader, count: 0 }), expanded: 0 }
    }
}

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.expanded += read as u64;
        check_expansion(self.decoder.get_ref().count, self.expanded)?;
        Ok(read)
    }
}

/// Decompressed bytes of a file in a ZIP archive.
pub(super) struct Inflate<R> {
    decoder: DeflateDecoder<R>,
}

impl<R: Read> Inflate<R> {
    /// Decompresses a reader.
    pub fn new(reader: R) -> Self {
        Self { decoder: DeflateDecoder::new(reader) }
    }
}

impl<R: Read> Read for Inflate<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.decoder.read(buffer)?;
        check_expansion(self.decoder.total_in(), self.decoder.total_out())?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write, copy, sink};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8], times: usize) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        (0..times).for_each(|_| encoder.write_all(bytes).unwrap());
        encoder.finish().unwrap()
    }

    #[test]
    fn decompresses_all_members() {
        let bytes = [gzip(b"one\n", 1), gzip(b"two\n", 1)].concat();
        assert!(is_gzip(&bytes) && !is_gzip(b"one"));
        let mut text = String::new();
        Gunzip::new(&bytes[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "one\ntwo\n");
    }

    #[test]
    fn refuses_what_expands_out_of_proportion() {
        let bomb = gzip(&[0; 1 << 20], 20);
        let error = copy(&mut Gunzip::new(&bomb[..]), &mut sink()).unwrap_err();
        assert!(error.to_string().contains("expands to more than 250 times"), "{error}");
        let small = gzip(&[0; 1 << 20], 8);
        assert_eq!(copy(&mut Gunzip::new(&small[..]), &mut sink()).unwrap(), 8 << 20);
    }

    #[test]
    fn reports_a_cut_file() {
        let bytes = gzip(b"some text", 1);
        assert!(Gunzip::new(&bytes[..bytes.len() - 9]).read_to_string(&mut String::new()).is_err());
    }
}
