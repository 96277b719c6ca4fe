//! Training in a model directory, once its data and its state are loaded.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::data::TrainingData;
use super::model_quality::{ModelQuality, TrainingEnd, TrainingExtract};
use super::outcome::{TrainingOutcome, describe, summary};
use super::recorder::Recorder;
use super::run_context::RunContext;
use super::user_alignments::{USER_WORDS, UserAlignments};
use crate::checkpoint::{Checkpoint, Config, Lock, ModelDir};
use crate::model::RnnSearch;
use crate::parameters::Parameters;
use crate::reporter::{Reporter, Silent};
use crate::text::{EncodedCorpus, Pair};
use crate::training::{
    AlignmentTargets, BestValidations, EpochData, Event, Optimizer, StopReason, TrainState, TrainingLoop,
    TrainingLoopParts, ValidationSet, unigram_perplexity,
};
use crate::translator::Translator;

/// Number of validation pairs whose translations and attention each validation reports.
const SAMPLES: usize = 5;

/// Maximum number of validation pairs that measure the trained model and calibrate its confidence.
const MEASURED_PAIRS: usize = 1000;

/// Model directory of a training, with the configuration and vocabularies of its model.
pub(super) struct TrainingDir {
    pub model_dir: ModelDir,
    /// None in all processes but the first, which alone writes.
    pub lock: Option<Lock>,
    pub checkpoint: Checkpoint,
}

/// Data of a training, encoded, with alignment targets.
pub(super) struct SessionData {
    pub examples: EpochData,
    pub validation: EncodedCorpus,
    extract: TrainingExtract,
}

/// Parameters, which track gradients, with the optimizer and the progress of their training.
pub(super) struct TrainedState {
    pub parameters: Parameters,
    pub optimizer: Optimizer,
    pub progress: TrainState,
    /// Translations of the best validations.
    pub best_validations: BestValidations,
}

/// Times of a run.
pub(super) struct Timing {
    /// Start of the time that counts for the time limit.
    pub began: Instant,
    /// Time between saves of the state for resuming.
    pub save_every: Duration,
}

/// A training with its directory locked and its data loaded.
pub(super) struct Session {
    directory: TrainingDir,
    data: SessionData,
    model: RnnSearch,
    optimizer: Optimizer,
    progress: TrainState,
    best_validations: BestValidations,
    timing: Timing,
}

impl Timing {
    /// Returns the times of a run that saves its state each `minutes`.
    pub fn new(began: Instant, minutes: f64) -> Self {
        Self { began, save_every: Duration::from_secs_f64(60.0 * minutes) }
    }
}

impl TrainingDir {
    /// Fails if the lock was lost to another process.
    pub fn ensure_held(&self) -> Result<()> {
        self.lock.as_ref().map_or(Ok(()), Lock::ensure_held)
    }

    /// Returns the training examples, with alignment targets if attention is guided, and the validation pairs.
    ///
    /// # Errors
    /// Guided alignment needs the aligner, and its file is missing or damaged.
    pub fn session_data(&self, data: TrainingData) -> Result<SessionData> {
        let Config { training, text, .. } = &self.checkpoint.config;
        let alignment_targets = match training.guided_alignment {
            Some(weight) => Some(self.alignment_targets(&data.training.pairs, data.links.as_ref(), weight as f32)?),
            None => None,
        };
        let vocabularies = [self.checkpoint.source.clone(), self.checkpoint.target.clone()];
        let augmentation = training.augmentation();
        let extract = TrainingExtract::new(&data.training.pairs, &data.validation.pairs);
        let examples = EpochData::new(data.training, &vocabularies, alignment_targets, augmentation, text.max_length)?;
        Ok(SessionData { examples, validation: data.validation, extract })
    }

    /// Returns the alignment targets of pairs. The aligner is loaded from its file, in a new training too: in memory it holds
    /// more than its file, and would give other targets.
    fn alignment_targets(
        &self,
        pairs: &[Pair],
        links: Option<&UserAlignments>,
        weight: f32,
    ) -> Result<AlignmentTargets> {
        if let Some(links) = links {
            return Ok(AlignmentTargets::from_links(links.for_pairs(pairs), USER_WORDS, weight));
        }
        let aligner = self.model_dir.load_aligner(&self.checkpoint)?.with_context(|| {
            format!(
                "{}: aligner.safetensors is missing, which guided alignment needs; this training cannot be resumed{}",
                self.model_dir.path().display(),
                self.model_dir.other_model_advice(": ")
            )
        })?;
        Ok(AlignmentTargets::new(pairs, &aligner, weight))
    }

    /// Measures the trained model on pairs that it was not trained on, and saves the calibration of its confidence. None if there
    /// are too few.
    fn measure(
        mut self,
        held_out: &[Pair],
        extract: &TrainingExtract,
        end: &TrainingEnd,
        context: RunContext,
    ) -> Result<Option<ModelQuality>> {
        if self.checkpoint.config.data.validated_on_training {
            return Ok(None);
        }
        let translator = Translator::load_on(self.model_dir.path(), context.device)?;
        let translated = translator.translate_sources(held_out, context.observer)?;
        self.checkpoint.config.confidence = translator.calibrate(held_out, &translated)?;
        self.ensure_held()?;
        self.model_dir.save_config(&self.checkpoint)?;
        ModelQuality::measure(&translator, held_out, &translated.translations, extract, end)
    }
}

