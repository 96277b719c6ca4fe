//! Files that grow by a line at a time, one JSON object a line with its `step`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use super::atomic_file::{cannot_read, cannot_write, open_own_file, write_atomically};

/// Such a file; it need not exist yet.
pub struct JsonlLog {
    place: PathBuf,
}

impl JsonlLog {
    pub(super) fn new(place: PathBuf) -> Self {
        Self { place }
    }

    /// Adds a line.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn append(&self, line: &Value) -> Result<()> {
        open_own_file(OpenOptions::new().create(true).append(true), &self.place)
            .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .with_context(|| cannot_write(&self.place))
    }

    /// Drops what a run that goes on after `step` will write again, and a last line cut short: reports of later steps, and
    /// validations of later ones than that of `validated_step`, the last one held. A run that was killed between a
    /// validation and its being saved has told of one that will be held once more.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn rewind(&self, step: u64, validated_step: u64) -> Result<()> {
        // What cannot be read cannot be added to either, and that will be told.
        let bytes = self.bytes().unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        let kept = |line: &&[u8]| {
            let Ok(line) = serde_json::from_slice::<Value>(line) else { return false };
            let last = if line["event"] == "progress" { step } else { validated_step };
            line["step"].as_u64().is_some_and(|logged| logged <= last)
        };
        let kept: Vec<u8> =
            bytes.split(|byte| *byte == b'\n').filter(kept).flat_map(|line| [line, b"\n"].concat()).collect();
        write_atomically(&self.place, |file| Ok(file.write_all(&kept)?))
    }

    /// What the file holds, whatever it is; nothing where there is none.
    fn bytes(&self) -> Result<Vec<u8>> {
        match std::fs::read(&self.place) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            bytes => bytes.with_context(|| cannot_read(&self.place)),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_will_be_written_again_is_dropped() {
        let model_dir = tempfile::tempdir().unwrap();
        let journal = JsonlLog::new(model_dir.path().join("log.jsonl"));
        journal.rewind(1, 1).unwrap();
        let line = |event: &str, step: u64| json!({"event": event, "step": step, "text": "書"});
        let lines = [
            line("progress", 3),
            line("validation", 3),
            line("progress", 6),
            line("validation", 6),
            line("progress", 9),
        ];
        lines.iter().for_each(|line| journal.append(line).unwrap());
        // The last line ends within a character, as one does where a disk was full.
        let mut bytes = std::fs::read(&journal.place).unwrap();
        bytes.truncate(bytes.len() - 5);
        std::fs::write(&journal.place, bytes).unwrap();
        journal.rewind(9, 6).unwrap();
        assert_eq!(journal.read().unwrap(), lines[..4]);
        journal.rewind(6, 3).unwrap();
        assert_eq!(journal.read().unwrap(), lines[..3]);
        journal.rewind(3, 3).unwrap();
        assert_eq!(journal.read().unwrap(), lines[..2]);
        journal.append(&lines[2]).unwrap();
        assert_eq!(journal.read().unwrap(), lines[..3]);
    }
}
