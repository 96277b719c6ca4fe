//! Training in a model directory: new, warm-started or resumed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use candle_core::Device;
use serde_json::{Map, Value};

use super::data::{TrainingData, warn_of_mixed_forms};
use super::recorder::Recorder;
use super::run_context::RunContext;
use super::sources::{SourceOptions, SyntheticFiles, TrainingSources};
use super::user_alignments::{USER_WORDS, UserAlignments};
use super::vocabularies::{ensure_running, fit_time, protected_tokens, statistics, vocabularies};
use super::warm_start::{InitFrom, InitVocabulary, WarmStart};
use crate::aligner::WordAligner;
use crate::checkpoint::{Checkpoint, Config, DataSummary, DirState, FORMAT_VERSION, Invocation, Lock, ModelDir};
use crate::error::usage;
use crate::model::{RnnSearch, TokenLexicon};
use crate::parameters::Parameters;
use crate::render::clock;
use crate::reporter::{Reporter, Silent, counted};
use crate::text::{EncodedCorpus, Pair, TextSettings};
use crate::training::{
    AlignmentTargets, EpochData, Event, Observer, Optimizer, ResolvedConfig, StopReason, TrainConfig, TrainState,
    TrainerParts, TrainingLoop, TrainingSettings, ValidationSet,
};
use crate::translator::{Translator, learn_aligner};

/// Number of validation pairs whose translations and attention each validation reports.
const SAMPLES: usize = 5;

/// Maximum number of validation pairs that calibrate confidence.
const CALIBRATION_PAIRS: usize = 1000;

/// Specification of a new training.
#[derive(Clone, Debug)]
pub struct TrainingSpec {
    /// Settings. The data determine unset ones.
    pub config: TrainConfig,
    /// Sources of the pairs.
    pub sources: TrainingSources,
    /// The model that training is initialized from.
    pub init_from: Option<InitFrom>,
    /// Command line, and options by name, to record in config.json.
    pub invocation: (Vec<String>, Map<String, Value>),
    /// True to move an existing model to `previous/` instead of failing.
    pub replace: bool,
}

/// A training with its directory locked and its data loaded.
pub struct Session {
    model_dir: ModelDir,
    /// None in all processes but the first, which alone writes.
    lock: Option<Lock>,
    checkpoint: Checkpoint,
    model: RnnSearch,
    optimizer: Optimizer,
    progress: TrainState,
    examples: EpochData,
    validation: EncodedCorpus,
    save_every: Duration,
    began: Instant,
}

/// The outcome of a run.
pub struct TrainingOutcome {
    /// Why training ended.
    pub reason: StopReason,
    /// Summary in one line.
    pub summary: String,
    /// Validation pairs.
    pub validation: Vec<Pair>,
    /// Error of an optional file that could not be written.
    pub unrecorded: Result<()>,
}

/// A new training with its configuration resolved.
struct Prepared {
    config: Config,
    options: TrainConfig,
    checkpoint: Checkpoint,
    data: TrainingData,
    reasons: Vec<String>,
    save_every: f64,
}

impl TrainingSpec {
    /// Returns the complete options, as `--show-config` prints them. Nothing is written.
    ///
    /// # Errors
    /// The pairs are unreadable or unusable, or an option does not suit them.
    pub fn resolved_options(&self, out: &Path, context: RunContext) -> Result<TrainConfig> {
        let (from, config) = self.warm_start(out, context.device)?;
        Ok(self.prepare(&config, from.as_ref(), Instant::now(), context, || Ok(()))?.0.options)
    }

