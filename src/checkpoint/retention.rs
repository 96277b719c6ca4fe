//! Models of a run beside the best one: whole models' folders below `kept`, by the steps after which they were validated.
//!
//! All but the parameters are second names of the files above. Which models are kept follows from the steps that are there
//! and from the log, and they are kept after [`ModelDir::save_resume`], so that a run that goes on makes up for what the one
//! before did not get to.

use std::fs::File;
use std::io::{ErrorKind, Result as IoResult, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::atomic_file::{ensure_no_symlink, make_whole};
use super::model_dir::{ALIGNER, CONFIG, Checkpoint, JOINT, LEXICON, MODEL, ModelDir, SOURCE, TARGET, model_bytes};
use crate::parameters::Parameters;
use crate::training::TrainState;

/// The folder of all of them.
const KEPT: &str = "kept";
/// What a step's number stands after.
const STEP: &str = "step-";

impl ModelDir {
    /// The folder of the models that are kept.
    pub fn path_of_kept(&self) -> PathBuf {
        self.path().join(KEPT)
    }

    /// The steps after which the models were validated that are kept, in order.
    pub(super) fn kept(&self) -> IoResult<Vec<u64>> {
        Ok(self.steps()?.into_iter().filter(|step| self.of_step(*step).has(MODEL)).collect())
    }

    /// Keeps the model that was validated last, if it is one of those that the settings want, and none that they do not:
    /// the new one comes first, then the others go.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn keep(&self, checkpoint: &Checkpoint, progress: &TrainState, used: &Parameters) -> Result<()> {
        let settings = &checkpoint.config.training;
        let Some(keep) = settings.keep else { return Ok(()) };
        let listed = self.steps().with_context(|| self.cannot_list_kept())?;
        let there = |step: &u64| *step <= progress.step && self.of_step(*step).has(MODEL);
        let mut steps: Vec<u64> = listed.iter().copied().filter(there).collect();
        let new = (progress.is_validated() && !steps.contains(&progress.step)).then_some(progress.step);
        steps.extend(new);
        let log = self.log().read()?;
        let validation_score = |step: u64| {
            let mut validations = log.iter().filter(|line| line["event"] == "validation" && line["step"] == step);
            validations.next_back().and_then(|line| settings.metric.logged_merit(line))
        };
        let wanted = keep.chosen(steps.into_iter().map(|step| (step, validation_score(step))).collect());
        if let Some(step) = new.filter(|step| wanted.contains(step)) {
            if listed.contains(&step) {
                self.remove_kept(step)?;
            }
            self.write_kept(checkpoint, step, used)?;
        }
        listed.into_iter().filter(|step| !wanted.contains(step)).try_for_each(|step| self.remove_kept(step))
    }

    fn write_kept(&self, checkpoint: &Checkpoint, step: u64, parameters: &Parameters) -> Result<()> {
        let bytes = model_bytes(checkpoint, parameters)?;
        let shared = [CONFIG, JOINT, SOURCE, TARGET, ALIGNER, LEXICON].into_iter().filter(|name| self.has(name));
        let place = self.of_step(step).path().to_owned();
        let written = std::fs::create_dir_all(self.path_of_kept()).and_then(|()| {
            make_whole(&place, |unfinished| {
                self.link(shared.map(str::to_owned).collect(), unfinished)?;
                let mut file = File::create(unfinished.join(MODEL))?;
                file.write_all(&bytes)?;
                file.sync_all()
            })
        });
        written.with_context(|| format!("{}: cannot keep the model in this folder", place.display()))
    }

    /// Removes a model that was kept: first its parameters, without which nobody takes the rest for one.
    pub(super) fn remove_kept(&self, step: u64) -> Result<()> {
        let model_dir = self.of_step(step);
        model_dir.remove_files(&[MODEL], &[])?;
        match std::fs::remove_dir(model_dir.path()) {
            // What somebody else has put there is not ours to remove.
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed.with_context(|| format!("{}: cannot remove this folder", model_dir.path().display())),
        }
    }

    /// The steps that have a folder, in order; one whose removal was cut short holds no model.
    pub(super) fn steps(&self) -> IoResult<Vec<u64>> {
        ensure_no_symlink(&self.path_of_kept())?;
        let entries = match std::fs::read_dir(self.path_of_kept()) {
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

    /// What is said of the folder of all models that are kept.
    pub(super) fn cannot_list_kept(&self) -> String {
        format!("{}: cannot read this folder", self.path_of_kept().display())
    }

    /// The folder of the model that was validated after a step; it need not exist.
    pub(super) fn of_step(&self, step: u64) -> Self {
        Self::new(&self.path_of_kept().join(name_of(step)))
    }

    /// The parameters of the models that are kept, by their paths in this folder.
    pub(super) fn kept_files(&self) -> Vec<String> {
        let kept = self.kept().unwrap_or_default();
        kept.into_iter().map(|step| format!("{KEPT}/{}/{MODEL}", name_of(step))).collect()
    }
}

/// As many digits as keep the order of steps in that of names.
fn name_of(step: u64) -> String {
    format!("{STEP}{step:06}")
}

/// The step of a folder's name, if it has one.
pub(super) fn step_of(name: &str) -> Option<u64> {
    let step = name.strip_prefix(STEP)?.parse().ok()?;
    (name == name_of(step)).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_our_own_are_steps() {
        for step in [0, 7, 999_999, 1_000_000, u64::MAX] {
            assert_eq!(step_of(&name_of(step)), Some(step));
        }
        for name in ["step-7", "step-+00007", "step-0000007", "step-000007-mine", "step-", "step", "000007"] {
            assert_eq!(step_of(name), None, "{name}");
        }
    }
}
