//! Training with auxiliary models, which are trained first: a reverse model, which back-translates target sentences (Sennrich
//! et al. 2016) that are then tagged (Caswell et al. 2019), and teachers, whose translations the model learns
//! (sequence-level knowledge distillation, Kim & Rush 2016; several teachers: Nguyen et al. 2020).

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::data::SplitPairs;
use super::locks::{lock, lock_for_new};
use super::new_session::NewTraining;
use super::outcome::TrainingOutcome;
use super::resumed_sources::ResumedSources;
use super::run_context::RunContext;
use super::session::Session;
use super::sources::{PLAIN, TrainingSources, WeightedPairs};
use super::spec::{GivenCommand, StartingPoint, TrainingSpec};
use super::synthetic_corpus::{SyntheticFiles, SyntheticTexts};
use super::warm_start::InitFrom;
use super::{new_session, resumed_session};
use crate::checkpoint::{
    CorpusSource, DataSummary, DirState, Invocation, Lock, ModelDir, SyntheticCorpus, fingerprint,
};
use crate::error::{usage, usage_of};
use crate::reporter::{Silent, counted};
use crate::text::{Normalization, Pair};
use crate::training::{Observer, RunConfig, RunLimits, StopReason, TrainConfig, check_seconds};
use crate::translator::DecodeOptions;

/// Tag of back-translated sentences.
const BACK_TRANSLATED: &str = "<bt>";
/// Expected number of back-translations per epoch and training pair, at most.
const MAX_BACK_TRANSLATIONS: f64 = 10.0;
/// Part of the time limit for the model itself, relative to an auxiliary model's.
const LAST_PART: f64 = 2.0;
/// Share of an auxiliary model's part for its training. The rest is for its translations.
const TRAINING_SHARE: f64 = 0.75;

/// Returns an auxiliary model's part of a time limit, with its translations, if there are so many.
fn part_of(limit: f64, count: usize) -> f64 {
    limit / (count as f64 + LAST_PART)
}

/// Returns the part of a time limit in which one of so many auxiliary models is trained.
pub(super) fn training_part(limit: f64, count: usize) -> f64 {
    TRAINING_SHARE * part_of(limit, count)
}

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
    /// Name of its directory.
    name: String,
    /// Position among the auxiliary models, from 1.
    number: usize,
    spec: TrainingSpec,
    corpus: SyntheticCorpus,
    texts: SyntheticTexts,
}

impl AuxiliaryModel {
    /// Name for messages.
    fn spoken_name(&self) -> String {
        self.name.replace('-', " ")
    }
}

/// Returns the record of the command that began a training of which only auxiliary models exist.
pub(super) fn planned_invocation(model_dir: &ModelDir) -> Option<Invocation> {
    model_dir.load_plan(Plan::check).ok().map(|plan| plan.invocation)
}

impl TrainingSpec {
    /// True if auxiliary models are trained first.
    pub(super) fn has_auxiliary_models(&self) -> bool {
        self.config.run.teachers.is_some_and(|count| count > 0) || !self.sources.monolingual_target.is_none()
    }