    /// Resolves the configuration. Calls `ready` once all options are valid, before the expensive work.
    fn prepare<T>(
        &self,
        config: &TrainConfig,
        from: Option<&WarmStart>,
        began: Instant,
        context: RunContext,
        ready: impl FnOnce() -> Result<T>,
    ) -> Result<(Prepared, T)> {
        let observer = context.observer;
        let pairs = self.sources.read_training(observer)?;
        let usable = pairs.usable();
        ensure!(!usable.is_empty(), "{}: no sentence pairs", self.sources.training_name());
        let normalization = config.normalization();
        let named = (&config.protected_tokens[..], &self.sources.tags()[..]);
        let has_features = self.sources.layout().features.is_some();
        let protected = protected_tokens(named, has_features, &usable, normalization)?;
        let stats = statistics(&usable, normalization, &protected, has_features);
        let base = from.map(|from| &from.config().architecture);
        let precision = config.precision_on(context.device.is_cpu())?;
        let mut resolved = config.resolve(&stats, base, precision)?;
        let ready = ready()?;
        warn_of_mixed_forms(&usable, normalization.form, &self.sources.training_name(), observer);
        ensure_running(observer)?;
        let vocabularies = vocabularies(&resolved, &usable, &protected, from, observer)?;
        let [source, target] = &vocabularies;
        let (max_length, seed) = (resolved.text().max_length, resolved.seed());
        let data = TrainingData::new(pairs, &self.sources, [source, target], max_length, seed, observer)?;
        ensure_running(observer)?;
        fit_time(&mut resolved, &data.training, &vocabularies, began.elapsed(), context)?;
        let attention_pairs = data.attention_pairs.clone();
        let training = TrainingSettings { attention_pairs, ..resolved.training(&data.validation.pairs) };
        let options = resolved.options(&training, vocabulary_size(&resolved, from));
        let config = Config {
            format_version: FORMAT_VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            architecture: resolved.architecture([source.size(), target.size()]),
            text: TextSettings {
                source_protected_tokens: source.protected_tokens().clone(),
                target_protected_tokens: target.protected_tokens().clone(),
                ..resolved.text().clone()
            },
            data: DataSummary {
                languages: data.summary.languages.clone().or_else(|| from?.config().data.languages.clone()),
                ..data.summary.clone()
            },
            averaged: Vec::new(),
            from: from.map(|from| from.summary([source, target])),
            confidence: None,
            begun: Some(self.invocation()),
            training,
        };
        let reasons = resolved.reasons(&config.training);
        let checkpoint = Checkpoint::new(config.clone(), source.clone(), target.clone())?;
        let save_every = self.config.save_every();
        Ok((Prepared { config, options, checkpoint, data, reasons, save_every }, ready))
    }

    fn invocation(&self) -> Invocation {
        let (command_line, options) = self.invocation.clone();
        Invocation { command_line, options, threads: rayon::current_num_threads() }
    }

    /// Loads the base model, if any, and completes and validates the settings.
    pub(super) fn warm_start(&self, out: &Path, device: &Device) -> Result<(Option<WarmStart>, TrainConfig)> {
        let from = self.init_from.as_ref().map(|from| WarmStart::load(from, out, device)).transpose()?;
        let config = self.config(from.as_ref())?;
        Ok((from, config))
    }

    /// Returns the validated settings, completed by those of the base model and the default weight of user links.
    fn config(&self, from: Option<&WarmStart>) -> Result<TrainConfig> {
        let mut config = self.config.clone();
        if let Some(from) = from {
            from.vocabulary.check(&config)?;
            config = config.initialized_from(&from.config().text, &from.config().architecture);
        }
        if self.sources.guide.is_some() {
            config = config.with_user_links()?;
        }
        config.keep_attention |= self.sources.attention_pairs.is_some();
        config.validate()?;
        Ok(config)
    }
}

/// Returns the maximum size of learned vocabularies if both sides have the same.
fn vocabulary_size(resolved: &ResolvedConfig, from: Option<&WarmStart>) -> Option<usize> {
    let [source, target] = resolved.vocabulary_sizes();
    let learned = from.is_none_or(|from| from.vocabulary == InitVocabulary::New);
    (learned && source == target).then_some(source)
}

