//! The `softalign` command.

#[cfg(unix)]
mod out_of_memory;

use std::process::ExitCode;

fn main() -> ExitCode {
    // SAFETY: no other thread runs yet.
    ExitCode::from(unsafe { softalign::commands::start(std::env::args_os().collect()) })
}
