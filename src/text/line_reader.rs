//! Lines of text files: UTF-8 with LF or CRLF and an optional byte order mark. Every error names file and line.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::{check_standard_input, is_read_once, is_standard};
use crate::error::message_of;
use crate::formats::{ByteReader, is_encoded, text_lines};
use crate::reporter::Reporter;

/// Maximum number of bytes read of a line. The rest is skipped, which bounds memory for files without line ends.
pub const LONGEST_LINE: usize = 1 << 20;

/// True if a line was cut at [`LONGEST_LINE`]; it may lack a byte order mark and an incomplete character.
pub fn is_truncated(line: &str) -> bool {
    line.len() > LONGEST_LINE - 8
}

/// Reads the lines of a text file, at most [`LONGEST_LINE`] bytes of each; the path `-` is standard input.
///
/// # Errors
/// The file cannot be read, or a line is not UTF-8.
pub fn read_lines(path: &Path) -> Result<Vec<String>> {
    LineReader::open(path, LONGEST_LINE)?.collect()
}

/// Reads the lines of a text file as [`read_lines`] does, with a [`LineError`] in place of each line that is not UTF-8.
///
/// # Errors
/// The file cannot be read.
pub fn read_each_line(path: &Path) -> Result<Vec<Result<String>>> {
    let lines = LineReader::open(path, LONGEST_LINE)?;
    lines
        .map(|line| match line {
            Err(error) if !error.is::<LineError>() => Err(error),
            line => Ok(line),
        })
        .collect()
}

/// Reads the lines of a text file that can be read. Unless `on_error` is [`OnError::Fail`], the others are left out with a
/// warning.
///
/// # Errors
/// As [`read_lines`].
pub fn read_readable_lines(path: &Path, on_error: OnError, reporter: &dyn Reporter) -> Result<Vec<String>> {
    if on_error == OnError::Fail {
        return read_lines(path);
    }
    let (mut lines, mut errors) = (Vec::new(), Vec::new());
    for line in read_each_line(path)? {
        match line.map_err(|error| error.downcast::<LineError>()) {
            Ok(line) => lines.push(line),
            Err(error) => errors.push(error?),
        }
    }
    LineError::warn_of_left_out(&errors, reporter);
    Ok(lines)
}

/// Treatment of lines that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Stop at the first one.
    #[default]
    Fail,
    /// Leave them out, with a warning.
    Skip,
    /// Write an empty result for each, with a warning; JSON has the error; exit with code 1 at the end. A first line in the
    /// wrong format still stops the command.
    Keep,
}

impl OnError {
    /// True for [`OnError::Fail`].
    pub fn is_fail(&self) -> bool {
        *self == Self::Fail
    }
}

/// Line that cannot be read: not UTF-8, or not in the expected format. The lines after it can be read.
#[derive(Debug)]
pub struct LineError {
    /// Number of the line, from 1.
    pub line: usize,
    message: String,
    /// Text with U+FFFD in place of invalid bytes, if the line is not UTF-8.
    lossy: Option<String>,
}

impl LineError {
    /// Returns the error of a line that is not in the expected format. `place` names it.
    pub fn new(place: impl fmt::Display, line: usize, reason: &anyhow::Error) -> Self {
        Self { line, message: format!("{place}: {}", message_of(reason)), lossy: None }
    }

    /// Warns of lines that are left out, if any, by the first one.
    pub fn warn_of_left_out(errors: &[Self], reporter: &dyn Reporter) {
        if let Some((first, others)) = errors.split_first() {
            let more = if others.is_empty() { " is".to_owned() } else { format!(" and {} more are", others.len()) };
            reporter.warn(&format!("{first}; this line{more} left out"));
        }
    }

