//! What identifies a model: its configuration and vocabularies, and the fingerprint that ties its other files to them.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Result;
use sha2::{Digest, Sha256};

use super::config::{Config, hexadecimal};
use crate::text::Vocabulary;

/// Metadata key of [`Checkpoint::fingerprint`] in safetensors files.
pub(super) const BELONGS_TO: &str = "belongs_to";

/// Configuration and vocabularies of a model, without its parameters.
pub struct Checkpoint {
    /// Contents of config.json.
    pub config: Config,
    /// Source vocabulary; the same as `target` if the vocabulary is joint.
    pub source: Arc<Vocabulary>,
    /// Target vocabulary.
    pub target: Arc<Vocabulary>,
    /// SHA-256 of architecture and vocabularies as they are stored, which ties the other files to this model.
    stored_fingerprint: Option<String>,
}

impl Checkpoint {
    /// Assembles a checkpoint.
    ///
    /// # Errors
    /// The architecture cannot be serialized.
    pub fn new(config: Config, source: Arc<Vocabulary>, target: Arc<Vocabulary>) -> Result<Self> {
        let mut checkpoint = Self { config, source, target, stored_fingerprint: None };
        if let (Some(source), Some(target)) = (checkpoint.source.stored_json(), checkpoint.target.stored_json()) {
            checkpoint.stored_fingerprint = Some(checkpoint.fingerprint_with([source, target])?);
        }
        Ok(checkpoint)
    }

    fn fingerprint_with(&self, vocabularies: [&str; 2]) -> Result<String> {
        let mut hash = Sha256::new();
        let text = &self.config.text;
        hash.update(serde_json::to_string(&self.config.architecture)?);
        hash.update(serde_json::to_string(&(
            text.source_tokenization,
            text.target_tokenization,
            text.joint_vocabulary,
        ))?);
        vocabularies.iter().for_each(|json| hash.update(json));
        Ok(hexadecimal(hash))
    }

    fn fingerprint(&self) -> Result<String> {
        let (source, target) = rayon::join(|| self.source.to_json(), || self.target.to_json());
        self.fingerprint_with([&source?, &target?])
    }

    /// True if a file with this metadata belongs to the model. Vocabularies that another program rewrote are compared as
    /// [`Vocabulary::to_json`] writes them.
    pub(super) fn owns(&self, metadata: &HashMap<String, String>) -> Result<bool> {
        let Some(belongs_to) = metadata.get(BELONGS_TO) else { return Ok(false) };
        Ok(Some(belongs_to) == self.stored_fingerprint.as_ref() || *belongs_to == self.fingerprint()?)
    }

    /// True if both vocabularies equal the other model's.
    ///
    /// # Errors
    /// A vocabulary cannot be serialized.
    pub fn same_vocabulary(&self, other: &Self) -> Result<bool> {
        Ok(self.source.to_json()? == other.source.to_json()? && self.target.to_json()? == other.target.to_json()?)
    }

    /// True if the vocabularies are those of a reverse model, with source and target exchanged.
    ///
    /// # Errors
    /// A vocabulary cannot be serialized.
    pub fn has_swapped_vocabulary(&self, other: &Self) -> Result<bool> {
        Ok(self.source.to_json()? == other.target.to_json()? && self.target.to_json()? == other.source.to_json()?)
    }
}

/// Metadata of a file that belongs to the model.
pub(super) fn fingerprint_metadata(checkpoint: &Checkpoint) -> Result<(String, String)> {
    Ok((BELONGS_TO.to_owned(), checkpoint.fingerprint()?))
}