/// Builds the model to train.
fn model(config: &Config, parameters: Parameters, lexicon: Option<Arc<TokenLexicon>>) -> candle_core::Result<RnnSearch> {
    let model = RnnSearch::new(config.architecture.clone(), parameters)?;
    Ok(model.with_lexicon(lexicon).with_precision(config.training.precision))
}

impl Session {
    /// Begins a training in `out`, which is created if it does not exist.
    ///
    /// # Errors
    /// The pairs or options are unusable, the directory is locked or not empty, or a file cannot be written.
    pub(super) fn begin(spec: &TrainingSpec, out: &Path, context: RunContext) -> Result<Self> {
        let (model_dir, began, observer) = (ModelDir::new(out), Instant::now(), context.observer);
        let start = spec.warm_start(out, context.device)?;
        // A new directory is created only once everything else is valid.
        let existed = out.is_dir();
        let lock = existed.then(|| lock_for_new(&model_dir, spec.replace, observer)).transpose()?;
        let locked = || {
            model_dir.make()?;
            lock.map_or_else(|| lock_for_new(&model_dir, spec.replace, observer), Ok)
        };
        let session = Self::begin_in(&model_dir, locked, spec, start, (began, TrainState::default()), context);
        if session.is_err() && !existed {
            // This fails if the directory is not empty, as intended.
            let _ = std::fs::remove_dir(out);
        }
        session
    }

