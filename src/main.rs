//! The `softalign` command.

#[cfg(unix)]
mod out_of_memory;

use std::process::ExitCode;

/// Runs before Rust's runtime.
#[cfg(unix)]
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static BEFORE_RUNTIME: extern "C" fn() = softalign::commands::remember_closed_streams;

fn main() -> ExitCode {
    // SAFETY: no other thread runs yet.
    ExitCode::from(unsafe { softalign::commands::start(std::env::args_os().collect()) })
}
