//! Files in ZIP archives: read as streams, and replaced.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::compression::{Inflate, is_gzip};
use super::input::{ByteReader, shown_size};

/// Maximum number of files in an archive.
const MAX_ENTRIES: usize = 100_000;

/// Maximum number of files in a document.
const MAX_PACKAGE_ENTRIES: usize = 10_000;
/// Bytes with which an archive begins to describe a file.
const ENTRY: &[u8] = b"PK\x01\x02";

/// True if a file begins like a ZIP archive.
pub(super) fn is_archive(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04")
}

/// Returns the names of the files in an archive, in their order.
///
/// # Errors
/// It cannot be read.
pub(super) fn file_names(path: &Path) -> Result<Vec<String>> {
    let mut archive = open(path)?;
    let mut names = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).with_context(|| damaged(path))?;
        if entry.is_file() {
            names.push(entry.name().with_context(|| damaged(path))?.into_owned());
        }
    }
    Ok(names)
}

/// Opens a file in an archive as a stream.
///
/// # Errors
/// It cannot be read, is encrypted, or is compressed otherwise than usual.
pub(super) fn open_file(path: &Path, name: &str) -> Result<ByteReader> {
    let mut archive = open(path)?;
    let entry = archive.by_name(name).with_context(|| damaged(path))?;
    ensure!(!entry.encrypted(), "{}: {name} is encrypted; unpack the archive and name its files", path.display());
    let (start, length, method) = (entry.data_start(), entry.compressed_size(), entry.compression());
    drop(entry);
    let mut file = archive.into_inner();
    file.seek(SeekFrom::Start(start.with_context(|| damaged(path))?))?;
    let bytes = file.take(length);
    let content: Box<dyn Read + Send> = match method {
        CompressionMethod::Stored => Box::new(bytes),
        CompressionMethod::Deflated => Box::new(Inflate::new(BufReader::new(bytes))),
        _ => bail!("{}: {name} is compressed by {method}; unpack the archive and name its files", path.display()),
    };
    Ok(BufReader::new(content))
}

fn open(path: &Path) -> Result<ZipArchive<File>> {
    let archive = ZipArchive::new(File::open(path)?).with_context(|| damaged(path))?;
    ensure!(archive.len() <= MAX_ENTRIES, "{}: more than {MAX_ENTRIES} files in this archive", path.display());
    Ok(archive)
}

fn damaged(path: &Path) -> String {
    format!("{}: damaged ZIP archive", path.display())
}

/// Bytes that the text of a file may have once it is unpacked: in an archive as much as that says of its XML files.
pub fn unpacked_bytes(file: &[u8]) -> u64 {
    if is_gzip(file) {
        return u64::MAX;
    }
    if !is_archive(file) {
        // UTF-16 may become longer.
        return file.len() as u64 * 3 / 2;
    }
    let Ok(mut archive) = open_package(file) else { return 0 };
    let mut bytes = 0_u64;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).ok();
        let of_text = entry.filter(|entry| entry.name().is_ok_and(|name| name.ends_with(".xml")));
        bytes = bytes.saturating_add(of_text.map_or(0, |entry| entry.size()));
    }
    bytes
}

/// Opens an archive in memory.
///
/// # Errors
/// It is damaged or has too many files.
fn open_package(bytes: &[u8]) -> Result<ZipArchive<Cursor<&[u8]>>> {
    // Each is kept in memory by what the archive says of it.
    let entries = bytes.windows(ENTRY.len()).filter(|bytes| *bytes == ENTRY).count();
    ensure!(entries <= MAX_PACKAGE_ENTRIES, "more than {MAX_PACKAGE_ENTRIES} files in this document");
    Ok(ZipArchive::new(Cursor::new(bytes))?)
}

/// Archive in memory, some of whose files are replaced.
pub(super) struct Package {
    bytes: Vec<u8>,
    /// Name for messages.
    name: String,
    /// Maximum bytes of its texts.
    max_bytes: u64,
}

impl Package {
    /// Takes the bytes of an archive, which messages call `name` and whose texts may have `max_bytes`.
    pub fn new(bytes: Vec<u8>, name: &str, max_bytes: u64) -> Self {
        Self { bytes, name: name.to_owned(), max_bytes }
    }

