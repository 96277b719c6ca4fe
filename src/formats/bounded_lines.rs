//! Lines of a stream, with a maximum length.

use std::io::{BufRead, Read};

use super::input::ByteReader;
use super::pair_reader::FormatError;
use crate::error::io_reason;

/// Maximum bytes of a line. JSON may have much beside the two texts.
const MAX_LINE: usize = 4 << 20;

/// Lines of a file, with their numbers.
pub(super) struct BoundedLines {
    reader: ByteReader,
    /// Number of the last line that was read, from 1.
    number: usize,
}

impl BoundedLines {
    /// Reads the lines of a stream, without a byte order mark.
    pub fn new(reader: ByteReader) -> Self {
        Self { reader, number: 0 }
    }

    /// Number of the last line that was read, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Reads a line without its end; none at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read or a line is too long, which is the last error; or a line is not UTF-8.
    pub fn next_line(&mut self) -> Result<Option<String>, FormatError> {
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut bytes);
        self.number += 1;
        match read {
            Err(error) => {
                return Err(FormatError::last(self.number, format!("cannot read this file: {}", io_reason(&error))));
            }
            Ok(0) => return Ok(None),
            Ok(_) if bytes.len() > MAX_LINE => {
                return Err(FormatError::last(self.number, format!("line of more than {} MiB", MAX_LINE >> 20)));
            }
            Ok(_) => {}
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| FormatError::of_pair(self.number, "not UTF-8; convert the file to UTF-8"))?;
        let text = text.strip_suffix('\n').map_or(&*text, |text| text.strip_suffix('\r').unwrap_or(text));
        let text = if self.number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        Ok(Some(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::reader_of;
    use super::*;

    #[test]
    fn reads_lines_with_their_numbers() {
        let mut lines = BoundedLines::new(reader_of(b"\xef\xbb\xbfa\r\n\n\xff\nb"));
        assert_eq!(lines.next_line(), Ok(Some("a".to_owned())));
        assert_eq!(lines.next_line(), Ok(Some(String::new())));
        assert!(lines.next_line().is_err_and(|error| error.line == 3 && !error.is_last));
        assert_eq!(lines.next_line(), Ok(Some("b".to_owned())));
        assert_eq!(lines.next_line(), Ok(None));
    }

    #[test]
    fn ends_at_a_line_without_end() {
        let mut lines = BoundedLines::new(reader_of(vec![b'a'; MAX_LINE + 2]));
        assert!(lines.next_line().is_err_and(|error| error.is_last));
    }
}
