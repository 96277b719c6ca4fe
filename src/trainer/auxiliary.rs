//! Training with auxiliary models, which are trained first: a reverse model, which back-translates target sentences (Sennrich
//! et al. 2016) that are then tagged (Caswell et al. 2019), and teachers, whose translations the model learns
//! (sequence-level knowledge distillation, Kim & Rush 2016; several teachers: Nguyen et al. 2020).

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::data::SplitPairs;
use super::run_context::RunContext;
use super::session::{Session, TrainingOutcome, TrainingSpec, lock, lock_for_new};
use super::sources::{SourceOptions, SyntheticFiles, TrainingSources};
use super::synthetic_corpus::SyntheticTexts;
use super::warm_start::InitFrom;
use crate::checkpoint::{
    CorpusSource, DataSummary, DirState, Invocation, Lock, ModelDir, SyntheticCorpus, fingerprint,
};
use crate::error::usage;
use crate::reporter::{Silent, counted};
use crate::text::{Normalization, Pair};
use crate::training::{Observer, StopReason, TrainConfig, TrainState, check_seconds};
use crate::translator::DecodeOptions;

/// Tag of back-translated sentences.
const BACK_TRANSLATED: &str = "<bt>";
/// Expected number of back-translations per epoch and training pair, at most.
const MAX_BACK_TRANSLATIONS: f64 = 10.0;
/// Part of the time limit for the model itself, relative to an auxiliary model's.
const LAST_PART: f64 = 2.0;
/// Share of an auxiliary model's part for its training. The rest is for its translations.
const TRAINING_SHARE: f64 = 0.75;

/// State from which an interrupted training resumes.
#[derive(Serialize, Deserialize)]
struct Plan {
    config: TrainConfig,
    data: DataSummary,
    /// Pairs whose attention is recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attention_pairs: Vec<Pair>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    init_from: Option<InitFrom>,
    invocation: Invocation,
    /// Time that earlier runs took.
    seconds: f64,
}

impl Plan {
    /// Checks values read from a file.
    fn check(&self) -> Result<(), String> {
        check_seconds(self.seconds)?;
        self.data.check()
    }
}

/// Sentences that the auxiliary models are trained on or translate.
struct AuxiliaryText {
    split: SplitPairs,
    /// Weight of each training pair.
    weights: Vec<f64>,
    /// Target sentences to back-translate.
    monolingual: Vec<String>,
}

/// Training of a model after its auxiliary models, in a locked directory.
pub(super) struct AuxiliaryTraining<'a> {
    spec: TrainingSpec,
    model_dir: ModelDir,
    lock: Lock,
    plan: Plan,
    sentences: AuxiliaryText,
    /// Start of this run, less the time of earlier ones.
    began: Instant,
    context: RunContext<'a>,
}

/// Auxiliary model with the synthetic corpus that it makes.
struct AuxiliaryModel {
    name: String,
    spec: TrainingSpec,
    corpus: SyntheticCorpus,
    texts: SyntheticTexts,
}

/// Trains a model in `out`, which is created if it does not exist, after its auxiliary models.
///
/// # Errors
/// The pairs or options are unusable, the directory is locked or not empty, a file cannot be written, or the loss is no
/// longer finite. The last good checkpoint remains.
pub fn train(spec: TrainingSpec, out: &Path, context: RunContext) -> Result<TrainingOutcome> {
    let has_auxiliary_models = spec.has_auxiliary_models();
    if context.communicator.size() == 1 {
        return if has_auxiliary_models {
            AuxiliaryTraining::begin(spec, out, context)?.run()
        } else {
            Session::begin(&spec, out, context)?.run(None, context)
        };
    }
    let pairs = SourceOptions { pairs: Some(spec.sources.clone()), ..SourceOptions::default() };
    run_together(out, &pairs, context, has_auxiliary_models, || {
        spec.sources.check_rereadable("several processes need")?;
        Session::begin(&spec, out, context)
    })
}

/// Runs the session that the first of several processes begins. The others join it.
fn run_together(
    out: &Path,
    sources: &SourceOptions,
    context: RunContext,
    has_auxiliary_models: bool,
    begin: impl FnOnce() -> Result<Session>,
) -> Result<TrainingOutcome> {
    let RunContext { communicator, device, observer } = context;
    let session = if communicator.rank() == 0 {
        if has_auxiliary_models {
            return usage("several processes cannot train auxiliary models (--teachers, --monolingual-target)");
        }
        let session = begin()?;
        observer.note(&format!("{} processes train together", communicator.size()));
        communicator.wait_for_all()?;
        session
    } else {
        communicator.wait_for_all()?;
        Session::join(out, sources, device)?
    };
    session.run(None, context)
}

