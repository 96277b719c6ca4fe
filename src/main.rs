//! The `softalign` command.

#[cfg(unix)]
mod out_of_memory;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = softalign::cli::Cli::parse_or_exit();
    let threads =
        cli.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from);
    // SAFETY: no other thread runs yet, so nobody reads the environment meanwhile. Candle asks this variable at every
    // product; without it, it would read /proc/cpuinfo each time.
    unsafe { std::env::set_var("RAYON_NUM_THREADS", threads.to_string()) };
    // SAFETY: no other thread runs yet. Where RUST_BACKTRACE is set, candle would put a backtrace into its errors, which
    // are for users.
    unsafe { std::env::set_var("RUST_LIB_BACKTRACE", "0") };
    softalign::commands::run(&cli)
}
