//! The training loop.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::process_group::ProcessGroup;
use super::schedule::HOLD_SHARE;
use super::{
    BestValidations, EpochData, Event, Optimizer, Schedule, Snapshot, StepReport, StopReason, Store, TrainState,
    TrainingSettings, ValidationReport, ValidationSet,
};
use crate::communicator::Communicator;
use crate::kernels::tensor_mut::all_finite;
use crate::metrics::perplexity;
use crate::model::{BatchLoss, Dropout, RnnSearch, TrainingStep};
use crate::parameters::Gradients;
use crate::text::Batch;

/// Consecutive validations without improvement after which the learning rate decays.
const VALIDATIONS_BEFORE_DECAY: u64 = 2;

/// Consecutive steps without a finite loss and gradient after which training fails.
const MAX_CONSECUTIVE_SKIPS: u64 = 5;

/// Consecutive validations without improvement after which a training with a time limit decays the learning rate early, and
/// their minimum share of all validations.
const VALIDATIONS_BEFORE_END: u64 = 20;
const STALE_SHARE: f64 = 0.25;

/// Excess of the loss over that of equally likely tokens above which training has diverged, in nats per token.
const DIVERGED: f64 = 2.0;
/// Weight of a step in the moving average of the loss by which divergence is judged.
const STEP_WEIGHT: f64 = 0.1;

/// A training run.
pub struct TrainingLoop<'a> {
    model: RnnSearch,
    optimizer: Optimizer,
    gradients: Gradients,
    settings: &'a TrainingSettings,
    examples: &'a EpochData,
    validation: &'a ValidationSet<'a>,
    processes: ProcessGroup<'a>,
    progress: TrainState,
    /// Best validations of this run and those before.
    best_validations: BestValidations,
    /// Loss at the last validation of this run.
    last_loss: Option<f64>,
    began: Instant,
    seconds_before: f64,
    consecutive_skips: u64,
    /// Moving average of the loss without smoothing, in nats per token.
    recent_loss: Option<f64>,
    last_save: Instant,
    loop_start: LoopStart,
}

/// Start of this run's loop, without the preparation.
struct LoopStart {
    time: Instant,
    /// Number of steps before it.
    step: u64,
}

/// Parts of a training loop.
pub struct TrainingLoopParts<'a> {
    /// Model, whose parameters must track gradients.
    pub model: RnnSearch,
    /// Optimizer of its parameters.
    pub optimizer: Optimizer,
    /// Training state, checked by [`TrainState::check_position`].
    pub progress: TrainState,
    /// Translations of the best validations before.
    pub best_validations: BestValidations,
    /// Training settings.
    pub settings: &'a TrainingSettings,
    /// Training data.
    pub examples: &'a EpochData,
    /// Validation data.
    pub validation: &'a ValidationSet<'a>,
    /// Processes that train together. The state of the first one is that of all.
    pub communicator: &'a dyn Communicator,
    /// Start of its time, which includes preparation.
    pub began: Instant,
}

/// Improvements by a validation.
struct Improvement {
    /// The model is the best so far.
    best: bool,
    /// The loss is the lowest so far.
    lower_loss: bool,
}

/// Update of the parameters by a batch.
struct Update {
    loss: BatchLoss,
    /// Global norm of the gradients before clipping.
    gradient_norm: f64,
}

/// Sums over the part of an epoch that this run has trained.
#[derive(Default)]
struct EpochTotals {
    loss: f64,
    negative_log_likelihood: f64,
    tokens: usize,
    time: Duration,
}

impl<'a> TrainingLoop<'a> {
    /// Returns the loop of a new or resumed run.
    ///
    /// # Errors
    /// The gradients cannot be allocated.
    pub fn new(parts: TrainingLoopParts<'a>) -> Result<Self> {
        let TrainingLoopParts {
            model,
            optimizer,
            progress,
            best_validations,
            settings,
            examples,
            validation,
            communicator,
            began,
        } = parts;
        Ok(Self {
            seconds_before: progress.seconds,
            loop_start: LoopStart { time: Instant::now(), step: progress.step },
            gradients: Gradients::zeros(model.parameters())?,
            model,
            optimizer,
            settings,
            examples,
            validation,
            processes: ProcessGroup::new(communicator),
            progress,
            best_validations,
            last_loss: None,
            began,
            consecutive_skips: 0,
            recent_loss: None,
            last_save: Instant::now(),
        })
    }