/// Resumes the training in `out`. Only the limits of `config` apply ([`TrainConfig::max_epochs`], `max_minutes`, `patience`,
/// `save_every`); `sources` may give new paths of the pairs.
///
/// # Errors
/// There is no resumable state, it is damaged or does not match its settings, the pairs differ, or training fails as in
/// [`train`].
pub fn resume(
    out: &Path,
    config: &TrainConfig,
    sources: &SourceOptions,
    context: RunContext,
) -> Result<TrainingOutcome> {
    let has_auxiliary_models = ModelDir::new(out).is_before_last_training();
    if context.communicator.size() == 1 {
        return if has_auxiliary_models {
            AuxiliaryTraining::resume(out, config, sources, context)?.run()
        } else {
            Session::resume(out, config, sources, context)?.run(None, context)
        };
    }
    run_together(out, sources, context, has_auxiliary_models, || Session::resume(out, config, sources, context))
}

/// Returns the options that were given when the training in `out` began, by name; empty if there is no record.
pub fn recorded_options(out: &Path) -> Map<String, Value> {
    let model_dir = ModelDir::new(out);
    let invocation = if model_dir.is_before_last_training() {
        model_dir.load_plan(Plan::check).ok().map(|plan| plan.invocation)
    } else {
        model_dir.config().and_then(|config| config.begun)
    };
    invocation.map(|invocation| invocation.options).unwrap_or_default()
}

impl TrainingSpec {
    /// True if auxiliary models are trained first.
    pub(super) fn has_auxiliary_models(&self) -> bool {
        self.config.teachers.is_some_and(|count| count > 0) || !self.sources.monolingual_target.is_none()
    }

    /// Rejects what auxiliary models cannot be trained with.
    fn check_auxiliary(&self) -> Result<()> {
        let sources = &self.sources;
        let option = if sources.monolingual_target.is_none() { "--teachers" } else { "--monolingual-target" };
        if self.replace {
            return usage(format!("{option} needs a directory without another model: name one with --out"));
        }
        if sources.guide.is_some() {
            return usage(format!("--guide cannot be used with {option}: synthetic pairs have no links"));
        }
        sources.check_rereadable(&format!("{option} needs"))?;
        let has_prefix = sources.layout().features.is_some() || !sources.tags().is_empty();
        if has_prefix && !sources.monolingual_target.is_none() {
            return usage("--monolingual-target cannot be used with --features or --tag-source");
        }
        Ok(())
    }
}

impl<'a> AuxiliaryTraining<'a> {
    /// Begins a training in `out`, which is created if it does not exist.
    ///
    /// # Errors
    /// The pairs or options are unusable, the directory is locked or not empty, or a file cannot be written.
    pub fn begin(spec: TrainingSpec, out: &Path, context: RunContext<'a>) -> Result<Self> {
        let RunContext { device, observer, .. } = context;
        let (model_dir, began) = (ModelDir::new(out), Instant::now());
        spec.check_auxiliary()?;
        let (_, config) = spec.warm_start(out, device)?;
        let locked = || lock_for_new(&model_dir, false, observer);
        // A new directory is created only once the sentences are read.
        let lock = out.is_dir().then(locked).transpose()?;
        let sentences = AuxiliaryText::read(&spec, &config, observer)?;
        let attention_pairs = spec.sources.read_attention_pairs()?;
        model_dir.make()?;
        let lock = lock.map_or_else(locked, Ok)?;
        let (command_line, options) = spec.invocation.clone();
        let plan = Plan {
            config: spec.config.clone(),
            data: sentences.summary(&spec.sources),
            attention_pairs,
            init_from: spec.init_from.clone(),
            invocation: Invocation { command_line, options, threads: rayon::current_num_threads() },
            seconds: 0.0,
        };
        model_dir.save_plan(&plan)?;
        Ok(Self { spec, model_dir, lock, plan, sentences, began, context })
    }

