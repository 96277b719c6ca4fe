//! Parsing of the command line, with more helpful errors than clap's.

use std::any::TypeId;
use std::ffi::OsString;
use std::io::Write;

use clap::builder::{OsStr, Resettable};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches};

use super::Cli;
use super::config_file::ExpandedArgs;
use super::error_line::in_one_line;
use crate::error::io_reason;
use crate::text::check_standard_output;

impl Cli {
    /// Returns clap's definition of the command line.
    pub fn definition() -> Command {
        Self::command()
    }

    /// Parses a command line, program name first. Prints errors and help, and exits.
    pub fn parse_or_exit(arguments: Vec<OsString>) -> Self {
        Self::parse_args(arguments).unwrap_or_else(|error| exit(&error))
    }

    /// Parses a command line, program name first.
    ///
    /// # Errors
    /// The command line is invalid, or asks for help; the error displays the message.
    pub fn parse_args(arguments: Vec<OsString>) -> Result<Self, Error> {
        let mut definition = command();
        let expanded = ExpandedArgs::new(&definition, arguments)?;
        let parsed = definition.try_get_matches_from_mut(&expanded.arguments);
        let parsed = parsed.and_then(|matches| Self::from_arg_matches(&matches));
        let mut cli =
            parsed.map_err(|error| in_one_line(expanded.with_config_path(error), &command(), &expanded.arguments))?;
        cli.command_line = expanded.self_contained.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        Ok(cli)
    }
}

/// Prints clap's message and exits. Help that cannot be written is an error, like any other result.
fn exit(error: &Error) -> ! {
    let writable = if error.use_stderr() { Ok(()) } else { check_standard_output() };
    let code = match writable.and_then(|()| error.print()).and_then(|()| std::io::stdout().flush()) {
        Err(failure) if failure.kind() != std::io::ErrorKind::BrokenPipe => {
            let _ = writeln!(std::io::stderr(), "error: standard output: cannot write: {}", io_reason(&failure));
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
    let numbers = [
        TypeId::of::<f64>(),
        TypeId::of::<f32>(),
        TypeId::of::<usize>(),
        TypeId::of::<u64>(),
        TypeId::of::<u16>(),
        TypeId::of::<u8>(),
    ];
    option.allow_negative_numbers(numbers.into_iter().any(|number| kind == number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(arguments: &[&str]) -> Option<String> {
        let arguments = arguments.iter().map(OsString::from).collect();
        Cli::parse_args(arguments).err().map(|error| error.to_string())
    }

    #[test]
    fn values_and_names_have_the_hint_that_helps() {
        for (arguments, expected) in [
            (&["train", "--max-minutes", "5m"][..], "expected a number without a unit, such as 5"),
            (&["translate", "--length-penalty", "0,6"], "expected a number with a point, such as 0.6"),
            (&["translate", "--beam", "-1"], "expected a whole number of at least 0"),
            (&["translate", "--threads", "0"], "expected a whole number from 1 to 1024"),
            (&["translate", "--glossary", "a"], "'--glossary' is called '--terms' here"),
            (&["evaluate", "--reference", "a"], "'--reference' is called '--target' here"),
            (
                &["translate", "--heads", "2"],
                "'--head' is one of this command; '--heads' is an option of 'softalign train'",
            ),
            (&["translate", "--nonsense"], "unexpected argument '--nonsense' found; see"),
        ] {
            let message = refusal(&[&["softalign"], arguments].concat()).unwrap();
            assert!(message.contains(expected), "{arguments:?}: {message}");
        }
        #[cfg(feature = "serve")]
        for (argument, expected) in
            [("--host=a", "expected an IP address"), ("checkpoints", "'--model checkpoints' names")]
        {
            let message = refusal(&["softalign", "serve", argument]).unwrap();
            assert!(message.contains(expected), "{message}");
        }
    }
}