    /// Returns the training state.
    pub fn progress(&self) -> &TrainState {
        &self.progress
    }

    /// Estimates by how much the best validation is better than the model is on other pairs, because validation
    /// chose the model: in points of the metric.
    pub fn selection_bias(&self) -> f64 {
        self.validation.selection_bias(&self.best_validations, self.settings.metric, self.settings.seed)
    }

    /// True if the last validation of this run has the lowest loss so far.
    pub fn is_improving(&self) -> bool {
        self.last_loss.is_some_and(|last| self.progress.best_loss.is_none_or(|best| last <= best))
    }

    /// Trains until a stop condition holds. The state for resuming is saved at each validation, and after `save_every`
    /// without one.
    ///
    /// # Errors
    /// The loss is no longer finite, or the store fails. Earlier saves remain.
    pub fn run(&mut self, save_every: Duration, store: &mut dyn Store) -> Result<StopReason> {
        self.synchronize(store)?;
        self.synchronize_parameters()?;
        let reason = loop {
            if self.progress.epoch >= self.settings.max_epochs {
                break StopReason::Epochs;
            }
            if self.out_of_patience() || self.has_ended_early(1) {
                break StopReason::Patience;
            }
            // A new run takes at least one step; a resumed one may have used up its time.
            if self.progress.step > 0 && self.share_of_time() >= 1.0 {
                break StopReason::Time;
            }
            if let Some(reason) = self.epoch(save_every, store)? {
                break reason;
            }
        };
        if self.processes.is_root() && self.progress.step > self.progress.validated_step {
            self.final_validation(store)?;
        }
        Ok(reason)
    }

    /// Trains an epoch or the rest of it.
    fn epoch(&mut self, save_every: Duration, store: &mut dyn Store) -> Result<Option<StopReason>> {
        let epoch = self.progress.epoch + 1;
        let examples = self.examples.epoch(self.settings.seed, self.progress.epoch);
        let batches = self.settings.batches(&examples, self.progress.epoch);
        store.event(&Event::Epoch { epoch, batches: batches.len(), done: self.progress.position })?;
        let mut totals = EpochTotals::default();
        loop {
            let batch = Batch::new(&examples, &batches[self.progress.position]);
            let event = self.step(&batch, batches.len(), &mut totals)?;
            store.event(&event)?;
            let last = self.progress.position == batches.len();
            if last {
                self.progress.epoch += 1;
                self.progress.position = 0;
            }
            let due = self.settings.validate_every.map_or(last, |every| self.progress.step.is_multiple_of(every));
            if self.processes.is_root() {
                if due {
                    self.validate(store)?;
                    self.shorten_plan(batches.len(), store)?;
                } else {
                    self.save_if_due(save_every, store)?;
                }
            }
            let should_stop = self.synchronize(store)?;
            if due {
                self.synchronize_parameters()?;
            }
            if should_stop {
                return Ok(Some(StopReason::Interrupted));
            }
            if self.share_of_time() >= 1.0 {
                return Ok(Some(StopReason::Time));
            }
            if self.has_ended_early(batches.len()) {
                return Ok(Some(StopReason::Patience));
            }
            if last || self.out_of_patience() {
                return Ok(None);
            }
        }
    }

    /// Takes over the first process' state. Returns true if it should stop.
    fn synchronize(&mut self, store: &mut dyn Store) -> Result<bool> {
        self.progress.seconds = self.seconds();
        let should_stop;
        (self.progress, should_stop) = self.processes.broadcast_state(&self.progress, store.should_stop())?;
        Ok(should_stop)
    }

    /// Takes over the first process' parameters and optimizer, from which those of other processors drift by rounding.
    fn synchronize_parameters(&mut self) -> Result<()> {
        self.processes.broadcast_tensors(self.snapshot().tensors().into_iter().map(|(_, tensor)| tensor))?;
        self.optimizer.set_steps(self.progress.applied_steps());
        Ok(())
    }

    /// Returns the completed share of the planned training, given the batches of the current epoch.
    fn share_done(&self, batches: usize) -> f64 {
        let epochs = self.progress.epoch as f64 + self.progress.position as f64 / batches as f64;
        (epochs / self.settings.max_epochs as f64).max(self.share_of_time()) / self.plan()
    }

