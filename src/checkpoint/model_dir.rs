//! Model directory: the names of its files, and operations on any of them.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::atomic_file::{cannot_read, write_atomically};
use super::jsonl::JsonlLog;
use super::lock::{Lock, cannot_write_dir};
use super::tfevents::{EventFile, event_files};

pub(super) const CONFIG: &str = "config.json";
pub(super) const JOINT: &str = "tokenizer.json";
pub(super) const SOURCE: &str = "source.tokenizer.json";
pub(super) const TARGET: &str = "target.tokenizer.json";
pub(super) const MODEL: &str = "model.safetensors";
pub(super) const ALIGNER: &str = "aligner.safetensors";
pub(super) const LEXICON: &str = "lexicon.safetensors";
pub(super) const TRAINED_PAIRS: &str = "trained_pairs.safetensors";
pub(super) const RESUME: &str = "resume.safetensors";
pub(super) const RESUME_JSON: &str = "resume.json";
const LOG: &str = "log.jsonl";
const TRAINING_SVG: &str = "training.svg";
const ATTENTION: &str = "attention.jsonl";
const ATTENTION_HTML: &str = "attention.html";

/// All file names, apart from the numbered event files.
pub(super) const FILES: [&str; 14] = [
    CONFIG,
    JOINT,
    SOURCE,
    TARGET,
    MODEL,
    ALIGNER,
    LEXICON,
    TRAINED_PAIRS,
    RESUME,
    RESUME_JSON,
    LOG,
    TRAINING_SVG,
    ATTENTION,
    ATTENTION_HTML,
];

/// Directory of a checkpoint, which need not exist yet.
#[derive(Clone, Debug)]
pub struct ModelDir {
    path: PathBuf,
}

impl ModelDir {
    /// Creates a handle for the directory at `path`.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the directory, unless it exists.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn make(&self) -> Result<()> {
        std::fs::create_dir_all(&self.path).with_context(|| cannot_write_dir(&self.path))
    }

    /// Locks the directory, which must exist, for one training.
    ///
    /// # Errors
    /// Another training holds the lock, or the directory is not writable.
    pub fn lock(&self) -> Result<Lock> {
        Lock::acquire(&self.path)
    }

    /// Paths of all files that a checkpoint can have, apart from the numbered event files.
    pub fn file_paths(&self) -> Vec<PathBuf> {
        FILES.iter().map(|name| self.path.join(name)).collect()
    }

    /// Names of the checkpoint's existing files.
    pub(super) fn files(&self) -> Vec<String> {
        let named = FILES.into_iter().filter(|name| self.has(name)).map(str::to_owned);
        named.chain(event_files(&self.path)).collect()
    }

    /// Hard-links files into another directory, or copies them where the file system has no hard links.
    pub(super) fn link(&self, names: Vec<String>, other: &Path) -> std::io::Result<()> {
        for name in names {
            // A relative symbolic link would be broken in the other directory.
            let (from, to) = (std::fs::canonicalize(self.path.join(&name))?, other.join(&name));
            if std::fs::hard_link(&from, &to).is_err() {
                std::fs::copy(&from, &to)?;
                File::open(&to)?.sync_all()?;
            }
        }
        Ok(())
    }

    /// Removes the checkpoint's files, `first` before the others and `last` after them.
    pub(super) fn remove_files(&self, first: &[&str], last: &[&str]) -> Result<()> {
        let others = self.files().into_iter().filter(|name| !last.contains(&name.as_str()));
        let [first, last] = [first, last].map(|names| names.iter().map(|name| (*name).to_owned()));
        for name in first.chain(others).chain(last).filter(|name| self.has(name)) {
            let path = self.path.join(&name);
            std::fs::remove_file(&path).with_context(|| format!("{}: cannot remove this file", path.display()))?;
        }
        Ok(())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        std::fs::symlink_metadata(self.path.join(name)).is_ok()
    }

    /// File of the statistical aligner.
    pub fn aligner_path(&self) -> PathBuf {
        self.path.join(ALIGNER)
    }

    pub(super) fn write_bytes(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write_atomically(&self.path.join(name), |file| Ok(file.write_all(bytes)?))
    }

    pub(super) fn read_bytes(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path.join(name);
        std::fs::read(&path).with_context(|| cannot_read(&path))
    }

    pub(super) fn read_text(&self, name: &str) -> Result<String> {
        let path = self.path.join(name);
        std::fs::read_to_string(&path).with_context(|| cannot_read(&path))
    }

    /// Training log.
    pub fn log(&self) -> JsonlLog {
        JsonlLog::new(self.path.join(LOG))
    }

    /// Log of attention at each validation.
    pub fn attention(&self) -> JsonlLog {
        JsonlLog::new(self.path.join(ATTENTION))
    }

    /// Creates the TensorBoard event file of a run.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create_event_file(&self) -> Result<EventFile> {
        EventFile::create(&self.path)
    }

    /// Writes training.svg.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_curves(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        write_atomically(&self.path.join(TRAINING_SVG), |file| Ok(write(file)?))
    }

    /// Writes attention.html.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_training_page(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        write_atomically(&self.path.join(ATTENTION_HTML), |file| Ok(write(file)?))
    }
}
