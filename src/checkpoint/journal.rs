//! Files that grow by a line at a time, one JSON object a line with its `step`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use super::files::{cannot_write, write_atomically};

/// Such a file; it need not exist yet.
pub struct Journal {
    place: PathBuf,
}

impl Journal {
    pub(super) fn new(place: PathBuf) -> Self {
        Self { place }
    }

    /// Adds a line.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn append(&self, line: &Value) -> Result<()> {
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.place)
            .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .with_context(|| cannot_write(&self.place))
    }

    /// Drops lines of later steps than `step`, which a resumed run will write again, and a last line cut short.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn rewind(&self, step: u64) -> Result<()> {
        // What cannot be read cannot be added to either, and that will be told.
        let bytes = self.bytes().unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        let kept = |line: &&[u8]| {
            let value: Option<Value> = serde_json::from_slice(line).ok();
            value.and_then(|value| value["step"].as_u64()).is_some_and(|logged| logged <= step)
        };
        let kept: Vec<u8> =
            bytes.split(|byte| *byte == b'\n').filter(kept).flat_map(|line| [line, b"\n"].concat()).collect();
        write_atomically(&self.place, |file| Ok(file.write_all(&kept)?))
    }

    /// What the file holds, whatever it is; nothing where there is none.
    fn bytes(&self) -> Result<Vec<u8>> {
        match std::fs::read(&self.place) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            bytes => bytes.with_context(|| format!("{}: cannot read this file", self.place.display())),
        }
    }

    /// The lines that make sense; there need not be any.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn read(&self) -> Result<Vec<Value>> {
        let bytes = self.bytes()?;
        let lines = bytes.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// The lines for whoever can do without them.
    pub fn lines(&self) -> Vec<Value> {
        self.read().unwrap_or_default()
    }
}
