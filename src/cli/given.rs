//! Options together with the names of those that were given.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// A command's options, and which of them the command line itself gave: by clap's own account, so that an option that is
/// new is among them without a word here.
#[derive(Debug)]
pub struct Given<T> {
    /// The options.
    pub args: T,
    /// The long names, without dashes, of those that were given, in the order of `--help`.
    pub names: Vec<String>,
}

impl<T: Args> Given<T> {
    /// The names of those given that `--help` lists under one of these headings.
    pub fn under(&self, headings: &[&str]) -> Vec<&str> {
        let command = T::augment_args(Command::new(""));
        let under = |name: &str| {
            let mut options = command.get_arguments().filter(|argument| argument.get_long() == Some(name));
            options.any(|option| option.get_help_heading().is_some_and(|heading| headings.contains(&heading)))
        };
        self.names.iter().map(String::as_str).filter(|name| under(name)).collect()
    }

    fn names(matches: &ArgMatches) -> Vec<String> {
        let command = T::augment_args(Command::new(""));
        let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let names = command.get_arguments().filter(|argument| given(argument.get_id().as_str()));
        names.filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
    }
}

impl<T: Args> FromArgMatches for Given<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self { names: Self::names(matches), args: T::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.names = Self::names(matches);
        self.args.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Given<T> {
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
