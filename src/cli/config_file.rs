//! Options from the file of `--config`. They become arguments before clap parses the command line, so that clap checks types,
//! ranges and conflicts.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, Error, ValueHint};
use serde_json::{Map, Value};

use crate::checkpoint::Config;
use crate::error::{io_reason, message_of};
use crate::metrics::edit_distance;
use crate::render::escape_controls;
use crate::trainer::InitVocabulary;
use crate::training::Preset;

/// Options that a config file cannot contain.
const NOT_IN_CONFIG: [&str; 3] = ["help", "version", "config"];
/// Options of one training run, which a config.json of its model does not pass on.
const RUN_OPTIONS: [&str; 3] = ["out", "quiet", "color"];
/// Key that identifies a model's config.json.
const MODEL_CONFIG_KEY: &str = "format_version";

/// Command line with the options of a config file inserted.
pub struct ExpandedArgs {
    /// Arguments for clap, starting with the program's name.
    pub arguments: Vec<OsString>,
    /// The arguments without the program's name and without `--config`.
    pub self_contained: Vec<OsString>,
    config: Option<ConfigFile>,
}

/// Config file.
struct ConfigFile {
    path: PathBuf,
    /// Options taken from it.
    options: Vec<OptionValue>,
}

/// Option by its long name, with a value if it takes one.
pub(super) struct OptionValue {
    pub long: String,
    value: Option<OsString>,
}

impl OptionValue {
    fn new(long: &str, value: Option<OsString>) -> Self {
        Self { long: long.to_owned(), value }
    }

    /// Returns the argument for the command line.
    pub fn to_argument(&self) -> OsString {
        let mut argument = OsString::from(format!("--{}", self.long));
        if let Some(value) = &self.value {
            argument.push("=");
            argument.push(value);
        }
        argument
    }

    /// Returns true if the value is a path to this existing file.
    fn is_path_to(&self, file: &Path, command: &Command) -> bool {
        let mut options = options(command).filter(|(_, long)| *long == self.long);
        let is_path = options.any(|(option, _)| option.get_value_hint() == ValueHint::AnyPath);
        is_path && self.value.as_ref().is_some_and(|value| is_same_path(Path::new(value), file))
    }
}

impl ExpandedArgs {
    /// Inserts the options of the file that `--config` names, if present. Options of the command line override those of the
    /// file that are the same or conflict.
    ///
    /// # Errors
    /// Help is requested, or the file cannot be read or is invalid.
    pub fn new(cli: &Command, arguments: Vec<OsString>) -> Result<Self, Error> {
        // Parsing twice takes milliseconds.
        let may_name_config = arguments.iter().any(|argument| argument.as_encoded_bytes().starts_with(b"--config"));
        let matches = may_name_config.then(|| parse_leniently(cli, &arguments)).transpose()?;
        let config = matches.as_ref().and_then(ArgMatches::subcommand).and_then(|(name, matches)| {
            let path: &PathBuf = matches.get_one("config")?;
            Some((name, matches, path))
        });
        let Some((name, matches, path)) = config else {
            return Ok(Self { self_contained: arguments.iter().skip(1).cloned().collect(), arguments, config: None });
        };
        let command = built_subcommand(cli, name);
        let mut from_config = read_options(&command, path).map_err(|reason| config_error(path, &reason))?;
        from_config.retain(|option| !is_overridden(&command, &option.long, matches));
        let typed = typed_options(&command, matches);
        let both: Vec<&OptionValue> = from_config.iter().chain(&typed).collect();
        if let Some(other) = both.iter().find(|option| option.is_path_to(path, &command)) {
            return Err(config_error(path, &format!("this file is both --config and --{}", other.long)));
        }
        let positional = command.get_positionals().filter(|argument| is_typed(argument, matches));
        let positional = positional.flat_map(|argument| raw_values(argument, matches)).map(OsStr::to_owned);
        let all = positional.chain(both.iter().map(|option| option.to_argument()));
        let self_contained = [OsString::from(name)].into_iter().chain(all).collect();
        let after_command = (1..arguments.len()).find(|&end| {
            let matches = parse_leniently(cli, &arguments[..end]);
            matches.is_ok_and(|matches| matches.subcommand_name().is_some())
        });
        let after_command = after_command.unwrap_or(arguments.len());
        let mut arguments = arguments.clone();
        let inserted = from_config.iter().map(OptionValue::to_argument);
        arguments.splice(after_command..after_command, inserted);
        let config = ConfigFile { path: path.clone(), options: from_config };
        Ok(Self { arguments, self_contained, config: Some(config) })
    }

