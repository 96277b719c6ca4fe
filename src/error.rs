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

    /// Returns the name of the argument that the error is about, as a field of JSON and in Python, if it is about one:
    /// `length_penalty`.
    pub fn argument(&self) -> Option<String> {
        let usage = self.source.downcast_ref::<UsageError>()?;
        Some(usage.option.as_ref()?.replace('-', "_"))
    }

    /// Returns the message with the names of arguments as in JSON and in Python, `length_penalty` for `--length-penalty`, and
    /// without advice for the command line.
    pub fn in_arguments(&self) -> String {
        self.in_terms(&|option| option.replace('-', "_"))
    }

    /// Returns the message as [`Self::in_arguments`] does, with other names of the options.
    pub fn in_terms(&self, name: &dyn Fn(&str) -> String) -> String {
        let causes = self.source.chain().map(|cause| match advised(cause) {
            Some(Advised { message, .. }) => message.clone(),
            None => reason_of(cause),
        });
        in_terms(&in_one_line(causes), name)
    }

    /// Returns the error with its chain of causes.
    pub fn into_inner(self) -> anyhow::Error {
        self.source
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&message_of(&self.source))
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
///
/// ```
/// use softalign::DecodeOptions;
/// use softalign::error::UsageError;
///
/// let error = DecodeOptions::beam(0).request().unwrap_err();
/// assert_eq!(error.downcast_ref::<UsageError>().unwrap().option.as_deref(), Some("beam"));
/// assert_eq!(error.to_string(), "--beam must be between 1 and 1000, not 0");
/// ```
#[derive(Debug)]
pub struct UsageError {
    /// The option by its name on the command line, without dashes, if the error is about one.
    pub option: Option<String>,
    /// Description of what is wrong with the option. Other options have their names on the command line: `--sample`.
    pub reason: String,
}

impl UsageError {
    /// Returns an error that is not about one option.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { option: None, reason: reason.into() }
    }

    /// Returns an error in an option.
    pub fn of(option: &str, reason: impl Into<String>) -> Self {
        Self { option: Some(option.to_owned()), reason: reason.into() }
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        if let Some(option) = &self.option {
            let space = if self.reason.starts_with(':') { "" } else { " " };
            write!(formatter, "--{option}{space}")?;
        }
        formatter.write_str(&self.reason)
    }
}

impl std::error::Error for UsageError {}

/// Fails with a [`UsageError`] that is not about one option.
pub(crate) fn usage<T>(reason: impl Into<String>) -> anyhow::Result<T> {
    Err(UsageError::new(reason).into())
}

/// Fails with a [`UsageError`] in an option.
pub(crate) fn usage_of<T>(option: &str, reason: impl Into<String>) -> anyhow::Result<T> {
    Err(UsageError::of(option, reason).into())
}

/// Replaces the options of the command line in a message, such as `--length-penalty`, by the names that `name` has for them.
pub fn in_terms(message: &str, name: &dyn Fn(&str) -> String) -> String {
    let mut parts = message.split("--");
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|sign: char| !sign.is_ascii_lowercase() && sign != '-').unwrap_or(part.len());
        let (option, rest) = part.split_at(end);
        if option.starts_with(|first: char| first.is_ascii_lowercase()) && !named.ends_with(char::is_alphanumeric) {
            named += &name(option);
        } else {
            named += "--";
            named += option;
        }
        named += rest;
    }
    named
}

/// Returns an error with its causes in one line, in words for users.
pub fn message_of(error: &anyhow::Error) -> String {
    in_one_line(error.chain().map(reason_of))
}

fn in_one_line(causes: impl Iterator<Item = String>) -> String {
    causes.collect::<Vec<_>>().join(": ").replace('\n', " ")
}

