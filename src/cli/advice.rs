//! The command line taken apart, with better advice than clap's own where something is wrong with it.

use std::any::TypeId;
use std::ffi::OsString;
use std::io::Write;

use clap::builder::{OsStr, Resettable, StyledStr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches};

use super::Cli;
use super::config::Expanded;

impl Cli {
    /// The options of this process; where they are wrong, or help is asked for, the process ends with what there is to say.
    pub fn of_this_process() -> Self {
        Self::of(std::env::args_os().collect()).unwrap_or_else(|error| end(&advised(error)))
    }

    fn of(arguments: Vec<OsString>) -> Result<Self, Error> {
        let command = command();
        let expanded = Expanded::new(&command, arguments)?;
        let parsed = command.try_get_matches_from(&expanded.arguments);
        let parsed = parsed.and_then(|matches| Self::from_arg_matches(&matches));
        let mut cli = parsed.map_err(|error| expanded.located(error))?;
        cli.command_line = expanded.self_contained.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        Ok(cli)
    }
}

/// Ends the process with what clap has to say; help that could not be written is a failure, as any result is.
fn end(error: &Error) -> ! {
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
    let understood = |option: Arg| with_default_of_environment(with_any_number(option));
    Cli::command().mut_args(understood).mut_subcommands(|command| command.mut_args(understood))
}

/// What the environment says stands for the default, where clap would have it conflict as if it had been typed; an empty
/// variable says nothing.
fn with_default_of_environment(option: Arg) -> Arg {
    match option.get_env().and_then(std::env::var_os) {
        None => option,
        Some(value) if value.is_empty() => option.env(Resettable::Reset),
        Some(value) => option.env(Resettable::Reset).default_value(OsStr::from(value)),
    }
}

/// A number that is out of its range is still a number, and no option of its own.
fn with_any_number(option: Arg) -> Arg {
    let kind = option.get_value_parser().type_id();
    let is = |number: TypeId| kind == number;
    if is(TypeId::of::<usize>()) {
        option.allow_negative_numbers(true).value_parser(whole::<usize>)
    } else if is(TypeId::of::<u64>()) {
        option.allow_negative_numbers(true).value_parser(whole::<u64>)
    } else {
        let other = [TypeId::of::<f64>(), TypeId::of::<f32>(), TypeId::of::<u16>(), TypeId::of::<u8>()].map(is);
        option.allow_negative_numbers(other.contains(&true))
    }
}

fn whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "this must be a whole number, from 0 on".to_owned())
}

/// An option of another command is no text that lacks its dashes: says whose it is.
fn advised(mut error: Error) -> Error {
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if error.kind() == ErrorKind::UnknownArgument => option.clone(),
        _ => return error,
    };
    let has_it = |command: &&Command| {
        let mut options = command.get_arguments().filter_map(Arg::get_long);
        options.any(|long| unknown.strip_prefix("--") == Some(long))
    };
    let cli = Cli::command();
    let owners: Vec<String> =
        cli.get_subcommands().filter(has_it).map(|command| format!("'softalign {}'", command.get_name())).collect();
    if !owners.is_empty() {
        let advice = StyledStr::from(format!("'{unknown}' is an option of {}", owners.join(" and ")));
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice]));
    }
    error
}
