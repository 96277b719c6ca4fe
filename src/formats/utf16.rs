//! UTF-16, as programs of translators write TMX, read as UTF-8.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

const LITTLE_ENDIAN: &[u8] = b"\xff\xfe";
const BIG_ENDIAN: &[u8] = b"\xfe\xff";

/// Bytes that are decoded at a time.
const CHUNK: usize = 1 << 14;

/// True if a file begins with a byte order mark of UTF-16.
pub(super) fn has_utf_16_mark(start: &[u8]) -> bool {
    start.starts_with(LITTLE_ENDIAN) || start.starts_with(BIG_ENDIAN)
}

/// Text in UTF-16, decoded to UTF-8 without its byte order mark.
pub(super) struct Utf16Reader<R> {
    reader: R,
    is_big_endian: bool,
    /// First half of a surrogate pair, whose second half is not read yet.
    pending: Option<u16>,
    decoded: Vec<u8>,
    /// Number of decoded bytes that were returned.
    start: usize,
}

impl<R: BufRead> Utf16Reader<R> {
    /// Decodes a reader that begins with a byte order mark.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn new(mut reader: R) -> Result<Self> {
        let is_big_endian = reader.fill_buf()?.starts_with(BIG_ENDIAN);
        reader.consume(BIG_ENDIAN.len());
        Ok(Self { reader, is_big_endian, pending: None, decoded: Vec::new(), start: 0 })
    }

    /// Decodes the next characters; none at the end.
    fn decode(&mut self) -> Result<()> {
        let mut bytes = Vec::with_capacity(CHUNK);
        self.reader.by_ref().take(CHUNK as u64).read_to_end(&mut bytes)?;
        if bytes.len() % 2 > 0 {
            return Err(invalid());
        }
        let mut units: Vec<u16> = self.pending.take().into_iter().collect();
        for unit in bytes.chunks_exact(2) {
            let unit = [unit[0], unit[1]];
            units.push(if self.is_big_endian { u16::from_be_bytes(unit) } else { u16::from_le_bytes(unit) });
        }
        if !bytes.is_empty() {
            self.pending = units.pop_if(|unit| (0xd800..0xdc00).contains(unit));
        }
        self.start = 0;
        self.decoded = String::from_utf16(&units).map_err(|_| invalid())?.into_bytes();
        Ok(())
    }
}

fn invalid() -> Error {
    Error::new(ErrorKind::InvalidData, "invalid UTF-16")
}

impl<R: BufRead> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.start == self.decoded.len() {
            if self.reader.fill_buf()?.is_empty() && self.pending.is_none() {
                return Ok(0);
            }
            self.decode()?;
        }
        let length = buffer.len().min(self.decoded.len() - self.start);
        buffer[..length].copy_from_slice(&self.decoded[self.start..self.start + length]);
        self.start += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: Vec<u8>) -> Result<String> {
        let mut text = String::new();
        Utf16Reader::new(&bytes[..])?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn decodes_both_byte_orders() {
        // A surrogate pair on the border between two chunks.
        let text = format!("{}🦊 日本", "a".repeat(CHUNK / 2 - 1));
        let marked: Vec<u16> = format!("\u{feff}{text}").encode_utf16().collect();
        assert_eq!(decoded(marked.iter().flat_map(|unit| unit.to_le_bytes()).collect()).unwrap(), text);
        assert_eq!(decoded(marked.iter().flat_map(|unit| unit.to_be_bytes()).collect()).unwrap(), text);
        assert_eq!(decoded(b"\xff\xfe".to_vec()).unwrap(), "");
    }

    #[test]
    fn reports_what_is_cut() {
        assert!(decoded(b"\xff\xfea".to_vec()).is_err());
        assert!(decoded(b"\xff\xfe\x3e\xd8".to_vec()).is_err(), "half of a surrogate pair");
    }
}