    /// Adds the path of the config file to an error about one of its options.
    pub fn with_config_path(&self, mut error: Error) -> Error {
        let (Some(ConfigFile { path, options }), Some(ContextValue::String(option))) =
            (&self.config, error.get(ContextKind::InvalidArg))
        else {
            return error;
        };
        // As in `--seed <N>`.
        let name = option.split([' ', '=', '[']).next().unwrap_or_default().to_owned();
        if options.iter().any(|option| name.strip_prefix("--") == Some(&option.long)) {
            let hint = StyledStr::from(format!("'{name}' is set in {}", path.display()));
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
        }
        error
    }
}

/// Parses without errors: some disappear with the options of the config file, and clap reports the others later.
fn parse_leniently(cli: &Command, arguments: &[OsString]) -> Result<ArgMatches, Error> {
    cli.clone().ignore_errors(true).try_get_matches_from(arguments)
}

/// Returns true if both paths lead to the same existing file or directory.
fn is_same_path(one: &Path, other: &Path) -> bool {
    std::fs::canonicalize(one).is_ok_and(|one| std::fs::canonicalize(other).is_ok_and(|other| one == other))
}

fn config_error(path: &Path, reason: &str) -> Error {
    let line = escape_controls(&format!("{}: {reason}", path.display()));
    Error::raw(ErrorKind::ValueValidation, format!("{line}\n"))
}

/// Returns a subcommand with all its options, including the global ones.
pub(super) fn built_subcommand(cli: &Command, name: &str) -> Command {
    let mut cli = cli.clone();
    cli.build();
    cli.find_subcommand(name).cloned().unwrap_or_default()
}

/// Returns the options that a config file can contain.
fn options(command: &Command) -> impl Iterator<Item = (&Arg, &str)> {
    let settings = command.get_arguments().filter(|option| !NOT_IN_CONFIG.contains(&option.get_id().as_str()));
    settings.filter_map(|option| Some((option, option.get_long()?)))
}

fn is_typed(argument: &Arg, matches: &ArgMatches) -> bool {
    matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
}

fn raw_values<'m>(argument: &Arg, matches: &'m ArgMatches) -> impl Iterator<Item = &'m OsStr> {
    matches.get_raw(argument.get_id().as_str()).into_iter().flatten()
}

/// Returns the options of the command line with their values.
pub(super) fn typed_options(command: &Command, matches: &ArgMatches) -> Vec<OptionValue> {
    let mut typed = Vec::new();
    for (option, long) in options(command).filter(|(option, _)| is_typed(option, matches)) {
        if option.get_action().takes_values() {
            typed.extend(raw_values(option, matches).map(|value| OptionValue::new(long, Some(value.to_owned()))));
        } else {
            typed.push(OptionValue::new(long, None));
        }
    }
    typed
}

/// Returns true if the command line contains the option, one that conflicts with it, or one that decides it.
fn is_overridden(command: &Command, long: &str, matches: &ArgMatches) -> bool {
    let Some((option, _)) = options(command).find(|(_, other)| *other == long) else { return false };
    if is_typed_option(command, "init-from", matches) {
        let vocabulary = matches.get_one::<InitVocabulary>("init_vocabulary").copied().unwrap_or_default();
        if vocabulary.decides(long) {
            return true;
        }
    }
    if is_typed_option(command, "preset", matches) && in_group(command, Preset::GROUP, option) {
        return true;
    }
    let mut typed = command.get_arguments().filter(|argument| is_typed(argument, matches));
    typed.any(|typed| {
        typed.get_id() == option.get_id() || conflicts(command, typed, option) || conflicts(command, option, typed)
    })
}

fn is_typed_option(command: &Command, name: &str, matches: &ArgMatches) -> bool {
    options(command).any(|(option, long)| long == name && is_typed(option, matches))
}

/// Returns true if `one` is declared to conflict with `other`.
fn conflicts(command: &Command, one: &Arg, other: &Arg) -> bool {
    command.get_arg_conflicts_with(one).iter().any(|conflicting| conflicting.get_id() == other.get_id())
}

fn in_group(command: &Command, group: &str, option: &Arg) -> bool {
    let mut members = command.get_groups().filter(|one| one.get_id() == group).flat_map(ArgGroup::get_args);
    members.any(|member| member == option.get_id())
}

