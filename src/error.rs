//! Errors of the library.

use std::fmt;
use std::io::ErrorKind as IoErrorKind;

/// An error of the library. Its message is the line that the `softalign` command prints after `error: `: what failed,
/// where (a file and line if there is one), and what to do.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    source: anyhow::Error,
}

/// The class of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is out of range, or arguments contradict each other or the data.
    Argument,
    /// A file or directory does not exist.
    NotFound,
    /// Another I/O error: permissions, a full disk, a closed pipe.
    Io,
    /// Anything else: damaged files, unusable pairs, non-finite numbers.
    Other,
}

/// Result of the library's public functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns the class of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the error with its chain of causes.
    pub fn into_inner(self) -> anyhow::Error {
        self.source
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{:#}", self.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.source()
    }
}

impl From<anyhow::Error> for Error {
    fn from(source: anyhow::Error) -> Self {
        let io = source.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>()).map(std::io::Error::kind);
        let kind = match io {
            _ if source.downcast_ref::<UsageError>().is_some() => ErrorKind::Argument,
            Some(IoErrorKind::NotFound) => ErrorKind::NotFound,
            Some(_) => ErrorKind::Io,
            None => ErrorKind::Other,
        };
        Self { kind, source }
    }
}

impl From<candle_core::Error> for Error {
    fn from(source: candle_core::Error) -> Self {
        anyhow::Error::from(source).into()
    }
}

/// Invalid arguments, or arguments that contradict each other or the data; exit code 2 on the command line.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Fails with a [`UsageError`].
pub(crate) fn usage<T>(message: impl Into<String>) -> anyhow::Result<T> {
    Err(UsageError(message.into()).into())
}

/// Fails with an error of the class [`ErrorKind::NotFound`].
pub(crate) fn not_found<T>(message: impl Into<String>) -> anyhow::Result<T> {
    Err(std::io::Error::new(IoErrorKind::NotFound, message.into()).into())
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn classifies_errors_by_their_cause() {
        let kind = |error: anyhow::Error| Error::from(error).kind();
        assert_eq!(kind(UsageError("--beam must be at least 1".to_owned()).into()), ErrorKind::Argument);
        let missing = std::fs::read("/nowhere/at/all").context("/nowhere/at/all: cannot read this file");
        assert_eq!(kind(missing.unwrap_err()), ErrorKind::NotFound);
        assert_eq!(kind(not_found::<()>("/nowhere: no model here").unwrap_err()), ErrorKind::NotFound);
        assert_eq!(kind(std::io::Error::from(IoErrorKind::BrokenPipe).into()), ErrorKind::Io);
        assert_eq!(kind(anyhow::anyhow!("damaged")), ErrorKind::Other);
    }

    #[test]
    fn displays_the_whole_chain_in_one_line() {
        let error = Error::from(anyhow::anyhow!("no tab").context("a.tsv:3"));
        assert_eq!(error.to_string(), "a.tsv:3: no tab");
    }
}