    /// Resumes the training in `out`. Only the limits of `config` apply, to the trainings that have not begun.
    ///
    /// # Errors
    /// The plan is damaged, or the pairs or monolingual sentences differ.
    pub fn resume(out: &Path, config: &TrainConfig, options: &SourceOptions, context: RunContext<'a>) -> Result<Self> {
        let RunContext { device, observer, .. } = context;
        let (model_dir, now) = (ModelDir::new(out), Instant::now());
        config.validate_limits()?;
        let lock = lock(&model_dir, observer)?;
        let mut plan = model_dir.load_plan(Plan::check)?;
        let limits = &mut plan.config;
        limits.max_epochs = config.max_epochs.or(limits.max_epochs);
        limits.max_minutes = config.max_minutes.or(limits.max_minutes);
        limits.patience = config.patience.or(limits.patience);
        limits.save_every = config.save_every.or(limits.save_every);
        let Invocation { command_line, options: given, .. } = plan.invocation.clone();
        let spec = TrainingSpec {
            config: plan.config.clone(),
            sources: TrainingSources::of_resumed_run(options, &plan.data)?
                .recording_attention_on(&plan.attention_pairs),
            init_from: plan.init_from.clone(),
            invocation: (command_line, given),
            replace: false,
        };
        spec.check_auxiliary()?;
        let sentences = AuxiliaryText::read(&spec, &spec.warm_start(out, device)?.1, &Silent)?;
        ensure!(
            sentences.summary(&spec.sources).fingerprint == plan.data.fingerprint,
            "{}: not the sentences that training in {} began with; --resume needs the same, in the same order",
            spec.sources.name(),
            out.display()
        );
        let began = now.checked_sub(Duration::from_secs_f64(plan.seconds)).unwrap_or(now);
        Ok(Self { spec, model_dir, lock, plan, sentences, began, context })
    }

    /// Trains the auxiliary models that are missing, and then the model.
    ///
    /// # Errors
    /// As those of [`Session`]; a synthetic corpus cannot be written.
    pub fn run(mut self) -> Result<TrainingOutcome> {
        let teachers = 1..=self.plan.config.teachers.unwrap_or(0);
        let back_translates = !self.sentences.monolingual.is_empty();
        let total = self.count();
        let mut corpora: Vec<SyntheticFiles> = Vec::new();
        let names = back_translates.then(|| "reverse".to_owned()).into_iter();
        for (number, name) in (1..).zip(names.chain(teachers.map(|index| format!("teacher-{index}")))) {
            let model = match number {
                1 if back_translates => self.reverse_model(name),
                _ => self.teacher(name, number, &corpora),
            };
            let corpus = model.corpus.clone();
            if !model.texts.exist(&self.model_dir, &corpus.name) {
                self.context
                    .observer
                    .note(&format!("auxiliary model {number} of {total}: {}", model.name.replace('-', " ")));
                let ended = self.make(&model, number);
                self.plan.seconds = self.began.elapsed().as_secs_f64();
                if number > 1 || self.model_dir.auxiliary_model(&model.name).path().exists() {
                    self.lock.ensure_held()?;
                    self.model_dir.save_plan(&self.plan)?;
                }
                if ended? == StopReason::Interrupted {
                    return Ok(interrupted());
                }
            }
            let corpus = SyntheticFiles::new(&self.model_dir, corpus);
            corpus.files.read("--train").with_context(|| {
                format!("{}: damaged; remove these files and --resume makes them again", corpus.files)
            })?;
            corpora.push(corpus);
        }
        let Self { mut spec, model_dir, lock, began, context, .. } = self;
        spec.sources.synthetic = corpora;
        let progress = TrainState { auxiliary_seconds: began.elapsed().as_secs_f64(), ..TrainState::default() };
        ensure!(
            spec.config.max_minutes.is_none_or(|minutes| progress.auxiliary_seconds < 60.0 * minutes),
            "{}: no time is left for the model itself after its auxiliary models; --resume with more --max-minutes continues",
            model_dir.path().display()
        );
        context.observer.note(&format!("training the model itself, after {}", counted(total, "auxiliary model")));
        let start = spec.warm_start(model_dir.path(), context.device)?;
        Session::begin_in(&model_dir, || Ok(lock), &spec, start, (began, progress), context)?.run(None, context)
    }

