//! Reading and validation of a model's files.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use candle_core::{Device, Tensor};
use safetensors::Dtype;

use super::atomic_file::{cannot_read, parent_dir};
use super::identity::{BELONGS_TO, Checkpoint};
use super::lock::holder;
use super::model_dir::{ALIGNER, CONFIG, JOINT, LEXICON, MODEL, ModelDir, SOURCE, TARGET};
use super::safetensors_io::{Header, zeros_in_huge_pages};
use super::{Config, aligner, lexicon};
use crate::aligner::WordAligner;
use crate::error::{not_found, not_found_with_advice};
use crate::model::{Architecture, TokenLexicon};
use crate::parameters::Parameters;
use crate::text::Vocabulary;

/// Tensors by name.
type Tensors = BTreeMap<String, Tensor>;

impl ModelDir {
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
        let path = self.path().join(CONFIG);
        if !path.exists() {
            if self.path().is_file() {
                return not_found(self.no_model_here());
            }
            let advice = "train one with softalign train --train PAIRS.tsv --out DIR, or name another with --model DIR";
            return not_found_with_advice(self.no_model_here(), advice);
        }
        let config = Config::parse(&self.read_text(CONFIG)?).with_context(|| path.display().to_string())?;
        let checked = config.architecture.check().and_then(|()| config.data.check());
        checked.map_err(|reason| anyhow!("{}: {reason}; undo that change of the file", path.display()))?;
        Ok(config)
    }

    /// Says that the directory holds no model, or that the path is a file.
    pub fn no_model_here(&self) -> String {
        let path = self.path().display();
        if !self.path().is_file() {
            return format!("{path}: no model here ({CONFIG} is missing)");
        }
        let directory = parent_dir(self.path());
        if directory.join(CONFIG).exists() {
            return format!("{path}: no model here, but a file of one; name its directory, {}", directory.display());
        }
        format!("{path}: no model here; this is a file, and a model is a directory")
    }

    fn load_vocabularies(&self, config: Config) -> Result<Checkpoint> {
        let (source, target) = if config.text.joint_vocabulary {
            let joint = self.load_vocabulary(JOINT, &config, 0)?;
            (joint.clone(), joint)
        } else {
            let (source, target) =
                rayon::join(|| self.load_vocabulary(SOURCE, &config, 0), || self.load_vocabulary(TARGET, &config, 1));
            (source?, target?)
        };
        Checkpoint::new(config, source, target)
    }

    /// Reads the vocabulary of the source (side 0) or the target (side 1).
    fn load_vocabulary(&self, name: &str, config: &Config, side: usize) -> Result<Arc<Vocabulary>> {
        let (text, sizes, path) = (&config.text, &config.architecture, self.path().join(name));
        let tokenization = [text.source_tokenization, text.target_tokenization][side];
        let protected_tokens = [&text.source_protected_tokens, &text.target_protected_tokens][side];
        let size = [sizes.source_vocabulary, sizes.target_vocabulary][side];
        let json = self.read_text(name)?;
        let vocabulary =
            Vocabulary::from_json(json, tokenization, text.normalization, protected_tokens).with_context(|| {
                format!("{}: damaged, or not of the tokenization and normalization in {CONFIG}", path.display())
            })?;
        ensure!(
            vocabulary.size() == size,
            "{}: holds {} tokens, but {CONFIG} expects {size}; the files belong to different models",
            path.display(),
            vocabulary.size()
        );
        Ok(Arc::new(vocabulary))
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
        if let Some(holder) = (!self.has(MODEL)).then(|| holder(self.path())).flatten() {
            let previous = self.latest_archive().map(|path| format!("; the previous model is in {}", path.display()));
            bail!(
                "{}: {holder} and has saved no model yet; wait for its first validation{}",
                self.path().display(),
                previous.unwrap_or_default()
            );
        }
        let config = self.load_config()?;
        let architecture = config.architecture.clone();
        let (checkpoint, model) = rayon::join(
            || {
                let checkpoint = self.load_vocabularies(config)?;
                checkpoint.source.prepare()?;
                Ok::<_, anyhow::Error>(checkpoint)
            },
            || {
                let (tensors, metadata) = self.read_parameters(device)?;
                let parameters = Parameters::from_tensors(&architecture.parameter_spec(), tensors);
                let parameters = parameters.with_context(|| self.path().join(MODEL).display().to_string());
                Ok::<_, anyhow::Error>((parameters.and_then(|parameters| build(&architecture, parameters)), metadata))
            },
        );
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
        let mut tensors = BTreeMap::new();
        for (name, info) in header.tensors {
            let count = info.shape.iter().product();
            tensors.insert(name, all.narrow(0, start, count)?.reshape(info.shape)?);
            start += count;
        }
        Ok((tensors, header.metadata))
    }

    /// Opens a file of f32 tensors at the first one's values.
    fn open_tensors(&self, name: &str) -> Result<(File, Header)> {
        let path = self.path().join(name);
        let mut file = File::open(&path).with_context(|| cannot_read(&path))?;
        let length = file.metadata().with_context(|| cannot_read(&path))?.len();
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
        format!("{}: damaged, or not a safetensors file", self.path().join(name).display())
    }

    pub(super) fn check_fingerprint(
        &self,
        name: &str,
        checkpoint: &Checkpoint,
        metadata: &HashMap<String, String>,
    ) -> Result<()> {
        let path = self.path().join(name);
        ensure!(
            checkpoint.owns(metadata)?,
            "{}: does not belong to the {CONFIG} and vocabulary beside it",
            path.display()
        );
        Ok(())
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

    /// Reads the statistical aligner, with or without a model.
    ///
    /// # Errors
    /// The file is missing or damaged.
    pub fn load_aligner_alone(&self) -> Result<WordAligner> {
        if !self.has(ALIGNER) {
            return not_found(format!("{}: no statistical aligner here ({ALIGNER} is missing)", self.path().display()));
        }
        Ok(self.read_aligner()?.0)
    }

    fn read_aligner(&self) -> Result<(WordAligner, HashMap<String, String>)> {
        let read = aligner::deserialize(&self.read_bytes(ALIGNER)?);
        read.with_context(|| format!("{}: damaged, or not a softalign aligner", self.aligner_path().display()))
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
        let header = Header::read(&mut &bytes[..], bytes.len() as u64).with_context(|| self.damaged_lexicon())?;
        // Checked first: its ids are meaningless with other vocabularies.
        self.check_fingerprint(LEXICON, checkpoint, &header.metadata)?;
        let lexicon = lexicon::deserialize(&bytes, [sizes.source_vocabulary, sizes.target_vocabulary]);
        Ok(Some(Arc::new(lexicon.with_context(|| self.damaged_lexicon())?)))
    }

    fn damaged_lexicon(&self) -> String {
        format!("{}: damaged, or not a softalign lexicon", self.path().join(LEXICON).display())
    }
}
