//! All formats, and the choice of one.

use std::path::Path;

use super::docx::DOCX;
use super::file_format::FileFormat;
use super::html::HTML;
use super::input::START_BYTES;
use super::json_lines::JSON_LINES;
use super::markdown::MARKDOWN;
use super::odt::ODT;
use super::parallel_archive::PARALLEL_ARCHIVE;
use super::plain_text::{LINES, TEXT};
use super::po::PO;
use super::sgm::SGM;
use super::subtitles::{SUB_RIP, WEB_VTT};
use super::tmx::TMX;
use super::wmt_xml::WMT_XML;
use super::xliff::XLIFF;

/// Formats that are recognized, those with the clearest beginning first.
static FORMATS: [&FileFormat; 13] = [
    &TMX,
    &XLIFF,
    &WMT_XML,
    &SGM,
    &WEB_VTT,
    &JSON_LINES,
    &ODT,
    &DOCX,
    &PARALLEL_ARCHIVE,
    &PO,
    &SUB_RIP,
    &HTML,
    &MARKDOWN,
];

/// Format of input that is given in place of the one that the file shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum InputFormat {
    /// A sentence per line.
    Lines,
    /// Paragraphs between empty lines.
    Text,
    /// HTML page.
    Html,
    /// Markdown.
    Markdown,
    /// Messages of gettext, of which those without a translation are translated.
    Po,
    /// XLIFF 1.2 or 2, of which units without a target are translated.
    Xliff,
    /// Subtitles of SubRip.
    Srt,
    /// Subtitles of WebVTT.
    Vtt,
    /// Word document.
    Docx,
    /// OpenDocument text.
    Odt,
}

impl InputFormat {
    /// Returns the format; none for lines.
    pub(super) fn file_format(self) -> Option<&'static FileFormat> {
        Some(match self {
            Self::Lines => return None,
            Self::Text => &TEXT,
            Self::Html => &HTML,
            Self::Markdown => &MARKDOWN,
            Self::Po => &PO,
            Self::Xliff => &XLIFF,
            Self::Srt => &SUB_RIP,
            Self::Vtt => &WEB_VTT,
            Self::Docx => &DOCX,
            Self::Odt => &ODT,
        })
    }
}

/// Returns the format of a file with this beginning, or else that of its name.
pub(super) fn format_of(path: &Path, start: &[u8]) -> Option<&'static FileFormat> {
    of_start(start).or_else(|| of_name(path))
}

/// Returns the format that the beginning of a file shows.
pub(super) fn of_start(start: &[u8]) -> Option<&'static FileFormat> {
    let start = String::from_utf8_lossy(&start[..start.len().min(START_BYTES)]);
    let start = start.trim_start_matches('\u{feff}').trim_start();
    FORMATS.into_iter().find(|format| (format.is_start)(start))
}

/// Returns the format that the name of a file stands for, without `.gz`.
pub(super) fn of_name(path: &Path) -> Option<&'static FileFormat> {
    FORMATS.into_iter().find(|format| format.is_name(path))
}

/// Extensions of the files whose texts can be translated and written back, each with a dot.
pub fn document_extensions() -> Vec<String> {
    let documents = FORMATS.into_iter().chain([&LINES]).filter(|format| format.document.is_some());
    documents.flat_map(|format| format.extensions).map(|extension| format!(".{extension}")).collect()
}

/// True if the name of a file stands for a format that is not one of lines.
pub fn has_format_name(path: &Path) -> bool {
    const NOT_WRITTEN: [&str; 4] = ["pdf", "doc", "rtf", "xlsx"];
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    of_name(path).is_some() || extension.is_some_and(|extension| NOT_WRITTEN.contains(&&*extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(path: &str, start: &str) -> Option<&'static str> {
        format_of(Path::new(path), start.as_bytes()).map(|format| format.name)
    }

    #[test]
    fn recognizes_formats_by_their_beginning_or_name() {
        for (path, start, expected) in [
            ("a", "<?xml version=\"1.0\"?>\n<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n<tmx version=\"1.4\">", Some("TMX")),
            ("a.xml", "\u{feff}<xliff version=\"2.0\">", Some("XLIFF")),
            ("a.txt", "WEBVTT\n", Some("WebVTT")),
            ("a.txt", "<srcset setid=\"t\" srclang=\"en\">\n", Some("SGM")),
            ("a.txt", "{\"translation\": {\"en\": \"a\", \"fr\": \"b\"}}\n", Some("JSON lines")),
            ("a.po", "", Some("PO")),
            ("a.PO.gz", "", Some("PO")),
            ("a.md", "# A\n", Some("Markdown")),
            ("a.tsv", "{x}\ty\n", None),
            ("a.txt", "# A\n", None),
            ("a.xml", "<a>", None),
            ("a", "", None),
        ] {
            assert_eq!(name_of(path, start), expected, "{path}: {start}");
        }
    }

    #[test]
    fn extensions_are_distinct() {
        let mut extensions: Vec<&str> = FORMATS.iter().flat_map(|format| format.extensions).copied().collect();
        let count = extensions.len();
        extensions.sort_unstable();
        extensions.dedup();
        assert_eq!(extensions.len(), count);
    }
}