/// Reads the options of a command from a file.
fn read_options(command: &Command, path: &Path) -> Result<Vec<OptionValue>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|reason| format!("cannot read this file: {}", io_reason(&reason)))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let value: Value = serde_json::from_str(text).map_err(|reason| format!("invalid JSON: {reason}"))?;
    match value {
        Value::Object(object) if object.contains_key(MODEL_CONFIG_KEY) => options_of_model(command, text),
        Value::Object(object) => options_of_object(command, &object),
        _ => Err("expected an object of options, such as {\"seed\": 2}".to_owned()),
    }
}

/// Converts an object of options by their names.
fn options_of_object(command: &Command, object: &Map<String, Value>) -> Result<Vec<OptionValue>, String> {
    let mut found = Vec::new();
    for (key, value) in object {
        let wanted = key.replace('_', "-");
        if wanted == "config" {
            return Err(format!("\"{key}\" is not allowed in a config file"));
        }
        let known = options(command).find(|(_, long)| *long == wanted);
        let (option, long) = known.ok_or_else(|| unknown_option(command, key, &wanted))?;
        found.extend(option_values(command, option, long, value).map_err(|reason| format!("\"{key}\" {reason}"))?);
    }
    Ok(found)
}

fn unknown_option(command: &Command, key: &str, wanted: &str) -> String {
    /// Maximum number of characters shown of a key. No option is as long.
    const MAX_SHOWN: usize = 60;
    if let Some((end, _)) = key.char_indices().nth(MAX_SHOWN) {
        return format!("\"{}…\" is not an option of softalign {}", &key[..end], command.get_name());
    }
    let wanted: Vec<char> = wanted.chars().collect();
    let nearest = options(command)
        .map(|(_, long)| long)
        .min_by_key(|long| edit_distance(&long.chars().collect::<Vec<char>>(), &wanted));
    let nearest = nearest.map(|long| format!("; did you mean \"{long}\"?")).unwrap_or_default();
    format!("\"{key}\" is not an option of softalign {}{nearest}", command.get_name())
}

/// Converts an option's JSON value. `null` leaves the option unset, and so does `false` where `true` sets it without a value.
fn option_values(command: &Command, option: &Arg, long: &str, value: &Value) -> Result<Vec<OptionValue>, String> {
    let takes_values = option.get_action().takes_values();
    let needs_value = option.get_num_args().is_some_and(|count| count.min_values() > 0);
    let texts = match value {
        Value::Null | Value::Bool(false) if value.is_null() || !needs_value => return Ok(Vec::new()),
        Value::Bool(true) if !needs_value => {
            return Ok(vec![OptionValue::new(long, value_when_missing(command, option, long))]);
        }
        Value::Array(values) if takes_values && takes_list(option) => {
            let texts: Vec<String> = values.iter().map(|value| scalar(option, value)).collect::<Result<_, _>>()?;
            let is_repeated = matches!(option.get_action(), ArgAction::Append) || texts.is_empty();
            if is_repeated { texts } else { vec![texts.join(",")] }
        }
        value => vec![scalar(option, value)?],
    };
    Ok(texts.into_iter().map(|text| OptionValue::new(long, Some(text.into()))).collect())
}

/// Returns the value of an option that is given without one; none for a flag. Without it, the option would take the next argument
/// as its value.
fn value_when_missing(command: &Command, option: &Arg, long: &str) -> Option<OsString> {
    let alone = [command.get_name().to_owned(), format!("--{long}")];
    let matches = command.clone().ignore_errors(true).try_get_matches_from(alone).ok()?;
    raw_values(option, &matches).next().filter(|_| option.get_action().takes_values()).map(OsStr::to_owned)
}

/// Converts a scalar to the text of an argument.
fn scalar(option: &Arg, value: &Value) -> Result<String, String> {
    match value {
        // Error messages repeat the value, and a terminal would interpret it.
        Value::String(text) if text.contains(char::is_control) => Err("contains a control character".to_owned()),
        Value::String(text) if option.get_action().takes_values() => Ok(text.clone()),
        Value::Number(number) if option.get_action().takes_values() => Ok(number.to_string()),
        _ => Err(format!("needs {}, not {}", wanted(option), kind(value))),
    }
}