impl Session {
    /// Returns the session of a training that begins, resumes or is joined.
    ///
    /// # Errors
    /// The lexicon cannot be read, or the model cannot be allocated.
    pub fn new(directory: TrainingDir, data: SessionData, state: TrainedState, timing: Timing) -> Result<Self> {
        let Config { architecture, training, .. } = &directory.checkpoint.config;
        let lexicon = directory.model_dir.load_lexicon(&directory.checkpoint)?;
        let model = RnnSearch::new(architecture.clone(), state.parameters)?;
        let model = model.with_lexicon(lexicon).with_precision(training.precision);
        let TrainedState { optimizer, progress, best_validations, .. } = state;
        Ok(Self { directory, data, model, optimizer, progress, best_validations, timing })
    }

    /// Restores the directory of a resumed training to the state that it resumes from.
    ///
    /// # Errors
    /// The lock was lost, or a file cannot be written.
    pub fn restore_directory(&self, reporter: &dyn Reporter) -> Result<()> {
        let TrainingDir { model_dir, checkpoint, .. } = &self.directory;
        self.directory.ensure_held()?;
        let validated = self.optimizer.average().unwrap_or(self.model.parameters());
        model_dir.reconcile(checkpoint, &self.progress, validated)?;
        describe(&checkpoint.config, reporter);
        reporter.note(&format!("resuming after epoch {}, step {}", self.progress.epoch, self.progress.step));
        Ok(())
    }

    /// Trains until a stop condition holds, and saves the model. `name` is that of an auxiliary model.
    ///
    /// # Errors
    /// The loss is no longer finite, or a file cannot be written. The last good checkpoint remains.
    pub fn run(self, name: Option<&str>, context: RunContext) -> Result<TrainingOutcome> {
        let Self { mut directory, data, model, optimizer, progress, best_validations, timing } = self;
        let RunContext { communicator, observer, .. } = context;
        // A resumed run has other limits than config.json says.
        let settings = &mut directory.checkpoint.config.training;
        *settings = communicator.broadcast_value(settings.clone())?;
        let TrainingDir { model_dir, lock, checkpoint } = &directory;
        let settings = &checkpoint.config.training;
        observer.event(&Event::Model { name, text: &checkpoint.config.text, settings });
        let step = progress.step;
        let samples = samples(&data.validation, checkpoint)?;
        let validation = ValidationSet {
            corpus: &data.validation,
            samples: &samples,
            source_vocabulary: &checkpoint.source,
            target_vocabulary: &checkpoint.target,
            unigram_perplexity: unigram_perplexity(
                data.examples.examples(),
                &data.validation.examples,
                checkpoint.config.architecture.target_vocabulary,
            ),
        };
        let mut training = TrainingLoop::new(TrainingLoopParts {
            model,
            optimizer,
            progress,
            best_validations,
            settings,
            examples: &data.examples,
            validation: &validation,
            communicator,
            began: timing.began,
        })?;
        let (reason, unrecorded) = match lock {
            Some(lock) => {
                let mut recorder = Recorder::new(model_dir, lock, checkpoint, step, observer)?;
                (training.run(timing.save_every, &mut recorder)?, recorder.finish())
            }
            None => (training.run(timing.save_every, &mut Silent)?, Ok(())),
        };
        let summary = summary(reason, settings, training.progress(), model_dir);
        let end = TrainingEnd {
            metric: settings.metric,
            selection_bias: training.selection_bias(),
            unigram_perplexity: validation.unigram_perplexity,
            is_improving: training.is_improving(),
            is_out_of_time: reason == StopReason::Time,
        };
        drop(training);
        if lock.is_none() || reason == StopReason::Interrupted {
            return Ok(TrainingOutcome { reason, summary, validation: Vec::new(), quality: None, unrecorded });
        }
        let held_out = data.validation.subsample(MEASURED_PAIRS).pairs;
        let quality = directory.measure(&held_out, &data.extract, &end, context);
        let (quality, unrecorded) = match quality {
            Ok(quality) => (quality, unrecorded),
            Err(error) => (None, unrecorded.and(Err(error))),
        };
        Ok(TrainingOutcome { reason, summary, validation: data.validation.pairs, quality, unrecorded })
    }
}

/// Returns the pairs whose translations and attention each validation reports.
fn samples(validation: &EncodedCorpus, checkpoint: &Checkpoint) -> Result<EncodedCorpus> {
    let Config { training, text, .. } = &checkpoint.config;
    if training.attention_pairs.is_empty() {
        return Ok(validation.subsample(SAMPLES));
    }
    EncodedCorpus::new(training.attention_pairs.clone(), &checkpoint.source, &checkpoint.target, text.max_length)
}