    /// Returns the share of the planned epochs and minutes after which training ends.
    fn plan(&self) -> f64 {
        self.progress.shortened_plan.unwrap_or(1.0)
    }

    /// True if a shortened plan is completed.
    fn has_ended_early(&self, batches: usize) -> bool {
        self.progress.shortened_plan.is_some() && self.share_done(batches) >= 1.0
    }

    /// Begins the decay of the learning rate now, and shortens the rest of the training in proportion, if validations have
    /// stopped improving. A training without a time limit, or with patience, keeps its plan.
    fn shorten_plan(&mut self, batches: usize, store: &mut dyn Store) -> Result<()> {
        let TrainingSettings { max_minutes, patience, schedule, .. } = self.settings;
        let TrainState { validations, validations_since_best, shortened_plan, .. } = self.progress;
        let done = self.share_done(batches);
        let is_stale = validations_since_best >= VALIDATIONS_BEFORE_END
            && validations_since_best as f64 >= STALE_SHARE * validations as f64;
        let is_planned = *schedule != Schedule::Plateau && max_minutes.is_some() && patience.is_none();
        if !is_planned || !is_stale || shortened_plan.is_some() || done >= HOLD_SHARE {
            return Ok(());
        }
        let share = done / HOLD_SHARE;
        self.progress.shortened_plan = Some(share);
        store.event(&Event::Shortened { validations: validations_since_best, share })
    }

    /// Estimates the seconds left, given the batches of the current epoch.
    fn seconds_left(&self, batches: usize) -> f64 {
        let LoopStart { time, step } = self.loop_start;
        let pace = time.elapsed().as_secs_f64() / (self.progress.step - step) as f64;
        let epochs = self.plan() * self.settings.max_epochs as f64 - self.progress.epoch as f64;
        let by_epochs = pace * (epochs * batches as f64 - self.progress.position as f64);
        let limit = self.settings.max_minutes.map(|minutes| 60.0 * minutes * self.plan());
        let by_time = limit.map_or(f64::INFINITY, |limit| limit - self.seconds());
        by_epochs.min(by_time).max(0.0)
    }

    fn share_of_time(&self) -> f64 {
        self.settings.max_minutes.map_or(0.0, |minutes| self.progress.share_of_time(60.0 * minutes))
    }

    fn out_of_patience(&self) -> bool {
        self.settings.patience.is_some_and(|patience| self.progress.validations_since_best >= patience)
    }

    /// Takes the step of a batch, of which the current epoch has `batches`.
    fn step<'e>(&mut self, batch: &Batch, batches: usize, totals: &mut EpochTotals) -> Result<Event<'e>> {
        let began = Instant::now();
        let done = self.share_done(batches);
        let learning_rate = self.learning_rate(done);
        self.model.set_precision(self.settings.precision_after(done));
        let update = self.update_parameters(batch, learning_rate)?;
        self.progress.step += 1;
        self.progress.position += 1;
        self.progress.seconds = self.seconds();
        let Some(Update { loss, gradient_norm }) = update else { return self.skip() };
        self.consecutive_skips = 0;
        self.check_divergence(loss)?;
        totals.loss += loss.smoothed;
        totals.negative_log_likelihood += loss.negative_log_likelihood;
        totals.tokens += loss.tokens;
        totals.time += began.elapsed();
        Ok(Event::Step(StepReport {
            epoch: self.progress.epoch + 1,
            step: self.progress.step,
            loss: totals.loss / totals.tokens as f64,
            perplexity: perplexity(totals.negative_log_likelihood, totals.tokens),
            done: self.share_done(batches),
            learning_rate,
            gradient_norm,
            tokens_per_second: totals.tokens as f64 / totals.time.as_secs_f64(),
            seconds: self.progress.seconds,
            seconds_left: self.seconds_left(batches),
        }))
    }

    /// Updates the parameters by the gradients of a batch. If the loss or a gradient is not finite, nothing is updated, and the
    /// result is none.
    fn update_parameters(&mut self, batch: &Batch, learning_rate: f64) -> Result<Option<Update>> {
        let settings = self.settings;
        let dropout = Dropout::new(settings.dropout, settings.seed, self.progress.step + 1);
        let step = TrainingStep::new(batch, settings.label_smoothing, dropout).of_share(self.processes.share());
        let loss = self.model.gradients(step, &mut self.gradients)?;
        let loss = self.processes.all_reduce(&self.gradients, loss, self.model.device())?;
        if !loss.smoothed.is_finite() {
            return Ok(None);
        }
        let gradient_norm = self.optimizer.step(self.model.parameters(), &self.gradients, learning_rate)?;
        Ok(gradient_norm.is_finite().then_some(Update { loss, gradient_norm }))
    }