    /// Begins a training from [`TrainingSpec::warm_start`], in a directory that `locked` locks. The time limit counts from
    /// `began`. The state has the time of auxiliary models, if there are any.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(super) fn begin_in(
        model_dir: &ModelDir,
        locked: impl FnOnce() -> Result<Lock>,
        spec: &TrainingSpec,
        (from, config): (Option<WarmStart>, TrainConfig),
        (began, progress): (Instant, TrainState),
        context: RunContext,
    ) -> Result<Self> {
        let (prepared, lock) = spec.prepare(&config, from.as_ref(), began, context, locked)?;
        ensure_running(context.observer)?;
        Self::write_new(prepared, from.as_ref(), (model_dir.clone(), lock), (began, progress), context)
    }

    /// Writes all files that precede the first step.
    fn write_new(
        prepared: Prepared,
        from: Option<&WarmStart>,
        (model_dir, lock): (ModelDir, Lock),
        (began, progress): (Instant, TrainState),
        RunContext { device, observer, .. }: RunContext,
    ) -> Result<Self> {
        let Prepared { config, checkpoint, data, reasons, save_every, .. } = prepared;
        lock.ensure_held()?;
        if model_dir.dir_state() != DirState::Nothing {
            let archived = model_dir.archive()?;
            observer.note(&format!("the model in {} was moved to {}", model_dir.path().display(), archived.display()));
        }
        model_dir.clear()?;
        model_dir.save_config_and_vocabularies(&checkpoint)?;
        reasons.iter().for_each(|line| observer.note(line));
        describe(&config, observer);
        if let Some(aligner) = word_aligner(&config.text, &data.training.pairs, observer) {
            lock.ensure_held()?;
            model_dir.save_aligner(&checkpoint, &aligner)?;
        }
        let examples = examples(data.training, data.links.as_ref(), &model_dir, &checkpoint)?;
        lock.ensure_held()?;
        if let Some(lexicon) = lexicon(&checkpoint, &examples, from) {
            model_dir.save_lexicon(&checkpoint, &lexicon)?;
        }
        let lexicon = model_dir.load_lexicon(&checkpoint)?;
        let random = Parameters::initialize(&config.architecture.parameter_spec(), config.training.seed, device)?;
        let parameters = match from {
            Some(from) => from.parameters(&random, [&checkpoint.source, &checkpoint.target])?,
            None => random,
        };
        let parameters = parameters.with_grad()?;
        Ok(Self {
            optimizer: Optimizer::new(&parameters, config.training.max_gradient_norm, config.training.average)?,
            model: model(&config, parameters, lexicon)?,
            progress,
            examples,
            validation: data.validation,
            save_every: Duration::from_secs_f64(60.0 * save_every),
            model_dir,
            lock: Some(lock),
            checkpoint,
            began,
        })
    }

    /// Resumes the training in `out`. Only the limits of `config` apply ([`TrainConfig::max_epochs`], `max_minutes`,
    /// `patience`, `save_every`); `sources` may give new paths of the pairs.
    ///
    /// # Errors
    /// There is no resumable state, it is damaged or does not match its settings, or the pairs differ.
    pub(super) fn resume(
        out: &Path,
        config: &TrainConfig,
        sources: &SourceOptions,
        RunContext { device, observer, .. }: RunContext,
    ) -> Result<Self> {
        let (model_dir, began) = (ModelDir::new(out), Instant::now());
        config.validate_limits()?;
        let lock = lock_for_resumed(&model_dir, observer)?;
        let mut checkpoint = model_dir.load()?;
        let data = resumed_data(&model_dir, &checkpoint, sources, observer)?;
        let settings = &mut checkpoint.config.training;
        settings.max_epochs = config.max_epochs.unwrap_or(settings.max_epochs);
        settings.max_minutes = config.max_minutes.or(settings.max_minutes);
        settings.patience = config.patience.or(settings.patience);
        let mut saved = model_dir.load_resume(&checkpoint, device)?;
        let architecture = checkpoint.config.architecture.clone();
        let lexicon = model_dir.load_lexicon(&checkpoint)?;
        let damaged = || model_dir.resume_path();
        let examples = examples(data.training, data.links.as_ref(), &model_dir, &checkpoint)?;
        let fits = saved.progress.check_position(&examples, &checkpoint.config.training);
        fits.map_err(|reason| anyhow!("{}: {reason}", damaged()))?;
        let parameters =
            Parameters::from_tensors(&architecture.parameter_spec(), saved.parameters).with_context(damaged)?;
        let parameters = parameters.with_grad()?;
        let TrainingSettings { max_gradient_norm, average, .. } = checkpoint.config.training;
        let optimizer = Optimizer::restore(
            &parameters,
            max_gradient_norm,
            average,
            saved.progress.applied_steps(),
            &mut saved.moments,
        );
        let optimizer = optimizer.with_context(damaged)?;
        lock.ensure_held()?;
        model_dir.reconcile(&checkpoint, &saved.progress, optimizer.average().unwrap_or(&parameters))?;
        describe(&checkpoint.config, observer);
        observer.note(&format!("resuming after epoch {}, step {}", saved.progress.epoch, saved.progress.step));
        Ok(Self {
            model: model(&checkpoint.config, parameters, lexicon)?,
            optimizer,
            progress: saved.progress,
            examples,
            validation: data.validation,
            save_every: Duration::from_secs_f64(60.0 * config.save_every()),
            model_dir,
            lock: Some(lock),
            checkpoint,
            began,
        })
    }

    /// Joins the training that the first process has begun or resumed in `out`. It receives the parameters when it runs.
    ///
    /// # Errors
    /// The model or the pairs cannot be read here, or the pairs differ.
    pub(super) fn join(out: &Path, sources: &SourceOptions, device: &Device) -> Result<Self> {
        let (model_dir, began) = (ModelDir::new(out), Instant::now());
        let checkpoint = model_dir.load()?;
        let data = resumed_data(&model_dir, &checkpoint, sources, &Silent)?;
        let Config { architecture, training, .. } = &checkpoint.config;
        let parameters = Parameters::initialize(&architecture.parameter_spec(), training.seed, device)?.with_grad()?;
        Ok(Self {
            optimizer: Optimizer::new(&parameters, training.max_gradient_norm, training.average)?,
            model: model(&checkpoint.config, parameters, model_dir.load_lexicon(&checkpoint)?)?,
            progress: TrainState::default(),
            examples: examples(data.training, data.links.as_ref(), &model_dir, &checkpoint)?,
            validation: data.validation,
            save_every: Duration::MAX,
            model_dir,
            lock: None,
            checkpoint,
            began,
        })
    }

    /// Trains until a stop condition holds, and saves the model. `name` is that of an auxiliary model.
    ///
    /// # Errors
    /// The loss is no longer finite, or a file cannot be written. The last good checkpoint remains.
    pub(super) fn run(self, name: Option<&str>, context: RunContext) -> Result<TrainingOutcome> {
        let Self {
            model_dir,
            lock,
            mut checkpoint,
            model,
            optimizer,
            progress,
            examples,
            validation,
            save_every,
            began,
        } = self;
        let RunContext { communicator, observer, device } = context;
        // A resumed run has other limits than config.json says.
        checkpoint.config.training = communicator.broadcast_value(checkpoint.config.training)?;
        let settings = &checkpoint.config.training;
        observer.event(&Event::Model { name, text: &checkpoint.config.text, settings });
        let (pairs, max_length) = (settings.attention_pairs.clone(), checkpoint.config.text.max_length);
        let samples = match pairs.is_empty() {
            true => validation.subsample(SAMPLES),
            false => EncodedCorpus::new(pairs, &checkpoint.source, &checkpoint.target, max_length)?,
        };
        let set = ValidationSet {
            corpus: &validation,
            samples: &samples,
            source_vocabulary: &checkpoint.source,
            target_vocabulary: &checkpoint.target,
        };
        let step = progress.step;
        let (examples, set) = (&examples, &set);
        let parts =
            TrainerParts { model, optimizer, progress, settings, examples, validation: set, communicator, began };
        let mut training = TrainingLoop::new(parts)?;
        let Some(lock) = lock else {
            let reason = training.run(save_every, &mut Silent)?;
            let summary = summary(reason, settings, training.progress(), &model_dir);
            return Ok(TrainingOutcome { reason, summary, validation: Vec::new(), unrecorded: Ok(()) });
        };
        let mut recorder = Recorder::new(&model_dir, &lock, &checkpoint, step, observer)?;
        let reason = training.run(save_every, &mut recorder)?;
        let summary = summary(reason, settings, training.progress(), &model_dir);
        let unrecorded = recorder.finish();
        drop(training);
        let calibrated = match reason {
            StopReason::Interrupted => Ok(()),
            _ => {
                let pairs = validation.subsample(CALIBRATION_PAIRS).pairs;
                calibrate(&model_dir, &lock, checkpoint, &pairs, device, observer)
            }
        };
        let unrecorded = unrecorded.and(calibrated);
        Ok(TrainingOutcome { reason, summary, unrecorded, validation: validation.pairs })
    }
}

