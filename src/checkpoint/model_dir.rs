//! Model directory: names, writing and validation of its files.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use candle_core::{Device, Tensor};
use safetensors::Dtype;
use safetensors::tensor::TensorInfo;
use sha2::{Digest, Sha256};

use super::atomic_file::{cannot_read, write_atomically};
use super::config::hexadecimal;
use super::jsonl::JsonlLog;
use super::lock::{Lock, cannot_write_dir, holder};
use super::safetensors_io::{Header, zeros_in_huge_pages};
use super::tfevents::{EventFile, event_files};
use super::{Config, aligner, lexicon};
use crate::aligner::WordAligner;
use crate::error::not_found;
use crate::model::{Architecture, TokenLexicon};
use crate::parameters::Parameters;
use crate::text::{ProtectedTokens, Tokenization, Vocabulary};

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
const TRAINING_SVG: &str = "training.svg";
const ATTENTION: &str = "attention.jsonl";
const ATTENTION_HTML: &str = "attention.html";

/// All file names, apart from the numbered event files.
pub(super) const FILES: [&str; 13] = [
    CONFIG,
    JOINT,
    SOURCE,
    TARGET,
    MODEL,
    ALIGNER,
    LEXICON,
    RESUME,
    RESUME_JSON,
    LOG,
    TRAINING_SVG,
    ATTENTION,
    ATTENTION_HTML,
];

/// Tensors by name.
pub(super) type Tensors = BTreeMap<String, Tensor>;

/// Metadata key of [`Checkpoint::fingerprint`] in safetensors files.
const BELONGS_TO: &str = "belongs_to";