    /// Counts a step without an update.
    ///
    /// # Errors
    /// Too many steps in a row are skipped.
    fn skip<'e>(&mut self) -> Result<Event<'e>> {
        self.progress.skipped += 1;
        self.consecutive_skips += 1;
        if self.consecutive_skips == MAX_CONSECUTIVE_SKIPS {
            return Err(self.not_finite(&format!("loss or gradient of {MAX_CONSECUTIVE_SKIPS} consecutive steps")));
        }
        Ok(Event::Skipped { step: self.progress.step, skipped: self.progress.skipped })
    }

    /// Checks that the mean loss of the last steps is not much higher than that of an untrained model.
    ///
    /// # Errors
    /// Training has diverged.
    fn check_divergence(&mut self, loss: BatchLoss) -> Result<()> {
        let nats = loss.negative_log_likelihood / loss.tokens as f64;
        let recent = self.recent_loss.map_or(nats, |recent| recent + STEP_WEIGHT * (nats - recent));
        self.recent_loss = Some(recent);
        let untrained = (self.model.architecture().target_vocabulary as f64).ln();
        if recent <= untrained + DIVERGED {
            return Ok(());
        }
        Err(self.diverged(&format!(
            "training diverges: the loss is {recent:.1} nats per token, that of an untrained model {untrained:.1},"
        )))
    }

    fn not_finite(&self, what: &str) -> anyhow::Error {
        self.diverged(&format!("the {what} became infinite or NaN"))
    }

    fn diverged(&self, problem: &str) -> anyhow::Error {
        anyhow!(
            "{problem} at step {} (epoch {}); training stopped, and the last good checkpoint, if any, was kept; try a \
             --learning-rate below {}",
            self.progress.step,
            self.progress.epoch + 1,
            self.settings.learning_rate / 2.0
        )
    }

    /// Returns the learning rate of the next step, given the completed share of the training.
    fn learning_rate(&self, done: f64) -> f64 {
        let settings = self.settings;
        let warmup = ((self.progress.step + 1) as f64 / settings.warmup_steps.max(1) as f64).min(1.0);
        settings.learning_rate
            * warmup
            * settings.schedule.factor(done)
            * settings.decay.powi(self.progress.decays as i32)
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.began.elapsed().as_secs_f64()
    }

    /// Validates and saves. A lower loss is an improvement too, since BLEU is no guide in the first epochs.
    fn validate(&mut self, store: &mut dyn Store) -> Result<()> {
        store.event(&Event::Validating)?;
        let report = self.report()?;
        let score = report.validation_score(self.settings.metric).score;
        let before = self.progress.best_scheduled();
        let Improvement { best, lower_loss } = self.update_best(&report);
        let progress = &mut self.progress;
        progress.best_scheduled_score = Some(before.map_or(score, |before| before.max(score)));
        progress.validations += 1;
        if lower_loss || before.is_none_or(|before| score > before) {
            progress.validations_since_best = 0;
        } else {
            progress.validations_since_best += 1;
            if self.settings.schedule == Schedule::Plateau
                && progress.validations_since_best.is_multiple_of(VALIDATIONS_BEFORE_DECAY)
            {
                progress.decays += 1;
            }
        }
        self.save_validation(&report, best, store)
    }

    /// Validates at the end of a run between scheduled validations. The result may be the best model, but leaves schedule
    /// and patience unchanged, so that a resumed run continues as if uninterrupted.
    fn final_validation(&mut self, store: &mut dyn Store) -> Result<()> {
        store.event(&Event::Validating)?;
        let report = self.report()?;
        let (best_loss, best_scheduled) = (self.progress.best_loss, self.progress.best_scheduled());
        let Improvement { best, .. } = self.update_best(&report);
        self.progress.best_loss = best_loss;
        self.progress.best_scheduled_score = best_scheduled;
        self.save_validation(&report, best, store)
    }

