//! docs/reference/cli.md, generated from the command line's definition.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use softalign::cli::Cli;

/// An option as the page describes it, with the commands that have it.
struct Entry<'a> {
    argument: &'a Arg,
    description: String,
    commands: Vec<&'a str>,
}

/// Returns the page in Markdown. Options that several commands have with the same description are in a section of their own.
fn page() -> String {
    let mut cli = Cli::command();
    cli.build();
    let mut page =
        "# Commands and options\n\nThis page is generated from the program's help: `UPDATE_SNAPSHOTS=1 cargo test \
                    --release --test interface cli_reference` rewrites it.\n"
            .to_owned();
    let commands: Vec<&Command> = cli.get_subcommands().filter(|command| command.get_name() != "help").collect();
    let entries = entries(&commands);
    for command in &commands {
        let name = command.get_name();
        write!(page, "\n## softalign {name}\n\n{}.\n", command.get_about().unwrap()).unwrap();
        let usage = (*command).clone().render_usage().to_string();
        write!(page, "\n```text\n{}\n```\n", usage.trim()).unwrap();
        let of_command = |entry: &&Entry| entry.commands.contains(&name) && entry.commands.len() < commands.len();
        let (own, shared): (Vec<&Entry>, Vec<&Entry>) =
            entries.iter().filter(of_command).partition(|entry| entry.commands.len() == 1);
        sections(&mut page, &own);
        if !shared.is_empty() {
            let names: Vec<String> = shared.iter().map(|entry| format!("`{}`", short_name(entry.argument))).collect();
            write!(page, "\n[Shared options](#shared-options): {}\n", names.join(", ")).unwrap();
        }
    }
    let (global, others): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| entry.commands.len() == commands.len());
    page.push_str("\n## Shared options\n\nThe commands that have an option are in parentheses.\n");
    let mut shared: Vec<&Entry> = others.into_iter().filter(|entry| entry.commands.len() > 1).collect();
    shared.sort_by_key(|entry| entry.argument.get_help_heading().is_some());
    sections(&mut page, &shared);
    page.push_str("\n## Global options\n\nEvery command accepts these.\n\n");
    for entry in global {
        writeln!(page, "- `{}`: {}", entry.argument, entry.description).unwrap();
    }
    page
}

/// Returns all options, each once, in the order of the commands.
fn entries<'a>(commands: &[&'a Command]) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry> = Vec::new();
    for command in commands {
        for argument in command.get_arguments() {
            let description = description(argument);
            let is_same = |entry: &&mut Entry| {
                entry.argument.to_string() == argument.to_string()
                    && entry.argument.get_help_heading() == argument.get_help_heading()
                    && entry.description == description
            };
            match entries.iter_mut().find(is_same) {
                Some(entry) => entry.commands.push(command.get_name()),
                None => entries.push(Entry { argument, description, commands: vec![command.get_name()] }),
            }
        }
    }
    entries
}

/// Returns the name of an option without its value, such as `--beam`, or of a positional argument as help writes it.
fn short_name(argument: &Arg) -> String {
    argument.get_long().map_or_else(|| argument.to_string(), |long| format!("--{long}"))
}

/// Adds options by their headings in the order of the help.
fn sections(page: &mut String, entries: &[&Entry]) {
    let mut headings: Vec<Option<&str>> = Vec::new();
    for entry in entries {
        if !headings.contains(&entry.argument.get_help_heading()) {
            headings.push(entry.argument.get_help_heading());
        }
    }
    for heading in headings {
        if let Some(heading) = heading {
            write!(page, "\n### {heading}\n").unwrap();
        }
        page.push('\n');
        for entry in entries.iter().filter(|entry| entry.argument.get_help_heading() == heading) {
            write!(page, "- `{}`", entry.argument).unwrap();
            if entry.commands.len() > 1 {
                write!(page, " ({})", entry.commands.join(", ")).unwrap();
            }
            writeln!(page, ": {}", entry.description).unwrap();
        }
    }
}

/// Returns the help, default and values of an argument.
fn description(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    if !text.ends_with(['.', ']']) {
        text.push('.');
    }
    let default: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if argument.get_action().takes_values() && !default.is_empty() && !argument.is_hide_default_value_set() {
        write!(text, " Default: `{}`.", default.join(" ")).unwrap();
    }
    if argument.get_action().takes_values() {
        for value in argument.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
            let help = value.get_help().map(|help| format!(": {help}")).unwrap_or_default();
            write!(text, "\n  - `{}`{help}", value.get_name()).unwrap();
        }
    }
    text
}

#[test]
fn generated_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/cli.md");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page(), "{} is out of date (UPDATE_SNAPSHOTS=1 rewrites it)", path.display());
}
