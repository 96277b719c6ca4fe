//! Files are opened here, for each use that the program makes of them.

use std::io::BufReader;
use std::path::Path;

use anyhow::{Result, bail};

use super::document::Document;
use super::file_format::FileFormat;
use super::input::{ByteReader, Input, decompressed, start_of};
use super::pair_reader::PairReader;
use super::registry::{InputFormat, format_of, of_name, of_start};
use super::sgm::{SegmentLines, Sgm};
use super::unreadable::check_readable;

/// True if a file is compressed, or in a format whose pairs are not lines, so that its line ends say nothing.
pub fn is_encoded(path: &Path) -> bool {
    let Some(mut input) = regular(path) else { return false };
    input.is_compressed() || format_of(path, input.start()).is_some_and(FileFormat::has_pairs)
}

/// Opens the sentence pairs of a file whose format has them; none if the file consists of lines, or cannot be opened, which the
/// reader of lines reports. `sides` are the languages of source and target, or the keys of JSON; by default those that the file
/// says or has.
///
/// # Errors
/// The file cannot be read, or is damaged.
pub fn open_pairs(path: &Path, sides: Option<&[String; 2]>) -> Result<Option<Box<dyn PairReader>>> {
    let Some(mut input) = regular(path) else { return Ok(None) };
    match format_of(path, input.start()).filter(|format| format.has_pairs()) {
        Some(format) => format.pairs(input, sides),
        None => Ok(None),
    }
}

/// Document that was opened.
pub struct OpenedDocument {
    /// The document.
    pub document: Box<dyn Document>,
    /// Extensions of files in its format, in lowercase.
    pub extensions: &'static [&'static str],
}

/// Opens a document in the given format, or else in that of its beginning or its name; none if the file consists of lines, or
/// cannot be opened, which the reader of lines reports. Standard input is a document only in a given format.
///
/// # Errors
/// The file cannot be read, is not in the format, or is in one that has pairs alone, such as TMX.
pub fn open_document(path: &Path, given: Option<InputFormat>) -> Result<Option<OpenedDocument>> {
    let by_name = given.map_or_else(|| of_name(path), InputFormat::file_format);
    if given.is_some() && by_name.is_none() {
        return Ok(None);
    }
    let input = if by_name.is_some() { Some(Input::open(path)?) } else { regular(path) };
    let Some(mut input) = input else { return Ok(None) };
    let name = input.name().to_owned();
    let by_start = if given.is_none() { of_start(input.start()) } else { None };
    let Some(format) = by_start.or(by_name).filter(|format| format.name() != Sgm.name()) else { return Ok(None) };
    match format.document(input)? {
        Some(document) => Ok(Some(OpenedDocument { document, extensions: format.extensions() })),
        None => bail!("{name}: this is {}; train, align and evaluate read it, but translate cannot", format.name()),
    }
}

/// Opens a file whose beginning may be read twice; none if that cannot be.
fn regular(path: &Path) -> Option<Input> {
    Some(path).filter(|path| Input::is_regular(path)).and_then(|path| Input::open(path).ok())
}

/// Returns the text of a file that is read line by line: decompressed, and with the content of each `<seg>` as a line if it is in
/// the SGM format of WMT.
///
/// # Errors
/// The file cannot be read, or it is in a format that has no lines, which the message names.
pub fn text_lines(source: ByteReader, name: &str) -> Result<ByteReader> {
    let mut source = decompressed(source, name)?;
    let start = start_of(&mut source, name)?;
    check_readable(start, name)?;
    match of_start(start) {
        Some(format) if format.name() == Sgm.name() => Ok(BufReader::new(Box::new(SegmentLines::new(source)))),
        Some(format) if format.has_pairs() => bail!(
            "{name}: this is {}, which has sentence pairs, not lines; name the file where a file of pairs is expected",
            format.name()
        ),
        _ => Ok(source),
    }
}