    /// Checks that all values to save are finite, since loading rejects others.
    fn ensure_finite(&self) -> Result<()> {
        for (name, tensor) in self.snapshot().tensors() {
            if !all_finite(tensor)? {
                return Err(self.not_finite(&name.replace('/', " ")));
            }
        }
        Ok(())
    }

    fn report(&self) -> Result<ValidationReport> {
        self.ensure_finite()?;
        let averaged =
            self.optimizer.average().map(|average| self.model.with_parameters(average.clone())).transpose()?;
        let model = averaged.as_ref().unwrap_or(&self.model);
        let report = self.validation.report(model, self.settings.label_smoothing)?;
        if report.loss.is_finite() && report.perplexity.is_finite() {
            Ok(report)
        } else {
            Err(self.not_finite("validation loss"))
        }
    }

    /// Updates the best results.
    fn update_best(&mut self, report: &ValidationReport) -> Improvement {
        let progress = &mut self.progress;
        let validation_score = report.validation_score(self.settings.metric);
        self.best_validations.add(validation_score, &report.translations);
        let best = validation_score.beats(progress.best_validation_score());
        let lower_loss = progress.best_loss.is_none_or(|best| report.loss < best);
        if lower_loss {
            progress.best_loss = Some(report.loss);
        }
        if best {
            progress.best_score = Some(validation_score.score);
            progress.loss_of_best = Some(validation_score.loss);
            progress.best_step = progress.step;
        }
        Improvement { best, lower_loss }
    }

    fn save_validation(&mut self, report: &ValidationReport, best: bool, store: &mut dyn Store) -> Result<()> {
        self.last_loss = Some(report.loss);
        self.progress.seconds = self.seconds();
        self.progress.validated_step = self.progress.step;
        store.event(&Event::Validation { progress: &self.progress, report, best })?;
        self.save(store)?;
        store.save_validated(&self.snapshot(), best)
    }

    /// Saves the state between validations, unless the last save is recent.
    fn save_if_due(&mut self, save_every: Duration, store: &mut dyn Store) -> Result<()> {
        if self.last_save.elapsed() < save_every || self.consecutive_skips > 0 {
            return Ok(());
        }
        self.ensure_finite()?;
        self.save(store)
    }

    fn save(&mut self, store: &mut dyn Store) -> Result<()> {
        store.save_resume(&self.snapshot())?;
        self.last_save = Instant::now();
        Ok(())
    }

    fn snapshot(&self) -> Snapshot<'_> {
        let trained = self.model.parameters();
        let averaged = self.optimizer.average().unwrap_or(trained);
        let Self { optimizer, progress, best_validations, .. } = self;
        Snapshot { trained, averaged, optimizer, progress, best_validations }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use candle_core::{Device, Tensor};

    use super::*;
    use crate::communicator::SingleProcess;
    use crate::kernels::matrix::Precision;
    use crate::kernels::tensor_mut::with_slice_mut;
    use crate::model::Architecture;
    use crate::parameters::Parameters;
    use crate::reporter::Silent;
    use crate::text::{EncodedCorpus, GuideWeight, Normalization, Pair, Tokenization, Vocabulary};
    use crate::training::Augmentation;

    fn vocabulary(text: &str) -> Arc<Vocabulary> {
        let texts = std::iter::once(text);
        Arc::new(Vocabulary::train(texts, Tokenization::Word, Normalization::NONE, 99).unwrap())
    }

    fn with_training_loop(test: impl FnOnce(TrainingLoop, &EpochData)) {
        with_training_loop_in(Precision::F32, Schedule::Hold, test);
    }

