//! Proposals for arguments that a command does not have, where clap's own would mislead.

use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use crate::metrics::edit_distance;
use crate::render::escape_controls;

/// Options of other programs with those that do the same here, where a similar name would mislead.
const OTHER_OPTIONS: [(&str, &[&str]); 26] = [
    ("lr", &["learning-rate"]),
    ("batch-size", &["batch-sentences", "batch-tokens"]),
    ("batch", &["batch-sentences", "batch-tokens"]),
    ("epochs", &["max-epochs"]),
    ("num-epochs", &["max-epochs"]),
    ("early-stopping", &["patience"]),
    ("vocab-size", &["vocabulary-size"]),
    ("beam-size", &["beam"]),
    ("gpu", &["device cuda"]),
    ("workers", &["threads"]),
    ("src", &["source"]),
    ("tgt", &["target"]),
    ("dev", &["valid"]),
    ("heuristic", &["symmetrize"]),
    ("glossary", &["terms"]),
    ("terminology", &["terms"]),
    ("reference", &["target"]),
    ("references", &["target"]),
    ("ref", &["target"]),
    ("refs", &["target"]),
    ("hyp", &["hypotheses"]),
    ("hypothesis", &["hypotheses"]),
    ("translations", &["hypotheses"]),
    ("test", &["pairs"]),
    ("metrics", &["json"]),
    ("file", &["input", "pairs"]),
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

/// Replaces clap's proposal where another one helps more. `command` is the name of the subcommand, if it is known.
pub(super) fn with_hint(mut error: Error, cli: &Command, command: Option<&str>) -> Error {
    let hint = match error.kind() {
        ErrorKind::UnknownArgument => {
            let command = command.and_then(|name| cli.find_subcommand(name)).unwrap_or(cli);
            let unknown = context_text(&error, ContextKind::InvalidArg).unwrap_or_default();
            let hint = hint_for_argument(unknown, command, cli);
            let is_option = unknown.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic));
            if hint.is_none() && is_option && error.get(ContextKind::SuggestedArg).is_none() {
                // Clap proposes to pass the option as text.
                error.remove(ContextKind::Suggested);
            }
            hint
        }
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

/// Names what a command takes instead of an unknown argument, or the commands that take it.
fn hint_for_argument(unknown: &str, command: &Command, cli: &Command) -> Option<String> {
    let Some(name) = unknown.strip_prefix("--") else {
        let is_model = has_option(command, "model") && Path::new(unknown).exists();
        return is_model.then(|| format!("'--model {}' names a model", escape_controls(unknown)));
    };
    let ours = OTHER_OPTIONS.iter().find(|(other, _)| *other == name).map_or(&[][..], |(_, ours)| ours);
    let here: Vec<&str> = ours.iter().copied().filter(|option| has_option(command, option)).collect();
    if !here.is_empty() {
        return Some(format!("'{unknown}' is called {} here", quoted_options(&here)));
    }
    if let Some(owners) = owners(name, cli) {
        let near = near_option(name, command).map(|near| format!("'--{near}' is one of this command; "));
        return Some(format!("{}'{unknown}' is an option of {owners}", near.unwrap_or_default()));
    }
    let first = ours.first()?;
    Some(format!("'{unknown}' is called {} and is an option of {}", quoted_options(ours), owners(first, cli)?))
}

/// True if a command has an option; a value may follow its name.
fn has_option(command: &Command, option: &str) -> bool {
    command.get_arguments().filter_map(Arg::get_long).any(|long| option.split(' ').next() == Some(long))
}

/// Names the commands that have an option, if there are any.
fn owners(option: &str, cli: &Command) -> Option<String> {
    let owners = cli.get_subcommands().filter(|command| has_option(command, option));
    let owners: Vec<String> = owners.map(|command| format!("'softalign {}'", command.get_name())).collect();
    let (last, others) = owners.split_last()?;
    Some(if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) })
}

/// Returns the option of a command that differs from a name in one character.
fn near_option<'c>(name: &str, command: &'c Command) -> Option<&'c str> {
    let name: Vec<char> = name.chars().collect();
    let mut options = command.get_arguments().filter_map(Arg::get_long);
    options.find(|long| edit_distance(&long.chars().collect::<Vec<char>>(), &name) == 1)
}

fn quoted_options(options: &[&str]) -> String {
    options.iter().map(|option| format!("'--{option}'")).collect::<Vec<_>>().join(" or ")
}
