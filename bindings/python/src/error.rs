//! Exceptions: `softalign.Error` and its subclasses, which the package defines in Python.

use std::any::Any;
use std::sync::Once;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use softalign::ErrorKind;

/// Returns the exception for an error of the library, with the line that the command prints.
pub fn exception(py: Python, error: anyhow::Error) -> PyErr {
    let error = softalign::Error::from(error);
    let class = match error.kind() {
        ErrorKind::Argument => "ArgumentError",
        ErrorKind::NotFound => "MissingFileError",
        ErrorKind::Io => "FileError",
        _ => "Error",
    };
    // The directory is an argument that every call has.
    raised(py, class, error.in_terms(&keyword).replace(" with directory", ""))
}

/// Returns the name of the keyword for an option of the command line.
pub fn keyword(option: &str) -> String {
    match option {
        "out" | "output" | "save-aligner" => "directory".to_owned(),
        "train" => "pairs".to_owned(),
        "resume" | "replace" => format!("{option}=True"),
        other => other.replace('-', "_"),
    }
}

/// Returns an exception for an argument that is out of range.
pub fn argument_error(py: Python, message: impl Into<String>) -> PyErr {
    raised(py, "ArgumentError", message.into())
}

/// Returns the exception for a panic, which is a bug.
pub fn described_panic(py: Python, panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    raised(py, "Error", format!("internal error, please report it: {text}"))
}

fn raised(py: Python, class: &str, message: String) -> PyErr {
    let create = || py.import("softalign._errors")?.getattr(class)?.call1((&message,));
    create().map_or_else(|_| PyRuntimeError::new_err(message.clone()), PyErr::from_value)
}

/// Keeps the message of a panic off standard error, since it becomes an exception.
pub fn silence_panics() {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| std::panic::set_hook(Box::new(|_| {})));
}

/// Panics in a worker thread, for the test that it becomes an exception.
#[pyfunction]
#[pyo3(name = "_raise_panic")]
pub fn raise_panic(py: Python) -> PyResult<()> {
    crate::call::run(py, None, |_| panic!("injected"))
}
