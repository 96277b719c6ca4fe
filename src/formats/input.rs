//! Open files, decompressed and in UTF-8.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};

use super::compression::{Gunzip, is_gzip};
use super::unreadable::check_readable;
use super::utf16::{Utf16Reader, has_utf_16_mark};

/// Buffered bytes of a file.
pub type ByteReader = BufReader<Box<dyn Read + Send>>;

/// Maximum size of a document, decompressed, in bytes. It is held in memory.
pub const MAX_DOCUMENT_BYTES: u64 = 256 << 20;

/// Number of bytes at the beginning of a file by which its format is recognized.
pub(super) const START_BYTES: usize = 4096;

/// File that is open for reading.
pub(super) struct Input {
    /// Name for messages.
    name: String,
    path: PathBuf,
    reader: ByteReader,
    is_compressed: bool,
    /// Maximum bytes of a document.
    max_bytes: u64,
}

impl Input {
    /// Opens a file, decompresses it, and decodes UTF-16 with a byte order mark; the path `-` is standard input.
    ///
    /// # Errors
    /// The file cannot be read, or is in a format that the message names.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes: Box<dyn Read + Send> = if is_standard(path) {
            Box::new(stdin())
        } else {
            Box::new(File::open(path).with_context(|| cannot_read(&name_of(path)))?)
        };
        Self::from_reader(path, bytes)
    }

    /// Reads the bytes of a file as [`Self::open`] does.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn from_reader(path: &Path, bytes: Box<dyn Read + Send>) -> Result<Self> {
        let name = name_of(path);
        let mut given = BufReader::new(bytes);
        let is_compressed = is_gzip(start_of(&mut given, &name)?);
        let mut reader = decompressed(given, &name)?;
        if has_utf_16_mark(start_of(&mut reader, &name)?) {
            reader = BufReader::new(Box::new(Utf16Reader::new(reader).with_context(|| cannot_read(&name))?));
        }
        check_readable(start_of(&mut reader, &name)?, &name)?;
        Ok(Self { name, path: path.to_owned(), reader, is_compressed, max_bytes: MAX_DOCUMENT_BYTES })
    }

    /// Returns the file with another limit of the bytes of a document than [`MAX_DOCUMENT_BYTES`].
    pub fn with_limit(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// Maximum bytes of a document, decompressed.
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// True for a file whose beginning can be read twice: neither a pipe nor a device.
    pub fn is_regular(path: &Path) -> bool {
        !is_standard(path) && path.is_file()
    }

    /// Name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Path, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if the file is compressed.
    pub fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// Returns the first bytes; none of a file that cannot be read any further.
    pub fn start(&mut self) -> &[u8] {
        self.reader.fill_buf().unwrap_or_default()
    }

    /// Returns the bytes as a stream.
    pub fn into_reader(self) -> ByteReader {
        self.reader
    }

    /// Reads all bytes, such as those of an archive, whose pictures have no limit of their own.
    ///
    /// # Errors
    /// The file cannot be read, or is larger than [`MAX_DOCUMENT_BYTES`], once decompressed than its limit.
    pub fn into_bytes(self) -> Result<Vec<u8>> {
        let limit = if self.is_compressed { self.max_bytes } else { MAX_DOCUMENT_BYTES };
        self.into_bytes_within(limit)
    }

    fn into_bytes_within(self, limit: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader.take(limit + 1).read_to_end(&mut bytes).with_context(|| cannot_read(&self.name))?;
        let is_within = bytes.len() as u64 <= limit;
        ensure!(is_within, "{}: larger than {}; split the document", self.name, shown_size(limit));
        Ok(bytes)
    }

    /// Reads the text of a document, with its byte order mark.
    ///
    /// # Errors
    /// The file cannot be read, is larger than its limit, or is not UTF-8.
    pub fn into_text(self) -> Result<String> {
        let name = self.name.clone();
        let limit = self.max_bytes;
        String::from_utf8(self.into_bytes_within(limit)?)
            .map_err(|_| anyhow!("{name}: not UTF-8; convert the document"))
    }
}

/// Returns a number of bytes for messages.
pub(super) fn shown_size(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) }
}

/// Returns the bytes of a file, decompressed if they begin like those of gzip.
///
/// # Errors
/// The file cannot be read.
pub(super) fn decompressed(mut reader: ByteReader, name: &str) -> Result<ByteReader> {
    if is_gzip(start_of(&mut reader, name)?) {
        reader = BufReader::new(Box::new(Gunzip::new(reader)));
    }
    Ok(reader)
}

/// Returns the first bytes of a file that are buffered.
///
/// # Errors
/// The file cannot be read.
pub(super) fn start_of<'r>(reader: &'r mut ByteReader, name: &str) -> Result<&'r [u8]> {
    reader.fill_buf().with_context(|| cannot_read(name))
}

/// Returns a text as the bytes of a file.
#[cfg(test)]
pub(super) fn reader_of(text: impl Into<Vec<u8>>) -> ByteReader {
    BufReader::new(Box::new(std::io::Cursor::new(text.into())))
}

/// Returns the name of a file for messages.
fn name_of(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

fn cannot_read(name: &str) -> String {
    format!("{name}: cannot read this file")
}
