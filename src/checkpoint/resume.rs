//! What training goes on from, and what is made right when it does.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result, anyhow, bail};
use candle_core::{Device, Tensor};

use super::folder::{Checkpoint, Folder, RESUME, RESUME_JSON, belongs_to};
use crate::parameters::Parameters;
use crate::training::{Progress, Snapshot};

/// A key of the header's metadata.
const PROGRESS: &str = "progress";

/// What training goes on from.
pub struct Resume {
    /// Where it stood.
    pub progress: Progress,
    /// The parameters as they were, by name.
    pub parameters: BTreeMap<String, Tensor>,
    /// The optimiser's moments, and the parameters' running average.
    pub moments: BTreeMap<String, Tensor>,
}

impl Folder {
    /// Writes what training goes on from.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn save_resume(&self, checkpoint: &Checkpoint, snapshot: &Snapshot) -> Result<()> {
        let progress = serde_json::to_string(snapshot.progress)?;
        let metadata = HashMap::from([belongs_to(checkpoint), (PROGRESS.to_owned(), progress)]);
        let bytes = safetensors::serialize(snapshot.tensors(), Some(metadata))?;
        self.write_bytes(RESUME, &bytes)?;
        self.write_bytes(RESUME_JSON, format!("{}\n", serde_json::to_string_pretty(snapshot.progress)?).as_bytes())
    }

    /// The path of what training goes on from, for messages.
    pub fn name_of_resume(&self) -> String {
        self.path().join(RESUME).display().to_string()
    }

    /// Reads what training goes on from.
    ///
    /// # Errors
    /// The file is missing, damaged, or belongs to another config.json.
    pub fn load_resume(&self, checkpoint: &Checkpoint, device: &Device) -> Result<Resume> {
        let (tensors, metadata) = self.read_tensors(RESUME, device)?;
        self.check_belonging(RESUME, checkpoint, &metadata)?;
        let progress = metadata.get(PROGRESS).and_then(|json| serde_json::from_str::<Progress>(json).ok());
        let Some(progress) = progress else {
            bail!("{}: does not say where training stood", self.name_of_resume());
        };
        progress.check().map_err(|reason| anyhow!("{}: {reason}", self.name_of_resume()))?;
        let mut resume = Resume { progress, parameters: BTreeMap::new(), moments: BTreeMap::new() };
        for (name, tensor) in tensors {
            match name.strip_prefix("parameter/") {
                Some(name) => resume.parameters.insert(name.to_owned(), tensor),
                None => resume.moments.insert(name, tensor),
            };
        }
        Ok(resume)
    }

    /// Puts the directory where training stood, with the settings that it goes on with: what came later goes, and what the
    /// run before may not have got to write is written. `used` are the parameters that are validated, as they stood then.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn go_on(&self, checkpoint: &Checkpoint, progress: &Progress, used: &Parameters) -> Result<()> {
        self.begin(checkpoint)?;
        if progress.is_best() {
            self.save_model(checkpoint, used)?;
        }
        self.log().rewind(progress.step, progress.last_validation())?;
        self.attention().rewind(progress.step, progress.last_validation())?;
        self.keep(checkpoint, progress, used)?;
        let kept = self.kept().with_context(|| self.cannot_list_kept())?;
        kept.into_iter().try_for_each(|step| self.of_step(step).save_config(checkpoint))
    }
}
