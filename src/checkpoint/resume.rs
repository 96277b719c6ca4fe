//! What training goes on from, and what is made right when it does.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result, anyhow, bail, ensure};
use candle_core::{Device, Tensor};
use serde_json::Value;

use super::model_dir::{CONFIG, Checkpoint, ModelDir, RESUME, RESUME_JSON, belongs_to};
use crate::parameters::Parameters;
use crate::training::{Snapshot, TrainState};

/// Keys of the header's metadata.
const PROGRESS: &str = "progress";
const SETTINGS: &str = "settings";

/// Training settings that a resumed run may change.
const CHANGEABLE: [&str; 3] = ["max_epochs", "max_minutes", "patience"];

/// What training goes on from.
pub struct Resume {
    /// Where it stood.
    pub progress: TrainState,
    /// The parameters as they were, by name.
    pub parameters: BTreeMap<String, Tensor>,
    /// The optimiser's moments, and the parameters' running average.
    pub moments: BTreeMap<String, Tensor>,
}

impl ModelDir {
    /// Writes what training goes on from.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn save_resume(&self, checkpoint: &Checkpoint, snapshot: &Snapshot) -> Result<()> {
        let progress = serde_json::to_string(snapshot.progress)?;
        let settings = settled(checkpoint)?.to_string();
        let metadata =
            HashMap::from([belongs_to(checkpoint), (PROGRESS.to_owned(), progress), (SETTINGS.to_owned(), settings)]);
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
    /// The file is missing, damaged, or belongs to another config.json, or settings in config.json were edited since.
    pub fn load_resume(&self, checkpoint: &Checkpoint, device: &Device) -> Result<Resume> {
        let (tensors, metadata) = self.read_tensors(RESUME, device)?;
        self.check_belonging(RESUME, checkpoint, &metadata)?;
        self.ensure_unedited(checkpoint, metadata.get(SETTINGS))?;
        let progress = metadata.get(PROGRESS).and_then(|json| serde_json::from_str::<TrainState>(json).ok());
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

    /// Compares config.json with the settings that the training state was saved under. States of version 0.1.0 before
    /// this check have none.
    fn ensure_unedited(&self, checkpoint: &Checkpoint, saved: Option<&String>) -> Result<()> {
        let Some(Ok(Value::Object(saved))) = saved.map(|json| serde_json::from_str(json)) else { return Ok(()) };
        let now = settled(checkpoint)?;
        let edited: Vec<String> = saved
            .iter()
            .filter(|(name, was)| now.get(name).is_some_and(|is| is != *was))
            .map(|(name, was)| format!("{name} is {}, not {was}", now[name]))
            .collect();
        ensure!(
            edited.is_empty(),
            "{}: edited since training began: {}; undo that to resume, or train another model with --out",
            self.path().join(CONFIG).display(),
            edited.join(", ")
        );
        Ok(())
    }

    /// Puts the directory where training stood, with the settings that it goes on with: what came later goes, and what the
    /// run before may not have got to write is written. `used` are the parameters that are validated, as they stood then.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn reconcile(&self, checkpoint: &Checkpoint, progress: &TrainState, used: &Parameters) -> Result<()> {
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

/// The settings of text and training that stay the same from a run to the one that resumes it, by their names.
fn settled(checkpoint: &Checkpoint) -> Result<Value> {
    let config = &checkpoint.config;
    let mut settings = serde_json::to_value(&config.training)?;
    if let (Value::Object(all), Value::Object(text)) = (&mut settings, serde_json::to_value(&config.text)?) {
        all.extend(text);
        all.retain(|name, _| !CHANGEABLE.contains(&name.as_str()));
    }
    Ok(settings)
}
