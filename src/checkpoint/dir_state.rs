//! State of a model directory as a whole: inspecting, archiving and clearing it.

use std::ffi::OsStr;
use std::io::Result as IoResult;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::atomic_file::{create_dir_atomically, is_temporary};
use super::lock::{NAME as LOCK, holder};
use super::model_dir::{ALIGNER, CONFIG, FILES, MODEL, ModelDir, RESUME};
use super::retention::step_of;

/// Subdirectory of an archived model.
const PREVIOUS: &str = "previous";

/// State of a directory as the target of a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirState {
    /// Nothing that would be lost and nothing to resume.
    Nothing,
    /// A training that can be resumed.
    Training,
    /// A model without a resumable training state.
    Model,
    /// A statistical aligner without a model.
    Aligner,
    /// Files of another program or of a newer softalign.
    Foreign,
}

impl ModelDir {
    /// Returns the state of the directory. config.json without parameters counts as nothing: a run that ended before
    /// its first validation leaves it.
    pub fn dir_state(&self) -> DirState {
        if self.has(RESUME) && self.config().is_some() {
            DirState::Training
        } else if (self.has(MODEL) || self.kept().map_or(true, |kept| !kept.is_empty())) && self.config().is_some() {
            DirState::Model
        } else if self.has(CONFIG) {
            if self.config().is_some() { DirState::Nothing } else { DirState::Foreign }
        } else if self.files() == [ALIGNER] {
            DirState::Aligner
        } else if self.files().is_empty() {
            DirState::Nothing
        } else {
            // softalign writes config.json first and removes it last.
            DirState::Foreign
        }
    }

    /// True if the file belongs to a model or aligner in its directory, to one in training, or to their auxiliary models.
    pub fn owns(path: &Path) -> bool {
        path.parent().zip(path.file_name()).is_some_and(|(directory, name)| {
            let directory = Self::new(directory);
            directory.is_part(name) || directory.is_auxiliary()
        })
    }

    fn is_part(&self, name: &OsStr) -> bool {
        let state = self.dir_state();
        let is_model = self.has(MODEL) || self.has(RESUME) || state != DirState::Foreign;
        if name == LOCK && (matches!(state, DirState::Training | DirState::Model) || holder(self.path()).is_some()) {
            return true;
        }
        is_model && self.files().iter().any(|file| name == OsStr::new(file))
    }

    /// Names and sizes in bytes of the existing files. Of kept models, only the parameters count: their other files are
    /// hard links.
    pub fn sizes(&self) -> Vec<(String, u64)> {
        let mut sizes = Vec::new();
        for name in self.files().into_iter().chain(self.kept_files()) {
            if let Ok(found) = std::fs::metadata(self.path().join(&name)) {
                sizes.push((name, found.len()));
            }
        }
        sizes
    }

    /// Moves the checkpoint and its kept models into a new subdirectory `previous`, `previous-2`, … and returns its
    /// path. At any time, at least one of the two directories holds the complete checkpoint.
    ///
    /// # Errors
    /// A file cannot be linked, copied or removed.
    pub fn archive(&self) -> Result<PathBuf> {
        let free = self.archive_paths().find(|path| !path.exists());
        let archive = free.context("no free name for the previous model")?;
        let created = create_dir_atomically(&archive, |temporary| self.link_all(temporary));
        created.with_context(|| cannot_move_into(&archive))?;
        let auxiliary = self.auxiliary_path();
        if auxiliary.is_dir() {
            let renamed = std::fs::rename(auxiliary, Self::new(&archive).auxiliary_path());
            renamed.with_context(|| cannot_move_into(&archive))?;
        }
        self.clear()?;
        Ok(archive)
    }

    /// Path of the latest archived model, if any.
    pub(super) fn latest_archive(&self) -> Option<PathBuf> {
        self.archive_paths().take_while(|path| path.exists()).last()
    }

    /// Paths `previous`, `previous-2`, … in the order in which they are used.
    fn archive_paths(&self) -> impl Iterator<Item = PathBuf> {
        let numbered = (2..).map(move |number: usize| self.path().join(format!("{PREVIOUS}-{number}")));
        std::iter::once(self.path().join(PREVIOUS)).chain(numbered)
    }

    /// Links all files, with those of kept models, into another directory.
    fn link_all(&self, other: &Path) -> IoResult<()> {
        self.link(self.files(), other)?;
        for step in self.kept()? {
            let (from, to) = (self.step_dir(step), Self::new(other).step_dir(step));
            std::fs::create_dir_all(to.path())?;
            from.link(from.files(), to.path())?;
        }
        Ok(())
    }

    /// Removes all files of a checkpoint, so that the next run cannot mistake them for its own. Parameters go first;
    /// config.json, which marks the directory as ours, goes last.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn clear(&self) -> Result<()> {
        let steps = self.steps().with_context(|| self.cannot_list_kept())?;
        steps.into_iter().try_for_each(|step| self.remove_kept(step))?;
        // It may not exist, or hold somebody else's files.
        let _ = std::fs::remove_dir(self.kept_path());
        self.remove_files(&[RESUME, MODEL], &[CONFIG])
    }

    /// Removes temporary files of killed runs. Requires the lock.
    pub fn remove_unfinished(&self) {
        remove_temporary(self.path(), is_previous, is_model_file);
        let Ok(steps) = self.steps() else { return };
        remove_temporary(&self.kept_path(), |name| step_of(name).is_some(), |_| false);
        for step in steps {
            remove_temporary(self.step_dir(step).path(), |_| false, is_model_file);
        }
    }
}

fn cannot_move_into(archive: &Path) -> String {
    format!("{}: cannot move the model into this directory", archive.display())
}

fn is_model_file(name: &str) -> bool {
    FILES.contains(&name)
}

fn is_previous(name: &str) -> bool {
    name.strip_prefix(PREVIOUS).is_some_and(|number| {
        number.is_empty() || number.strip_prefix('-').is_some_and(|number| number.parse::<usize>().is_ok())
    })
}

/// Removes the temporary directories and files whose final names satisfy `is_dir` and `is_file`.
fn remove_temporary(parent: &Path, is_dir: impl Fn(&str) -> bool, is_file: impl Fn(&str) -> bool) {
    // Leftovers that cannot be listed or removed do no harm.
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let _ = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true if is_temporary(&name, &is_dir) => std::fs::remove_dir_all(path),
            false if is_temporary(&name, &is_file) => std::fs::remove_file(path),
            _ => Ok(()),
        };
    }
}
