//! Keyword arguments of the Python package, generated from the command line's definition.

use std::any::TypeId;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Args, Command, CommandFactory};
use softalign::attention::InferenceOverrides;
use softalign::cli::Cli;
use softalign::translator::LinkOptions;
use softalign::{DecodeOptions, TrainConfig};

const FILE: &str = "bindings/python/python/softalign/_options.py";
const START: &str = r#""""Options of the package's functions, named as those of the command.

This file is generated from the program's help: `UPDATE_SNAPSHOTS=1 cargo test --release --test interface python_options` rewrites it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, TypedDict, Union

from ._arguments import Glossary
"#;

/// Names of the options of a group that the command line and the library share.
fn names<A: Args>() -> Vec<String> {
    let command = A::augment_args(Command::new("group"));
    command.get_arguments().filter_map(|argument| Some(argument.get_long()?.to_owned())).collect()
}

/// Class of options: its name with the bases in parentheses, a command that has the options, and a line about it.
struct Class(&'static str, &'static str, &'static str);

impl Class {
    /// Adds the class to the page, with the options of these names.
    fn write(&self, page: &mut String, names: &[Vec<String>]) {
        let Class(name, command, about) = self;
        let cli = Cli::command();
        let command = cli.find_subcommand(command).unwrap();
        write!(page, "\n\nclass {name}:\n    \"\"\"{about}\"\"\"\n").unwrap();
        for name in names.concat() {
            let find = |argument: &&Arg| argument.get_long() == Some(&*name);
            let argument = command.get_arguments().find(find).unwrap_or_else(|| panic!("no option --{name}"));
            let help = argument.get_long_help().or(argument.get_help()).unwrap().to_string();
            let help = help.split_whitespace().collect::<Vec<_>>().join(" ").replace('\\', "\\\\");
            let dot = if help.ends_with(['.', ']']) { "" } else { "." };
            let (name, kind) = (name.replace('-', "_"), kind(argument, command.get_name()));
            write!(page, "\n    {name}: {kind}\n").unwrap();
            page.push_str(&wrapped(&format!("\"\"\"{help}{dot}\"\"\"")));
        }
    }
}

/// Type of an option in Python.
fn kind(argument: &Arg, command: &str) -> String {
    let kind = argument.get_value_parser().type_id();
    let is = |types: &[TypeId]| types.iter().any(|one| kind == *one);
    let values: Vec<String> =
        argument.get_possible_values().iter().map(|value| format!("\"{}\"", value.get_name())).collect();
    match argument.get_long().unwrap() {
        "columns" => "tuple[Union[int, str], Union[int, str]]",
        "features" if command == "train" => "Union[int, str]",
        "features" | "require" | "avoid" => "Union[str, Sequence[str]]",
        "terms" | "dictionary" => "Glossary",
        _ if matches!(argument.get_action(), ArgAction::SetTrue) => "bool",
        _ if !values.is_empty() => return format!("Literal[{}]", values.join(", ")),
        _ if is(&[TypeId::of::<usize>(), TypeId::of::<u64>(), TypeId::of::<u16>(), TypeId::of::<u8>()]) => "int",
        _ if is(&[TypeId::of::<f64>(), TypeId::of::<f32>()]) => "float",
        _ if is(&[TypeId::of::<PathBuf>()]) => "Union[str, os.PathLike[str]]",
        _ if matches!(argument.get_action(), ArgAction::Append) => "Sequence[str]",
        _ => "str",
    }
    .to_owned()
}

/// Breaks a text into indented lines of at most 120 characters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().unwrap();
        if line.is_empty() {
            *line = format!("    {word}");
        } else if line.chars().count() + 1 + word.chars().count() <= 120 {
            line.push_str(&format!(" {word}"));
        } else {
            lines.push(format!("    {word}"));
        }
    }
    lines.join("\n") + "\n"
}

fn file() -> String {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let of_aligner = list(&["symmetrize", "threshold", "words"]);
    let of_model: Vec<String> = names::<LinkOptions>().into_iter().filter(|name| !of_aligner.contains(name)).collect();
    let training =
        list(&["guide", "attention-pairs", "init-vocabulary", "languages", "csv", "header", "columns", "features"]);
    let constraints = list(&["prefix", "require", "avoid", "terms"]);
    let text = list(&["markup", "placeholders", "unknown", "replace-unknown", "dictionary", "tag-source", "features"]);
    let classes: [(Class, &[Vec<String>]); 9] = [
        (
            Class(
                "TrainOptions(TypedDict, total=False)",
                "train",
                "Options of `train`; the data determine those not given.",
            ),
            &[names::<TrainConfig>(), training],
        ),
        (
            Class("SearchOptions(TypedDict, total=False)", "translate", "Options of search."),
            &[names::<DecodeOptions>(), list(&["precision"])],
        ),
        (
            Class(
                "AttentionOptions(TypedDict, total=False)",
                "translate",
                "Options that override a model's attention.",
            ),
            &[names::<InferenceOverrides>()],
        ),
        (Class("SymmetrizationOptions(TypedDict, total=False)", "align", "Options of all links."), &[of_aligner]),
        (Class("LinkOptions(SymmetrizationOptions, total=False)", "align", "Options of a model's links."), &[of_model]),
        (
            Class(
                "TranslateOptions(SearchOptions, LinkOptions, AttentionOptions, total=False)",
                "translate",
                "Options of `Translator.translate`.",
            ),
            &[constraints, text, list(&["tokens"])],
        ),
        (
            Class(
                "AlignOptions(LinkOptions, AttentionOptions, total=False)",
                "align",
                "Options of `Translator.align`.",
            ),
            &[list(&["direction", "tokens"])],
        ),
        (
            Class(
                "AlignerOptions(SymmetrizationOptions, total=False)",
                "align",
                "Options of `Aligner.align` and `align`.",
            ),
            &[list(&["direction"])],
        ),
        (
            Class(
                "EvaluateOptions(SearchOptions, LinkOptions, AttentionOptions, total=False)",
                "evaluate",
                "Options of `Translator.evaluate`.",
            ),
            &[list(&["tokenize", "confidence", "by-length", "gold-base", "search-threshold"])],
        ),
    ];
    let mut page = START.to_owned();
    for (class, names) in classes {
        class.write(&mut page, names);
    }
    page
}

#[test]
fn options_of_the_python_package_are_those_of_the_command() {
    let (path, file) = (Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE), file());
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &file).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert_eq!(written, file, "run UPDATE_SNAPSHOTS=1 cargo test --release --test interface python_options");
}