/// True if an array can hold the values of an option: it can be repeated, or its value has parts between commas.
fn takes_list(option: &Arg) -> bool {
    let mut names = option.get_value_names().into_iter().flatten();
    matches!(option.get_action(), ArgAction::Append) || names.any(|name| name.contains(','))
}

/// Describes the values of an option.
fn wanted(option: &Arg) -> String {
    if !option.get_action().takes_values() {
        return "true or false".to_owned();
    }
    let name = option.get_value_names().and_then(|names| names.first()).map_or("VALUE", |name| name.as_str());
    if takes_list(option) { format!("{name} or an array of such values") } else { format!("a value, {name}") }
}

/// Names the kind of a JSON value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Returns the training options in a model's config.json, except those of a single run.
fn options_of_model(command: &Command, json: &str) -> Result<Vec<OptionValue>, String> {
    if command.get_name() != "train" {
        return Err(format!(
            "this config.json of a model is for train; name the model directory to softalign {}",
            command.get_name()
        ));
    }
    let begun = Config::parse(json).map_err(|reason| message_of(&reason))?.begun;
    let mut options = begun.map(|begun| begun.options).unwrap_or_default();
    if options.is_empty() {
        return Err("this model's config does not record the options of its training".to_owned());
    }
    options.retain(|name, _| !RUN_OPTIONS.contains(&name.as_str()));
    options_of_object(command, &options)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use serde_json::json;

    use super::super::Cli;
    use super::*;

    /// Values of all types.
    fn values() -> [Value; 10] {
        let array = json!(["x", 7]);
        [
            json!(null),
            json!(true),
            json!(false),
            json!(7),
            json!(0.5),
            json!("x"),
            json!({}),
            array,
            json!([]),
            json!([[1]]),
        ]
    }

    /// True if clap accepts the option without a value, alone before another argument.
    fn is_complete_alone(option: &Arg) -> bool {
        option.get_num_args().is_none_or(|count| count.min_values() == 0)
    }

    fn conflict(command: &Command, one: &Arg, other: &Arg) -> bool {
        [(one, other), (other, one)].iter().any(|(one, other)| command.get_arg_conflicts_with(one).contains(other))
    }

    #[test]
    fn every_type_of_value_sets_its_option_alone_or_is_refused_by_name() {
        let cli = Cli::command();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.json");
        let (mut set, mut refused) = (0, 0);
        for command in cli.get_subcommands().map(Command::get_name) {
            let command = built_subcommand(&cli, command);
            for (option, long) in options(&command) {
                let mut typed = command.get_arguments().filter(|argument| argument.is_positional());
                // The typed argument overrides such an option.
                if typed.any(|argument| conflict(&command, argument, option)) {
                    continue;
                }
                for value in values() {
                    std::fs::write(&path, json!({ long: value }).to_string()).unwrap();
                    let typed = [command.get_name(), "--config", path.to_str().unwrap(), "a b"].map(OsString::from);
                    let arguments: Vec<OsString> = [OsString::from("softalign")].into_iter().chain(typed).collect();
                    let expanded = ExpandedArgs::new(&cli, arguments.clone());
                    let place = format!("{} --{long}: {value}", command.get_name());
                    match expanded {
                        Err(error) => {
                            let message = error.to_string();
                            assert!(message.contains(&format!("{long:?}")), "{place}: {message}");
                            assert_eq!(message.trim_end().lines().count(), 1, "{place}: {message}");
                            let takes_values = option.get_action().takes_values();
                            let is_scalar = value.is_string() || value.is_number();
                            assert!(!(value.is_null() || takes_values && is_scalar), "{place}: {message}");
                            refused += 1;
                        }
                        Ok(expanded) => {
                            let inserted = expanded.arguments.len() - arguments.len();
                            assert_eq!(expanded.arguments[..2], arguments[..2], "{place}");
                            assert_eq!(expanded.arguments[2 + inserted..], arguments[2..], "{place}");
                            for argument in &expanded.arguments[2..2 + inserted] {
                                let argument = argument.to_str().unwrap();
                                let is_flag = !option.get_action().takes_values();
                                assert!(
                                    argument.contains('=') || is_flag && is_complete_alone(option),
                                    "{place}: {argument}"
                                );
                            }
                            let is_unset = value.is_null() || value == json!(false) || value == json!([]);
                            assert_eq!(inserted == 0, is_unset, "{place}");
                            set += 1;
                        }
                    }
                }
            }
        }
        assert!(set > 500 && refused > 500, "{set} {refused}");
    }
}
