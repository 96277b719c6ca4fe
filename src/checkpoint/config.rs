//! Contents of config.json.

use std::fmt;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::metrics::LogisticRegression;
use crate::model::Architecture;
use crate::text::{Languages, OnError, Pair, TableFormat, TextSettings};
use crate::training::TrainingSettings;

/// Format version of model directories. softalign reads its own version and older ones.
pub const FORMAT_VERSION: u32 = 1;

/// Configuration of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Format version of the directory.
    pub format_version: u32,
    /// Version of softalign that trained the model.
    pub program_version: String,
    /// Architecture and sizes of the network.
    pub architecture: Architecture,
    /// Preprocessing and segmentation.
    pub text: TextSettings,
    /// Training settings.
    pub training: TrainingSettings,
    /// Training data.
    pub data: DataSummary,
    /// Command that started the training, if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<Invocation>,
    /// Models whose parameters were averaged; empty unless this is an average.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub averaged: Vec<String>,
    /// Base model of a warm start; `None` for random initialization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<BaseModel>,
    /// Calibration of confidence, written at the end of training; `None` with too few validation pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<ConfidenceCalibration>,
}

/// Calibration of confidence on translations of the validation pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceCalibration {
    /// Probability that a translation is right.
    pub sentence: LogisticRegression,
    /// Probability that a word is right.
    pub word: LogisticRegression,
    /// Limits beyond which a translation is doubtful; `None` in models of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<DoubtLimits>,
}

/// Limits that few translations of the validation pairs are beyond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoubtLimits {
    /// Confidence of a translation, which 95 % of them reach.
    pub confidence: f64,
    /// Mean attention on a source word, summed over the target words and at most 1, which 99 % of them reach.
    pub coverage: f64,
    /// Share of target words that are in neither the training data nor the source, which 99 % of them do not exceed.
    pub nonwords: f64,
}

/// Base model of a warm start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseModel {
    /// Directory of the base model, as given on the command line.
    pub model: String,
    /// Overlap of the vocabularies with those of the base model, source and target.
    #[serde(alias = "units")]
    pub tokens: [VocabOverlap; 2],
}

/// Overlap of a vocabulary with the base model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VocabOverlap {
    /// Tokens in both, whose parameters were copied.
    pub kept: usize,
    /// Tokens in the new vocabulary only.
    pub added: usize,
    /// Tokens in the base vocabulary only.
    pub dropped: usize,
}

impl VocabOverlap {
    /// Counts the overlap from the size of the base vocabulary and each new token's id in it, if any.
    pub fn new(before: usize, origins: &[Option<u32>]) -> Self {
        let kept = origins.iter().flatten().count();
        Self { kept, added: origins.len() - kept, dropped: before - kept }
    }
}

impl fmt::Display for BaseModel {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let [source, target] = self
            .tokens
            .map(|VocabOverlap { kept, added, dropped }| format!("{kept} kept, {added} added, {dropped} dropped"));
        write!(formatter, "{}; source tokens: {source}; target tokens: {target}", self.model)
    }
}

/// Command that started a training. The same command on the same machine trains the same model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Command-line arguments, with the options from a configuration file merged in.
    pub command_line: Vec<String>,
    /// Explicitly given options by name, which reproduce the model.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
    /// Number of threads used.
    pub threads: usize,
}

/// Training and validation data of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataSummary {
    /// Training files, as given on the command line: TSV files, or source and target.
    pub training_files: Vec<String>,
    /// Languages of the pairs, if they were given or the names of files and columns tell them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub languages: Option<Languages>,
    /// Weights and tags of several training corpora; empty for a single untagged one.
    #[serde(default, alias = "mixture", skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<CorpusSource>,
    /// Format of the training and validation files.
    #[serde(default, skip_serializing_if = "TableFormat::is_plain")]
    pub layout: TableFormat,
    /// Treatment of lines of these files that cannot be read.
    #[serde(default, skip_serializing_if = "OnError::is_fail")]
    pub on_error: OnError,
    /// Validation files, as given on the command line; empty if training pairs were held out.
    pub validation_files: Vec<String>,
    /// True if several validation files hold pairs each. Otherwise, two files are source and target.
    #[serde(rename = "validation_apart", default, skip_serializing_if = "std::ops::Not::not")]
    pub several_validation_sets: bool,
    /// Files of back-translated target sentences, as given on the command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub monolingual_target: Vec<String>,
    /// Synthetic corpora in the model directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synthetic: Vec<SyntheticCorpus>,
    /// Number of training pairs used, with synthetic ones.
    pub training_pairs: usize,
    /// Number of validation pairs used.
    pub validation_pairs: usize,
    /// Number of target characters for each source character of the training pairs, if it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_ratio: Option<f64>,
    /// True if validation uses training pairs because too few could be held out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub validated_on_training: bool,
    /// SHA-256 of all pairs used, in order: training, then validation.
    pub fingerprint: String,
    /// User's word alignments that guide attention instead of the statistical aligner's, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guide: Option<GuideSummary>,
}

