//! Append-only JSON Lines logs, whose objects have a `step`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use super::atomic_file::{cannot_read, cannot_write, open_own_file, write_atomically};

/// Log file, which need not exist yet.
pub struct JsonlLog {
    path: PathBuf,
}

impl JsonlLog {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Appends a line.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&self, line: &Value) -> Result<()> {
        open_own_file(OpenOptions::new().create(true).append(true), &self.path)
            .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .with_context(|| cannot_write(&self.path))
    }

    /// Drops the lines that a run resumed after `step` will write again, and a truncated last line: progress of later
    /// steps and validations after `validated_step`, the last saved one. A run killed between a validation and its
    /// checkpoint has logged a validation that will be repeated.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn rewind(&self, step: u64, validated_step: u64) -> Result<()> {
        // If the file cannot be read, the next append reports it.
        let bytes = self.bytes().unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        let mut kept = Vec::with_capacity(bytes.len());
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(logged) = serde_json::from_slice::<Value>(line) else { continue };
            let last = if logged["event"] == "progress" { step } else { validated_step };
            if logged["step"].as_u64().is_some_and(|logged| logged <= last) {
                kept.extend_from_slice(line);
                kept.push(b'\n');
            }
        }
        write_atomically(&self.path, |file| Ok(file.write_all(&kept)?))
    }

    /// Bytes of the file; empty if it does not exist.
    fn bytes(&self) -> Result<Vec<u8>> {
        match std::fs::read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            bytes => bytes.with_context(|| cannot_read(&self.path)),
        }
    }

    /// Reads all valid lines; none if the file does not exist.
    ///
    /// # Errors
    /// The file exists but cannot be read.
    pub fn read(&self) -> Result<Vec<Value>> {
        let bytes = self.bytes()?;
        let lines = bytes.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Reads all valid lines; none if the file cannot be read.
    pub fn lines(&self) -> Vec<Value> {
        self.read().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rewind_drops_lines_that_will_be_written_again() {
        let model_dir = tempfile::tempdir().unwrap();
        let log = JsonlLog::new(model_dir.path().join("log.jsonl"));
        log.rewind(1, 1).unwrap();
        let lines = [("progress", 3), ("validation", 3), ("progress", 6), ("validation", 6), ("progress", 9)]
            .map(|(event, step)| json!({"event": event, "step": step, "text": "書"}));
        lines.iter().for_each(|line| log.append(line).unwrap());
        // Truncated within a character, as on a full disk.
        let mut bytes = std::fs::read(&log.path).unwrap();
        bytes.truncate(bytes.len() - 5);
        std::fs::write(&log.path, bytes).unwrap();
        log.rewind(9, 6).unwrap();
        assert_eq!(log.read().unwrap(), lines[..4]);
        log.rewind(6, 3).unwrap();
        assert_eq!(log.read().unwrap(), lines[..3]);
        log.rewind(3, 3).unwrap();
        assert_eq!(log.read().unwrap(), lines[..2]);
        log.append(&lines[2]).unwrap();
        assert_eq!(log.read().unwrap(), lines[..3]);
    }
}
