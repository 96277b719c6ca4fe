//! Formats of translation memories, corpora and documents, beside plain lines.
//!
//! The rest of the program sees pairs, texts and lines only:
//!
//! - [`open_pairs`] returns the sentence pairs of a file in order, as a stream: TMX, XLIFF, JSON lines, PO, the XML of WMT, and
//!   archives of parallel files as OPUS and Moses have them.
//! - [`open_document`] returns the texts of a document, and writes the document with their translations: HTML, Markdown,
//!   XLIFF, PO, subtitles, .docx, .odt, and plain text in paragraphs. A text is HTML: `<`, `>` and `&` are character
//!   references, and what is not to be translated is a numbered tag, so that it goes the way of all tags.
//! - [`text_lines`] returns the lines of a file that is compressed, or that has a sentence in each `<seg>`.
//!
//! A format is one file with its `FileFormat`. It is recognized by the first bytes, or else by
//! the name of the file. Formats that are not read, such as PDF, are named with what to do.
//!
//! A file may be hostile. Compressed data are a stream, which ends with an error when it expands beyond all proportion. A
//! document is held in memory and has a maximum size ([`MAX_DOCUMENT_BYTES`]). XML is read without its document type, so that
//! no entity expands and nothing outside of the file is read.

mod archive;
mod bounded_lines;
mod compression;
mod document;
mod docx;
mod file_format;
mod html;
mod input;
mod json_lines;
mod languages;
mod line_breaks;
mod markdown;
mod odt;
mod open;
mod package;
mod pair_reader;
mod parallel_archive;
mod plain_text;
mod po;
mod registry;
mod segment;
mod sgm;
mod subtitles;
mod tagged_text;
mod text_document;
mod tmx;
mod unreadable;
mod utf16;
mod wmt_xml;
mod xliff;
mod xml;

pub use archive::unpacked_bytes;
pub use document::Document;
pub use file_format::uncompressed_name;
pub use input::{ByteReader, MAX_DOCUMENT_BYTES};
pub use open::{OpenedDocument, is_encoded, open_bytes, open_document, open_pairs, text_lines};
pub use pair_reader::{FormatError, PairReader};
pub use registry::{InputFormat, document_extensions, has_format_name};
pub use tmx::TmxWriter;
