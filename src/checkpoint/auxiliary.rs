//! Subdirectory of a model directory for auxiliary models and synthetic corpora.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lock::cannot_write_dir;
use super::model_dir::CONFIG;
use super::{DirState, ModelDir};

const AUXILIARY: &str = "auxiliary";
const PLAN: &str = "auxiliary/plan.json";

impl ModelDir {
    /// Path of the subdirectory.
    pub fn auxiliary_path(&self) -> PathBuf {
        self.path().join(AUXILIARY)
    }

    /// True if this is the subdirectory of another model directory.
    pub(super) fn is_auxiliary(&self) -> bool {
        let parent = self.path().parent().map(Self::new);
        parent.is_some_and(|parent| parent.has(PLAN) && parent.auxiliary_path() == self.path())
    }

    /// Returns the advice to train another model, after `joint`; nothing for an auxiliary model, which is trained again once
    /// its directory is removed.
    pub fn other_model_advice(&self, joint: &str) -> String {
        let is_auxiliary = self.path().parent().is_some_and(|parent| Self::new(parent).is_auxiliary());
        if is_auxiliary { String::new() } else { format!("{joint}train another model with --out") }
    }

    /// Describes the state of an auxiliary model that cannot be used, with the remedy.
    pub fn retraining_advice(&self) -> String {
        format!("{}: damaged; remove this directory and --resume trains it again", self.path().display())
    }

    /// Directory of the auxiliary model of this name.
    pub fn auxiliary_model(&self, name: &str) -> Self {
        Self::new(&self.auxiliary_path().join(name))
    }

    /// Paths of the sources and the targets of a synthetic corpus.
    pub fn synthetic_paths(&self, corpus: &str) -> [PathBuf; 2] {
        ["source", "target"].map(|side| self.auxiliary_path().join(format!("{corpus}.{side}")))
    }

    /// True if a training with auxiliary models began here, and that of the model itself has saved nothing yet.
    pub fn is_before_last_training(&self) -> bool {
        self.has(PLAN) && self.dir_state() == DirState::Nothing
    }

    /// Writes the plan of a training with auxiliary models.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_plan(&self, plan: &impl Serialize) -> Result<()> {
        let path = self.auxiliary_path();
        std::fs::create_dir_all(&path).with_context(|| cannot_write_dir(&path))?;
        self.write_bytes(PLAN, format!("{}\n", serde_json::to_string_pretty(plan)?).as_bytes())
    }

    /// Reads the plan.
    ///
    /// # Errors
    /// The file is missing or damaged, or `check` rejects it.
    pub fn load_plan<P: DeserializeOwned>(&self, check: impl FnOnce(&P) -> Result<(), String>) -> Result<P> {
        let path = self.path().join(PLAN);
        let parsed = serde_json::from_str(&self.read_text(PLAN)?);
        let plan = parsed.with_context(|| {
            format!(
                "{}: damaged, or written by a newer softalign; remove this file and train without --resume, which keeps the \
                 auxiliary models",
                path.display()
            )
        })?;
        check(&plan).map_err(|reason| anyhow!("{}: {reason}", path.display()))?;
        Ok(plan)
    }

    /// Removes the plan, and the directories that are empty then. Nothing else depends on the plan before the first
    /// auxiliary training.
    pub fn remove_plan(&self) {
        // What cannot be removed does no harm.
        let _ = std::fs::remove_file(self.path().join(PLAN));
        let _ = std::fs::remove_dir(self.auxiliary_path());
        if !self.has(CONFIG) {
            let _ = std::fs::remove_dir(self.path());
        }
    }
}
