//! What a directory holds as a whole: for whoever wants to train there, to be moved aside, or to be cleared away.

use std::ffi::OsStr;
use std::io::Result as IoResult;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Config;
use super::atomic_file::{is_unfinished, make_whole};
use super::model_dir::{ALIGNER, CONFIG, FILES, MODEL, ModelDir, RESUME};
use super::retention::step_of;

/// A folder for a model that was moved aside.
const PREVIOUS: &str = "previous";

/// What a directory holds for somebody who wants to train there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirState {
    /// Nothing that would be lost, and nothing to go on with.
    Nothing,
    /// A training that can go on.
    Training,
    /// A model whose training cannot go on.
    Model,
    /// A statistical aligner that belongs to no model.
    Aligner,
    /// Something of another program, or of a newer softalign.
    Foreign,
}

impl ModelDir {
    /// What there is for somebody who wants to train here. Settings without parameters are nothing: a run leaves them
    /// that ended before its first validation.
    pub fn dir_state(&self) -> DirState {
        let is_ours = || self.read_text(CONFIG).and_then(|json| Config::parse(&json)).is_ok();
        if self.has(RESUME) && is_ours() {
            DirState::Training
        } else if (self.has(MODEL) || self.kept().map_or(true, |kept| !kept.is_empty())) && is_ours() {
            DirState::Model
        } else if self.has(CONFIG) {
            if is_ours() { DirState::Nothing } else { DirState::Foreign }
        } else if self.files() == [ALIGNER] {
            DirState::Aligner
        } else if self.files().is_empty() {
            DirState::Nothing
        } else {
            // A run of ours has its settings there before all else, and until all else is gone.
            DirState::Foreign
        }
    }

    /// Whether a file of this name is part of a model or an aligner that is here, or of one that is being trained.
    pub fn is_part(&self, name: &OsStr) -> bool {
        let is_model = self.has(MODEL) || self.has(RESUME) || self.dir_state() != DirState::Foreign;
        is_model && self.files().iter().any(|file| name == OsStr::new(file))
    }

    /// The sizes in bytes of the files that are there. Of the models that are kept these are the parameters: their other files
    /// are second names.
    pub fn sizes(&self) -> Vec<(String, u64)> {
        let size = |name: String| Some((std::fs::metadata(self.path().join(&name)).ok()?.len(), name));
        let names = self.files().into_iter().chain(self.kept_files());
        names.filter_map(size).map(|(size, name)| (name, size)).collect()
    }

    /// Moves the checkpoint that is there, with the models that are kept, into a new subfolder `previous`, `previous-2`, … and
    /// returns its path. At any moment of it there is one whole checkpoint at least: here, in the subfolder, or in both.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn archive(&self) -> Result<PathBuf> {
        let free = self.places_aside().find(|path| !path.exists());
        let aside = free.context("no free name for the previous model")?;
        let moved = make_whole(&aside, |unfinished| self.copy_to(unfinished));
        moved.with_context(|| format!("{}: cannot move the model into this folder", aside.display()))?;
        self.clear()?;
        Ok(aside)
    }

    /// The subfolder of the model that was moved aside last, if there is one.
    pub(super) fn newest_previous(&self) -> Option<PathBuf> {
        self.places_aside().take_while(|path| path.exists()).last()
    }

    /// The subfolders `previous`, `previous-2`, … in the order in which models are moved into them.
    fn places_aside(&self) -> impl Iterator<Item = PathBuf> {
        let name = |number: usize| if number == 1 { PREVIOUS.to_owned() } else { format!("{PREVIOUS}-{number}") };
        (1..).map(move |number| self.path().join(name(number)))
    }

    /// Gives all files second names in another directory.
    fn copy_to(&self, other: &Path) -> IoResult<()> {
        self.link(self.files(), other)?;
        for step in self.kept()? {
            let (kept, place) = (self.of_step(step), Self::new(other).of_step(step));
            std::fs::create_dir_all(place.path())?;
            kept.link(kept.files(), place.path())?;
        }
        Ok(())
    }

    /// Removes all files of a checkpoint, so that none is taken for the next run's: first those without which there is
    /// nothing to lose, and last the one by which the others are known for a run's.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn clear(&self) -> Result<()> {
        let steps = self.steps().with_context(|| self.cannot_list_kept())?;
        steps.into_iter().try_for_each(|step| self.remove_kept(step))?;
        // It may not be there, or hold what is somebody else's.
        let _ = std::fs::remove_dir(self.path_of_kept());
        self.remove_files(&[RESUME, MODEL], &[CONFIG])
    }

    /// Removes what runs that were killed have left half written. Only for who holds the lock.
    pub fn remove_unfinished(&self) {
        let none = |_: &str| false;
        let file = |name: &str| FILES.contains(&name);
        remove_unfinished_in(self.path(), is_previous, file);
        let Ok(steps) = self.steps() else { return };
        remove_unfinished_in(&self.path_of_kept(), |name| step_of(name).is_some(), none);
        steps.into_iter().for_each(|step| remove_unfinished_in(self.of_step(step).path(), none, file));
    }
}

fn is_previous(name: &str) -> bool {
    name.strip_prefix(PREVIOUS).is_some_and(|number| {
        number.is_empty() || number.strip_prefix('-').is_some_and(|number| number.parse::<usize>().is_ok())
    })
}

/// Removes what was to become a folder or a file of such a name.
fn remove_unfinished_in(place: &Path, model_dir: impl Fn(&str) -> bool, file: impl Fn(&str) -> bool) {
    // What cannot be listed or removed does no harm where it is.
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let _ = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true if is_unfinished(&name, &model_dir) => std::fs::remove_dir_all(path),
            false if is_unfinished(&name, &file) => std::fs::remove_file(path),
            _ => Ok(()),
        };
    }
}
