//! Sentence pairs of a file, one by one.

use std::fmt;

/// Reader of the sentence pairs of a file.
pub trait PairReader: Send {
    /// Returns the source and the target of the next pair, each without line ends and tabs; none at the end.
    ///
    /// # Errors
    /// The pair cannot be read, or nothing after it can.
    fn next_pair(&mut self) -> Result<Option<[String; 2]>, FormatError>;

    /// Codes of the source and the target language, if the file tells them. They are known after the first pair.
    fn languages(&self) -> Option<[String; 2]> {
        None
    }
}

/// Error at a place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// Line of the file, from 1.
    pub line: usize,
    /// Description of what is wrong, and what to do.
    pub reason: String,
    /// True if nothing can be read after it.
    pub is_last: bool,
}

impl FormatError {
    /// Returns an error after which the next pair can be read.
    pub(super) fn of_pair(line: usize, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into(), is_last: false }
    }

    /// Returns an error after which nothing can be read.
    pub(super) fn last(line: usize, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into(), is_last: true }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}: {}", self.line, self.reason)
    }
}

impl std::error::Error for FormatError {}

/// Returns a text on one line: white space of ASCII, which markup is indented with, becomes single spaces, and none at the ends.
pub(super) fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_ascii_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

#[cfg(test)]
pub(super) fn all_pairs(reader: &mut dyn PairReader) -> Result<Vec<[String; 2]>, FormatError> {
    std::iter::from_fn(|| reader.next_pair().transpose()).collect()
}
