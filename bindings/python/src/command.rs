//! The `softalign` command.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these arguments, the first of which is the program's name, and returns its exit code. A process may
/// call it once, before it starts threads.
#[pyfunction]
#[pyo3(name = "main")]
pub fn main(py: Python, arguments: Vec<OsString>) -> u8 {
    // SAFETY: the package's command calls this in a process of its own, before anything starts a thread.
    py.detach(|| unsafe { softalign::commands::start(arguments) })
}