    /// Reads the texts of the files whose names are wanted, in the order of the archive.
    ///
    /// # Errors
    /// The archive is damaged, expands beyond its limit, or a text is not UTF-8.
    pub fn texts(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<(String, String)>> {
        let mut archive = self.open()?;
        let mut left = self.max_bytes;
        let mut texts = Vec::new();
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).with_context(|| self.damaged())?;
            let name = entry.name().with_context(|| self.damaged())?.into_owned();
            drop(entry);
            if !is_wanted(&name) {
                continue;
            }
            let entry = archive.by_index(index).with_context(|| self.damaged())?;
            let mut bytes = Vec::new();
            entry.take(left + 1).read_to_end(&mut bytes).with_context(|| self.damaged())?;
            left = left.checked_sub(bytes.len() as u64).with_context(|| {
                format!("{}: expands to more than {}; split the document", self.name, shown_size(self.max_bytes))
            })?;
            let text = String::from_utf8(bytes).map_err(|_| anyhow!("{}: {name} in it is not UTF-8", self.name))?;
            texts.push((name, text));
        }
        Ok(texts)
    }

    /// Returns the archive with other texts of some files. All others stay as they are, byte for byte.
    ///
    /// # Errors
    /// The archive is damaged.
    pub fn with_texts(&self, texts: &BTreeMap<&str, String>) -> Result<Vec<u8>> {
        let mut archive = self.open()?;
        let mut writer = ZipWriter::new(Cursor::new(Vec::with_capacity(self.bytes.len())));
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).with_context(|| self.damaged())?;
            let name = entry.name().with_context(|| self.damaged())?.into_owned();
            let Some(text) = texts.get(&*name) else {
                writer.raw_copy_file(entry)?;
                continue;
            };
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Deflated)
                .last_modified_time(entry.last_modified().unwrap_or_default());
            writer.start_file(name, options)?;
            writer.write_all(text.as_bytes())?;
        }
        Ok(writer.finish()?.into_inner())
    }

    fn open(&self) -> Result<ZipArchive<Cursor<&[u8]>>> {
        open_package(&self.bytes).with_context(|| self.damaged())
    }

    fn damaged(&self) -> String {
        format!("{}: damaged document; open and save it again", self.name)
    }
}

#[cfg(test)]
pub(super) fn archive_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        let method = if *name == "mimetype" { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 3] = [("mimetype", "m"), ("a/b.xml", "<b/>"), ("c.bin", "ccc")];

    #[test]
    fn files_are_streams() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.zip");
        std::fs::write(&path, archive_of(&FILES)).unwrap();
        assert_eq!(file_names(&path).unwrap(), FILES.map(|(name, _)| name));
        for (name, text) in FILES {
            let mut content = String::new();
            open_file(&path, name).unwrap().read_to_string(&mut content).unwrap();
            assert_eq!(content, text);
        }
        assert!(open_file(&path, "d").is_err());
        std::fs::write(&path, "PK\x03\x04").unwrap();
        assert!(file_names(&path).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn replaces_some_texts() {
        let package = Package::new(archive_of(&FILES), "a.docx", 1 << 20);
        let texts = package.texts(|name| name.ends_with(".xml")).unwrap();
        assert_eq!(texts, [("a/b.xml".to_owned(), "<b/>".to_owned())]);
        let written = package.with_texts(&BTreeMap::from([("a/b.xml", "é".repeat(1000))])).unwrap();
        let package = Package::new(written, "a.docx", 1 << 20);
        let texts = package.texts(|_| true).unwrap();
        let expected = [("mimetype", "m".to_owned()), ("a/b.xml", "é".repeat(1000)), ("c.bin", "ccc".to_owned())];
        assert_eq!(texts, expected.map(|(name, text)| (name.to_owned(), text)));
        assert!(Package::new(b"no".to_vec(), "a.docx", 1).texts(|_| true).is_err());
    }

    #[test]
    fn refuses_a_document_that_expands_too_much() {
        let zeros = "0".repeat(1 << 20);
        let bomb = archive_of(&["a", "b", "c"].map(|name| (name, &*zeros)));
        let package = Package::new(bomb, "a.docx", 2 << 20);
        let error = package.texts(|_| true).unwrap_err().to_string();
        assert!(error.contains("expands to more than 2 MiB"), "{error}");
        assert_eq!(package.texts(|name| name != "b").unwrap().len(), 2);
    }
}
