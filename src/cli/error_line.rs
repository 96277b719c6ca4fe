//! Errors of clap in one line: what is wrong, then what to do and whose help to see.

use std::error::Error as _;
use std::ffi::OsString;
use std::net::AddrParseError;
use std::num::{ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, Error};

use super::config_file::{OptionValue, built_subcommand, typed_options};
use super::hints::with_hint;
use crate::render::escape_controls;

/// Start of a line with advice in a rendered error.
const TIP: &str = "  tip: ";

/// Returns an error of the command line with its message in one line; help and other messages stay as they are.
pub fn in_one_line(mut error: Error, cli: &Command, arguments: &[OsString]) -> Error {
    if !error.use_stderr()
        || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        || error.context().next().is_none()
    {
        return error;
    }
    let command = subcommand(cli, arguments).map(|(name, _)| name);
    error = with_hint(error, cli, command.as_deref());
    escape_arguments(&mut error);
    let message = missing_arguments(&error, cli, arguments);
    let mut message = message.unwrap_or_else(|| joined_lines(&error.render().to_string()));
    if let (Some(reason), Some(words)) = (error.source(), expected_value(&error)) {
        message = message.replacen(&reason.to_string(), &words, 1);
    }
    let command = command.map(|name| format!(" {name}")).unwrap_or_default();
    Error::raw(error.kind(), format!("{message}; see '{}{command} --help'\n", cli.get_name()))
}

/// Returns the reason why a value is invalid, in words for users, if Rust's library or clap gave it.
fn expected_value(error: &Error) -> Option<String> {
    let reason = error.source()?;
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value,
        _ => "",
    };
    if reason.is::<ParseIntError>() {
        return Some("expected a whole number of at least 0".to_owned());
    }
    if reason.is::<ParseFloatError>() {
        return Some(expected_number(value));
    }
    if reason.is::<AddrParseError>() {
        return Some("expected an IP address, such as 127.0.0.1, or 0.0.0.0 for all networks".to_owned());
    }
    let text = reason.to_string();
    let (first, last) = text.split_once(" is not in ")?.1.split_once("..=")?;
    Some(format!("expected a whole number from {first} to {last}"))
}

/// Says how to write a number: with a point, and without a unit.
fn expected_number(value: &str) -> String {
    let with_point = value.replace(',', ".");
    if with_point.parse::<f64>().is_ok() {
        return format!("expected a number with a point, such as {with_point}");
    }
    let digits = value.trim_end_matches(|character: char| !character.is_ascii_digit());
    match digits.parse::<f64>() {
        Ok(_) => format!("expected a number without a unit, such as {digits}"),
        Err(_) => "expected a number, such as 0.5".to_owned(),
    }
}

/// Escapes the arguments that the message repeats, since a terminal would interpret them.
fn escape_arguments(error: &mut Error) {
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand] {
        if let Some(ContextValue::String(text)) = error.get(kind) {
            let escaped = escape_controls(text);
            error.insert(kind, ContextValue::String(escaped));
        }
    }
}

/// Joins the message and the advice of a rendered error, without its usage.
fn joined_lines(rendered: &str) -> String {
    let (message, rest) = rendered.split_once("\n\n").unwrap_or((rendered, ""));
    let (first, items) = message.split_once('\n').unwrap_or((message, ""));
    let items: Vec<&str> = items.lines().map(str::trim).collect();
    let message = format!("{} {}", first.strip_prefix("error: ").unwrap_or(first), items.join(", "));
    let advice = rest.lines().filter_map(|line| line.strip_prefix(TIP));
    [message.trim_end()].into_iter().chain(advice).collect::<Vec<_>>().join("; ")
}

/// Returns the message about missing arguments: the option that needs them, if they are not always required.
fn missing_arguments(error: &Error, cli: &Command, arguments: &[OsString]) -> Option<String> {
    let missing = missing_names(error)?;
    Some(match option_that_needs(missing.first()?, cli, arguments) {
        Some(option) => format!("--{option} needs {}", missing.join(" and ")),
        None => format!("missing arguments: {}", missing.join(", ")),
    })
}

/// Returns the names of missing arguments, if that is the error.
fn missing_names(error: &Error) -> Option<&[String]> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) if error.kind() == ErrorKind::MissingRequiredArgument => Some(names),
        _ => None,
    }
}

/// Returns the first option of the command line that alone makes an argument required.
fn option_that_needs(missing: &String, cli: &Command, arguments: &[OsString]) -> Option<String> {
    let (name, matches) = subcommand(cli, arguments)?;
    if is_missing_with(None, missing, cli, &name) {
        return None;
    }
    let typed = typed_options(&built_subcommand(cli, &name), &matches);
    typed.into_iter().find(|option| is_missing_with(Some(option), missing, cli, &name)).map(|option| option.long)
}

/// Returns true if an argument is missing from the command with at most one option.
fn is_missing_with(option: Option<&OptionValue>, missing: &String, cli: &Command, command: &str) -> bool {
    let option = option.map(OptionValue::to_argument);
    let arguments = [cli.get_name(), command].into_iter().map(OsString::from).chain(option);
    let parsed = cli.clone().try_get_matches_from(arguments);
    parsed.is_err_and(|error| missing_names(&error).is_some_and(|names| names.contains(missing)))
}

/// Returns the command with its arguments, as far as they can be parsed.
fn subcommand(cli: &Command, arguments: &[OsString]) -> Option<(String, ArgMatches)> {
    cli.clone().ignore_errors(true).try_get_matches_from(arguments).ok()?.remove_subcommand()
}