    /// Text with U+FFFD in place of invalid bytes; none if the line is UTF-8.
    pub fn lossy_text(&self) -> Option<&str> {
        self.lossy.as_deref()
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for LineError {}

/// Returns the number of lines of a regular file; none for a pipe, or if the file is compressed or has no lines.
pub fn count_lines(path: &Path) -> Option<usize> {
    if is_read_once(path) || is_encoded(path) {
        return None;
    }
    let mut reader = BufReader::new(File::open(path).ok()?);
    let (mut count, mut open) = (0, false);
    loop {
        let bytes = reader.fill_buf().ok()?;
        let Some(last) = bytes.last() else { return Some(count + usize::from(open)) };
        open = *last != b'\n';
        count += bytes.iter().filter(|&&byte| byte == b'\n').count();
        let length = bytes.len();
        reader.consume(length);
    }
}

/// Returns the name of a file for messages.
pub fn name(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const BUFFER_BYTES: usize = 1 << 16;

/// Iterator over the lines of a file. It ends after an error, unless this is a [`LineError`].
pub(super) struct LineReader {
    reader: ByteReader,
    name: String,
    /// Number of the last line read, from 1.
    number: usize,
    max_bytes: usize,
    ended: bool,
}

impl LineReader {
    /// Opens a file; the path `-` is standard input. Reads at most `max_bytes` of each line.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path, max_bytes: usize) -> Result<Self> {
        let reader: Box<dyn Read + Send> = if is_standard(path) {
            check_standard_input().with_context(|| cannot_read(&name(path)))?;
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(path).with_context(|| cannot_read(&name(path)))?)
        };
        Ok(Self::new(reader, name(path), max_bytes))
    }

    fn new(reader: Box<dyn Read + Send>, name: String, max_bytes: usize) -> Self {
        Self { reader: BufReader::with_capacity(BUFFER_BYTES, reader), name, number: 0, max_bytes, ended: false }
    }

    /// True if a whole line is buffered, so that reading it does not block.
    pub fn has_buffered_line(&self) -> bool {
        self.reader.buffer().contains(&b'\n')
    }

    fn read_line(&mut self) -> Result<Option<String>> {
        if self.number == 0 {
            let given = std::mem::replace(&mut self.reader, BufReader::new(Box::new(std::io::empty())));
            self.reader = text_lines(given, &self.name)?;
            let first = self.reader.fill_buf().with_context(|| cannot_read(&self.name))?;
            ensure!(
                !is_utf_16(first),
                "{}: this is UTF-16, as spreadsheets save Unicode text; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
                self.name
            );
            ensure!(
                !is_workbook(first),
                "{}: this is a workbook such as .xlsx, or another archive, not text; save the sheet as CSV (UTF-8) in the \
                 spreadsheet program and name that .csv file",
                self.name
            );
        }
        self.number += 1;
        let mut bytes = Vec::new();
        let limit = u64::try_from(self.max_bytes).unwrap_or(u64::MAX);
        let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut bytes);
        if read.with_context(|| cannot_read(&self.name))? == 0 {
            return Ok(None);
        }
        let ended = bytes.ends_with(b"\n");
        if ended {
            bytes.pop();
            if bytes.ends_with(b"\r") {
                bytes.pop();
            }
        } else if bytes.len() == self.max_bytes {
            skip_line(&mut self.reader).with_context(|| cannot_read(&self.name))?;
            // Removes an incomplete character at the end.
            let incomplete = (0..4).find(|left| std::str::from_utf8(&bytes[..bytes.len() - left]).is_ok());
            bytes.truncate(bytes.len() - incomplete.unwrap_or(0));
        }
        if self.number == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
            if bytes == BYTE_ORDER_MARK && !ended {
                return Ok(None);
            }
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let (line, byte) = (self.number, error.utf8_error().valid_up_to() + 1);
            let message =
                format!("{}:{line}: not UTF-8 from byte {byte} of this line on; convert the file to UTF-8", self.name);
            LineError { line, message, lossy: Some(String::from_utf8_lossy(error.as_bytes()).into_owned()) }.into()
        })
    }
}

impl Iterator for LineReader {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let line = self.read_line().transpose();
        self.ended = line.as_ref().is_none_or(|line| line.as_ref().is_err_and(|error| !error.is::<LineError>()));
        line
    }
}

fn cannot_read(name: &str) -> String {
    format!("{name}: cannot read this file")
}

