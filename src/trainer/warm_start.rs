//! Warm start: initialization of training from another model.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use candle_core::Device;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint::{BaseModel, Checkpoint, Config, DirState, ModelDir, TrainedPairs, VocabOverlap};
use crate::error::{not_found, usage};
use crate::model::{Architecture, TokenLexicon};
use crate::parameters::Parameters;
use crate::text::Vocabulary;
use crate::training::ModelConfig;

/// Treatment of the base model's vocabularies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum InitVocabulary {
    /// Unchanged; text that they do not cover is unknown.
    Keep,
    /// Extended by the characters of the new pairs, or by their words where words are the tokens.
    #[default]
    Extend,
    /// Learned anew from the new pairs; embeddings of tokens with the same spelling are kept.
    New,
}

impl InitVocabulary {
    /// True if the base model determines the option of this name.
    pub fn decides(self, option: &str) -> bool {
        let is_free = match option {
            "protected-tokens" => self != Self::Keep,
            "vocabulary-size" => self == Self::New,
            _ => false,
        };
        ModelConfig::option_names().contains(&option) && !is_free
    }

    /// Rejects options that the base model determines.
    ///
    /// # Errors
    /// A [`UsageError`](crate::error::UsageError) names them.
    pub(super) fn check(self, config: &ModelConfig) -> Result<()> {
        let given = serde_json::to_value(config)?;
        let mut decided: Vec<&str> = ModelConfig::option_names().to_vec();
        decided.retain(|name| self.decides(name));
        decided.retain(|name| !matches!(given.get(name), None | Some(Value::Null | Value::Bool(false))));
        if decided.is_empty() {
            return Ok(());
        }
        let hint = match decided.contains(&"vocabulary-size") {
            true => "; --vocabulary-size goes with --init-vocabulary new",
            false => "",
        };
        let decided: Vec<String> = decided.iter().map(|name| format!("--{name}")).collect();
        usage(format!("{} cannot go with --init-from: its model determines that{hint}", decided.join(", ")))
    }
}

/// Reference to a base model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InitFrom {
    /// Directory of the base model.
    pub path: PathBuf,
    /// Treatment of the base model's vocabularies.
    pub vocabulary: InitVocabulary,
}

/// A loaded base model. Its directory is read once, and never written.
pub struct WarmStart {
    path: PathBuf,
    checkpoint: Checkpoint,
    parameters: Parameters,
    lexicon: Option<Arc<TokenLexicon>>,
    /// Treatment of its vocabularies.
    pub vocabulary: InitVocabulary,
}

impl WarmStart {
    /// Loads the base model of a training in the directory `out`.
    ///
    /// # Errors
    /// Both directories are the same, or the model cannot be loaded.
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
            return not_found(format!("{}; --init-from needs one", model_dir.no_model_here()));
        }
        let (checkpoint, parameters) = model_dir.load_model(device)?;
        let lexicon = model_dir.load_lexicon(&checkpoint)?;
        Ok(Self { path, checkpoint, parameters, lexicon, vocabulary })
    }

    /// Returns the set of the base model's training pairs, if it is recorded.
    ///
    /// # Errors
    /// The file is damaged or belongs to another config.json.
    pub fn trained_pairs(&self) -> Result<Option<TrainedPairs>> {
        ModelDir::new(&self.path).load_trained_pairs(&self.checkpoint)
    }

    /// Returns the configuration of the base model.
    pub fn config(&self) -> &Config {
        &self.checkpoint.config
    }

    /// Returns the vocabularies of source and target, equal if joint.
    pub fn vocabularies(&self) -> [&Arc<Vocabulary>; 2] {
        [&self.checkpoint.source, &self.checkpoint.target]
    }

    /// Returns the id in the base model of each token of new vocabularies, if it has one.
    fn origins(&self, [source, target]: [&Vocabulary; 2]) -> [Vec<Option<u32>>; 2] {
        [source.origins(&self.checkpoint.source), target.origins(&self.checkpoint.target)]
    }

    /// Returns the summary for the config.json of a model with these vocabularies.
    pub fn summary(&self, vocabularies: [&Vocabulary; 2]) -> BaseModel {
        let origins = self.origins(vocabularies);
        let tokens = [0, 1].map(|side| VocabOverlap::new(self.vocabularies()[side].size(), &origins[side]));
        BaseModel { model: self.path.display().to_string(), tokens }
    }

    /// Returns its parameters for these vocabularies. Rows of tokens new to the model are those of `random`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn parameters(&self, random: &Parameters, vocabularies: [&Vocabulary; 2]) -> Result<Parameters> {
        let origins = self.origins(vocabularies);
        let remapped = random
            .remap_rows(&self.parameters, |name| Architecture::vocabulary_side(name).map(|side| &origins[side][..]));
        Ok(remapped?)
    }

    /// Returns its lexicon for these vocabularies, merged with one learned from the new pairs. None if it has no lexicon.
    pub fn lexicon(&self, learned: Option<TokenLexicon>, vocabularies: [&Vocabulary; 2]) -> Option<TokenLexicon> {
        let [source, target] = &self.origins(vocabularies);
        let remapped = self.lexicon.as_ref()?.remapped([source, target]);
        Some(match learned {
            Some(learned) => remapped.merged(&learned),
            None => remapped,
        })
    }
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use clap::{Args, Command};

    use super::*;

    #[test]
    fn model_determines_its_options_on_the_command_line() {
        let command = ModelConfig::augment_args(Command::new(""));
        let names: Vec<&str> = command.get_arguments().filter_map(|option| option.get_long()).collect();
        assert_eq!(names, ModelConfig::option_names());
        for (vocabulary, free) in [(InitVocabulary::Keep, 0), (InitVocabulary::Extend, 1), (InitVocabulary::New, 2)] {
            assert_eq!(names.iter().filter(|name| !vocabulary.decides(name)).count(), free, "{vocabulary:?}");
        }
    }
}
