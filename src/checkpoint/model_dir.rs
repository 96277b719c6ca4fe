//! The directory itself: what a model is made of, how it is written, and what is checked on the way back.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use candle_core::{Device, Tensor};
use safetensors::Dtype;
use sha2::{Digest, Sha256};

use super::atomic_file::{cannot_read, write_atomically};
use super::config::hexadecimal;
use super::jsonl::JsonlLog;
use super::lock::{Lock, holder, takes_no_files};
use super::safetensors_io::Header;
use super::tfevents::{EventFile, event_files};
use super::{Config, aligner, lexicon};
use crate::aligner::WordAligner;
use crate::model::UnitLexicon;
use crate::parameters::Parameters;
use crate::text::{ProtectedTokens, TableFormat, Units, Vocabulary};

pub(super) const CONFIG: &str = "config.json";
pub(super) const JOINT: &str = "tokenizer.json";
pub(super) const SOURCE: &str = "source.tokenizer.json";
pub(super) const TARGET: &str = "target.tokenizer.json";
pub(super) const MODEL: &str = "model.safetensors";
pub(super) const ALIGNER: &str = "aligner.safetensors";
pub(super) const LEXICON: &str = "lexicon.safetensors";
pub(super) const RESUME: &str = "resume.safetensors";
pub(super) const RESUME_JSON: &str = "resume.json";
const LOG: &str = "log.jsonl";
const CURVES: &str = "training.svg";
const ATTENTION: &str = "attention.jsonl";
const LEARNING: &str = "attention.html";

/// All of them but event files, which have numbers.
pub(super) const FILES: [&str; 13] =
    [CONFIG, JOINT, SOURCE, TARGET, MODEL, ALIGNER, LEXICON, RESUME, RESUME_JSON, LOG, CURVES, ATTENTION, LEARNING];

/// A key of the header's metadata.
const BELONGS_TO: &str = "belongs_to";

/// A directory that holds a checkpoint, or will.
#[derive(Clone, Debug)]
pub struct ModelDir {
    path: PathBuf,
}

/// A model read from disk, without its parameters.
pub struct Checkpoint {
    /// Its settings.
    pub config: Config,
    /// What cuts source text; one with `target` if the vocabulary is joint.
    pub source: Arc<Vocabulary>,
    /// What cuts and joins target text.
    pub target: Arc<Vocabulary>,
    belongs_to: String,
}

impl Checkpoint {
    /// Puts a new model's parts together.
    ///
    /// # Errors
    /// The vocabularies' own.
    pub fn new(config: Config, source: Arc<Vocabulary>, target: Arc<Vocabulary>) -> Result<Self> {
        let mut hash = Sha256::new();
        let text = &config.text;
        hash.update(serde_json::to_string(&config.architecture)?);
        hash.update(serde_json::to_string(&(text.source_units, text.target_units, text.joint_vocabulary))?);
        hash.update(source.to_json()?);
        hash.update(target.to_json()?);
        Ok(Self { config, source, target, belongs_to: hexadecimal(hash) })
    }

    /// Whether another model cuts text into the same units, numbered alike.
    ///
    /// # Errors
    /// The vocabularies' own.
    pub fn same_vocabulary(&self, other: &Self) -> Result<bool> {
        Ok(self.source.to_json()? == other.source.to_json()? && self.target.to_json()? == other.target.to_json()?)
    }

    /// Whether another model cuts into these units what it translates back, numbered alike.
    ///
    /// # Errors
    /// The vocabularies' own.
    pub fn has_units_turned(&self, other: &Self) -> Result<bool> {
        Ok(self.source.to_json()? == other.target.to_json()? && self.target.to_json()? == other.source.to_json()?)
    }
}