    /// Calls `test` with a training loop over two pairs.
    fn with_training_loop_in(precision: Precision, schedule: Schedule, test: impl FnOnce(TrainingLoop, &EpochData)) {
        let settings = r#"{"seed": 1, "batch": {"sentences": 2}, "learning_rate": 0.01, "warmup_steps": 1, "decay": 1.0,
            "label_smoothing": 0.1, "dropout": {"embeddings": 0, "annotations": 0, "states": 0, "readout": 0},
            "max_gradient_norm": 1.0, "max_epochs": 9, "max_minutes": 1e6, "validate_every": null, "patience": null,
            "metric": "bleu"}"#;
        let settings: TrainingSettings = serde_json::from_str(settings).unwrap();
        let settings = TrainingSettings { precision, schedule, ..settings };
        let pairs = vec![Pair::new("a b c", "x y"), Pair::new("b c", "y z")];
        let vocabularies = [vocabulary("a b c"), vocabulary("x y z")];
        let corpus = EncodedCorpus::new(pairs.clone(), &vocabularies[0], &vocabularies[1], 9).unwrap();
        let held_out = EncodedCorpus::new(pairs, &vocabularies[0], &vocabularies[1], 9).unwrap();
        let examples = EpochData::new(corpus, &vocabularies, None, Augmentation::default(), 9).unwrap();
        let sizes = r#"{"source_vocabulary": 7, "target_vocabulary": 7, "embedding_size": 8, "hidden_size": 8,
            "attention_size": 8, "layers": 1, "tied_output": true, "initial_state": "mean"}"#;
        let architecture: Architecture = serde_json::from_str(sizes).unwrap();
        let parameters =
            Parameters::initialize(&architecture.parameter_spec(), 1, &Device::Cpu).unwrap().with_grad().unwrap();
        let optimizer = Optimizer::new(&parameters, 1.0, None).unwrap();
        let validation = ValidationSet {
            corpus: &held_out,
            samples: &held_out,
            source_vocabulary: &vocabularies[0],
            target_vocabulary: &vocabularies[1],
            unigram_perplexity: 7.0,
        };
        let parts = TrainingLoopParts {
            model: RnnSearch::new(architecture, parameters).unwrap(),
            optimizer,
            progress: TrainState::default(),
            best_validations: BestValidations::default(),
            settings: &settings,
            examples: &examples,
            validation: &validation,
            communicator: &SingleProcess,
            began: Instant::now(),
        };
        test(TrainingLoop::new(parts).unwrap(), &examples);
    }

    struct PanicsOnSave;

    impl Store for PanicsOnSave {
        fn event(&mut self, _: &Event) -> Result<()> {
            Ok(())
        }

        fn save_resume(&mut self, _: &Snapshot) -> Result<()> {
            unreachable!("saved an invalid state")
        }

        fn save_validated(&mut self, _: &Snapshot, _: bool) -> Result<()> {
            unreachable!("saved an invalid model")
        }

        fn should_stop(&self) -> bool {
            false
        }
    }

    /// The additional validation of an interrupted run must not count against later ones.
    #[test]
    fn only_scheduled_validations_count_for_patience() {
        for (best_scheduled_score, validations_since_best) in [(None, 1), (Some(-1.0), 0)] {
            with_training_loop(|mut training, _| {
                training.progress = TrainState {
                    validations: 3,
                    best_score: Some(200.0),
                    best_loss: Some(0.0),
                    best_scheduled_score,
                    ..TrainState::default()
                };
                training.validate(&mut Silent).unwrap();
                let progress = &training.progress;
                assert_eq!(progress.validations_since_best, validations_since_best);
                assert!(progress.best_score == Some(200.0) && progress.best_scheduled_score.is_some());
            });
        }
        with_training_loop(|mut training, _| {
            training.final_validation(&mut Silent).unwrap();
            assert!(training.progress.best_score.is_some() && training.progress.best_scheduled().is_none());
        });
    }

    #[test]
    fn training_with_a_time_limit_ends_early_without_improvement() {
        for (validations, validations_since_best, shortened) in [(30, 19, None), (100, 20, None), (30, 20, Some(0.555))]
        {
            with_training_loop(|mut training, _| {
                training.progress =
                    TrainState { epoch: 3, validations, validations_since_best, ..TrainState::default() };
                training.shorten_plan(4, &mut Silent).unwrap();
                let share = training.progress.shortened_plan.map(|share| (share * 1e3).floor() / 1e3);
                assert_eq!(share, shortened, "{validations} {validations_since_best}");
                // The learning rate has not changed yet, and decays from now on.
                assert_eq!(training.settings.schedule.factor(training.share_done(4)), 1.0);
                training.progress.epoch = 5;
                assert_eq!(training.has_ended_early(4), shortened.is_some());
            });
        }
    }

    /// Returns some parameters after a step in one of nine epochs, counted from 0.
    fn parameters_after_step(precision: Precision, schedule: Schedule, epoch: u64) -> Vec<f32> {
        let mut values = Vec::new();
        with_training_loop_in(precision, schedule, |mut training, examples| {
            training.progress.epoch = epoch;
            let batch = Batch::new(&examples.epoch(1, epoch), &[0, 1]);
            training.step(&batch, 1, &mut EpochTotals::default()).unwrap();
            let weight = training.model.parameters().get("readout.weight").unwrap();
            values = weight.flatten_all().unwrap().to_vec1().unwrap();
        });
        values
    }

    #[test]
    fn planned_training_ends_in_f32() {
        for (schedule, epoch, is_f32) in [
            (Schedule::Hold, 0, false),
            (Schedule::Hold, 8, true),
            (Schedule::Cosine, 8, true),
            (Schedule::Plateau, 8, false),
        ] {
            let [f32, bf16] =
                [Precision::F32, Precision::Bf16].map(|precision| parameters_after_step(precision, schedule, epoch));
            assert_eq!(f32 == bf16, is_f32, "{schedule:?} {epoch}");
        }
    }

    #[test]
    fn divergence_stops_training() {
        with_training_loop(|mut training, _| {
            let loss = |nats| BatchLoss { negative_log_likelihood: 4.0 * nats, tokens: 4, ..BatchLoss::default() };
            training.check_divergence(loss(2.0)).unwrap();
            training.check_divergence(loss(9.0)).unwrap();
            let error = (0..20).find_map(|_| training.check_divergence(loss(9.0)).err()).unwrap().to_string();
            assert!(error.contains("diverges") && error.contains("try a --learning-rate below 0.005"), "{error}");
        });
    }

    /// The tie is broken against the best model's loss, not against the lowest loss so far.
    #[test]
    fn equal_scores_are_ranked_by_loss() {
        with_training_loop(|mut training, _| {
            let mut report = training.report().unwrap();
            let is_best = [(85.0, 1.5), (90.0, 2.0), (90.0, 1.8), (90.0, 1.9)].map(|(bleu, loss)| {
                (report.scores.bleu, report.loss) = (bleu, loss);
                training.update_best(&report).best
            });
            assert_eq!(is_best, [true, true, true, false]);
        });
    }

    /// Sets the first value of a tensor to infinity.
    fn corrupt(tensor: &Tensor) {
        with_slice_mut(tensor, |values: &mut [f32]| {
            values[0] = f32::INFINITY;
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn saves_nothing_with_values_that_are_not_finite() {
        for kind in ["parameter", "first_moment"] {
            with_training_loop(|mut training, _| {
                let snapshot = training.snapshot();
                corrupt(snapshot.tensors().iter().find(|(name, _)| name.starts_with(kind)).unwrap().1);
                for validate in [TrainingLoop::validate, TrainingLoop::final_validation] {
                    let message = validate(&mut training, &mut PanicsOnSave).unwrap_err().to_string();
                    assert!(message.contains(kind) && message.contains("was kept"), "{message}");
                }
            });
        }
    }

    /// Values of all parameters.
    fn parameters(training: &TrainingLoop) -> Vec<Vec<f32>> {
        let parameters = training.model.parameters().iter();
        parameters.map(|(_, tensor)| tensor.flatten_all().unwrap().to_vec1().unwrap()).collect()
    }

    #[test]
    fn skips_steps_without_finite_loss_and_fails_after_several() {
        with_training_loop(|mut training, examples| {
            let good = Batch::new(&examples.epoch(1, 0), &[0, 1]);
            let mut bad = Batch::new(&examples.epoch(1, 0), &[0, 1]);
            bad.alignment_targets[0].push(GuideWeight { target: 0, source: 0, weight: f32::NAN });
            let mut totals = EpochTotals::default();
            for (batch, applied_steps) in [(&good, 1), (&bad, 1), (&bad, 1), (&good, 2)] {
                let before = parameters(&training);
                let event = training.step(batch, 9, &mut totals).unwrap();
                let updated = std::ptr::eq(batch, &raw const good);
                assert_eq!((matches!(event, Event::Step(_)), parameters(&training) != before), (updated, updated));
                assert_eq!(training.progress.applied_steps(), applied_steps);
            }
            assert_eq!((training.progress.step, training.progress.skipped), (4, 2));
            let failed = (1..=MAX_CONSECUTIVE_SKIPS).find(|_| training.step(&bad, 9, &mut totals).is_err());
            assert_eq!(failed, Some(MAX_CONSECUTIVE_SKIPS), "a good step resets the count");
        });
    }
}