fn reason_of(cause: &(dyn std::error::Error + 'static)) -> String {
    cause.downcast_ref::<std::io::Error>().map_or_else(|| cause.to_string(), io_reason)
}

/// Returns the reason of a failed system call without its number.
pub fn io_reason(failure: &std::io::Error) -> String {
    let reason = failure.to_string();
    match failure.raw_os_error() {
        _ if failure.kind() == IoErrorKind::IsADirectory => "this is a directory, not a file".to_owned(),
        Some(code) => reason.trim_end_matches(&format!(" (os error {code})")).to_owned(),
        None => reason,
    }
}

/// Returns a number in digits, or with an exponent if these would be many.
pub(crate) fn written_number(value: f64) -> String {
    if value == 0.0 || (1e-6..1e15).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// Message with advice that names options and commands, which only users of the command line see.
#[derive(Debug)]
struct Advised {
    message: String,
    advice: String,
}

impl fmt::Display for Advised {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}; {}", self.message, self.advice)
    }
}

impl std::error::Error for Advised {}

/// Returns the message with advice that an error is, if it is one.
fn advised<'e>(cause: &'e (dyn std::error::Error + 'static)) -> Option<&'e Advised> {
    cause.downcast_ref::<std::io::Error>()?.get_ref()?.downcast_ref()
}

/// Fails with an error of the class [`ErrorKind::NotFound`], with advice for the command line.
pub(crate) fn not_found_with_advice<T>(message: impl Into<String>, advice: &str) -> anyhow::Result<T> {
    let advised = Advised { message: message.into(), advice: advice.to_owned() };
    Err(std::io::Error::new(IoErrorKind::NotFound, advised).into())
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
        assert_eq!(kind(UsageError::of("beam", "must be at least 1").into()), ErrorKind::Argument);
        let missing = std::fs::read("/nowhere/at/all").context("/nowhere/at/all: cannot read this file");
        assert_eq!(kind(missing.unwrap_err()), ErrorKind::NotFound);
        assert_eq!(kind(not_found::<()>("/nowhere: no model here").unwrap_err()), ErrorKind::NotFound);
        assert_eq!(kind(std::io::Error::from(IoErrorKind::BrokenPipe).into()), ErrorKind::Io);
        assert_eq!(kind(anyhow::anyhow!("damaged")), ErrorKind::Other);
    }

    #[test]
    fn options_become_fields() {
        for (message, named) in [
            ("--beam must be at least 1", "beam must be at least 1"),
            ("omit --length-penalty, --mbr", "omit length_penalty, mbr"),
            ("a--b -- --", "a--b -- --"),
            ("--", "--"),
            ("", ""),
        ] {
            assert_eq!(in_terms(message, &|option| option.replace('-', "_")), named);
        }
    }

    #[test]
    fn names_the_argument() {
        let error = Error::from(anyhow::Error::from(UsageError::of("top-k", "needs --sample")));
        assert_eq!(error.argument().as_deref(), Some("top_k"));
        assert_eq!(
            (error.to_string().as_str(), error.in_arguments().as_str()),
            ("--top-k needs --sample", "top_k needs sample")
        );
        assert_eq!(Error::from(anyhow::anyhow!("damaged")).argument(), None);
    }

    #[test]
    fn says_nothing_of_the_library_that_failed() {
        let directory = std::fs::read(".").context("here: cannot read this file").unwrap_err();
        assert_eq!(message_of(&directory), "here: cannot read this file: this is a directory, not a file");
        let missing = std::fs::read("/nowhere").context("/nowhere: cannot read this file").unwrap_err();
        assert_eq!(message_of(&missing), "/nowhere: cannot read this file: No such file or directory");
        let numbers = [0.0, -1.0, 0.25, 1e14, 1e300].map(written_number);
        assert_eq!(numbers, ["0", "-1", "0.25", "100000000000000", "1e300"]);
    }

    #[test]
    fn advice_for_the_command_line_is_not_for_arguments() {
        let error = not_found_with_advice::<()>("m: no model here", "train one with softalign train").unwrap_err();
        let error = Error::from(error.context("x"));
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.to_string(), "x: m: no model here; train one with softalign train");
        assert_eq!(error.in_arguments(), "x: m: no model here");
    }

    #[test]
    fn displays_the_whole_chain_in_one_line() {
        let error = Error::from(anyhow::anyhow!("no tab").context("a.tsv:3"));
        assert_eq!(error.to_string(), "a.tsv:3: no tab");
    }
}