impl ModelDir {
    /// A directory by its path; it need not exist yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the directory if need be.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn make(&self) -> Result<()> {
        std::fs::create_dir_all(&self.path).with_context(|| takes_no_files(&self.path))
    }

    /// Takes the directory, which is there, for one training alone.
    ///
    /// # Errors
    /// Another one has it, or it takes no files.
    pub fn lock(&self) -> Result<Lock> {
        Lock::take(&self.path)
    }

    /// The names of the checkpoint's files that are there.
    pub(super) fn files(&self) -> Vec<String> {
        let named = FILES.into_iter().filter(|name| self.has(name)).map(str::to_owned);
        named.chain(event_files(&self.path)).collect()
    }

    /// Gives files a second name in another directory, or copies them where the file system has no second names.
    pub(super) fn link(&self, names: Vec<String>, other: &Path) -> std::io::Result<()> {
        for name in names {
            // A relative symbolic link would lead nowhere from the other directory.
            let (from, to) = (std::fs::canonicalize(self.path.join(&name))?, other.join(&name));
            if std::fs::hard_link(&from, &to).is_err() {
                std::fs::copy(&from, &to)?;
                File::open(&to)?.sync_all()?;
            }
        }
        Ok(())
    }

    /// Removes those of the checkpoint's files that are there, `first` before the others and `last` after them.
    pub(super) fn remove_files(&self, first: &[&str], last: &[&str]) -> Result<()> {
        let others = self.files().into_iter().filter(|name| !last.contains(&name.as_str()));
        let [first, last] = [first, last].map(|names| names.iter().map(|name| (*name).to_owned()));
        for name in first.chain(others).chain(last).filter(|name| self.has(name)) {
            let place = self.path.join(&name);
            std::fs::remove_file(&place).with_context(|| format!("{}: cannot remove this file", place.display()))?;
        }
        Ok(())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        std::fs::symlink_metadata(self.path.join(name)).is_ok()
    }

    /// Writes what stays the same while training goes on: settings first, by which the others are known for a run's.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn begin(&self, checkpoint: &Checkpoint) -> Result<()> {
        self.save_config(checkpoint)?;
        if checkpoint.config.text.joint_vocabulary {
            self.write_bytes(JOINT, checkpoint.source.to_json()?.as_bytes())?;
        } else {
            self.write_bytes(SOURCE, checkpoint.source.to_json()?.as_bytes())?;
            self.write_bytes(TARGET, checkpoint.target.to_json()?.as_bytes())?;
        }
        Ok(())
    }

    /// Writes the settings.
    pub(super) fn save_config(&self, checkpoint: &Checkpoint) -> Result<()> {
        self.write_bytes(CONFIG, format!("{}\n", serde_json::to_string_pretty(&checkpoint.config)?).as_bytes())
    }

    /// Writes the best parameters.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn save_model(&self, checkpoint: &Checkpoint, parameters: &Parameters) -> Result<()> {
        let bytes = model_bytes(checkpoint, parameters)?;
        self.write_bytes(MODEL, &bytes)
    }

    /// Writes the statistical aligner.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn save_aligner(&self, checkpoint: &Checkpoint, aligner: &WordAligner) -> Result<()> {
        let bytes = aligner::serialise(aligner, HashMap::from([belongs_to(checkpoint)]))?;
        self.write_bytes(ALIGNER, &bytes)
    }

    /// Reads the statistical aligner, if there is one: models of older versions have none, or one that does not say
    /// where it belongs.
    ///
    /// # Errors
    /// The file is damaged, or belongs to another config.json.
    pub fn load_aligner(&self, checkpoint: &Checkpoint) -> Result<Option<WordAligner>> {
        if !self.has(ALIGNER) {
            return Ok(None);
        }
        let (aligner, metadata) = self.read_aligner()?;
        if metadata.contains_key(BELONGS_TO) {
            self.check_belonging(ALIGNER, checkpoint, &metadata)?;
        }
        Ok(Some(aligner))
    }

    /// Writes a statistical aligner that belongs to no model.
    ///
    /// # Errors
    /// There is a model here, or the path, with the system's reason.
    pub fn save_aligner_alone(&self, aligner: &WordAligner) -> Result<()> {
        ensure!(
            !self.has(CONFIG),
            "{}: here is a model, with an aligner of its own; name another folder",
            self.path.display()
        );
        let bytes = aligner::serialise(aligner, HashMap::new())?;
        self.make()?;
        self.write_bytes(ALIGNER, &bytes)
    }

    /// Reads the statistical aligner, whether it belongs to a model or not.
    ///
    /// # Errors
    /// There is none, or the file is damaged.
    pub fn load_aligner_alone(&self) -> Result<WordAligner> {
        ensure!(self.has(ALIGNER), "{}: no statistical aligner here ({ALIGNER} is missing)", self.path.display());
        Ok(self.read_aligner()?.0)
    }

    fn read_aligner(&self) -> Result<(WordAligner, HashMap<String, String>)> {
        let read = aligner::deserialise(&self.read_bytes(ALIGNER)?);
        read.with_context(|| format!("{}: damaged, or no aligner of softalign", self.path.join(ALIGNER).display()))
    }

    /// Writes the translations of units that are known beforehand.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn save_lexicon(&self, checkpoint: &Checkpoint, known: &UnitLexicon) -> Result<()> {
        let bytes = lexicon::serialise(known, HashMap::from([belongs_to(checkpoint)]))?;
        self.write_bytes(LEXICON, &bytes)
    }

    /// Reads the translations of units that are known beforehand, if the model has such.
    ///
    /// # Errors
    /// The file is missing, damaged, or belongs to another config.json.
    pub fn load_lexicon(&self, checkpoint: &Checkpoint) -> Result<Option<Arc<UnitLexicon>>> {
        let sizes = &checkpoint.config.architecture;
        if !sizes.lexicon {
            return Ok(None);
        }
        let bytes = self.read_bytes(LEXICON)?;
        let damaged = || format!("{}: damaged, or no lexicon of softalign", self.path.join(LEXICON).display());
        let header = Header::read(&mut &bytes[..], bytes.len() as u64).with_context(damaged)?;
        // First of all, since between other vocabularies its numbers make no sense.
        self.check_belonging(LEXICON, checkpoint, &header.metadata)?;
        let known = lexicon::deserialise(&bytes, [sizes.source_vocabulary, sizes.target_vocabulary]);
        Ok(Some(Arc::new(known.with_context(damaged)?)))
    }

    /// How the files were laid out that a model was trained on, if there is one that says so.
    pub fn layout(&self) -> Option<TableFormat> {
        Some(Config::parse(&self.read_text(CONFIG).ok()?).ok()?.data.layout)
    }

    /// Reads settings and vocabularies.
    ///
    /// # Errors
    /// The file that is missing, damaged or of a newer format.
    pub fn load(&self) -> Result<Checkpoint> {
        let place = self.path.join(CONFIG);
        if !place.exists() {
            let hint = "train one with softalign train --train PAIRS.tsv --out DIR, or name another with --model DIR";
            bail!("{}: no model here ({CONFIG} is missing); {hint}", self.path.display());
        }
        let config = Config::parse(&self.read_text(CONFIG)?).with_context(|| place.display().to_string())?;
        config.architecture.check().map_err(|reason| anyhow!("{}: {reason}", place.display()))?;
        let vocabulary =
            |name: &str, units: Units, protected_tokens: &ProtectedTokens, size: usize| -> Result<Arc<Vocabulary>> {
                let place = self.path.join(name);
                let normalization = config.text.normalization;
                let vocabulary = Vocabulary::from_json(&self.read_text(name)?, units, normalization, protected_tokens)
                    .with_context(|| {
                        format!("{}: damaged, or no vocabulary for {CONFIG}'s units and normalization", place.display())
                    })?;
                ensure!(
                    vocabulary.size() == size,
                    "{}: holds {} units where {CONFIG} speaks of {size}; the files do not belong together",
                    place.display(),
                    vocabulary.size()
                );
                Ok(Arc::new(vocabulary))
            };
        let (text, sizes) = (&config.text, &config.architecture);
        let (source, target) = if text.joint_vocabulary {
            let joint = vocabulary(JOINT, text.source_units, &text.source_protected_tokens, sizes.source_vocabulary)?;
            (joint.clone(), joint)
        } else {
            (
                vocabulary(SOURCE, text.source_units, &text.source_protected_tokens, sizes.source_vocabulary)?,
                vocabulary(TARGET, text.target_units, &text.target_protected_tokens, sizes.target_vocabulary)?,
            )
        };
        Checkpoint::new(config, source, target)
    }

    /// Reads settings, vocabularies and the best parameters, the last beside the others where there is a second core.
    ///
    /// # Errors
    /// The file that is missing, damaged, of a newer format, or belongs to another config.json.
    pub fn load_model(&self, device: &Device) -> Result<(Checkpoint, Parameters)> {
        if let Some(holder) = (!self.has(MODEL)).then(|| holder(&self.path)).flatten() {
            let previous = self.newest_previous();
            let previous = previous.map(|path| format!("; the previous model is in {}", path.display()));
            bail!(
                "{}: {holder} and has saved no model yet; wait for its first validation{}",
                self.path.display(),
                previous.unwrap_or_default()
            );
        }
        let (checkpoint, tensors) = rayon::join(|| self.load(), || self.read_tensors(MODEL, device));
        let (checkpoint, (tensors, metadata)) = (checkpoint?, tensors?);
        self.check_belonging(MODEL, &checkpoint, &metadata)?;
        let parameters = Parameters::from_tensors(&checkpoint.config.architecture.parameter_spec(), tensors)
            .with_context(|| self.path.join(MODEL).display().to_string())?;
        Ok((checkpoint, parameters))
    }

    pub(super) fn read_tensors(
        &self,
        name: &str,
        device: &Device,
    ) -> Result<(BTreeMap<String, Tensor>, HashMap<String, String>)> {
        let place = self.path.join(name);
        let cannot = || cannot_read(&place);
        let mut file = File::open(&place).with_context(cannot)?;
        let length = file.metadata().with_context(cannot)?.len();
        let damaged = || format!("{}: damaged, or no safetensors file", place.display());
        let header = Header::read(&mut file, length).with_context(damaged)?;
        let mut tensors = BTreeMap::new();
        for (tensor, info) in header.tensors {
            ensure!(info.dtype == Dtype::F32, "{}: {tensor} is not of 32-bit floats", place.display());
            let mut values = vec![0f32; info.shape.iter().product()];
            file.read_exact(bytemuck::cast_slice_mut(&mut values)).with_context(damaged)?;
            tensors.insert(tensor, Tensor::from_vec(values, info.shape, device)?);
        }
        Ok((tensors, header.metadata))
    }

    pub(super) fn check_belonging(
        &self,
        name: &str,
        checkpoint: &Checkpoint,
        metadata: &HashMap<String, String>,
    ) -> Result<()> {
        let belongs = metadata.get(BELONGS_TO) == Some(&checkpoint.belongs_to);
        let place = self.path.join(name);
        ensure!(belongs, "{}: does not belong to the {CONFIG} and vocabulary beside it", place.display());
        Ok(())
    }

    pub(super) fn write_bytes(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write_atomically(&self.path.join(name), |file| Ok(file.write_all(bytes)?))
    }

    pub(super) fn read_bytes(&self, name: &str) -> Result<Vec<u8>> {
        let place = self.path.join(name);
        std::fs::read(&place).with_context(|| cannot_read(&place))
    }

    pub(super) fn read_text(&self, name: &str) -> Result<String> {
        let place = self.path.join(name);
        std::fs::read_to_string(&place).with_context(|| cannot_read(&place))
    }

    /// Reports of training.
    pub fn log(&self) -> JsonlLog {
        JsonlLog::new(self.path.join(LOG))
    }

    /// Attention at each validation, where it is kept.
    pub fn attention(&self) -> JsonlLog {
        JsonlLog::new(self.path.join(ATTENTION))
    }

    /// Begins an event file for a run.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn begin_events(&self) -> Result<EventFile> {
        EventFile::next(&self.path)
    }

    /// Writes training's curves.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn save_curves(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        write_atomically(&self.path.join(CURVES), |file| Ok(write(file)?))
    }

    /// Writes the page of attention being learnt.
    ///
    /// # Errors
    /// The path, with the system's reason.
    pub fn save_learning(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        write_atomically(&self.path.join(LEARNING), |file| Ok(write(file)?))
    }
}

/// The file of parameters.
pub(super) fn model_bytes(checkpoint: &Checkpoint, parameters: &Parameters) -> Result<Vec<u8>> {
    let tensors = parameters.iter();
    Ok(safetensors::serialize(tensors, Some(HashMap::from([belongs_to(checkpoint)])))?)
}

pub(super) fn belongs_to(checkpoint: &Checkpoint) -> (String, String) {
    (BELONGS_TO.to_owned(), checkpoint.belongs_to.clone())
}