/// Locks an existing directory, and removes the partial files of killed runs.
pub(super) fn lock(model_dir: &ModelDir, reporter: &dyn Reporter) -> Result<Lock> {
    let lock = model_dir.lock()?;
    if lock.is_exclusive() {
        model_dir.remove_unfinished();
    } else {
        reporter.warn(&format!(
            "{}: this file system has no locks; make sure that no other process trains in this directory",
            model_dir.path().display()
        ));
    }
    Ok(lock)
}

/// Locks the directory for a new model, unless it holds something that would be lost.
pub(super) fn lock_for_new(model_dir: &ModelDir, replace: bool, reporter: &dyn Reporter) -> Result<Lock> {
    let lock = lock(model_dir, reporter)?;
    let content = match model_dir.dir_state() {
        DirState::Nothing if !model_dir.is_before_last_training() => return Ok(lock),
        DirState::Nothing => "holds an unfinished training; continue it with --resume",
        DirState::Foreign => "holds files of another program or of a newer softalign under the names of model files",
        _ if replace => return Ok(lock),
        DirState::Training => "holds a model; continue its training with --resume",
        DirState::Model => "holds a model whose training cannot be resumed (resume.safetensors is missing)",
        DirState::Aligner => "holds an aligner written by --save-aligner",
    };
    bail!("{}: {content}; choose another directory with --out, or remove these files", model_dir.path().display())
}

