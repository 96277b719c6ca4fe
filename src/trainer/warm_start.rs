//! Warm start: parameters of another model that training is initialized from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use candle_core::Device;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint::{BaseModel, Checkpoint, Config, DirState, ModelDir, VocabOverlap};
use crate::error::usage;
use crate::model::{Architecture, UnitLexicon};
use crate::parameters::Parameters;
use crate::text::Vocabulary;
use crate::training::TrainConfig;

/// Treatment of the base model's vocabularies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum InitVocabulary {
    /// Unchanged; text that they do not cover is unknown.
    Retention,
    /// Extended by the characters of the new pairs, or by their words where words are the units.
    #[default]
    Extend,
    /// Learned anew from the new pairs; embeddings of units with the same spelling are kept.
    New,
}

impl InitVocabulary {
    /// True if the base model decides the option of this name.
    pub fn decides(self, option: &str) -> bool {
        let is_open = match option {
            "protected-tokens" => self != Self::Retention,
            "vocabulary-size" => self == Self::New,
            _ => false,
        };
        TrainConfig::OF_MODEL.contains(&option) && !is_open
    }

    /// Refuses settings that the base model decides.
    pub(super) fn check(self, config: &TrainConfig) -> Result<()> {
        let given = serde_json::to_value(config)?;
        let is_set = |name: &str| !matches!(given.get(name), None | Some(Value::Null | Value::Bool(false)));
        let decided: Vec<&str> =
            TrainConfig::OF_MODEL.into_iter().filter(|name| is_set(name) && self.decides(name)).collect();
        if decided.is_empty() {
            return Ok(());
        }
        let hint = match decided.contains(&"vocabulary-size") {
            true => "; --vocabulary-size goes with --init-vocabulary new",
            false => "",
        };
        let decided: Vec<String> = decided.iter().map(|name| format!("--{name}")).collect();
        usage(format!("{} cannot go with --init-from: its model decides that{hint}", decided.join(", ")))
    }
}

/// The model that training is initialized from, as a user names it.
#[derive(Clone, Debug)]
pub struct InitFrom {
    /// Its directory.
    pub path: PathBuf,
    /// What becomes of its vocabularies.
    pub vocabulary: InitVocabulary,
}

/// A base model. Its directory is read once, and never written.
pub struct WarmStart {
    path: PathBuf,
    checkpoint: Checkpoint,
    parameters: Parameters,
    lexicon: Option<Arc<UnitLexicon>>,
    /// What becomes of its vocabularies.
    pub vocabulary: InitVocabulary,
}

impl WarmStart {
    /// Reads the base model; `out` is where the new one goes.
    ///
    /// # Errors
    /// Both are the same directory, or what is wrong with the model.
    pub fn load(from: &InitFrom, out: &Path, device: &Device) -> Result<Self> {
        let InitFrom { path, vocabulary } = from.clone();
        let name = path.display();
        if let (Ok(from), Ok(out)) = (path.canonicalize(), out.canonicalize())
            && from == out
        {
            return usage(format!("{name}: --init-from and --out are the same directory; choose another with --out"));
        }
        let model_dir = ModelDir::new(&path);
        if model_dir.dir_state() == DirState::Nothing {
            bail!("{name}: no model here for --init-from (model.safetensors is missing)");
        }
        let (checkpoint, parameters) = model_dir.load_model(device)?;
        let lexicon = model_dir.load_lexicon(&checkpoint)?;
        Ok(Self { path, checkpoint, parameters, lexicon, vocabulary })
    }

    /// The model's settings.
    pub fn config(&self) -> &Config {
        &self.checkpoint.config
    }

    /// The model's vocabularies of source and target; a joint one is there twice.
    pub fn vocabularies(&self) -> [&Arc<Vocabulary>; 2] {
        [&self.checkpoint.source, &self.checkpoint.target]
    }

    /// For each unit of new vocabularies, what it was before, if it was a unit.
    fn origins(&self, [source, target]: [&Vocabulary; 2]) -> [Vec<Option<u32>>; 2] {
        [source.origins(&self.checkpoint.source), target.origins(&self.checkpoint.target)]
    }

    /// What config.json says of it, for a model of these vocabularies.
    pub fn origin(&self, vocabularies: [&Vocabulary; 2]) -> BaseModel {
        let origins = self.origins(vocabularies);
        let units = [0, 1].map(|side| VocabOverlap::new(self.vocabularies()[side].size(), &origins[side]));
        BaseModel { model: self.path.display().to_string(), units }
    }

    /// Its parameters between these vocabularies. The rows of units that it does not have are those of `drawn`.
    ///
    /// # Errors
    /// The device's own.
    pub fn parameters(&self, drawn: &Parameters, vocabularies: [&Vocabulary; 2]) -> Result<Parameters> {
        let origins = self.origins(vocabularies);
        let rows = |name: &str| Architecture::vocabulary_side(name).map(|side| &origins[side][..]);
        Ok(drawn.remap_rows(&self.parameters, rows)?)
    }

    /// The translations of units that it knew beforehand, between these vocabularies, if it has such; and those that the new
    /// pairs show, if they show any.
    pub fn lexicon(&self, learnt: Option<UnitLexicon>, vocabularies: [&Vocabulary; 2]) -> Option<UnitLexicon> {
        let [source, target] = &self.origins(vocabularies);
        let carried = self.lexicon.as_ref()?.remapped([source, target]);
        Some(match learnt {
            Some(learnt) => carried.merged(&learnt),
            None => carried,
        })
    }
}
