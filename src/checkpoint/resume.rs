//! Training state, and its restoration by `--resume`.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result, anyhow, bail, ensure};
use candle_core::{Device, Tensor};
use serde_json::Value;

use super::identity::{Checkpoint, fingerprint_metadata};
use super::model_dir::{CONFIG, ModelDir, RESUME, RESUME_JSON};
use crate::parameters::Parameters;
use crate::training::{BestValidations, RunLimits, Snapshot, TrainState, TrainingSettings};

/// Metadata keys of resume.safetensors.
const PROGRESS: &str = "progress";
const SETTINGS: &str = "settings";
const BEST_VALIDATIONS: &str = "best_validations";

/// Training state of a resumable run.
pub struct Resume {
    /// Progress of the run.
    pub progress: TrainState,
    /// Translations of the best validations; none in older states.
    pub best_validations: BestValidations,
    /// Last parameters by name.
    pub parameters: BTreeMap<String, Tensor>,
    /// Moments of the optimizer and the parameters' moving average, by name.
    pub moments: BTreeMap<String, Tensor>,
}

impl ModelDir {
    /// Writes the training state.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_resume(&self, checkpoint: &Checkpoint, snapshot: &Snapshot) -> Result<()> {
        let progress = serde_json::to_string(snapshot.progress)?;
        let settings = fixed_settings(checkpoint)?.to_string();
        let metadata = HashMap::from([
            fingerprint_metadata(checkpoint)?,
            (PROGRESS.to_owned(), progress),
            (SETTINGS.to_owned(), settings),
            (BEST_VALIDATIONS.to_owned(), serde_json::to_string(snapshot.best_validations)?),
        ]);
        let bytes = safetensors::serialize(snapshot.tensors(), Some(metadata))?;
        self.write_bytes(RESUME, &bytes)?;
        self.write_bytes(RESUME_JSON, format!("{}\n", serde_json::to_string_pretty(snapshot.progress)?).as_bytes())
    }

    /// Path of resume.safetensors, for messages.
    pub fn resume_path(&self) -> String {
        self.path().join(RESUME).display().to_string()
    }

    /// Reads the training state.
    ///
    /// # Errors
    /// The file is missing, damaged or belongs to another config.json, or settings in config.json were edited since.
    pub fn load_resume(&self, checkpoint: &Checkpoint, device: &Device) -> Result<Resume> {
        let (tensors, metadata) = self.read_tensors(RESUME, device)?;
        self.check_fingerprint(RESUME, checkpoint, &metadata)?;
        self.ensure_unedited(checkpoint, metadata.get(SETTINGS))?;
        let progress = metadata.get(PROGRESS).and_then(|json| serde_json::from_str::<TrainState>(json).ok());
        let Some(progress) = progress else {
            bail!("{}: no valid training progress in the metadata", self.resume_path());
        };
        progress.check().map_err(|reason| anyhow!("{}: {reason}", self.resume_path()))?;
        let best_validations = metadata.get(BEST_VALIDATIONS).and_then(|json| serde_json::from_str(json).ok());
        let best_validations = best_validations.unwrap_or_default();
        let mut resume = Resume { progress, best_validations, parameters: BTreeMap::new(), moments: BTreeMap::new() };
        for (name, tensor) in tensors {
            match name.strip_prefix("parameter/") {
                Some(name) => resume.parameters.insert(name.to_owned(), tensor),
                None => resume.moments.insert(name, tensor),
            };
        }
        Ok(resume)
    }

    /// Compares config.json with the settings saved with the training state, which older states lack.
    fn ensure_unedited(&self, checkpoint: &Checkpoint, saved: Option<&String>) -> Result<()> {
        let Some(Ok(Value::Object(mut saved))) = saved.map(|json| serde_json::from_str(json)) else { return Ok(()) };
        TrainingSettings::rename_earlier_keys(&mut saved);
        let now = fixed_settings(checkpoint)?;
        let edited: Vec<String> = saved
            .iter()
            .filter(|(name, was)| now.get(name).is_some_and(|is| is != *was))
            .map(|(name, was)| format!("{name} is {}, not {was}", now[name]))
            .collect();
        ensure!(
            edited.is_empty(),
            "{}: edited since training began: {}; undo that to resume{}",
            self.path().join(CONFIG).display(),
            edited.join(", "),
            self.other_model_advice(", or ")
        );
        Ok(())
    }

    /// Restores the directory to the state of `progress`, with the current settings: later log lines are dropped, and
    /// files that the killed run did not get to write are written. `validated` are the parameters that validation used.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn reconcile(&self, checkpoint: &Checkpoint, progress: &TrainState, validated: &Parameters) -> Result<()> {
        self.save_config_and_vocabularies(checkpoint)?;
        if progress.is_best() {
            self.save_model(checkpoint, validated)?;
        }
        self.log().rewind(progress.step, progress.last_validation())?;
        self.attention().rewind(progress.step, progress.last_validation())?;
        self.keep(checkpoint, progress, validated)?;
        let kept = self.kept().with_context(|| self.cannot_list_kept())?;
        kept.into_iter().try_for_each(|step| self.step_dir(step).save_config(checkpoint))
    }
}

/// Settings of text, training and corpora by name, without those that a resumed run may change.
fn fixed_settings(checkpoint: &Checkpoint) -> Result<Value> {
    let config = &checkpoint.config;
    let mut settings = serde_json::to_value(&config.training)?;
    if let (Value::Object(all), Value::Object(text)) = (&mut settings, serde_json::to_value(&config.text)?) {
        all.extend(text);
        all.insert("sources".to_owned(), serde_json::to_value(&config.data.sources)?);
        all.retain(|name, _| !RunLimits::option_names().contains(&name.replace('_', "-").as_str()));
    }
    Ok(settings)
}