/// Locks the directory of a training that can be resumed.
fn lock_for_resumed(model_dir: &ModelDir, reporter: &dyn Reporter) -> Result<Lock> {
    const NO_STATE: &str = "no resumable training state (resume.safetensors is missing)";
    let path = model_dir.path().display();
    ensure!(model_dir.path().is_dir(), "{path}: {NO_STATE}; train without --resume");
    let lock = lock(model_dir, reporter)?;
    match model_dir.dir_state() {
        // Loading a foreign directory fails with a more specific message.
        DirState::Training | DirState::Foreign => Ok(lock),
        DirState::Nothing => bail!("{path}: {NO_STATE}; train without --resume"),
        DirState::Model | DirState::Aligner => bail!("{path}: {NO_STATE}; train another model with --out"),
    }
}

/// Reads the data of a resumed training, which must not have changed.
fn resumed_data(
    model_dir: &ModelDir,
    checkpoint: &Checkpoint,
    options: &SourceOptions,
    observer: &dyn Observer,
) -> Result<TrainingData> {
    let (path, summary) = (model_dir.path().display(), &checkpoint.config.data);
    summary.check().map_err(|reason| anyhow!("{path}: {reason}; undo that change of config.json to resume"))?;
    if options.guide.is_some() && summary.guide.is_none() {
        return usage(format!("--guide cannot be used with --resume: training in {path} began without it"));
    }
    let mut sources = TrainingSources::of_resumed_run(options, summary).with_context(|| path.to_string())?;
    if sources.synthetic.is_empty() {
        let corpora = summary.synthetic.iter().cloned();
        sources.synthetic = corpora.map(|corpus| SyntheticFiles::new(model_dir, corpus)).collect();
    }
    let data = TrainingData::new(
        sources.read_training(observer)?,
        &sources,
        [&checkpoint.source, &checkpoint.target],
        checkpoint.config.text.max_length,
        checkpoint.config.training.seed,
        observer,
    )?;
    ensure!(
        data.summary.fingerprint == summary.fingerprint,
        "{}: not the sentence pairs that {path} was trained on; --resume needs the same, in the same order",
        sources.name()
    );
    ensure!(
        data.summary.guide.as_ref().map(|guide| &guide.fingerprint)
            == summary.guide.as_ref().map(|guide| &guide.fingerprint),
        "{}: not the links that {path} was trained with; --resume needs the same",
        sources.guide.clone().unwrap_or_else(|| PathBuf::from("--guide")).display()
    );
    Ok(data)
}

/// Returns the token lexicon of a new model, merged with the base model's. It is learned from the alignment targets, or copies
/// characters.
fn lexicon(checkpoint: &Checkpoint, examples: &EpochData, from: Option<&WarmStart>) -> Option<TokenLexicon> {
    let Config { architecture, training, text, .. } = &checkpoint.config;
    let sizes = [architecture.source_vocabulary, architecture.target_vocabulary];
    let learned = match training.guidance {
        _ if !architecture.lexicon => None,
        Some(_) => Some(examples.lexicon(sizes, training.seed)),
        None => text
            .are_both_characters()
            .then(|| TokenLexicon::identity(&checkpoint.source.origins(&checkpoint.target), sizes[1])),
    };
    match from {
        Some(from) => from.lexicon(learned, [&checkpoint.source, &checkpoint.target]),
        None => learned,
    }
}

/// Calibrates the confidence of a trained model on pairs that it was not trained on, and saves the calibration.
fn calibrate(
    model_dir: &ModelDir,
    lock: &Lock,
    mut checkpoint: Checkpoint,
    validation: &[Pair],
    device: &Device,
    observer: &dyn Observer,
) -> Result<()> {
    if checkpoint.config.data.validated_on_training {
        return Ok(());
    }
    let translator = Translator::load_on(model_dir.path(), device)?;
    checkpoint.config.confidence = translator.calibrate(validation, observer)?;
    lock.ensure_held()?;
    model_dir.save_config(&checkpoint)
}