    /// Rejects what auxiliary models cannot be trained with.
    pub(super) fn check_auxiliary(&self) -> Result<()> {
        let sources = &self.sources;
        let option = if sources.monolingual_target.is_none() { "--teachers" } else { "--monolingual-target" };
        if self.replace {
            return usage(format!("{option} needs a directory without another model: name one with --out"));
        }
        if sources.guide.is_some() {
            return usage_of("guide", format!("cannot be used with {option}: synthetic pairs have no links"));
        }
        sources.check_rereadable(&format!("{option} needs"))?;
        let has_prefix = sources.layout().features.is_some() || !sources.tags().is_empty();
        if has_prefix && !sources.monolingual_target.is_none() {
            return usage_of("monolingual-target", "cannot be used with --features or --tag-source");
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
        let StartingPoint { config, .. } = spec.starting_point(out, device)?;
        // A new directory is created only once the sentences are read.
        let existed = out.is_dir();
        let lock = existed.then(|| lock_for_new(&model_dir, false, observer)).transpose()?;
        let sentences = AuxiliaryText::read(&spec, &config, observer)?;
        let attention_pairs = spec.sources.read_attention_pairs()?;
        model_dir.make()?;
        let lock = match lock {
            Some(lock) => lock,
            None => lock_for_new(&model_dir, false, observer)?,
        };
        let plan = Plan {
            config: spec.config.clone(),
            data: sentences.summary(&spec.sources),
            attention_pairs,
            init_from: spec.init_from.clone(),
            invocation: spec.command.invocation(),
            seconds: 0.0,
        };
        model_dir.save_plan(&plan)?;
        Ok(Self { spec, model_dir, lock, plan, sentences, began, context })
    }

    /// Resumes the training in `out`. The limits apply to the trainings that have not begun; unset ones stay.
    ///
    /// # Errors
    /// The plan is damaged, or the pairs or monolingual sentences differ.
    pub fn resume(out: &Path, limits: &RunLimits, sources: &ResumedSources, context: RunContext<'a>) -> Result<Self> {
        let RunContext { device, observer, .. } = context;
        let (model_dir, now) = (ModelDir::new(out), Instant::now());
        limits.validate()?;
        let lock = lock(&model_dir, observer)?;
        let mut plan = model_dir.load_plan(Plan::check)?;
        plan.config.limits = limits.or(&plan.config.limits);
        let spec = TrainingSpec {
            config: plan.config.clone(),
            sources: sources.resolve(&plan.data)?.recording_attention_on(&plan.attention_pairs),
            init_from: plan.init_from.clone(),
            command: plan.invocation.clone().into(),
            replace: false,
        };
        spec.check_auxiliary()?;
        let StartingPoint { config, .. } = spec.starting_point(out, device)?;
        let sentences = AuxiliaryText::read(&spec, &config, &Silent)?;
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
        let mut corpora: Vec<SyntheticFiles> = Vec::new();
        if self.back_translates() {
            let model = self.reverse_model();
            let Some(files) = self.synthetic_files(&model)? else { return Ok(TrainingOutcome::interrupted()) };
            corpora.push(files);
        }
        for _ in 0..self.teachers() {
            let model = self.teacher(corpora.len() + 1, &corpora);
            let Some(files) = self.synthetic_files(&model)? else { return Ok(TrainingOutcome::interrupted()) };
            corpora.push(files);
        }
        self.train_model(corpora)
    }

    /// Returns the synthetic corpus of an auxiliary model, which is made unless it exists; none if the observer stops the
    /// work.
    fn synthetic_files(&mut self, model: &AuxiliaryModel) -> Result<Option<SyntheticFiles>> {
        if !model.texts.exist(&self.model_dir, &model.corpus.name) {
            let (number, total) = (model.number, self.count());
            self.context.observer.note(&format!("auxiliary model {number} of {total}: {}", model.spoken_name()));
            let ended = self.make(model);
            self.plan.seconds = self.began.elapsed().as_secs_f64();
            if number > 1 || self.model_dir.auxiliary_model(&model.name).path().exists() {
                self.lock.ensure_held()?;
                self.model_dir.save_plan(&self.plan)?;
            }
            if ended? == StopReason::Interrupted {
                return Ok(None);
            }
        }
        let corpus = SyntheticFiles::new(&self.model_dir, model.corpus.clone());
        corpus
            .files
            .read("--train")
            .with_context(|| format!("{}: damaged; remove these files and --resume makes them again", corpus.files))?;
        Ok(Some(corpus))
    }

    /// Trains the model itself on the pairs and the synthetic corpora.
    fn train_model(self, corpora: Vec<SyntheticFiles>) -> Result<TrainingOutcome> {
        let total = self.count();
        let Self { mut spec, model_dir, lock, began, context, .. } = self;
        spec.sources.synthetic = corpora;
        let auxiliary_seconds = began.elapsed().as_secs_f64();
        ensure!(
            spec.config.limits.max_minutes.is_none_or(|minutes| auxiliary_seconds < 60.0 * minutes),
            "{}: no time is left for the model itself after its auxiliary models; --resume with more --max-minutes continues",
            model_dir.path().display()
        );
        context.observer.note(&format!("training the model itself, after {}", counted(total, "auxiliary model")));
        let start = spec.starting_point(model_dir.path(), context.device)?;
        let training = NewTraining { spec: &spec, start, model_dir, lock: Some(lock), began, auxiliary_seconds };
        training.begin(context)?.run(None, context)
    }

    /// Trains an auxiliary model and translates its texts. Returns [`StopReason::Interrupted`] or why training ended.
    fn make(&self, model: &AuxiliaryModel) -> Result<StopReason> {
        let (directory, observer) = (self.model_dir.auxiliary_model(&model.name), self.context.observer);
        let session = self.session(model, &directory);
        if session.is_err() && observer.should_stop() {
            return Ok(StopReason::Interrupted);
        }
        if session.is_err() && model.number == 1 && !directory.path().exists() {
            self.model_dir.remove_plan();
        }
        let outcome = session?.run(Some(&model.spoken_name()), self.context)?;
        if outcome.reason == StopReason::Interrupted {
            return Ok(StopReason::Interrupted);
        }
        outcome.unrecorded?;
        self.lock.ensure_held()?;
        let corpus = &model.corpus.name;
        let deadline = self.deadline(model.number);
        let is_complete = model.texts.translate(&self.model_dir, corpus, directory.path(), deadline, self.context)?;
        Ok(if is_complete { outcome.reason } else { StopReason::Interrupted })
    }

    /// Begins or resumes the training of an auxiliary model in its directory.
    fn session(&self, model: &AuxiliaryModel, directory: &ModelDir) -> Result<Session> {
        let session = match directory.dir_state() {
            DirState::Nothing => return new_session::begin(&model.spec, directory.path(), self.context),
            DirState::Training => {
                let save_every = model.spec.config.limits.save_every;
                let limits = RunLimits { save_every, ..RunLimits::default() };
                let sources = ResumedSources::Resolved(model.spec.sources.clone());
                resumed_session::resume(directory.path(), &limits, &sources, self.context)
            }
            _ => new_session::begin(&model.spec, directory.path(), self.context),
        };
        session.with_context(|| directory.retraining_advice())
    }

    /// Returns the model from target to source, which back-translates the monolingual sentences.
    fn reverse_model(&self) -> AuxiliaryModel {
        let mut config = self.auxiliary_config(0);
        std::mem::swap(&mut config.model.source_tokenization, &mut config.model.target_tokenization);
        let SplitPairs { training, validation, .. } = &self.sentences.split;
        let weight = MAX_BACK_TRANSLATIONS * training.len() as f64 / self.sentences.monolingual.len() as f64;
        let spec = self.auxiliary_spec(config, &reversed(training), &reversed(validation));
        AuxiliaryModel {
            name: "reverse".to_owned(),
            number: 1,
            spec: TrainingSpec { init_from: None, ..spec },
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
        }
    }

    /// Returns a teacher as the auxiliary model of this number, which translates the sources of the training pairs. It learns
    /// the back-translations too.
    fn teacher(&self, number: usize, corpora: &[SyntheticFiles]) -> AuxiliaryModel {
        let SplitPairs { training, validation, .. } = &self.sentences.split;
        let mut spec = self.auxiliary_spec(self.auxiliary_config(number as u64), training, validation);
        let back_translations = corpora.iter().filter(|part| part.corpus.source.tag.is_some());
        spec.sources.synthetic = back_translations.cloned().collect();
        let mut seen = HashSet::new();
        let sources = training.iter().map(|pair| &pair.source).filter(|source| seen.insert(*source));
        let name = format!("teacher-{}", number - usize::from(self.back_translates()));
        AuxiliaryModel {
            number,
            spec,
            corpus: SyntheticCorpus { name: name.clone(), source: PLAIN },
            texts: SyntheticTexts {
                texts: sources.cloned().collect(),
                are_targets: false,
                decoding: DecodeOptions::default(),
                progress: "translating with the teacher",
            },
            name,
        }
    }

    /// True if a reverse model is trained, the first of the auxiliary models.
    fn back_translates(&self) -> bool {
        !self.sentences.monolingual.is_empty()
    }

    /// Returns the number of teachers.
    fn teachers(&self) -> usize {
        self.plan.config.run.teachers.unwrap_or(0)
    }

    /// Returns the number of auxiliary models.
    fn count(&self) -> usize {
        self.teachers() + usize::from(self.back_translates())
    }

    /// Returns an auxiliary model's part of the time limit, with its translations.
    fn part_minutes(&self) -> Option<f64> {
        self.plan.config.limits.max_minutes.map(|minutes| part_of(minutes, self.count()))
    }

    /// Returns when the part of the auxiliary model of this number ends, if time is limited.
    fn deadline(&self, number: usize) -> Option<Instant> {
        self.part_minutes().map(|part| self.began + Duration::from_secs_f64(60.0 * part * number as f64))
    }

    /// Returns the settings of an auxiliary model, with the seed moved on.
    fn auxiliary_config(&self, further: u64) -> TrainConfig {
        let TrainConfig { mut model, run, limits } = self.plan.config.clone();
        model.protected_tokens.extend(self.spec.sources.tags());
        TrainConfig {
            model,
            run: RunConfig {
                teachers: None,
                seed: Some(run.seed().wrapping_add(further)),
                keep_best: None,
                keep_last: None,
                keep_attention: false,
                tensorboard: false,
                ..run
            },
            limits: RunLimits {
                max_minutes: limits.max_minutes.map(|minutes| training_part(minutes, self.count())),
                ..limits
            },
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
        let parts = by_weight.into_iter().map(|(bits, pairs)| WeightedPairs { weight: f64::from_bits(bits), pairs });
        TrainingSpec {
            config,
            sources: TrainingSources::weighted_in_memory(parts, validation, layout),
            init_from: self.spec.init_from.clone(),
            command: GivenCommand::default(),
            replace: false,
        }
    }
}

impl AuxiliaryText {
    /// Reads the pairs, and the monolingual sentences that are not blank, repeated or targets of pairs.
    fn read(spec: &TrainingSpec, config: &TrainConfig, observer: &dyn Observer) -> Result<Self> {
        let normalization = config.model.normalization();
        let mut read = spec.sources.read_training(observer)?;
        ensure!(!read.usable().is_empty(), "{}: no sentence pairs", spec.sources.training_name());
        let given = std::mem::take(&mut read.given);
        let split = SplitPairs::new(given, &spec.sources, normalization, config.run.seed(), &Silent)?;
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
    let known = split.training.iter().chain(&split.validation).map(|pair| normalized(&pair.target, normalization));
    let mut seen: HashSet<String> = known.chain([String::new()]).collect();
    lines.into_iter().filter(|line| seen.insert(normalized(line, normalization))).collect()
}

fn normalized(text: &str, normalization: Normalization) -> String {
    normalization.apply(text.trim()).into_owned()
}

/// Returns the pairs with source and target exchanged.
fn reversed(pairs: &[Pair]) -> Vec<Pair> {
    pairs.iter().map(|pair| Pair::new(&pair.target, &pair.source)).collect()
}
