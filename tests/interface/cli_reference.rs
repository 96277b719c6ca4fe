//! docs/reference/cli.md, generated from the command line's definition.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use softalign::cli::Cli;

/// Returns the page in Markdown.
fn page() -> String {
    let mut cli = Cli::command();
    cli.build();
    let mut page =
        "# Commands and options\n\nThis page is generated from the program's help: `UPDATE_SNAPSHOTS=1 cargo test \
                    --release --test interface cli_reference` rewrites it.\n"
            .to_owned();
    let global = |argument: &&Arg| argument.is_global_set();
    let commands: Vec<&Command> = cli.get_subcommands().filter(|command| command.get_name() != "help").collect();
    for command in &commands {
        write!(page, "\n## softalign {}\n\n{}.\n", command.get_name(), command.get_about().unwrap()).unwrap();
        let mut command = (*command).clone();
        write!(page, "\n```text\n{}\n```\n", command.render_usage().to_string().trim()).unwrap();
        let own: Vec<&Arg> = command.get_arguments().filter(|argument| !global(argument)).collect();
        sections(&mut page, &own);
    }
    page.push_str("\n## Global options\n\nEvery command accepts these.\n");
    sections(&mut page, &commands[0].get_arguments().filter(global).collect::<Vec<_>>());
    page
}

/// Adds arguments by their headings in the order of the help.
fn sections(page: &mut String, arguments: &[&Arg]) {
    let mut headings: Vec<Option<&str>> = Vec::new();
    for argument in arguments {
        if !headings.contains(&argument.get_help_heading()) {
            headings.push(argument.get_help_heading());
        }
    }
    for heading in headings {
        if let Some(heading) = heading.filter(|_| arguments.iter().any(|argument| !argument.is_global_set())) {
            write!(page, "\n### {heading}\n").unwrap();
        }
        page.push('\n');
        for argument in arguments.iter().filter(|argument| argument.get_help_heading() == heading) {
            item(page, argument);
        }
    }
}

/// Adds an argument with its help, values and default.
fn item(page: &mut String, argument: &Arg) {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let dot = if help.ends_with(['.', ']']) { "" } else { "." };
    write!(page, "- `{argument}`: {help}{dot}").unwrap();
    let default: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if argument.get_action().takes_values() && !default.is_empty() && !argument.is_hide_default_value_set() {
        write!(page, " Default: `{}`.", default.join(" ")).unwrap();
    }
    page.push('\n');
    if argument.get_action().takes_values() {
        for value in argument.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
            let help = value.get_help().map(|help| format!(": {help}")).unwrap_or_default();
            writeln!(page, "  - `{}`{help}", value.get_name()).unwrap();
        }
    }
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
