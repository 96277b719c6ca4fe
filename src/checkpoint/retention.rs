//! Models kept besides the best one: complete model directories in `kept/`, named by the step of their validation.
//!
//! All files but the parameters are hard links. The models to keep follow from the existing directories and the log.
//! They are updated after [`ModelDir::save_resume`], so that a resumed run catches up on what a killed one missed.

use std::fs::File;
use std::io::{ErrorKind, Result as IoResult, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::atomic_file::{create_dir_atomically, ensure_no_symlink};
use super::identity::Checkpoint;
use super::model_dir::{ALIGNER, CONFIG, JOINT, LEXICON, MODEL, ModelDir, SOURCE, TARGET};
use super::save::model_bytes;
use crate::parameters::Parameters;
use crate::training::{TrainState, ValidatedModel};

/// Directory of all kept models.
const KEPT: &str = "kept";
/// Prefix of a kept model's directory, before the step.
const STEP: &str = "step-";

impl ModelDir {
    /// Directory of all kept models.
    pub fn kept_path(&self) -> PathBuf {
        self.path().join(KEPT)
    }

    /// Steps of the kept models, in order.
    pub(super) fn kept(&self) -> IoResult<Vec<u64>> {
        Ok(self.steps()?.into_iter().filter(|step| self.step_dir(*step).has(MODEL)).collect())
    }

    /// Keeps the last validated model, whose parameters are `validated`, if the settings ask for it; then removes the
    /// models that are no longer wanted.
    ///
    /// # Errors
    /// A file cannot be read, written or removed.
    pub fn keep(&self, checkpoint: &Checkpoint, progress: &TrainState, validated: &Parameters) -> Result<()> {
        let settings = &checkpoint.config.training;
        let Some(keep) = settings.retention() else { return Ok(()) };
        let listed = self.steps().with_context(|| self.cannot_list_kept())?;
        let mut steps = listed.clone();
        steps.retain(|&step| step <= progress.step && self.step_dir(step).has(MODEL));
        let new = (progress.is_validated() && !steps.contains(&progress.step)).then_some(progress.step);
        steps.extend(new);
        let log = self.log().read()?;
        let scored = steps.into_iter().map(|step| {
            let mut validations = log.iter().filter(|line| line["event"] == "validation" && line["step"] == step);
            let score = validations.next_back().and_then(|line| settings.metric.logged_score(line));
            ValidatedModel { step, score }
        });
        let wanted = keep.select(scored.collect());
        if let Some(step) = new.filter(|step| wanted.contains(step)) {
            if listed.contains(&step) {
                self.remove_kept(step)?;
            }
            self.write_kept(checkpoint, step, validated)?;
        }
        listed.into_iter().filter(|step| !wanted.contains(step)).try_for_each(|step| self.remove_kept(step))
    }

    fn write_kept(&self, checkpoint: &Checkpoint, step: u64, parameters: &Parameters) -> Result<()> {
        let bytes = model_bytes(checkpoint, parameters)?;
        let shared = [CONFIG, JOINT, SOURCE, TARGET, ALIGNER, LEXICON].into_iter().filter(|name| self.has(name));
        let path = self.step_dir(step).path().to_owned();
        let written = std::fs::create_dir_all(self.kept_path()).and_then(|()| {
            create_dir_atomically(&path, |temporary| {
                self.link(shared.map(str::to_owned).collect(), temporary)?;
                let mut file = File::create(temporary.join(MODEL))?;
                file.write_all(&bytes)?;
                file.sync_all()
            })
        });
        written.with_context(|| format!("{}: cannot keep the model in this directory", path.display()))
    }

    /// Removes a kept model: first its parameters, without which the rest is not a model.
    pub(super) fn remove_kept(&self, step: u64) -> Result<()> {
        let model_dir = self.step_dir(step);
        model_dir.remove_files(&[MODEL], &[])?;
        match std::fs::remove_dir(model_dir.path()) {
            // Somebody else's files stay.
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed.with_context(|| format!("{}: cannot remove this directory", model_dir.path().display())),
        }
    }

    /// Steps that have a directory, in order; it holds no model if its removal was interrupted.
    pub(super) fn steps(&self) -> IoResult<Vec<u64>> {
        ensure_no_symlink(&self.kept_path())?;
        let entries = match std::fs::read_dir(self.kept_path()) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            entries => entries?,
        };
        let mut steps = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                steps.extend(entry.file_name().to_str().and_then(step_of));
            }
        }
        steps.sort_unstable();
        Ok(steps)
    }

    pub(super) fn cannot_list_kept(&self) -> String {
        format!("{}: cannot read this directory", self.kept_path().display())
    }

    /// Directory of the model kept at `step`, which need not exist.
    pub(super) fn step_dir(&self, step: u64) -> Self {
        Self::new(&self.kept_path().join(step_name(step)))
    }

    /// Relative paths of the kept models' parameters.
    pub(super) fn kept_files(&self) -> Vec<String> {
        let kept = self.kept().unwrap_or_default();
        kept.into_iter().map(|step| format!("{KEPT}/{}/{MODEL}", step_name(step))).collect()
    }
}

/// Directory name of a step, zero-padded so that names sort by step.
fn step_name(step: u64) -> String {
    format!("{STEP}{step:06}")
}

/// Step of a directory name written by [`step_name`].
pub(super) fn step_of(name: &str) -> Option<u64> {
    let step = name.strip_prefix(STEP)?.parse().ok()?;
    (name == step_name(step)).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_of_inverts_step_name_and_rejects_other_names() {
        for step in [0, 7, 999_999, 1_000_000, u64::MAX] {
            assert_eq!(step_of(&step_name(step)), Some(step));
        }
        for name in ["step-7", "step-+00007", "step-0000007", "step-000007-mine", "step-", "step", "000007"] {
            assert_eq!(step_of(name), None, "{name}");
        }
    }
}
