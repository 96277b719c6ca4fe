//! Arguments of a command, with the names of the options that the command line contains.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// Arguments of a command, with the names of the options that the command line contains, according to clap.
#[derive(Debug)]
pub struct ExplicitArgs<T> {
    /// Parsed arguments.
    pub args: T,
    /// Long names of the explicit options, without dashes, in the order of `--help`.
    pub names: Vec<String>,
}

impl<T: Args> ExplicitArgs<T> {
    fn names(matches: &ArgMatches) -> Vec<String> {
        let command = T::augment_args(Command::new(""));
        let is_explicit = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let names = command.get_arguments().filter(|argument| is_explicit(argument.get_id().as_str()));
        names.filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
    }
}

impl<T: Args> FromArgMatches for ExplicitArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self { names: Self::names(matches), args: T::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.names = Self::names(matches);
        self.args.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for ExplicitArgs<T> {
    fn group_id() -> Option<clap::Id> {
        T::group_id()
    }

    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}
