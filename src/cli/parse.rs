//! Parsing of the command line, with more helpful errors than clap's.

use std::any::TypeId;
use std::ffi::OsString;
use std::io::Write;

use clap::builder::{OsStr, Resettable, StyledStr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches};

use super::Cli;
use super::config_file::ExpandedArgs;

impl Cli {
    /// Returns clap's definition of the command line.
    pub fn definition() -> Command {
        Self::command()
    }

    /// Parses the arguments of this process. Prints errors and help, and exits.
    pub fn parse_or_exit() -> Self {
        Self::parse_args(std::env::args_os().collect()).unwrap_or_else(|error| exit(&with_owner_of_option(error)))
    }

    fn parse_args(arguments: Vec<OsString>) -> Result<Self, Error> {
        let command = command();
        let expanded = ExpandedArgs::new(&command, arguments)?;
        let parsed = command.try_get_matches_from(&expanded.arguments);
        let parsed = parsed.and_then(|matches| Self::from_arg_matches(&matches));
        let mut cli = parsed.map_err(|error| expanded.with_config_path(error))?;
        cli.command_line = expanded.self_contained.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        Ok(cli)
    }
}

/// Prints clap's message and exits. Help that cannot be written is an error, like any other result.
fn exit(error: &Error) -> ! {
    let code = match error.print().and_then(|()| std::io::stdout().flush()) {
        Err(failure) if failure.kind() != std::io::ErrorKind::BrokenPipe => {
            let _ = writeln!(std::io::stderr(), "error: standard output: cannot write: {failure}");
            1
        }
        _ => error.exit_code(),
    };
    std::process::exit(code)
}

fn command() -> Command {
    let adjusted = |option: Arg| with_environment_default(with_negative_numbers(option));
    Cli::command().mut_args(adjusted).mut_subcommands(|command| command.mut_args(adjusted))
}

/// Makes the option's environment variable its default. clap's own support would report conflicts as for a typed option. An
/// empty variable is ignored.
fn with_environment_default(option: Arg) -> Arg {
    match option.get_env().and_then(std::env::var_os) {
        None => option,
        Some(value) if value.is_empty() => option.env(Resettable::Reset),
        Some(value) => option.env(Resettable::Reset).default_value(OsStr::from(value)),
    }
}

/// Accepts negative numbers as values, so that errors name the range and not an unknown option.
fn with_negative_numbers(option: Arg) -> Arg {
    let kind = option.get_value_parser().type_id();
    let is = |number: TypeId| kind == number;
    if is(TypeId::of::<usize>()) {
        option.allow_negative_numbers(true).value_parser(parse_whole::<usize>)
    } else if is(TypeId::of::<u64>()) {
        option.allow_negative_numbers(true).value_parser(parse_whole::<u64>)
    } else {
        let other = [TypeId::of::<f64>(), TypeId::of::<f32>(), TypeId::of::<u16>(), TypeId::of::<u8>()].map(is);
        option.allow_negative_numbers(other.contains(&true))
    }
}

fn parse_whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "expected a whole number of at least 0".to_owned())
}

/// Names the commands that have an unknown option.
fn with_owner_of_option(mut error: Error) -> Error {
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if error.kind() == ErrorKind::UnknownArgument => option.clone(),
        _ => return error,
    };
    let has_option = |command: &&Command| {
        let mut options = command.get_arguments().filter_map(Arg::get_long);
        options.any(|long| unknown.strip_prefix("--") == Some(long))
    };
    let cli = Cli::command();
    let owners: Vec<String> =
        cli.get_subcommands().filter(has_option).map(|command| format!("'softalign {}'", command.get_name())).collect();
    if !owners.is_empty() {
        let hint = StyledStr::from(format!("'{unknown}' is an option of {}", owners.join(" and ")));
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
    }
    error
}