impl DataSummary {
    /// Checks values read from a file.
    ///
    /// # Errors
    /// A description of the value that is out of range.
    pub fn check(&self) -> Result<(), String> {
        if let Some(ratio) = self.length_ratio.filter(|ratio| !(ratio.is_finite() && *ratio > 0.0)) {
            return Err(format!("its length_ratio {ratio:e} is out of range"));
        }
        let synthetic = self.synthetic.iter().map(|corpus| &corpus.source);
        match self.sources.iter().chain(synthetic).find(|source| !CorpusSource::is_weight(source.weight)) {
            Some(CorpusSource { weight, .. }) => {
                Err(format!("its weight {weight:e} of training pairs is out of range"))
            }
            None => Ok(()),
        }
    }
}

/// Weight and tag of one of several training corpora.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CorpusSource {
    /// Number of times its pairs occur in an epoch.
    pub weight: f64,
    /// Tag before each of its source sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

impl CorpusSource {
    /// Maximum weight.
    pub const MAX_WEIGHT: f64 = 100.0;

    /// True if a number is a possible weight.
    pub fn is_weight(number: f64) -> bool {
        number > 0.0 && number <= Self::MAX_WEIGHT
    }
}

/// Corpus of pairs of which a model made one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SyntheticCorpus {
    /// Name of its files in the model directory, without their extension.
    pub name: String,
    /// Weight and tag.
    #[serde(flatten)]
    pub source: CorpusSource,
}

/// File of word alignments that guide attention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuideSummary {
    /// The file, as given on the command line.
    pub file: String,
    /// SHA-256 of the links of the pairs used, in order.
    pub fingerprint: String,
}

impl Config {
    /// Describes the guidance of attention for users.
    pub fn describe_guidance(&self) -> String {
        let links = match &self.data.guide {
            Some(guide) => format!("the links of {}", guide.file),
            None => "the statistical aligner's links".to_owned(),
        };
        self.training.describe_guidance(&links)
    }

    /// Parses config.json.
    ///
    /// # Errors
    /// The text is not JSON, has a newer format version, or lacks a field.
    pub fn parse(json: &str) -> Result<Self> {
        let mut value: Value = serde_json::from_str(json).context("not valid JSON")?;
        if let Some(Value::Object(settings)) = value.get_mut("training") {
            TrainingSettings::rename_earlier_keys(settings);
        }
        match value.get("format_version").and_then(Value::as_u64) {
            None => bail!("no format_version, so this is not a softalign model"),
            Some(version) if version > u64::from(FORMAT_VERSION) => bail!(
                "format version {version}, but this softalign reads only up to {FORMAT_VERSION}; use the version that \
                 trained the model, or a newer one"
            ),
            Some(_) => Ok(serde_json::from_value(value)?),
        }
    }
}

/// SHA-256 of pairs, in order, in hexadecimal.
pub fn fingerprint<'a>(pairs: impl Iterator<Item = &'a Pair>) -> String {
    let mut hash = Sha256::new();
    for pair in pairs {
        for part in [&pair.source, "\t", &pair.target, "\n"] {
            hash.update(part);
        }
    }
    hexadecimal(hash)
}

/// SHA-256 of text, in hexadecimal.
pub fn fingerprint_of_text(text: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(text);
    hexadecimal(hash)
}

pub(super) fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_settings_of_an_earlier_version() {
        let shipped = include_str!("../../checkpoints/config.json");
        let settings = Config::parse(shipped).unwrap().training;
        assert_eq!((settings.guided_alignment, settings.ema_decay), (Some(0.1), Some(0.999)));
        assert_eq!(settings.retention(), None);
    }
}