    /// Trains an auxiliary model, the first of which has the number 1, and translates its texts. Returns
    /// [`StopReason::Interrupted`] or why training ended.
    fn make(&self, model: &AuxiliaryModel, number: usize) -> Result<StopReason> {
        let (directory, observer) = (self.model_dir.auxiliary_model(&model.name), self.context.observer);
        let state = directory.dir_state();
        let session = if state == DirState::Training {
            let pairs = SourceOptions { pairs: Some(model.spec.sources.clone()), ..SourceOptions::default() };
            let limits = TrainConfig { save_every: model.spec.config.save_every, ..TrainConfig::default() };
            Session::resume(directory.path(), &limits, &pairs, self.context)
        } else {
            Session::begin(&model.spec, directory.path(), self.context)
        };
        let session = match state {
            DirState::Nothing => session,
            _ => session.with_context(|| directory.retraining_advice()),
        };
        if session.is_err() && observer.should_stop() {
            return Ok(StopReason::Interrupted);
        }
        if session.is_err() && number == 1 && !directory.path().exists() {
            self.model_dir.remove_plan();
        }
        let outcome = session?.run(Some(&model.name.replace('-', " ")), self.context)?;
        if outcome.reason == StopReason::Interrupted {
            return Ok(StopReason::Interrupted);
        }
        outcome.unrecorded?;
        self.lock.ensure_held()?;
        let complete = model.texts.translate(
            &self.model_dir,
            &model.corpus.name,
            directory.path(),
            self.part_minutes().map(|part| self.began + Duration::from_secs_f64(60.0 * part * number as f64)),
            self.context.device,
            observer,
        )?;
        Ok(if complete { outcome.reason } else { StopReason::Interrupted })
    }

    /// Returns the model from target to source, which back-translates the monolingual sentences.
    fn reverse_model(&self, name: String) -> AuxiliaryModel {
        let reversed =
            |pairs: &[Pair]| -> Vec<Pair> { pairs.iter().map(|pair| Pair::new(&pair.target, &pair.source)).collect() };
        let config = self.auxiliary_config(0);
        let config = TrainConfig { source_tokenization: config.target_tokenization, target_tokenization: config.source_tokenization, ..config };
        let [training, validation] =
            [&self.sentences.split.training, &self.sentences.split.validation].map(|pairs| reversed(pairs));
        let weight = MAX_BACK_TRANSLATIONS * training.len() as f64 / self.sentences.monolingual.len() as f64;
        AuxiliaryModel {
            spec: TrainingSpec { init_from: None, ..self.auxiliary_spec(config, &training, &validation) },
            corpus: SyntheticCorpus {
                name: "back-translations".to_owned(),
                source: CorpusSource { weight: weight.min(1.0), tag: Some(BACK_TRANSLATED.to_owned()) },
            },
            texts: SyntheticTexts {
                texts: self.sentences.monolingual.clone(),
                are_targets: true,
                decoding: DecodeOptions::greedy(),
                progress: "back-translating",
            },
            name,
        }
    }

    /// Returns a teacher, which translates the sources of the training pairs. It learns the back-translations too.
    fn teacher(&self, name: String, number: usize, corpora: &[SyntheticFiles]) -> AuxiliaryModel {
        let SplitPairs { training, validation, .. } = &self.sentences.split;
        let mut spec = self.auxiliary_spec(self.auxiliary_config(number as u64), training, validation);
        let is_tagged = |part: &&SyntheticFiles| part.corpus.source.tag.is_some();
        spec.sources.synthetic = corpora.iter().filter(is_tagged).cloned().collect();
        let mut seen = HashSet::new();
        let sources = training.iter().map(|pair| &pair.source).filter(|source| seen.insert(*source));
        AuxiliaryModel {
            spec,
            corpus: SyntheticCorpus { name: name.clone(), source: CorpusSource { weight: 1.0, tag: None } },
            texts: SyntheticTexts {
                texts: sources.cloned().collect(),
                are_targets: false,
                decoding: DecodeOptions::default(),
                progress: "translating with the teacher",
            },
            name,
        }
    }

    /// Returns the number of auxiliary models.
    fn count(&self) -> usize {
        self.plan.config.teachers.unwrap_or(0) + usize::from(!self.sentences.monolingual.is_empty())
    }

    /// Returns an auxiliary model's part of the time limit, with its translations.
    fn part_minutes(&self) -> Option<f64> {
        self.plan.config.max_minutes.map(|minutes| minutes / (self.count() as f64 + LAST_PART))
    }

