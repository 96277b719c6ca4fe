//! What config.json holds.

use std::fmt;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::model::Architecture;
use crate::text::{Pair, TableFormat, TextSettings};
use crate::training::TrainingSettings;

/// The version of the directory's format. A program reads its own version and older ones.
pub const FORMAT_VERSION: u32 = 1;

/// A model's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The version of the directory's format that this model is written in.
    pub format_version: u32,
    /// The version of softalign that trained the model.
    pub program_version: String,
    /// The model's sizes.
    pub architecture: Architecture,
    /// How text becomes units.
    pub text: TextSettings,
    /// How the model was trained.
    pub training: TrainingSettings,
    /// What it was trained on.
    pub data: DataSummary,
    /// How the training was begun, if that was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<Invocation>,
    /// The models whose parameters' mean this is; none of a model as it was trained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub averaged: Vec<String>,
    /// The model whose parameters the training began with; none where they were drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<BaseModel>,
}

/// The model that a training began from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseModel {
    /// Its folder, as it was named on the command line.
    pub model: String,
    /// What became of its source and target units.
    pub units: [VocabOverlap; 2],
}

/// How a vocabulary came from an earlier model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VocabOverlap {
    /// Units of both, whose parameters were carried over.
    pub kept: usize,
    /// Units of the later one alone.
    pub added: usize,
    /// Units of the earlier one alone.
    pub dropped: usize,
}

impl VocabOverlap {
    /// From the earlier vocabulary's size, and for each unit of the later one the id that it had, if it was there.
    pub fn new(before: usize, origins: &[Option<u32>]) -> Self {
        let kept = origins.iter().flatten().count();
        Self { kept, added: origins.len() - kept, dropped: before - kept }
    }
}

impl fmt::Display for BaseModel {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let [source, target] = self
            .units
            .map(|VocabOverlap { kept, added, dropped }| format!("{kept} kept, {added} added, {dropped} dropped"));
        write!(formatter, "{}; source units: {source}; target units: {target}", self.model)
    }
}

/// How a training was begun: with the same on the same machine it comes out the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// What was given to the program; options from a file stand among the others.
    pub command_line: Vec<String>,
    /// The options among it by their names, without those left open: what trains the same model again.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
    /// Cores that were used.
    pub threads: usize,
}

/// What a model was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataSummary {
    /// The training files, as they were named on the command line: TSV files, or source and target.
    pub training_files: Vec<String>,
    /// What each of several training files counts, and the tags before their sentences; none of one file without.
    #[serde(default, alias = "mixture", skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<CorpusSource>,
    /// How these files are laid out, and those for validation.
    #[serde(default, skip_serializing_if = "TableFormat::is_plain")]
    pub layout: TableFormat,
    /// The validation files, as they were named on the command line; none if a part of the training pairs was held out.
    pub validation_files: Vec<String>,
    /// Whether each of several validation files has pairs of its own, where two would be the two sides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub validation_apart: bool,
    /// Training pairs used.
    pub training_pairs: usize,
    /// Validation pairs used.
    pub validation_pairs: usize,
    /// Whether these are training pairs, since none could be spared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub validated_on_training: bool,
    /// SHA-256 of all pairs used, in order, training before validation.
    pub fingerprint: String,
    /// What attention is taught by, if not by the aligner that was learnt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guide: Option<GuideSummary>,
}

/// A training file among several, by its place among them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CorpusSource {
    /// How often its pairs come in an epoch.
    pub weight: f64,
    /// What is put before each of its sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// A file of links that attention is taught by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuideSummary {
    /// The file, as it was named on the command line.
    pub file: String,
    /// SHA-256 of the links of the pairs used, in order.
    pub fingerprint: String,
}

impl Config {
    /// What attention is taught, in words.
    pub fn teaching(&self) -> String {
        let links = match &self.data.guide {
            Some(guide) => format!("the links of {}", guide.file),
            None => "the statistical aligner's links".to_owned(),
        };
        self.training.teaching(&links)
    }

    /// Reads config.json's text.
    ///
    /// # Errors
    /// It is no JSON, of a newer format, or lacks something.
    pub fn parse(json: &str) -> Result<Self> {
        let value: serde_json::Value = serde_json::from_str(json).context("this is no JSON")?;
        match value.get("format_version").and_then(serde_json::Value::as_u64) {
            None => bail!("there is no format_version, so this is no model of softalign"),
            Some(version) if version > u64::from(FORMAT_VERSION) => bail!(
                "this model has format version {version} and this softalign reads up to {FORMAT_VERSION}; \
                 use the softalign that trained it, or a newer one"
            ),
            Some(_) => Ok(serde_json::from_value(value)?),
        }
    }
}

/// SHA-256 of pairs, in order, as hexadecimal digits.
pub fn fingerprint<'a>(pairs: impl Iterator<Item = &'a Pair>) -> String {
    let mut hash = Sha256::new();
    for pair in pairs {
        for part in [&pair.source, "\t", &pair.target, "\n"] {
            hash.update(part);
        }
    }
    hexadecimal(hash)
}

/// SHA-256 of text as hexadecimal digits.
pub fn fingerprint_of_text(text: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(text);
    hexadecimal(hash)
}

/// A digest's bytes as hexadecimal digits.
pub(super) fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
