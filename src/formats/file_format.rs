//! What the program knows of each format.

use anyhow::Result;

use super::document::Document;
use super::input::Input;
use super::pair_reader::PairReader;

/// Format of files: how a file in it is recognized, and what can be read from it.
pub(super) trait FileFormat: Sync {
    /// Name of the format in messages, such as `TMX`.
    fn name(&self) -> &'static str;

    /// Extensions of file names, in lowercase.
    fn extensions(&self) -> &'static [&'static str];

    /// True if the beginning of a file shows that it is in this format, whatever the file is called. White space and a byte order
    /// mark are removed from the start, and the end may cut a character.
    fn is_start(&self, _start: &str) -> bool {
        false
    }

    /// True if files of this format have sentence pairs.
    fn has_pairs(&self) -> bool {
        false
    }

    /// Opens the sentence pairs of a file; none if the format has no pairs. `sides` are the languages of source and target, or the
    /// keys of JSON; by default those that the file says or has.
    ///
    /// # Errors
    /// The file cannot be read.
    fn pairs(&self, _input: Input, _sides: Option<&[String; 2]>) -> Result<Option<Box<dyn PairReader>>> {
        Ok(None)
    }

    /// Parses a document; none if the texts of the format cannot be written back.
    ///
    /// # Errors
    /// The file cannot be read, or is not in the format.
    fn document(&self, _input: Input) -> Result<Option<Box<dyn Document>>> {
        Ok(None)
    }
}
