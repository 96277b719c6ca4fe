//! Event files for TensorBoard: a file for each run of a training, by numbers, so that a TensorBoard that looks on goes
//! from one to the next.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::atomic_file::cannot_write;

/// What a number stands between. TensorBoard knows such files by the name.
const BEGINNING: &str = "events.out.tfevents.";
const END: &str = ".softalign";

/// A file that grows by whole records.
pub struct EventFile {
    file: File,
    place: PathBuf,
    length: u64,
}

impl EventFile {
    /// Begins the next file of a folder.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub(super) fn next(model_dir: &Path) -> Result<Self> {
        let last = event_files(model_dir).iter().filter_map(|name| number(name)).max().unwrap_or_default();
        // As many digits as TensorBoard's order, which is that of letters, will need.
        let place = model_dir.join(format!("{BEGINNING}{:06}{END}", last.saturating_add(1)));
        let file = OpenOptions::new().write(true).create_new(true).open(&place);
        Ok(Self { file: file.with_context(|| cannot_write(&place))?, place, length: 0 })
    }

    /// Adds a record. One that cannot be written whole is taken back, since it would hide what follows it.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn append(&mut self, record: &[u8]) -> Result<()> {
        if let Err(reason) = self.file.write_all(record) {
            // The reason of the first failure is the one to report.
            let _ = self.file.set_len(self.length);
            return Err(reason).with_context(|| cannot_write(&self.place));
        }
        self.length += record.len() as u64;
        Ok(())
    }
}

/// The names of the event files that a folder holds, from the first.
pub(super) fn event_files(model_dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(model_dir).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| number(name).is_some()).collect();
    names.sort();
    names
}

fn number(name: &str) -> Option<u64> {
    let number = name.strip_prefix(BEGINNING)?.strip_suffix(END)?;
    number.bytes().all(|digit| digit.is_ascii_digit()).then(|| number.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_files_of_their_own_in_order() {
        let model_dir = tempfile::tempdir().unwrap();
        for name in ["events.out.tfevents.000009.softalign", "events.out.tfevents.1700000000.host", "log.jsonl"] {
            std::fs::write(model_dir.path().join(name), "kept").unwrap();
        }
        for _ in 0..2 {
            EventFile::next(model_dir.path()).unwrap().append(b"record").unwrap();
        }
        let names = ["000009", "000010", "000011"].map(|number| format!("{BEGINNING}{number}{END}"));
        assert_eq!(event_files(model_dir.path()), names);
        assert_eq!(std::fs::read(model_dir.path().join(&names[0])).unwrap(), b"kept");
        assert_eq!(std::fs::read(model_dir.path().join(&names[2])).unwrap(), b"record");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_with_the_path() {
        let place = PathBuf::from("/dev/full");
        let mut events = EventFile { file: File::options().write(true).open(&place).unwrap(), place, length: 0 };
        let message = format!("{:#}", events.append(b"record").unwrap_err());
        assert!(message.starts_with("/dev/full: cannot write this file: No space left"), "{message}");
    }
}