/// Directory of a checkpoint, which need not exist yet.
#[derive(Clone, Debug)]
pub struct ModelDir {
    path: PathBuf,
}

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
        hash.update(serde_json::to_string(&(text.source_tokenization, text.target_tokenization, text.joint_vocabulary))?);
        vocabularies.iter().for_each(|json| hash.update(json));
        Ok(hexadecimal(hash))
    }

    fn fingerprint(&self) -> Result<String> {
        let (source, target) = rayon::join(|| self.source.to_json(), || self.target.to_json());
        self.fingerprint_with([&source?, &target?])
    }

    /// True if a file with this metadata belongs to the model. Vocabularies that another program rewrote are compared as
    /// [`Vocabulary::to_json`] writes them.
    fn owns(&self, metadata: &HashMap<String, String>) -> Result<bool> {
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

impl ModelDir {
    /// Creates a handle for the directory at `path`.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the directory, unless it exists.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn make(&self) -> Result<()> {
        std::fs::create_dir_all(&self.path).with_context(|| cannot_write_dir(&self.path))
    }

    /// Locks the directory, which must exist, for one training.
    ///
    /// # Errors
    /// Another training holds the lock, or the directory is not writable.
    pub fn lock(&self) -> Result<Lock> {
        Lock::acquire(&self.path)
    }

    /// Paths of all files that a checkpoint can have, apart from the numbered event files.
    pub fn file_paths(&self) -> Vec<PathBuf> {
        FILES.iter().map(|name| self.path.join(name)).collect()
    }

    /// Names of the checkpoint's existing files.
    pub(super) fn files(&self) -> Vec<String> {
        let named = FILES.into_iter().filter(|name| self.has(name)).map(str::to_owned);
        named.chain(event_files(&self.path)).collect()
    }

    /// Hard-links files into another directory, or copies them where the file system has no hard links.
    pub(super) fn link(&self, names: Vec<String>, other: &Path) -> std::io::Result<()> {
        for name in names {
            // A relative symbolic link would be broken in the other directory.
            let (from, to) = (std::fs::canonicalize(self.path.join(&name))?, other.join(&name));
            if std::fs::hard_link(&from, &to).is_err() {
                std::fs::copy(&from, &to)?;
                File::open(&to)?.sync_all()?;
            }
        }
        Ok(())
    }

    /// Removes the checkpoint's files, `first` before the others and `last` after them.
    pub(super) fn remove_files(&self, first: &[&str], last: &[&str]) -> Result<()> {
        let others = self.files().into_iter().filter(|name| !last.contains(&name.as_str()));
        let [first, last] = [first, last].map(|names| names.iter().map(|name| (*name).to_owned()));
        for name in first.chain(others).chain(last).filter(|name| self.has(name)) {
            let path = self.path.join(&name);
            std::fs::remove_file(&path).with_context(|| format!("{}: cannot remove this file", path.display()))?;
        }
        Ok(())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        std::fs::symlink_metadata(self.path.join(name)).is_ok()
    }

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

    /// Reads the statistical aligner, if any. Models of older versions have none, or one without a fingerprint.
    ///
    /// # Errors
    /// The file is damaged or belongs to another config.json.
    pub fn load_aligner(&self, checkpoint: &Checkpoint) -> Result<Option<WordAligner>> {
        if !self.has(ALIGNER) {
            return Ok(None);
        }
        let (aligner, metadata) = self.read_aligner()?;
        if metadata.contains_key(BELONGS_TO) {
            self.check_fingerprint(ALIGNER, checkpoint, &metadata)?;
        }
        Ok(Some(aligner))
    }

    /// File of the statistical aligner.
    pub fn aligner_path(&self) -> PathBuf {
        self.path.join(ALIGNER)
    }

    /// Writes a statistical aligner without a model.
    ///
    /// # Errors
    /// The directory holds a model or cannot be written.
    pub fn save_aligner_alone(&self, aligner: &WordAligner) -> Result<()> {
        ensure!(
            !self.has(CONFIG),
            "{}: holds a model, which has its own aligner; choose another directory",
            self.path.display()
        );
        let bytes = aligner::serialize(aligner, HashMap::new())?;
        std::fs::create_dir_all(&self.path)
            .with_context(|| format!("{}: cannot write to this directory; choose another", self.path.display()))?;
        self.write_bytes(ALIGNER, &bytes)
    }

    /// Reads the statistical aligner, with or without a model.
    ///
    /// # Errors
    /// The file is missing or damaged.
    pub fn load_aligner_alone(&self) -> Result<WordAligner> {
        if !self.has(ALIGNER) {
            return not_found(format!("{}: no statistical aligner here ({ALIGNER} is missing)", self.path.display()));
        }
        Ok(self.read_aligner()?.0)
    }

    fn read_aligner(&self) -> Result<(WordAligner, HashMap<String, String>)> {
        let read = aligner::deserialize(&self.read_bytes(ALIGNER)?);
        read.with_context(|| format!("{}: damaged, or not a softalign aligner", self.aligner_path().display()))
    }

    /// Writes the token lexicon.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_lexicon(&self, checkpoint: &Checkpoint, lexicon: &TokenLexicon) -> Result<()> {
        let bytes = lexicon::serialize(lexicon, HashMap::from([fingerprint_metadata(checkpoint)?]))?;
        self.write_bytes(LEXICON, &bytes)
    }

    /// Reads the token lexicon, if the architecture has one.
    ///
    /// # Errors
    /// The file is missing, damaged or belongs to another config.json.
    pub fn load_lexicon(&self, checkpoint: &Checkpoint) -> Result<Option<Arc<TokenLexicon>>> {
        let sizes = &checkpoint.config.architecture;
        if !sizes.lexicon {
            return Ok(None);
        }
        let bytes = self.read_bytes(LEXICON)?;
        let damaged = || format!("{}: damaged, or not a softalign lexicon", self.path.join(LEXICON).display());
        let header = Header::read(&mut &bytes[..], bytes.len() as u64).with_context(damaged)?;
        // Checked first: its ids are meaningless with other vocabularies.
        self.check_fingerprint(LEXICON, checkpoint, &header.metadata)?;
        let lexicon = lexicon::deserialize(&bytes, [sizes.source_vocabulary, sizes.target_vocabulary]);
        Ok(Some(Arc::new(lexicon.with_context(damaged)?)))
    }

    /// Contents of config.json, if it can be read.
    pub fn config(&self) -> Option<Config> {
        Config::parse(&self.read_text(CONFIG).ok()?).ok()
    }

    /// Reads config.json and vocabularies.
    ///
    /// # Errors
    /// A file is missing, damaged or of a newer format.
    pub fn load(&self) -> Result<Checkpoint> {
        self.load_vocabularies(self.load_config()?)
    }

    fn load_config(&self) -> Result<Config> {
        let path = self.path.join(CONFIG);
        if !path.exists() {
            let hint = "train one with softalign train --train PAIRS.tsv --out DIR, or name another with --model DIR";
            return not_found(format!("{}: no model here ({CONFIG} is missing); {hint}", self.path.display()));
        }
        let config = Config::parse(&self.read_text(CONFIG)?).with_context(|| path.display().to_string())?;
        config.architecture.check().map_err(|reason| anyhow!("{}: {reason}", path.display()))?;
        Ok(config)
    }

    fn load_vocabularies(&self, config: Config) -> Result<Checkpoint> {
        let vocabulary =
            |name: &str, tokenization: Tokenization, protected_tokens: &ProtectedTokens, size: usize| -> Result<Arc<Vocabulary>> {
                let path = self.path.join(name);
                let normalization = config.text.normalization;
                let vocabulary = Vocabulary::from_json(self.read_text(name)?, tokenization, normalization, protected_tokens)
                    .with_context(|| {
                    format!("{}: damaged, or not of the tokenization and normalization in {CONFIG}", path.display())
                })?;
                ensure!(
                    vocabulary.size() == size,
                    "{}: holds {} tokens, but {CONFIG} expects {size}; the files belong to different models",
                    path.display(),
                    vocabulary.size()
                );
                Ok(Arc::new(vocabulary))
            };
        let (text, sizes) = (&config.text, &config.architecture);
        let (source, target) = if text.joint_vocabulary {
            let joint = vocabulary(JOINT, text.source_tokenization, &text.source_protected_tokens, sizes.source_vocabulary)?;
            (joint.clone(), joint)
        } else {
            let (source, target) = rayon::join(
                || vocabulary(SOURCE, text.source_tokenization, &text.source_protected_tokens, sizes.source_vocabulary),
                || vocabulary(TARGET, text.target_tokenization, &text.target_protected_tokens, sizes.target_vocabulary),
            );
            (source?, target?)
        };
        Checkpoint::new(config, source, target)
    }

    /// Reads config.json, vocabularies and the best parameters.
    ///
    /// # Errors
    /// A file is missing, damaged, of a newer format or belongs to another config.json.
    pub fn load_model(&self, device: &Device) -> Result<(Checkpoint, Parameters)> {
        self.load_model_with(device, |_, parameters| Ok(parameters))
    }

    /// Reads config.json, vocabularies and the best parameters, and builds a model with the last in parallel.
    ///
    /// # Errors
    /// As [`Self::load_model`], or `build` fails.
    pub fn load_model_with<M: Send>(
        &self,
        device: &Device,
        build: impl FnOnce(&Architecture, Parameters) -> Result<M> + Send,
    ) -> Result<(Checkpoint, M)> {
        if let Some(holder) = (!self.has(MODEL)).then(|| holder(&self.path)).flatten() {
            let previous = self.latest_archive().map(|path| format!("; the previous model is in {}", path.display()));
            bail!(
                "{}: {holder} and has saved no model yet; wait for its first validation{}",
                self.path.display(),
                previous.unwrap_or_default()
            );
        }
        let config = self.load_config()?;
        let architecture = config.architecture.clone();
        let load_vocabularies = || {
            let checkpoint = self.load_vocabularies(config)?;
            checkpoint.source.prepare()?;
            Ok::<_, anyhow::Error>(checkpoint)
        };
        let build_model = || {
            let (tensors, metadata) = self.read_parameters(device)?;
            let parameters = Parameters::from_tensors(&architecture.parameter_spec(), tensors);
            let parameters = parameters.with_context(|| self.path.join(MODEL).display().to_string());
            Ok::<_, anyhow::Error>((parameters.and_then(|parameters| build(&architecture, parameters)), metadata))
        };
        let (checkpoint, model) = rayon::join(load_vocabularies, build_model);
        let (checkpoint, (model, metadata)) = (checkpoint?, model?);
        self.check_fingerprint(MODEL, &checkpoint, &metadata)?;
        Ok((checkpoint, model?))
    }

    pub(super) fn read_tensors(&self, name: &str, device: &Device) -> Result<(Tensors, HashMap<String, String>)> {
        let (mut file, header) = self.open_tensors(name)?;
        let mut tensors = BTreeMap::new();
        for (tensor, info) in header.tensors {
            let mut values = vec![0f32; info.shape.iter().product()];
            self.read_values(name, &mut file, &mut values)?;
            tensors.insert(tensor, Tensor::from_vec(values, info.shape, device)?);
        }
        Ok((tensors, header.metadata))
    }

    /// Reads the best parameters. On the CPU, they share one block of memory, which is faster to fill than many.
    fn read_parameters(&self, device: &Device) -> Result<(Tensors, HashMap<String, String>)> {
        if !device.is_cpu() {
            return self.read_tensors(MODEL, device);
        }
        let (mut file, header) = self.open_tensors(MODEL)?;
        let count = header.tensors.iter().map(|(_, info)| info.shape.iter().product::<usize>()).sum();
        let (mut values, mut start) = zeros_in_huge_pages(count);
        self.read_values(MODEL, &mut file, &mut values[start..])?;
        let length = values.len();
        let all = Tensor::from_vec(values, length, device)?;
        let view = |(name, info): (String, TensorInfo)| {
            let count = info.shape.iter().product();
            start += count;
            Ok((name, all.narrow(0, start - count, count)?.reshape(info.shape)?))
        };
        Ok((header.tensors.into_iter().map(view).collect::<Result<_>>()?, header.metadata))
    }

    /// Opens a file of f32 tensors at the first one's values.
    fn open_tensors(&self, name: &str) -> Result<(File, Header)> {
        let path = self.path.join(name);
        let cannot = || cannot_read(&path);
        let mut file = File::open(&path).with_context(cannot)?;
        let length = file.metadata().with_context(cannot)?.len();
        let header = Header::read(&mut file, length).with_context(|| self.damaged_tensors(name))?;
        for (tensor, info) in &header.tensors {
            ensure!(info.dtype == Dtype::F32, "{}: tensor {tensor} is not of type F32", path.display());
        }
        Ok((file, header))
    }

    fn read_values(&self, name: &str, file: &mut File, values: &mut [f32]) -> Result<()> {
        file.read_exact(bytemuck::cast_slice_mut(values)).with_context(|| self.damaged_tensors(name))
    }

    fn damaged_tensors(&self, name: &str) -> String {
        format!("{}: damaged, or not a safetensors file", self.path.join(name).display())
    }

    pub(super) fn check_fingerprint(
        &self,
        name: &str,
        checkpoint: &Checkpoint,
        metadata: &HashMap<String, String>,
    ) -> Result<()> {
        let path = self.path.join(name);
        ensure!(
            checkpoint.owns(metadata)?,
            "{}: does not belong to the {CONFIG} and vocabulary beside it",
            path.display()
        );
        Ok(())
    }

    pub(super) fn write_bytes(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write_atomically(&self.path.join(name), |file| Ok(file.write_all(bytes)?))
    }

    pub(super) fn read_bytes(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path.join(name);
        std::fs::read(&path).with_context(|| cannot_read(&path))
    }

    pub(super) fn read_text(&self, name: &str) -> Result<String> {
        let path = self.path.join(name);
        std::fs::read_to_string(&path).with_context(|| cannot_read(&path))
    }

    /// Training log.
    pub fn log(&self) -> JsonlLog {
        JsonlLog::new(self.path.join(LOG))
    }

    /// Log of attention at each validation.
    pub fn attention(&self) -> JsonlLog {
        JsonlLog::new(self.path.join(ATTENTION))
    }

    /// Creates the TensorBoard event file of a run.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create_event_file(&self) -> Result<EventFile> {
        EventFile::create(&self.path)
    }

    /// Writes training.svg.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_curves(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        write_atomically(&self.path.join(TRAINING_SVG), |file| Ok(write(file)?))
    }

    /// Writes attention.html.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_training_page(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        write_atomically(&self.path.join(ATTENTION_HTML), |file| Ok(write(file)?))
    }
}

/// Bytes of model.safetensors.
pub(super) fn model_bytes(checkpoint: &Checkpoint, parameters: &Parameters) -> Result<Vec<u8>> {
    let tensors = parameters.iter();
    Ok(safetensors::serialize(tensors, Some(HashMap::from([fingerprint_metadata(checkpoint)?])))?)
}

pub(super) fn fingerprint_metadata(checkpoint: &Checkpoint) -> Result<(String, String)> {
    Ok((BELONGS_TO.to_owned(), checkpoint.fingerprint()?))
}
