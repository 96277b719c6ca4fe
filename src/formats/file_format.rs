//! What the program knows of each format.

use std::borrow::Cow;
use std::path::Path;

use anyhow::Result;

use super::document::Document;
use super::input::Input;
use super::pair_reader::PairReader;

/// Format of files: how a file in it is recognized, and what can be read from it.
pub(super) struct FileFormat {
    /// Name of the format in messages, such as `TMX`.
    pub name: &'static str,
    /// Extensions of file names, in lowercase.
    pub extensions: &'static [&'static str],
    /// True if the beginning of a file shows that it is in this format, whatever the file is called. White space and a byte order
    /// mark are removed from the start, and the end may cut a character.
    pub is_start: fn(&str) -> bool,
    /// Opens the sentence pairs of a file, if files of this format have them. The languages are those of source and target, or the
    /// keys of JSON; by default those that the file says or has.
    pub pairs: Option<OpenPairs>,
    /// Parses a document, if the texts of this format can be written back.
    pub document: Option<OpenDocument>,
}

type OpenPairs = fn(Input, Option<&[String; 2]>) -> Result<Box<dyn PairReader>>;
type OpenDocument = fn(Input) -> Result<Box<dyn Document>>;

impl FileFormat {
    /// True if the name of a file stands for this format, without `.gz`.
    pub fn is_name(&self, path: &Path) -> bool {
        let name = uncompressed_name(path);
        let extension = name.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        extension.is_some_and(|extension| self.extensions.contains(&&*extension))
    }

    /// Format that its beginning never shows, and that nothing is read from; the base of all others.
    pub const UNKNOWN: Self = Self { name: "", extensions: &[], is_start: |_| false, pairs: None, document: None };
}

/// Returns the name of a compressed file without `.gz`, other names as they are.
pub fn uncompressed_name(path: &Path) -> Cow<'_, Path> {
    let is_compressed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    if is_compressed { Cow::Owned(path.with_extension("")) } else { Cow::Borrowed(path) }
}