    /// Returns the settings of an auxiliary model, with the seed moved on.
    fn auxiliary_config(&self, further: u64) -> TrainConfig {
        let config = self.plan.config.clone();
        let tags = self.spec.sources.tags();
        TrainConfig {
            teachers: None,
            seed: Some(config.seed().wrapping_add(further)),
            max_minutes: self.part_minutes().map(|part| TRAINING_SHARE * part),
            protected_tokens: config.protected_tokens.iter().cloned().chain(tags).collect(),
            keep_best: None,
            keep_last: None,
            keep_attention: false,
            tensorboard: false,
            ..config
        }
    }

    /// Returns the training of an auxiliary model on pairs in memory.
    fn auxiliary_spec(&self, config: TrainConfig, training: &[Pair], validation: &[Pair]) -> TrainingSpec {
        let layout = self.spec.sources.layout();
        let mut by_weight: BTreeMap<u64, Vec<Pair>> = BTreeMap::new();
        for (pair, weight) in training.iter().zip(&self.sentences.weights) {
            by_weight.entry(weight.to_bits()).or_default().push(pair.clone());
        }
        let validation = (!self.sentences.split.validated_on_training).then_some(validation);
        let parts = by_weight.into_iter().map(|(weight, pairs)| (f64::from_bits(weight), pairs));
        TrainingSpec {
            config,
            sources: TrainingSources::weighted_in_memory(parts, validation, layout),
            init_from: self.spec.init_from.clone(),
            invocation: Default::default(),
            replace: false,
        }
    }
}

impl AuxiliaryText {
    /// Reads the pairs, and the monolingual sentences that are not blank, repeated or targets of pairs.
    fn read(spec: &TrainingSpec, config: &TrainConfig, observer: &dyn Observer) -> Result<Self> {
        let normalization = config.normalization();
        let mut read = spec.sources.read_training(observer)?;
        ensure!(!read.usable().is_empty(), "{}: no sentence pairs", spec.sources.training_name());
        let given = std::mem::take(&mut read.given);
        let split = SplitPairs::new(given, &spec.sources, normalization, config.seed(), &Silent)?;
        let weights = read.weights_of(&split.training).unwrap_or_else(|| vec![1.0; split.training.len()]);
        let lines = spec.sources.monolingual_target.read(spec.sources.on_error, observer)?;
        let total = lines.len();
        let monolingual = new_sentences(lines, &split, normalization);
        ensure!(
            spec.sources.monolingual_target.is_none() || !monolingual.is_empty(),
            "--monolingual-target: no sentence that is not also a target of the sentence pairs"
        );
        if monolingual.len() < total {
            observer.note(&format!(
                "monolingual sentences: left out {} of {total} that are blank, repeated or in the sentence pairs",
                total - monolingual.len()
            ));
        }
        Ok(Self { split, weights, monolingual })
    }

    /// Returns the summary of these sentences, before synthetic pairs are made.
    fn summary(&self, sources: &TrainingSources) -> DataSummary {
        let monolingual: Vec<Pair> = self.monolingual.iter().map(|line| Pair::new("", line)).collect();
        let SplitPairs { training, validation, validated_on_training, .. } = &self.split;
        DataSummary {
            training_pairs: training.len(),
            validation_pairs: validation.len(),
            validated_on_training: *validated_on_training,
            fingerprint: fingerprint(training.iter().chain(validation).chain(&monolingual)),
            // A reverse model has them in the other order.
            languages: None,
            ..sources.summary()
        }
    }
}

/// Returns the lines with text whose normalized form is neither repeated nor a target of the pairs.
fn new_sentences(lines: Vec<String>, split: &SplitPairs, normalization: Normalization) -> Vec<String> {
    let normal = |text: &str| normalization.apply(text.trim()).into_owned();
    let known = split.training.iter().chain(&split.validation).map(|pair| normal(&pair.target));
    let mut seen: HashSet<String> = known.chain([String::new()]).collect();
    lines.into_iter().filter(|line| seen.insert(normal(line))).collect()
}

fn interrupted() -> TrainingOutcome {
    TrainingOutcome {
        reason: StopReason::Interrupted,
        summary: "interrupted; --resume continues from here".to_owned(),
        validation: Vec::new(),
        unrecorded: Ok(()),
    }
}
