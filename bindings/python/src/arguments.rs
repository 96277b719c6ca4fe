//! Arguments of Python's functions as the library's types.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use softalign::Pair;
use softalign::text::{PairFiles, TableFormat};
use softalign::trainer::MonolingualText;

use crate::error::{argument_error, exception};

/// Keyword arguments as JSON, by the names of the command line.
pub struct Options(Map<String, Value>);

impl Options {
    /// Parses a JSON object, in which `None` is left out. `separator` stands for the `_` of the names.
    ///
    /// # Errors
    /// The text is not a JSON object.
    pub fn parse(py: Python, json: &str, separator: &str) -> PyResult<Self> {
        let given: Map<String, Value> =
            serde_json::from_str(json).map_err(|error| argument_error(py, error.to_string()))?;
        let given = given.into_iter().filter(|(_, value)| !value.is_null());
        Ok(Self(given.map(|(name, value)| (name.replace('_', separator), value)).collect()))
    }

    /// Removes an option and returns its value, if it is given.
    ///
    /// # Errors
    /// The value has another type.
    pub fn take<T: DeserializeOwned>(&mut self, py: Python, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.0.remove(name) else { return Ok(None) };
        serde_json::from_value(value).map(Some).map_err(|error| invalid(py, name, &error))
    }

    /// Returns the structure whose fields are among the options.
    ///
    /// # Errors
    /// A value has another type than the field.
    pub fn structure<T: DeserializeOwned>(&self, py: Python) -> PyResult<T> {
        let parse = |options: Map<String, Value>| serde_json::from_value(Value::Object(options));
        parse(self.0.clone()).map_err(|error| {
            let alone = |(name, value): (&String, &Value)| {
                let one = Map::from_iter([(name.clone(), value.clone())]);
                parse(one).map(|_: T| ()).err().map(|error| invalid(py, name, &error))
            };
            self.0.iter().find_map(alone).unwrap_or_else(|| argument_error(py, error.to_string()))
        })
    }
}

fn invalid(py: Python, name: &str, error: &serde_json::Error) -> PyErr {
    let message = error.to_string();
    let types = message.strip_prefix("invalid type: ").and_then(|types| types.split_once(", expected "));
    let message = types.map_or(message.clone(), |(given, expected)| {
        let expected = match expected {
            "usize" | "u64" | "u32" | "u8" => "int",
            "f64" | "f32" => "float",
            "a boolean" => "bool",
            "a string" | "path string" => "str",
            other => other,
        };
        format!("expected {expected}, not {given}")
    });
    argument_error(py, format!("{}: {message}", name.replace('-', "_")))
}

/// Sentence pairs: a file, or pairs in memory.
#[derive(FromPyObject)]
pub enum Pairs {
    /// Path of a file, as `read_pairs` takes it.
    File(PathBuf),
    /// Source and target of each pair.
    Memory(Vec<(String, String)>),
}

impl Pairs {
    /// Returns the pairs of a file of this format, or those in memory.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(self, py: Python, format: &TableFormat) -> PyResult<Vec<Pair>> {
        match self {
            Self::Memory(pairs) => Ok(in_memory(pairs)),
            Self::File(path) => {
                let read = || PairFiles::tsv(&path, format).read("pairs");
                py.detach(read).map_err(|error| exception(py, error))
            }
        }
    }
}

/// Sentences: a file with one per line, or sentences in memory.
#[derive(FromPyObject)]
pub enum Sentences {
    /// Path of a file.
    File(PathBuf),
    /// The sentences.
    Memory(Vec<String>),
}

impl From<Sentences> for MonolingualText {
    fn from(sentences: Sentences) -> Self {
        match sentences {
            Sentences::File(path) => Self::files(&[path]),
            Sentences::Memory(lines) => Self::in_memory(&lines),
        }
    }
}

/// Returns pairs of these sources and targets.
pub fn in_memory(pairs: Vec<(String, String)>) -> Vec<Pair> {
    pairs.into_iter().map(|(source, target)| Pair { source, target }).collect()
}
