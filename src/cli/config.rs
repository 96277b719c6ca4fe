//! `--config`: options from a file. They become arguments before clap takes the command line apart, so that types, ranges,
//! conflicts and messages are clap's own.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, ValueHint};
use serde_json::{Map, Value};

use crate::checkpoint::Config;
use crate::metrics::edit_distance;
use crate::render::escape_controls;
use crate::trainer::InitVocabulary;

/// Options that say nothing of what is done: a config has none of them.
const NO_SETTINGS: [&str; 3] = ["help", "version", "config"];
/// Options of a training that the next one like it does not share: where its model goes and what is shown.
const OF_ONE_RUN: [&str; 3] = ["out", "quiet", "color"];
/// What a preset says in one word.
const IN_A_PRESET: [&str; 5] = ["embedding-size", "hidden-size", "attention-size", "learning-rate", "max-epochs"];
/// The key by which a model's config.json is known.
const OF_A_MODEL: &str = "format_version";

/// A command line in which the options of a config stand as if they had been typed.
pub struct Expanded {
    /// What clap is to take apart, the program's name first.
    pub arguments: Vec<OsString>,
    /// The same without the program's name and without `--config`.
    pub self_contained: Vec<OsString>,
    /// The config, and the arguments that are from there.
    config: Option<(PathBuf, Vec<Setting>)>,
}

/// An option by its long name, and a value of it if it takes one.
struct Setting {
    long: String,
    value: Option<OsString>,
}

impl Setting {
    fn new(long: &str, value: Option<&OsStr>) -> Self {
        Self { long: long.to_owned(), value: value.map(OsStr::to_owned) }
    }

    /// As it is typed.
    fn argument(&self) -> OsString {
        let mut argument = OsString::from(format!("--{}", self.long));
        if let Some(value) = &self.value {
            argument.push("=");
            argument.push(value);
        }
        argument
    }

    /// Whether it names this file, if there is one.
    fn names(&self, file: &Path, command: &Command) -> bool {
        let of_paths = |option: &Arg| option.get_value_hint() == ValueHint::AnyPath;
        let is_path = options(command).any(|(option, long)| long == self.long && of_paths(option));
        let is_it = |value: &OsString| {
            std::fs::canonicalize(value).is_ok_and(|place| std::fs::canonicalize(file).is_ok_and(|file| file == place))
        };
        is_path && self.value.as_ref().is_some_and(is_it)
    }
}

impl Expanded {
    /// Reads the config that the command line names, if it does. Options that the command line itself gives are left out, and
    /// those that conflict with what it gives.
    ///
    /// # Errors
    /// Help is asked for, or the config cannot be read or holds what it cannot.
    pub fn new(cli: &Command, arguments: Vec<OsString>) -> Result<Self, Error> {
        // What is wrong may be so only without the config; what is wrong in any case is found later.
        let leniently = |arguments: &[OsString]| cli.clone().ignore_errors(true).try_get_matches_from(arguments);
        let matches = leniently(&arguments)?;
        let named = matches.subcommand().and_then(|(name, matches)| {
            let path: &PathBuf = matches.get_one("config")?;
            Some((name, matches, path))
        });
        let Some((name, matches, path)) = named else {
            return Ok(Self { self_contained: arguments.iter().skip(1).cloned().collect(), arguments, config: None });
        };
        let command = built(cli, name);
        let mut from_config = read(&command, path).map_err(|reason| wrong(path, &reason))?;
        from_config.retain(|option| !yields(&command, &option.long, matches));
        let typed = given(&command, matches);
        let both = || from_config.iter().chain(&typed);
        if let Some(twice) = both().find(|option| option.names(path, &command)) {
            return Err(wrong(path, &format!("this is the config, and --{} names it as well", twice.long)));
        }
        let all = both().map(Setting::argument);
        let self_contained = [OsString::from(name)].into_iter().chain(all).collect();
        let has_command = |end: &usize| leniently(&arguments[..*end]).is_ok_and(|m| m.subcommand_name().is_some());
        let after_command = (1..arguments.len()).find(has_command).unwrap_or(arguments.len());
        let mut arguments = arguments.clone();
        let inserted = from_config.iter().map(Setting::argument);
        arguments.splice(after_command..after_command, inserted);
        Ok(Self { arguments, self_contained, config: Some((path.clone(), from_config)) })
    }

    /// Says of an option that is wrong, if it is from the config, where it stands.
    pub fn located(&self, mut error: Error) -> Error {
        let (Some((path, options)), Some(ContextValue::String(option))) =
            (&self.config, error.get(ContextKind::InvalidArg))
        else {
            return error;
        };
        // As in `--seed <N>`.
        let name = option.split([' ', '=', '[']).next().unwrap_or_default().to_owned();
        if options.iter().any(|option| name.strip_prefix("--") == Some(&option.long)) {
            let place = StyledStr::from(format!("'{name}' stands in {}", path.display()));
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![place]));
        }
        error
    }
}

fn wrong(path: &Path, reason: &str) -> Error {
    let line = escape_controls(&format!("{}: {reason}", path.display()));
    Error::raw(ErrorKind::ValueValidation, format!("{line}\n"))
}

/// A command with all its options, those of all commands among them.
fn built(cli: &Command, name: &str) -> Command {
    let mut cli = cli.clone();
    cli.build();
    cli.find_subcommand(name).cloned().unwrap_or_default()
}

