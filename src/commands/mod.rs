//! The commands: arguments to settings, to the library, to a renderer. All that is printed is printed from here, but what
//! clap says of the command line.

mod align;
mod average;
mod clean;
mod console;
mod evaluate;
mod evaluation_report;
mod input_format;
mod inspect;
mod labels;
mod lexicon_tsv;
mod load_model;
mod output_file;
mod pair_files;
mod render_options;
mod repl;
mod score;
mod search;
mod shell;
mod signals;
mod symmetrize;
mod train;
mod translate;
mod translation_writer;

use std::process::ExitCode;

use anyhow::{Context, Result};
use candle_core::Device;
use colorchoice::ColorChoice;

use crate::cli::{Cli, Color, Command, DeviceName};
use crate::error::UsageError;
use console::Console;
use signals::Interrupted;

/// Runs a command and turns what became of it into an exit code: 0 done, 1 failed, 2 the command line was wrong, from 128
/// on stopped by a signal.
pub fn run(cli: &Cli) -> ExitCode {
    match cli.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
    .write_global();
    let console = Console::new(cli.quiet);
    let Err(error) = start_threads().and_then(|()| dispatch(cli, &console)) else { return ExitCode::SUCCESS };
    if is_broken_pipe(&error) {
        // Whoever reads our output has had enough: `softalign … | head` is no failure.
        return ExitCode::SUCCESS;
    }
    if let Some(stopped) = error.downcast_ref::<Interrupted>() {
        return ExitCode::from(stopped.exit_code());
    }
    console.error(&error);
    ExitCode::from(if error.downcast_ref::<UsageError>().is_some() { 2 } else { 1 })
}

/// Starts the threads that compute; where it is left to the first use, a failure is a panic.
fn start_threads() -> Result<()> {
    rayon::ThreadPoolBuilder::new()
        .build_global()
        .context("cannot start the threads to compute with; give fewer --threads")
}

fn dispatch(cli: &Cli, console: &Console) -> Result<()> {
    if !matches!(cli.command, Command::Train(_)) {
        signals::install_handlers();
    }
    match &cli.command {
        Command::Train(args) => train::run(args, &cli.command_line, &device(cli.device)?, console),
        Command::Translate(args) => translate::run(args, &device(cli.device)?, console),
        Command::Align(args) => align::run(args, &device(cli.device)?, console),
        Command::Evaluate(args) => evaluate::run(args, &device(cli.device)?, console),
        Command::Score(args) => score::run(args, &device(cli.device)?, console),
        Command::Clean(args) => clean::run(args, &device(cli.device)?, console),
        Command::Symmetrize(args) => symmetrize::run(args),
        Command::Average(args) => average::run(args, &device(cli.device)?, console),
        Command::Inspect(args) => inspect::run(args),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::manual(args),
    }
}

fn device(name: DeviceName) -> Result<Device> {
    match name {
        DeviceName::Cpu => Ok(Device::Cpu),
        DeviceName::Cuda => Device::new_cuda(0)
            .context("no GPU to be had; --device cpu works everywhere, --features cuda builds for one"),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken)
}
