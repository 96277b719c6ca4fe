//! SGM of WMT's and NIST's test sets up to 2020: one side per file, with a sentence in each `<seg>`. Such files are read as lines.

use std::io::{BufRead, Error, Read, Result as IoResult};

use super::file_format::FileFormat;
use super::input::ByteReader;
use super::pair_reader::on_one_line;

/// Names of the outermost element.
const SETS: [&str; 3] = ["srcset", "refset", "tstset"];

/// Maximum bytes of a segment.
const MAX_SEGMENT: usize = 1 << 20;

/// SGM.
pub(super) static SGM: FileFormat =
    FileFormat { name: "SGM", extensions: &["sgm", "sgml"], is_start: is_set, ..FileFormat::UNKNOWN };

/// True if a file begins with the outermost element of one side.
fn is_set(start: &str) -> bool {
    start.starts_with('<') && elements(start).any(|name| SETS.iter().any(|set| name.eq_ignore_ascii_case(set)))
}

/// Names of the elements that begin in a text.
fn elements(text: &str) -> impl Iterator<Item = &str> {
    let after_brackets = text.split('<').skip(1);
    after_brackets.map(|rest| &rest[..rest.find(|one: char| !one.is_ascii_alphanumeric()).unwrap_or(rest.len())])
}

/// The segments of a file, each as a line.
pub(super) struct SegmentLines {
    reader: ByteReader,
    /// Line that is returned.
    line: Vec<u8>,
    /// Number of its bytes that were returned.
    start: usize,
}

impl SegmentLines {
    /// Reads the segments of a stream. It need not be well-formed XML, as these files are not.
    pub fn new(reader: ByteReader) -> Self {
        Self { reader, line: Vec::new(), start: 0 }
    }

    /// Reads the next segment. Returns false at the end.
    fn next_segment(&mut self) -> IoResult<bool> {
        let mut tag = Vec::new();
        loop {
            self.skip_until(b'<')?;
            if !self.read_until(b'>', &mut tag)? {
                return Ok(false);
            }
            let name = tag.split(|byte| byte.is_ascii_whitespace() || *byte == b'>').next().unwrap_or_default();
            if name.eq_ignore_ascii_case(b"seg") {
                break;
            }
        }
        self.line = match String::from_utf8(self.read_text()?) {
            Ok(text) => on_one_line(&html_escape::decode_html_entities(&text)).into_bytes(),
            // The reader of lines names it.
            Err(error) => error.into_bytes().into_iter().map(|byte| if byte == b'\n' { b' ' } else { byte }).collect(),
        };
        self.line.push(b'\n');
        self.start = 0;
        Ok(true)
    }

    /// Reads the text of a segment after its start tag, without the tags in it.
    fn read_text(&mut self) -> IoResult<Vec<u8>> {
        let (mut text, mut part) = (Vec::new(), Vec::new());
        while text.len() <= MAX_SEGMENT {
            if !self.read_until(b'<', &mut part)? {
                return Err(Error::other("a <seg> has no end; the file was cut"));
            }
            part.pop();
            text.append(&mut part);
            let next = self.reader.fill_buf()?.first().copied().unwrap_or_default();
            // A bracket that begins no tag is text.
            if !(next.is_ascii_alphabetic() || next == b'/' || next == b'!') {
                text.push(b'<');
                continue;
            }
            self.read_until(b'>', &mut part)?;
            if part.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"/seg")) {
                return Ok(text);
            }
        }
        Err(Error::other("a <seg> is longer than 1 MiB"))
    }

    fn skip_until(&mut self, end: u8) -> IoResult<()> {
        loop {
            let bytes = self.reader.fill_buf()?;
            let (length, found) = (bytes.len(), bytes.iter().position(|&byte| byte == end));
            self.reader.consume(found.map_or(length, |found| found + 1));
            if found.is_some() || length == 0 {
                return Ok(());
            }
        }
    }

    /// Reads up to a byte, which is included. Returns false if the stream ends before.
    fn read_until(&mut self, end: u8, bytes: &mut Vec<u8>) -> IoResult<bool> {
        bytes.clear();
        self.reader.by_ref().take(MAX_SEGMENT as u64).read_until(end, bytes)?;
        Ok(bytes.ends_with(&[end]))
    }
}

impl Read for SegmentLines {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        if self.start == self.line.len() && !self.next_segment()? {
            return Ok(0);
        }
        let length = buffer.len().min(self.line.len() - self.start);
        buffer[..length].copy_from_slice(&self.line[self.start..self.start + length]);
        self.start += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::reader_of;
    use super::*;

    fn lines(text: &str) -> IoResult<String> {
        let mut lines = String::new();
        SegmentLines::new(reader_of(text)).read_to_string(&mut lines)?;
        Ok(lines)
    }

    #[test]
    fn each_segment_is_a_line() {
        let text = "<!DOCTYPE srcset>\n<srcset setid=\"t\" srclang=\"en\">\n<DOC docid=a>\n<seg id=\"1\"> the\n  cat </seg>\n\
                    <SEG id=2>AT&T &amp; &eacute;<b>x</b> 1 < 2</SEG><seg id=3></seg>\n</DOC></srcset>\n";
        assert_eq!(lines(text).unwrap(), "the cat\nAT&T & éx 1 < 2\n\n");
        assert_eq!(lines("<refset>").unwrap(), "");
        assert!(lines("<seg>a").is_err());
        assert!(is_set(text) && is_set("<refset x>") && !is_set("the <srcset>") && !is_set("<seg>"));
    }
}
