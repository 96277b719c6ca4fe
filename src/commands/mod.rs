//! Commands: parse arguments, call the library, print. The only module that prints, apart from clap.

mod align;
mod average;
mod clean;
mod console;
mod document;
mod evaluate;
mod export;
mod input_format;
mod inspect;
mod labels;
mod load_model;
mod output_file;
mod pair_files;
mod processes;
mod render_options;
mod repl;
mod score;
#[cfg(feature = "serve")]
mod serve;
mod shell;
mod signals;
mod symmetrize;
mod table_rows;
mod train;
mod translate;
mod translation_setup;
mod translation_writer;
mod unreadable;

pub use crate::text::remember_closed_streams;

use std::ffi::OsString;

use anyhow::{Context, Result, anyhow};
use candle_core::Device;
use colorchoice::ColorChoice;

use crate::cli::{Cli, Color, Command, DeviceName, limit_simd};
use crate::error::UsageError;
use console::Console;
use processes::Processes;
use signals::Interrupted;

/// Runs the command of these arguments, the first of which is the program's name, and returns its exit code: 0 success, 1
/// failure, 2 usage error, 128 + signal if stopped by a signal. Exits where arguments are wrong or ask for help.
///
/// # Safety
/// No other thread may run yet, since the environment is changed.
pub unsafe fn start(arguments: Vec<OsString>) -> u8 {
    // Before the arguments, which may ask for the version with the instruction set.
    let limited = limit_simd();
    let cli = Cli::parse_or_exit(arguments);
    let threads =
        cli.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from);
    // SAFETY: no other thread reads the environment meanwhile. Candle asks this variable at every product; without it, it
    // would read /proc/cpuinfo each time.
    unsafe { std::env::set_var("RAYON_NUM_THREADS", threads.to_string()) };
    // SAFETY: as above. Where RUST_BACKTRACE is set, candle would put a backtrace into its errors, which are for users.
    unsafe { std::env::set_var("RUST_LIB_BACKTRACE", "0") };
    run(&cli, limited)
}

/// Runs a command, unless the limit of the vector instructions is wrong, and returns its exit code.
fn run(cli: &Cli, limited: Result<()>) -> u8 {
    match cli.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
    .write_global();
    let processes = match Processes::start(cli) {
        Ok(processes) => processes,
        Err(error) => return report(&error, &Console::new(cli.quiet)),
    };
    let console = Console::new(cli.quiet || !processes.is_first());
    let exit_code = match limited.and_then(|()| start_threads()).and_then(|()| dispatch(cli, &console, &processes)) {
        Ok(()) => 0,
        Err(error) => {
            processes.wait_to_report();
            report(&error, &console)
        }
    };
    processes.end(exit_code)
}

/// Prints an error, unless it is no failure, and returns the exit code.
fn report(error: &anyhow::Error, console: &Console) -> u8 {
    if is_broken_pipe(error) {
        // A closed pipe, as in `softalign … | head`, is no failure.
        return 0;
    }
    if let Some(stopped) = error.downcast_ref::<Interrupted>() {
        return stopped.exit_code();
    }
    console.error(error);
    if error.downcast_ref::<UsageError>().is_some() { 2 } else { 1 }
}

/// Starts the thread pool here, because a failure at its first use would be a panic.
fn start_threads() -> Result<()> {
    let started = rayon::ThreadPoolBuilder::new().build_global();
    started.map_err(|_| anyhow!("cannot start the worker threads; choose fewer --threads"))
}

fn dispatch(cli: &Cli, console: &Console, processes: &Processes) -> Result<()> {
    if !handles_signals(&cli.command) {
        signals::install_handlers();
    }
    match &cli.command {
        Command::Train(args) => {
            let device = processes.gpu().map_or_else(|| device(cli.device), |gpu| Ok(gpu.clone()))?;
            train::run(args, &cli.command_line, &device, processes, console)
        }
        Command::Translate(args) => translate::run(args, &device(cli.device)?, console),
        Command::Align(args) => align::run(args, &device(cli.device)?, console),
        Command::Evaluate(args) => evaluate::run(args, &device(cli.device)?, console),
        Command::Score(args) => score::run(args, &device(cli.device)?, console),
        Command::Clean(args) => clean::run(args, &device(cli.device)?, console),
        Command::Symmetrize(args) => symmetrize::run(args),
        Command::Average(args) => average::run(args, &device(cli.device)?, console),
        Command::Inspect(args) => inspect::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, &device(cli.device)?, console),
        Command::Export(args) => export::run(args, console),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::manual(args),
    }
}

/// True if a command ends in good order at a signal.
fn handles_signals(command: &Command) -> bool {
    match command {
        Command::Train(_) => true,
        #[cfg(feature = "serve")]
        Command::Serve(_) => true,
        _ => false,
    }
}

fn device(name: DeviceName) -> Result<Device> {
    match name {
        DeviceName::Cpu => Ok(Device::Cpu),
        DeviceName::Cuda => {
            crate::gpu(0).context("no GPU available; use --device cpu, or a build with --features cuda")
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
