//! The command line, what is generated of it, the examples and the build script.

#[path = "../common/mod.rs"]
mod common;

mod cli_reference;
mod command_line;
mod examples;
mod export;
mod options_without_effect;
mod page_bundle;
mod python_options;
mod shell;