/// Skips the rest of the line.
fn skip_line(reader: &mut dyn BufRead) -> std::io::Result<()> {
    loop {
        let bytes = reader.fill_buf()?;
        let (length, end) = (bytes.len(), bytes.iter().position(|&byte| byte == b'\n'));
        reader.consume(end.map_or(length, |end| end + 1));
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}

/// True if text starts with a byte order mark of UTF-16 or has many zero bytes, as Latin text in UTF-16.
fn is_utf_16(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(1000)];
    let zeros = sample.iter().filter(|&&byte| byte == 0).count();
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || sample.len() > 7 && 5 * zeros > 2 * sample.len()
}

/// True if a file begins like a ZIP archive (.xlsx, .ods) or an OLE document (.xls).
fn is_workbook(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\xd0\xcf\x11\xe0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_up_to(bytes: &[u8], max_bytes: usize) -> Result<Vec<String>> {
        // Two parts, as from a pipe.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let reader = std::io::Cursor::new(first.to_vec()).chain(std::io::Cursor::new(second.to_vec()));
        LineReader::new(Box::new(reader), "file.txt".to_owned(), max_bytes).collect()
    }

    fn lines(bytes: &[u8]) -> Result<Vec<String>> {
        lines_up_to(bytes, usize::MAX)
    }

    #[test]
    fn strips_line_ends_and_byte_order_marks() {
        assert_eq!(lines(b"").unwrap(), Vec::<String>::new());
        assert_eq!(lines(b"\xef\xbb\xbf").unwrap(), Vec::<String>::new());
        assert_eq!(lines(b"\n").unwrap(), [""]);
        assert_eq!(lines(b"\xef\xbb\xbf\n").unwrap(), [""]);
        assert_eq!(lines(b"a").unwrap(), ["a"]);
        assert_eq!(lines(b"\xef\xbb\xbfa\r\n\r\nb\rc\r\n").unwrap(), ["a", "", "b\rc"]);
    }

    #[test]
    fn reports_position_of_invalid_utf8() {
        let message = lines(b"good\nb\xffd\n").unwrap_err().to_string();
        assert!(message.starts_with("file.txt:2: not UTF-8 from byte 2"), "{message}");
    }

    #[test]
    fn reads_on_after_invalid_utf8() {
        let bytes = std::io::Cursor::new(b"a\n\xe9\xff b\r\nc\n".to_vec());
        let mut lines = LineReader::new(Box::new(bytes), "file.txt".to_owned(), usize::MAX);
        assert_eq!(lines.next().unwrap().unwrap(), "a");
        let error = lines.next().unwrap().unwrap_err().downcast::<LineError>().unwrap();
        assert_eq!((error.line, error.lossy_text()), (2, Some("\u{fffd}\u{fffd} b")));
        assert_eq!(lines.next().unwrap().unwrap(), "c");
        assert!(lines.next().is_none());
    }

    #[test]
    fn rejects_utf_16_by_name() {
        let text = "The fox sleeps.\tRufo.\n";
        let tokens: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [
            tokens.clone(),
            [&b"\xff\xfe"[..], &tokens].concat(),
            "\u{feff}日本".encode_utf16().flat_map(u16::to_be_bytes).collect(),
        ] {
            assert!(lines(&bytes).unwrap_err().to_string().contains("UTF-16"));
        }
        assert!(lines(b"a\0\tb\n").is_ok());
    }

    #[test]
    fn truncates_overlong_lines() {
        let text = "äöü äöü äöü\nb\nccccccc\ndddddddddd".as_bytes();
        assert_eq!(lines_up_to(text, 7).unwrap(), ["äöü ", "b", "ccccccc", "ddddddd"]);
        assert_eq!(lines_up_to("äöü\n".as_bytes(), 5).unwrap(), ["äö"]);
        assert!(lines_up_to(b"\xff\xff\xff\xff\xff\xff\xff\xff", 7).is_err());
    }

    #[test]
    fn counts_as_many_lines_as_it_reads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file.txt");
        for text in ["", "\n", "a", "a\n", "a\n\nb", "a\n\nb\n"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(count_lines(&path), Some(read_lines(&path).unwrap().len()), "{text:?}");
        }
        assert_eq!(count_lines(Path::new("-")), None);
        assert_eq!(count_lines(dir.path()), None);
    }
}
