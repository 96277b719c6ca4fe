//! Arguments of a command, with the names of the options that the command line contains.

use clap::parser::ValueSource;
use clap::{ArgGroup, ArgMatches, Args, Command, Error, FromArgMatches, Id};

/// Arguments of a command, with the names of the options that the command line contains, according to clap.
#[derive(Debug)]
pub struct ExplicitArgs<T> {
    /// Parsed arguments.
    pub args: T,
    /// Long names of the explicit options, without dashes, in the order of `--help`.
    pub names: Vec<String>,
}

/// Returns the long names of the options of `T` in a group, in the order of `--help`. clap makes a group of each structure of
/// arguments; others are named by their options.
pub fn options_in_group<T: Args>(group: &Id) -> Vec<String> {
    let command = T::augment_args(Command::new(""));
    let members: Vec<&Id> =
        command.get_groups().filter(|one| one.get_id() == group).flat_map(ArgGroup::get_args).collect();
    let options = command.get_arguments().filter(|option| members.contains(&option.get_id()));
    options.filter_map(|option| option.get_long().map(str::to_owned)).collect()
}

/// Returns option names as in `--one, --two and --three`.
pub fn joined_options<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("--{}", name.as_ref())).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Returns the names of all options of a structure of arguments, joined for a message.
pub fn joined_options_of<T: Args>() -> String {
    joined_options(&T::group_id().map(|group| options_in_group::<T>(&group)).unwrap_or_default())
}

impl<T: Args> ExplicitArgs<T> {
    /// Returns the explicit options in any of these groups.
    pub fn names_in(&self, groups: impl IntoIterator<Item = Id>) -> Vec<&str> {
        let members: Vec<String> = groups.into_iter().flat_map(|group| options_in_group::<T>(&group)).collect();
        self.names.iter().filter(|name| members.contains(name)).map(String::as_str).collect()
    }

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
