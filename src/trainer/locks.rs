//! Locks of model directories in training.

use anyhow::{Result, bail, ensure};

use crate::checkpoint::{DirState, Lock, ModelDir};
use crate::reporter::Reporter;

/// Locks an existing directory, and removes the partial files of killed runs.
///
/// # Errors
/// Another training holds the lock, or the directory is not writable.
pub(super) fn lock(model_dir: &ModelDir, reporter: &dyn Reporter) -> Result<Lock> {
    let lock = model_dir.lock()?;
    if lock.is_exclusive() {
        model_dir.remove_unfinished();
    } else {
        reporter.warn(&format!(
            "{}: this file system has no locks; make sure that no other process trains in this directory",
            model_dir.path().display()
        ));
    }
    Ok(lock)
}

/// Locks an existing directory for a new model. With `replace`, it may hold a model of this program.
///
/// # Errors
/// Those of [`lock`], or the directory holds something that would be lost.
pub(super) fn lock_for_new(model_dir: &ModelDir, replace: bool, reporter: &dyn Reporter) -> Result<Lock> {
    let lock = lock(model_dir, reporter)?;
    let content = match model_dir.dir_state() {
        DirState::Nothing if !model_dir.is_before_last_training() => return Ok(lock),
        DirState::Nothing => "holds an unfinished training; continue it with --resume",
        DirState::Foreign => "holds files of another program or of a newer softalign under the names of model files",
        _ if replace => return Ok(lock),
        DirState::Training => "holds a model; continue its training with --resume",
        DirState::Model => "holds a model whose training cannot be resumed (resume.safetensors is missing)",
        DirState::Aligner => "holds an aligner written by --save-aligner",
    };
    bail!("{}: {content}; choose another directory with --out, or remove these files", model_dir.path().display())
}

/// Locks the directory of a training that can be resumed.
///
/// # Errors
/// Those of [`lock`], or there is no state to resume from.
pub(super) fn lock_for_resumed(model_dir: &ModelDir, reporter: &dyn Reporter) -> Result<Lock> {
    const NO_STATE: &str = "no resumable training state (resume.safetensors is missing)";
    let path = model_dir.path().display();
    ensure!(!model_dir.path().is_file(), "{}; --resume needs a directory", model_dir.no_model_here());
    ensure!(model_dir.path().is_dir(), "{path}: {NO_STATE}; train without --resume");
    let lock = lock(model_dir, reporter)?;
    match model_dir.dir_state() {
        // Loading a foreign directory fails with a more specific message.
        DirState::Training | DirState::Foreign => Ok(lock),
        DirState::Nothing => bail!("{path}: {NO_STATE}; train without --resume"),
        DirState::Model | DirState::Aligner => bail!("{path}: {NO_STATE}; train another model with --out"),
    }
}
