//! Writing of a model's files.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};

use super::identity::{Checkpoint, fingerprint_metadata};
use super::model_dir::{ALIGNER, CONFIG, JOINT, LEXICON, MODEL, ModelDir, SOURCE, TARGET};
use super::{aligner, lexicon};
use crate::aligner::WordAligner;
use crate::model::TokenLexicon;
use crate::parameters::Parameters;

impl ModelDir {
    /// Writes the files that training does not change: config.json, which marks the directory as ours, then
    /// vocabularies.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_config_and_vocabularies(&self, checkpoint: &Checkpoint) -> Result<()> {
        self.save_config(checkpoint)?;
        if checkpoint.config.text.joint_vocabulary {
            self.write_bytes(JOINT, checkpoint.source.to_json()?.as_bytes())?;
        } else {
            self.write_bytes(SOURCE, checkpoint.source.to_json()?.as_bytes())?;
            self.write_bytes(TARGET, checkpoint.target.to_json()?.as_bytes())?;
        }
        Ok(())
    }

    /// Writes config.json.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_config(&self, checkpoint: &Checkpoint) -> Result<()> {
        self.write_bytes(CONFIG, format!("{}\n", serde_json::to_string_pretty(&checkpoint.config)?).as_bytes())
    }

    /// Writes the best parameters.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_model(&self, checkpoint: &Checkpoint, parameters: &Parameters) -> Result<()> {
        let bytes = model_bytes(checkpoint, parameters)?;
        self.write_bytes(MODEL, &bytes)
    }

    /// Writes the statistical aligner.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_aligner(&self, checkpoint: &Checkpoint, aligner: &WordAligner) -> Result<()> {
        let bytes = aligner::serialize(aligner, HashMap::from([fingerprint_metadata(checkpoint)?]))?;
        self.write_bytes(ALIGNER, &bytes)
    }

    /// Writes a statistical aligner without a model.
    ///
    /// # Errors
    /// The directory holds a model or cannot be written.
    pub fn save_aligner_alone(&self, aligner: &WordAligner) -> Result<()> {
        ensure!(
            !self.has(CONFIG),
            "{}: holds a model, which has its own aligner; choose another directory",
            self.path().display()
        );
        let bytes = aligner::serialize(aligner, HashMap::new())?;
        std::fs::create_dir_all(self.path())
            .with_context(|| format!("{}: cannot write to this directory; choose another", self.path().display()))?;
        self.write_bytes(ALIGNER, &bytes)
    }

    /// Writes the token lexicon.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_lexicon(&self, checkpoint: &Checkpoint, lexicon: &TokenLexicon) -> Result<()> {
        let bytes = lexicon::serialize(lexicon, HashMap::from([fingerprint_metadata(checkpoint)?]))?;
        self.write_bytes(LEXICON, &bytes)
    }
}

/// Bytes of model.safetensors.
pub(super) fn model_bytes(checkpoint: &Checkpoint, parameters: &Parameters) -> Result<Vec<u8>> {
    let tensors = parameters.iter();
    Ok(safetensors::serialize(tensors, Some(HashMap::from([fingerprint_metadata(checkpoint)?])))?)
}