/// Trains a word aligner, unless a side's tokens are characters.
fn word_aligner(text: &TextSettings, pairs: &[Pair], reporter: &dyn Reporter) -> Option<WordAligner> {
    (!text.has_character_tokens()).then(|| learn_aligner(pairs, text.normalization.form, None, reporter))
}

/// Returns the training examples, with alignment targets if attention is guided. The aligner is loaded from its file, in a
/// new training too: in memory it holds more than its file, and would give other targets.
fn examples(
    training: EncodedCorpus,
    links: Option<&UserAlignments>,
    model_dir: &ModelDir,
    checkpoint: &Checkpoint,
) -> Result<EpochData> {
    let settings = &checkpoint.config.training;
    let guided = |weight| -> Result<AlignmentTargets> {
        if let Some(links) = links {
            return Ok(AlignmentTargets::from_links(links.for_pairs(&training.pairs), USER_WORDS, weight));
        }
        let aligner = model_dir.load_aligner(checkpoint)?.with_context(|| {
            format!(
                "{}: aligner.safetensors is missing, which guided alignment needs; this training cannot be resumed{}",
                model_dir.path().display(),
                model_dir.other_model_advice(": ")
            )
        })?;
        Ok(AlignmentTargets::new(&training.pairs, &aligner, weight))
    };
    let alignment_targets = settings.guidance.map(|weight| guided(weight as f32)).transpose()?;
    let vocabularies = [checkpoint.source.clone(), checkpoint.target.clone()];
    EpochData::new(
        training,
        &vocabularies,
        alignment_targets,
        settings.augmentation(),
        checkpoint.config.text.max_length,
    )
}

/// Reports the sizes of data and model.
fn describe(config: &Config, reporter: &dyn Reporter) {
    let (sizes, data) = (&config.architecture, &config.data);
    let synthetic = if data.synthetic.is_empty() { "" } else { " with the synthetic ones" };
    reporter.note(&format!(
        "{} training pairs{synthetic}, {} validation pairs; {} source and {} target tokens",
        data.training_pairs, data.validation_pairs, sizes.source_vocabulary, sizes.target_vocabulary
    ));
    reporter.note(&format!(
        "{:.2} million parameters: embedding {}, hidden {}, attention {} ({}); batches of {}{}",
        sizes.parameter_count() as f64 / 1e6,
        sizes.embedding_size,
        sizes.hidden_size,
        sizes.attention_size,
        sizes.attention,
        config.training.batch,
        config.training.describe_precision()
    ));
    if let Some(origin) = &config.from {
        reporter.note(&format!("initialized from {origin}"));
    }
    if !sizes.attention.is_fixed() {
        reporter.note(&format!("attention is {}", config.describe_guidance()));
    }
}

/// Describes why a run ended, where the model is, and that its validation scores are not those of unseen data.
fn summary(reason: StopReason, settings: &TrainingSettings, progress: &TrainState, model_dir: &ModelDir) -> String {
    let cause = match reason {
        StopReason::Epochs => format!("{} completed", counted(progress.epoch as usize, "epoch")),
        StopReason::Time if progress.step <= 1 => {
            "time limit reached after the first step; --resume with more --max-minutes continues".to_owned()
        }
        StopReason::Time => "time limit reached; --resume with more --max-minutes continues".to_owned(),
        StopReason::Patience => {
            format!("no improvement for {}", counted(settings.patience.unwrap_or_default() as usize, "validation"))
        }
        StopReason::Interrupted => "interrupted; --resume continues from here".to_owned(),
    };
    let kept = match settings.keep {
        Some(keep) => format!(", {keep} in {}", model_dir.kept_path().display()),
        None => String::new(),
    };
    format!(
        "{cause}: {} in {}; the best model (step {}) is in {}{kept}; validation chose it, so expect \
         slightly lower scores on other pairs",
        counted(progress.step as usize, "step"),
        clock(Duration::from_secs_f64(progress.seconds)),
        progress.best_step,
        model_dir.path().display()
    )
}
