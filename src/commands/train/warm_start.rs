//! `train --from`: another model's parameters to begin with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use candle_core::Device;

use super::super::usage::UsageError;
use crate::checkpoint::{Checkpoint, Config, Folder, Holds, Origin, UnitsCarried};
use crate::cli::{FromVocabulary, Given, SETTLED_BY_FROM, TrainArgs, is_open_with_from};
use crate::model::{Architecture, UnitLexicon};
use crate::parameters::Parameters;
use crate::text::Vocabulary;

/// A model that training begins from. Its folder is read once, and never written.
pub struct WarmStart {
    path: PathBuf,
    checkpoint: Checkpoint,
    parameters: Parameters,
    lexicon: Option<Arc<UnitLexicon>>,
    /// What becomes of its units.
    pub vocabulary: FromVocabulary,
}

impl WarmStart {
    /// Reads the model that the options name, if they do. `out` is where the new one goes.
    ///
    /// # Errors
    /// A [`UsageError`] if options contradict it, or what is wrong with the folder.
    pub fn load(given: &Given<TrainArgs>, out: &Path, device: &Device) -> Result<Option<Self>> {
        let vocabulary = given.args.from_vocabulary;
        let Some(path) = given.args.from.clone() else {
            ensure!(vocabulary.is_none(), UsageError("--from-vocabulary needs --from".to_owned()));
            return Ok(None);
        };
        let vocabulary = vocabulary.unwrap_or_default();
        refuse_what_is_the_models(given, vocabulary)?;
        let name = path.display();
        if let (Ok(from), Ok(out)) = (path.canonicalize(), out.canonicalize()) {
            ensure!(
                from != out,
                UsageError(format!("{name}: --from and --out are the same folder; choose another with --out"))
            );
        }
        let folder = Folder::new(&path);
        if folder.holds() == Holds::Nothing {
            bail!("{name}: no model here for --from to begin with (model.safetensors is missing)");
        }
        let (checkpoint, parameters) = folder.load_model(device)?;
        let lexicon = folder.load_lexicon(&checkpoint)?;
        Ok(Some(Self { path, checkpoint, parameters, lexicon, vocabulary }))
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
    pub fn origin(&self, vocabularies: [&Vocabulary; 2]) -> Origin {
        let origins = self.origins(vocabularies);
        let units = [0, 1].map(|side| UnitsCarried::new(self.vocabularies()[side].size(), &origins[side]));
        Origin { model: self.path.display().to_string(), units }
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

/// Refuses options that say what the model decides.
fn refuse_what_is_the_models(given: &Given<TrainArgs>, vocabulary: FromVocabulary) -> Result<()> {
    let mut settled = given.under(&SETTLED_BY_FROM);
    settled.retain(|name| !is_open_with_from(name, vocabulary));
    if settled.is_empty() {
        return Ok(());
    }
    let hint = match settled.contains(&"vocabulary-size") {
        true => "; --vocabulary-size goes with --from-vocabulary new",
        false => "",
    };
    let settled: Vec<String> = settled.iter().map(|name| format!("--{name}")).collect();
    bail!(UsageError(format!("{} cannot go with --from: its model decides that{hint}", settled.join(", "))))
}
