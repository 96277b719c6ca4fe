//! Parsing of the command line, with more helpful errors than clap's.

use std::any::TypeId;
use std::ffi::OsString;
use std::io::Write;

use clap::builder::{OsStr, Resettable, StyledStr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches};

use super::Cli;
use super::config_file::ExpandedArgs;
use super::error_line::in_one_line;
use crate::text::check_standard_output;

/// Options of other programs that are called otherwise here, where a similar name would mislead.
const OTHER_OPTIONS: [(&str, &str); 14] = [
    ("--lr", "'--learning-rate'"),
    ("--batch-size", "'--batch-sentences' or '--batch-tokens'"),
    ("--batch", "'--batch-sentences' or '--batch-tokens'"),
    ("--epochs", "'--max-epochs'"),
    ("--num-epochs", "'--max-epochs'"),
    ("--early-stopping", "'--patience'"),
    ("--vocab-size", "'--vocabulary-size'"),
    ("--beam-size", "'--beam'"),
    ("--gpu", "'--device cuda'"),
    ("--workers", "'--threads'"),
    ("--src", "'--source'"),
    ("--tgt", "'--target'"),
    ("--dev", "'--valid'"),
    ("--heuristic", "'--symmetrize'"),
];
/// Commands of other programs, with what does their work here.
const OTHER_COMMANDS: [(&str, &str); 6] = [
    ("predict", TRANSLATE),
    ("decode", TRANSLATE),
    ("test", "'softalign evaluate' measures a model"),
    ("preprocess", "'softalign train' reads sentence pairs as they are"),
    ("finetune", "'softalign train --init-from DIR' continues from a model"),
    ("export", "'softalign align' and 'softalign translate' write other formats with --format"),
];
const TRANSLATE: &str = "'softalign translate' translates sentences, files and streams";

impl Cli {
    /// Returns clap's definition of the command line.
    pub fn definition() -> Command {
        Self::command()
    }

    /// Parses a command line, program name first. Prints errors and help, and exits.
    pub fn parse_or_exit(arguments: Vec<OsString>) -> Self {
        Self::parse_args(arguments).unwrap_or_else(|error| exit(&error))
    }

    fn parse_args(arguments: Vec<OsString>) -> Result<Self, Error> {
        let mut definition = command();
        let expanded = ExpandedArgs::new(&definition, arguments)?;
        let parsed = definition.try_get_matches_from_mut(&expanded.arguments);
        let parsed = parsed.and_then(|matches| Self::from_arg_matches(&matches));
        let mut cli = parsed.map_err(|error| {
            let error = with_hint(expanded.with_config_path(error));
            in_one_line(error, &command(), &expanded.arguments)
        })?;
        cli.command_line = expanded.self_contained.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        Ok(cli)
    }
}

/// Prints clap's message and exits. Help that cannot be written is an error, like any other result.
fn exit(error: &Error) -> ! {
    let writable = if error.use_stderr() { Ok(()) } else { check_standard_output() };
    let code = match writable.and_then(|()| error.print()).and_then(|()| std::io::stdout().flush()) {
        Err(failure) if failure.kind() != std::io::ErrorKind::BrokenPipe => {
            let _ = writeln!(std::io::stderr(), "error: standard output: cannot write: {failure}");
            1
        }
        _ => error.exit_code(),
    };
    std::process::exit(code)
}

fn command() -> Command {
    // Only the options of the command that runs are adjusted.
    with_adjusted_options(Cli::command()).mut_subcommands(|command| command.defer(with_adjusted_options))
}

fn with_adjusted_options(command: Command) -> Command {
    command.mut_args(|option| with_environment_default(with_negative_numbers(option)))
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
    if kind == TypeId::of::<usize>() {
        option.allow_negative_numbers(true).value_parser(parse_whole::<usize>)
    } else if kind == TypeId::of::<u64>() {
        option.allow_negative_numbers(true).value_parser(parse_whole::<u64>)
    } else {
        let numbers = [TypeId::of::<f64>(), TypeId::of::<f32>(), TypeId::of::<u16>(), TypeId::of::<u8>()];
        option.allow_negative_numbers(numbers.into_iter().any(|number| kind == number))
    }
}

fn parse_whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "expected a whole number of at least 0".to_owned())
}

/// Replaces clap's proposal of a similar name where another hint helps more.
fn with_hint(mut error: Error) -> Error {
    let hint = match error.kind() {
        ErrorKind::UnknownArgument => context_text(&error, ContextKind::InvalidArg).and_then(hint_for_option),
        ErrorKind::InvalidSubcommand => context_text(&error, ContextKind::InvalidSubcommand).and_then(hint_for_command),
        _ => None,
    };
    if let Some(hint) = hint {
        // The usage that clap prints has its own proposal.
        for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::Usage] {
            error.remove(kind);
        }
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(hint)]));
    }
    error
}

fn context_text(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

fn hint_for_command(unknown: &str) -> Option<String> {
    OTHER_COMMANDS.iter().find(|(name, _)| *name == unknown).map(|(_, hint)| (*hint).to_owned())
}

/// Names an option that does the same as an unknown one, or the commands that have it.
fn hint_for_option(unknown: &str) -> Option<String> {
    if let Some((_, name)) = OTHER_OPTIONS.iter().find(|(name, _)| *name == unknown) {
        return Some(format!("'{unknown}' is called {name} here"));
    }
    let mut owners = Vec::new();
    for command in Cli::command().get_subcommands() {
        let mut options = command.get_arguments().filter_map(Arg::get_long);
        if options.any(|long| unknown.strip_prefix("--") == Some(long)) {
            owners.push(format!("'softalign {}'", command.get_name()));
        }
    }
    (!owners.is_empty()).then(|| format!("'{unknown}' is an option of {}", owners.join(" and ")))
}
