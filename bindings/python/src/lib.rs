//! Extension module of the Python package `softalign`: the library's calls on Python's objects.
//!
//! The package's Python files give them their public form: keyword arguments, lists and streams, progress bars.

mod aligner;
mod alignment;
mod arguments;
mod arrays;
mod attention;
mod call;
mod command;
mod error;
mod metrics;
mod threads;
mod training;
mod translator;

/// Functions and classes on which the package is built.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::aligner::Aligner;
    #[pymodule_export]
    use super::alignment::{Alignment, save};
    #[pymodule_export]
    use super::attention::{learn_width, pool};
    #[pymodule_export]
    use super::command::main;
    #[pymodule_export]
    use super::error::raise_panic;
    #[pymodule_export]
    use super::metrics::{corpus_score, paired_test};
    #[pymodule_export]
    use super::threads::set_threads;
    #[pymodule_export]
    use super::training::train;
    #[pymodule_export]
    use super::translator::Model;

    /// Version of the package and the library.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name is Python's")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
