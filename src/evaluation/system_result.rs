//! Scores of the systems that are compared, and their report as JSON.

use std::path::PathBuf;

use serde::Serialize;

use super::confidence::PerMetric;
use super::evaluator::Evaluation;
use super::scores::GoldScores;
use crate::metrics::Significance;
use crate::render::SCHEMA;

/// Results of a system in a comparison.
#[derive(Serialize)]
pub struct SystemResult {
    /// Name in the report.
    pub name: String,
    /// Origin, unless the links are those of an aligner.
    #[serde(flatten)]
    pub origin: Option<SystemOrigin>,
    schema: u32,
    /// Scores.
    #[serde(flatten)]
    pub scores: SystemScores,
    /// Significance of its difference from the first system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub significance: Option<PerMetric<Significance>>,
}

/// Origin of a system's translations or links.
#[derive(Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemOrigin {
    /// A model's directory.
    ModelDir(PathBuf),
    /// A file of translations.
    Hypotheses(PathBuf),
    /// A file of links.
    Links(PathBuf),
}

/// Scores of a system.
#[derive(Serialize)]
#[serde(untagged)]
pub enum SystemScores {
    /// Scores of translations, and of links if there are gold alignments.
    Translations(Box<Evaluation>),
    /// Scores of links alone.
    Links {
        /// Number of sentence pairs.
        pairs: usize,
        /// Scores against the gold alignments.
        #[serde(flatten)]
        gold: GoldScores,
    },
}

/// A single evaluation as JSON.
#[derive(Serialize)]
struct SingleReport<'a> {
    schema: u32,
    #[serde(flatten)]
    scores: &'a SystemScores,
}

/// Several evaluations as JSON.
#[derive(Serialize)]
struct ComparisonReport<'a> {
    models: &'a [SystemResult],
}

impl SystemResult {
    /// Names scores, which are compared with nothing so far.
    pub fn new(name: String, origin: Option<SystemOrigin>, scores: SystemScores) -> Self {
        Self { name, origin, schema: SCHEMA, scores, significance: None }
    }
}

impl SystemScores {
    /// Returns the evaluation of the translations, if there are any.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        match self {
            Self::Translations(evaluation) => Some(evaluation),
            Self::Links { .. } => None,
        }
    }
}

/// Returns the report as one JSON object; several systems are entries of its list `models`.
///
/// # Errors
/// Serialization fails.
pub fn report_json(systems: &[SystemResult]) -> serde_json::Result<String> {
    match systems {
        [only] => serde_json::to_string(&SingleReport { schema: SCHEMA, scores: &only.scores }),
        models => serde_json::to_string(&ComparisonReport { models }),
    }
}
