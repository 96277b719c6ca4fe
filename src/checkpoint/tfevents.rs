//! Event files for TensorBoard: a numbered file per run of a training, which TensorBoard reads in order.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::atomic_file::cannot_write;

/// Prefix, by which TensorBoard recognizes event files, and suffix around the number.
const PREFIX: &str = "events.out.tfevents.";
const SUFFIX: &str = ".softalign";

/// Event file that grows by whole records.
pub struct EventFile {
    file: File,
    path: PathBuf,
    length: u64,
}

impl EventFile {
    /// Creates the next event file of a directory.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(super) fn create(model_dir: &Path) -> Result<Self> {
        let last = event_files(model_dir).iter().filter_map(|name| number(name)).max().unwrap_or_default();
        // Zero-padded, since TensorBoard sorts names alphabetically.
        let path = model_dir.join(format!("{PREFIX}{:06}{SUFFIX}", last.saturating_add(1)));
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        Ok(Self { file: file.with_context(|| cannot_write(&path))?, path, length: 0 })
    }

    /// Appends a record. A partly written one is removed, since it would hide later records.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn append(&mut self, record: &[u8]) -> Result<()> {
        if let Err(reason) = self.file.write_all(record) {
            // The first error is the one to report.
            let _ = self.file.set_len(self.length);
            return Err(reason).with_context(|| cannot_write(&self.path));
        }
        self.length += record.len() as u64;
        Ok(())
    }
}

/// Names of a directory's event files, in order.
pub(super) fn event_files(model_dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(model_dir).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| number(name).is_some()).collect();
    names.sort();
    names
}

fn number(name: &str) -> Option<u64> {
    let number = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    number.bytes().all(|digit| digit.is_ascii_digit()).then(|| number.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creates_a_file_per_run_in_order() {
        let model_dir = tempfile::tempdir().unwrap();
        for name in ["events.out.tfevents.000009.softalign", "events.out.tfevents.1700000000.host", "log.jsonl"] {
            std::fs::write(model_dir.path().join(name), "kept").unwrap();
        }
        for _ in 0..2 {
            EventFile::create(model_dir.path()).unwrap().append(b"record").unwrap();
        }
        let names = ["000009", "000010", "000011"].map(|number| format!("{PREFIX}{number}{SUFFIX}"));
        assert_eq!(event_files(model_dir.path()), names);
        assert_eq!(std::fs::read(model_dir.path().join(&names[0])).unwrap(), b"kept");
        assert_eq!(std::fs::read(model_dir.path().join(&names[2])).unwrap(), b"record");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn reports_a_full_disk_with_the_path() {
        let path = PathBuf::from("/dev/full");
        let mut events = EventFile { file: File::options().write(true).open(&path).unwrap(), path, length: 0 };
        let message = format!("{:#}", events.append(b"record").unwrap_err());
        assert!(message.starts_with("/dev/full: cannot write this file: No space left"), "{message}");
    }
}