/// The options that a config may hold.
fn options(command: &Command) -> impl Iterator<Item = (&Arg, &str)> {
    let settings = |option: &&Arg| !NO_SETTINGS.contains(&option.get_id().as_str());
    command.get_arguments().filter(settings).filter_map(|option| Some((option, option.get_long()?)))
}

fn is_typed(argument: &Arg, matches: &ArgMatches) -> bool {
    matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
}

/// The options that a command line gives, with their values.
fn given(command: &Command, matches: &ArgMatches) -> Vec<Setting> {
    let arguments = |(option, long): (&Arg, &str)| -> Vec<Setting> {
        if !option.get_action().takes_values() {
            return vec![Setting::new(long, None)];
        }
        let values = matches.get_raw(option.get_id().as_str()).into_iter().flatten();
        values.map(|value| Setting::new(long, Some(value))).collect()
    };
    options(command).filter(|(option, _)| is_typed(option, matches)).flat_map(arguments).collect()
}

/// Whether the command line gives an option itself, or something that conflicts with it or says in one word what it says.
fn yields(command: &Command, long: &str, matches: &ArgMatches) -> bool {
    let Some((option, _)) = options(command).find(|(_, other)| *other == long) else { return false };
    let typed = |name: &str| options(command).any(|(typed, long)| long == name && is_typed(typed, matches));
    let vocabulary = || matches.get_one::<InitVocabulary>("init_vocabulary").copied().unwrap_or_default();
    let settled = typed("init-from") && vocabulary().decides(long);
    let detailed = typed("preset") && IN_A_PRESET.contains(&long);
    let refuses = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|conflicting| conflicting.get_id() == other.get_id())
    };
    let wins = |typed: &Arg| typed.get_id() == option.get_id() || refuses(typed, option) || refuses(option, typed);
    settled || detailed || command.get_arguments().filter(|argument| is_typed(argument, matches)).any(wins)
}

/// The options that a file gives a command.
fn read(command: &Command, path: &Path) -> Result<Vec<Setting>, String> {
    let text = std::fs::read_to_string(path).map_err(|reason| format!("cannot read this file: {reason}"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let value: Value = serde_json::from_str(text).map_err(|reason| format!("this is no JSON: {reason}"))?;
    match value {
        Value::Object(object) if object.contains_key(OF_A_MODEL) => of_model(command, text),
        Value::Object(object) => of_object(command, &object),
        _ => Err("options by their names are needed, as in {\"seed\": 2}".to_owned()),
    }
}

fn of_object(command: &Command, object: &Map<String, Value>) -> Result<Vec<Setting>, String> {
    let mut given = Vec::new();
    for (key, value) in object {
        let wanted = key.replace('_', "-");
        if wanted == "config" {
            return Err(format!("{key:?} cannot stand in a config itself"));
        }
        let known = options(command).find(|(_, long)| *long == wanted);
        let (option, long) = known.ok_or_else(|| unknown(command, key, &wanted))?;
        given.extend(of_value(option, long, value).map_err(|reason| format!("{key:?} {reason}"))?);
    }
    Ok(given)
}

fn unknown(command: &Command, key: &str, wanted: &str) -> String {
    /// Letters of a key that are shown; no option is as long.
    const SHOWN: usize = 60;
    if let Some((end, _)) = key.char_indices().nth(SHOWN) {
        return format!("{:?} is no option of softalign {}", format!("{}…", &key[..end]), command.get_name());
    }
    let letters = |name: &str| name.chars().collect::<Vec<_>>();
    let nearest =
        options(command).map(|(_, long)| long).min_by_key(|long| edit_distance(&letters(long), &letters(wanted)));
    let nearest = nearest.map(|long| format!("; the nearest is {long:?}")).unwrap_or_default();
    format!("{key:?} is no option of softalign {}{nearest}", command.get_name())
}

/// An option by its value: `true` gives it without one, `false` and `null` do not give it.
fn of_value(option: &Arg, long: &str, value: &Value) -> Result<Vec<Setting>, String> {
    let with = |values: Vec<String>| values.iter().map(|value| Setting::new(long, Some(OsStr::new(value)))).collect();
    match value {
        Value::Null | Value::Bool(false) => Ok(Vec::new()),
        Value::Bool(true) => Ok(vec![Setting::new(long, None)]),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(plain).collect::<Result<_, _>>()?;
            let several = matches!(option.get_action(), ArgAction::Append) || values.is_empty();
            Ok(with(if several { values } else { vec![values.join(",")] }))
        }
        value => Ok(with(vec![plain(value)?])),
    }
}

/// A single value as it would be typed.
fn plain(value: &Value) -> Result<String, String> {
    match value {
        // It may be shown on a terminal, which would obey it.
        Value::String(text) if text.contains(char::is_control) => Err("holds a control character".to_owned()),
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err("must be a string, a number, true, false, or an array of strings and numbers".to_owned()),
    }
}

/// The options that a model's config.json records of its training; those of one run alone are left out.
fn of_model(command: &Command, json: &str) -> Result<Vec<Setting>, String> {
    if command.get_name() != "train" {
        return Err(format!(
            "this is the config of a model, which says how to train; softalign {} takes models by their directory",
            command.get_name()
        ));
    }
    let begun = Config::parse(json).map_err(|reason| format!("{reason:#}"))?.begun;
    let mut options = begun.map(|begun| begun.options).unwrap_or_default();
    if options.is_empty() {
        return Err("this model's config does not record the options of its training".to_owned());
    }
    options.retain(|name, _| !OF_ONE_RUN.contains(&name.as_str()));
    of_object(command, &options)
}
