//! Arguments of a command, with the names of the options that the command line contains.

use clap::parser::ValueSource;
use clap::{ArgGroup, ArgMatches, Args, Command, Error, FromArgMatches, Id};

/// Arguments of a command, with the names of the options that the command line contains, according to clap.
#[derive(Debug)]
pub struct ExplicitArgs<T> {
    /// Parsed arguments.
    pub args: T,
    /// Explicit options in the order of `--help`.
    options: Vec<ExplicitOption>,
}

/// Option that the command line contains.
#[derive(Debug)]
struct ExplicitOption {
    /// Long name, without dashes.
    long: String,
    groups: Vec<Id>,
}

impl<T> ExplicitArgs<T> {
    /// Returns the long names of the explicit options, without dashes, in the order of `--help`.
    pub fn names(&self) -> Vec<&str> {
        self.options.iter().map(|option| option.long.as_str()).collect()
    }

    /// Returns the explicit options in a group.
    pub fn names_in(&self, group: &str) -> Vec<&str> {
        let members = self.options.iter().filter(|option| option.groups.iter().any(|one| one == group));
        members.map(|option| option.long.as_str()).collect()
    }

    /// Returns the explicit options of a structure of arguments, which is a group for clap.
    pub fn names_of<S: Args>(&self) -> Vec<&str> {
        S::group_id().map(|group| self.names_in(group.as_str())).unwrap_or_default()
    }
}

impl<T: Args> ExplicitArgs<T> {
    fn options(matches: &ArgMatches) -> Vec<ExplicitOption> {
        let command = T::augment_args(Command::new(""));
        let mut options = Vec::new();
        for argument in command.get_arguments() {
            let id = argument.get_id();
            let is_explicit = matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
            if let Some(long) = argument.get_long().filter(|_| is_explicit) {
                let groups = command.get_groups().map(ArgGroup::get_id).filter(|group| is_given_in(matches, group, id));
                options.push(ExplicitOption { long: long.to_owned(), groups: groups.cloned().collect() });
            }
        }
        options
    }
}

/// True if an explicit argument belongs to a group.
fn is_given_in(matches: &ArgMatches, group: &Id, argument: &Id) -> bool {
    let mut given = matches.try_get_many::<Id>(group.as_str()).ok().flatten().into_iter().flatten();
    given.any(|one| one == argument)
}

/// Returns option names as in `--one, --two and --three`.
pub fn joined_options<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("--{}", name.as_ref())).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Returns the long names of all options of a structure of arguments, without dashes.
pub fn options_of<T: Args>() -> Vec<String> {
    let command = T::augment_args(Command::new(""));
    command.get_arguments().filter_map(|option| option.get_long().map(str::to_owned)).collect()
}

/// Returns the names of all options of a structure of arguments, joined for a message.
pub fn joined_options_of<T: Args>() -> String {
    joined_options(&options_of::<T>())
}

impl<T: Args> FromArgMatches for ExplicitArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self { options: Self::options(matches), args: T::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.options = Self::options(matches);
        self.args.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for ExplicitArgs<T> {
    fn group_id() -> Option<Id> {
        T::group_id()
    }

    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}
