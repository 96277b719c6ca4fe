//! The training loop.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::{
    EpochData, Event, Optimizer, Schedule, Snapshot, StepReport, StopReason, Store, TrainState, TrainingSettings,
    ValidationReport, ValidationSet,
};
use crate::kernels::tensor_mut::all_finite;
use crate::model::{Dropout, RnnSearch};
use crate::parameters::Gradients;
use crate::text::Batch;

/// Validations in a row without improvement after which the learning rate decays: one may be bad luck.
const STALE_BEFORE_DECAY: u64 = 2;

/// Steps in a row that say nothing (their loss or gradient is no finite number) after which training ends: one may be bad
/// luck with its batch.
const MOST_SKIPPED: u64 = 5;

/// A training run.
pub struct TrainingLoop<'a> {
    model: RnnSearch,
    optimizer: Optimizer,
    gradients: Gradients,
    settings: &'a TrainingSettings,
    examples: &'a EpochData,
    validation: &'a ValidationSet<'a>,
    progress: TrainState,
    began: Instant,
    seconds_before: f64,
    /// Steps in a row that moved nothing.
    skipped_in_a_row: u64,
    saved: Instant,
}

/// What a run sets out with.
pub struct TrainerParts<'a> {
    /// The model, whose parameters must be tracked.
    pub model: RnnSearch,
    /// What moves them.
    pub optimizer: Optimizer,
    /// Where training stands, which [`TrainState::check_position`] has let through.
    pub progress: TrainState,
    /// How it trains.
    pub settings: &'a TrainingSettings,
    /// What it trains on.
    pub examples: &'a EpochData,
    /// What it is validated on.
    pub validation: &'a ValidationSet<'a>,
    /// From when its time counts: what was prepared took time as well.
    pub began: Instant,
}

/// Sums over the part of an epoch that this run has trained.
#[derive(Default)]
struct EpochTotals {
    loss: f64,
    units: usize,
    time: Duration,
}

impl<'a> TrainingLoop<'a> {
    /// A run that begins, or one that goes on.
    ///
    /// # Errors
    /// There is no room for gradients.
    pub fn new(from: TrainerParts<'a>) -> Result<Self> {
        let TrainerParts { model, optimizer, progress, settings, examples, validation, began } = from;
        Ok(Self {
            seconds_before: progress.seconds,
            gradients: Gradients::zeros(model.parameters())?,
            model,
            optimizer,
            settings,
            examples,
            validation,
            progress,
            began,
            skipped_in_a_row: 0,
            saved: Instant::now(),
        })
    }

    /// Where training stands.
    pub fn progress(&self) -> &TrainState {
        &self.progress
    }

    /// Trains until one of the reasons to stop. `save_every` is how much work may be lost to a kill: that long without a
    /// validation, and what training goes on from is saved.
    ///
    /// # Errors
    /// The loss is no longer finite, or the store cannot save. What was saved before stays.
    pub fn run(&mut self, save_every: Duration, store: &mut dyn Store) -> Result<StopReason> {
        let reason = loop {
            if self.progress.epoch >= self.settings.max_epochs {
                break StopReason::Epochs;
            }
            if self.out_of_patience() {
                break StopReason::Patience;
            }
            // A run that goes on may have used up its time before; a new one takes a step at least.
            if self.progress.step > 0 && self.share_of_time() >= 1.0 {
                break StopReason::Time;
            }
            if let Some(reason) = self.epoch(save_every, store)? {
                break reason;
            }
        };
        if self.progress.step > self.progress.validated_step {
            self.close(store)?;
        }
        Ok(reason)
    }

    /// Trains one epoch, or the rest of one.
    fn epoch(&mut self, save_every: Duration, store: &mut dyn Store) -> Result<Option<StopReason>> {
        let epoch = self.progress.epoch + 1;
        let examples = self.examples.of_epoch(self.settings.seed, self.progress.epoch);
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
            if due {
                self.validate(store)?;
            } else if self.saved.elapsed() >= save_every && self.skipped_in_a_row == 0 {
                self.ensure_finite()?;
                self.save(store)?;
            }
            if store.should_stop() {
                return Ok(Some(StopReason::Asked));
            }
            if self.share_of_time() >= 1.0 {
                return Ok(Some(StopReason::Time));
            }
            if last || self.out_of_patience() {
                return Ok(None);
            }
        }
    }

    /// How much of the training that is planned is done, within an epoch of so many batches.
    fn done(&self, batches: usize) -> f64 {
        let epochs = self.progress.epoch as f64 + self.progress.position as f64 / batches as f64;
        (epochs / self.settings.max_epochs as f64).max(self.share_of_time())
    }

    fn share_of_time(&self) -> f64 {
        self.settings.max_minutes.map_or(0.0, |minutes| self.seconds() / (60.0 * minutes))
    }

    fn out_of_patience(&self) -> bool {
        self.settings.patience.is_some_and(|patience| self.progress.evals_since_best >= patience)
    }

    fn step<'e>(&mut self, batch: &Batch, batches: usize, totals: &mut EpochTotals) -> Result<Event<'e>> {
        let settings = self.settings;
        let began = Instant::now();
        let step = self.progress.step + 1;
        let learning_rate = self.learning_rate(self.done(batches));
        let dropout = Dropout::new(settings.dropout, settings.seed, step);
        let loss = self.model.gradients(batch, settings.label_smoothing, &dropout, &mut self.gradients)?;
        let moved = loss.smoothed.is_finite()
            && self.optimizer.step(self.model.parameters(), &self.gradients, learning_rate)?.is_finite();
        let epoch = self.progress.epoch + 1;
        self.progress.step = step;
        self.progress.position += 1;
        self.progress.seconds = self.seconds();
        if !moved {
            self.progress.skipped += 1;
            self.skipped_in_a_row += 1;
            if self.skipped_in_a_row == MOST_SKIPPED {
                return Err(self.diverged(&format!("loss or gradient of {MOST_SKIPPED} steps in a row")));
            }
            return Ok(Event::Skipped { step, skipped: self.progress.skipped });
        }
        self.skipped_in_a_row = 0;
        totals.loss += loss.smoothed;
        totals.units += loss.units;
        totals.time += began.elapsed();
        Ok(Event::Step(StepReport {
            epoch,
            step,
            loss: totals.loss / totals.units as f64,
            done: self.done(batches),
            learning_rate,
            tokens_per_second: totals.units as f64 / totals.time.as_secs_f64(),
            seconds: self.progress.seconds,
        }))
    }

    /// Says that what was learned last is of no use.
    fn diverged(&self, what: &str) -> anyhow::Error {
        anyhow!(
            "the {what} became infinite or not a number, by step {} (epoch {}); training stopped and the last good \
             checkpoint, if there is one, was kept; try a lower --learning-rate than {}",
            self.progress.step,
            self.progress.epoch + 1,
            self.settings.learning_rate
        )
    }

    /// Of the next step, when so much of the training is done.
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

    /// Validates and saves. An improvement is a better score or a lower loss: where the
    /// score cannot tell yet (BLEU of the first epochs), the loss can.
    fn validate(&mut self, store: &mut dyn Store) -> Result<()> {
        store.event(&Event::Validating)?;
        let report = self.report()?;
        let score = report.validation_score(self.settings.metric).score;
        let before = self.progress.best_due();
        let (best, lower_loss) = self.update_best(&report);
        let progress = &mut self.progress;
        progress.best_due_score = Some(before.map_or(score, |before| before.max(score)));
        progress.validations += 1;
        if lower_loss || before.is_none_or(|before| score > before) {
            progress.evals_since_best = 0;
        } else {
            progress.evals_since_best += 1;
            if self.settings.schedule == Schedule::Plateau
                && progress.evals_since_best.is_multiple_of(STALE_BEFORE_DECAY)
            {
                progress.decays += 1;
            }
        }
        self.keep(&report, best, store)
    }

    /// Ends a run in the middle of things: what was learned since the last validation counts if it is the best, but
    /// schedule and patience stay as they were, so that a resumed run goes on as if it had not stopped.
    fn close(&mut self, store: &mut dyn Store) -> Result<()> {
        store.event(&Event::Validating)?;
        let report = self.report()?;
        let (best_loss, best_due) = (self.progress.best_loss, self.progress.best_due());
        let (best, _) = self.update_best(&report);
        self.progress.best_loss = best_loss;
        self.progress.best_due_score = best_due;
        self.keep(&report, best, store)
    }

    /// Checks all that is saved: a model or a training state with other numbers cannot be read back, and must not
    /// replace one that can.
    fn ensure_finite(&self) -> Result<()> {
        for (name, tensor) in self.snapshot().tensors() {
            if !all_finite(tensor)? {
                return Err(self.diverged(&name.replace('/', " ")));
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
            Err(self.diverged("validation loss"))
        }
    }

    /// Whether this is the best model so far, and whether the loss is the lowest so far.
    fn update_best(&mut self, report: &ValidationReport) -> (bool, bool) {
        let progress = &mut self.progress;
        let validation_score = report.validation_score(self.settings.metric);
        let best = validation_score.beats(progress.merit_of_best());
        let lower_loss = progress.best_loss.is_none_or(|best| report.loss < best);
        if lower_loss {
            progress.best_loss = Some(report.loss);
        }
        if best {
            progress.best_score = Some(validation_score.score);
            progress.loss_of_best = Some(validation_score.loss);
            progress.best_step = progress.step;
        }
        (best, lower_loss)
    }

    fn keep(&mut self, report: &ValidationReport, best: bool, store: &mut dyn Store) -> Result<()> {
        self.progress.seconds = self.seconds();
        self.progress.validated_step = self.progress.step;
        store.event(&Event::Validation { progress: &self.progress, report, best })?;
        self.save(store)?;
        store.save_validated(&self.snapshot(), best)
    }

    fn save(&mut self, store: &mut dyn Store) -> Result<()> {
        store.save_resume(&self.snapshot())?;
        self.saved = Instant::now();
        Ok(())
    }

    fn snapshot(&self) -> Snapshot<'_> {
        let trained = self.model.parameters();
        let used = self.optimizer.average().unwrap_or(trained);
        Snapshot { trained, used, optimizer: &self.optimizer, progress: &self.progress }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use candle_core::{Device, Tensor};

    use super::*;
    use crate::kernels::tensor_mut::with_slice_mut;
    use crate::model::Architecture;
    use crate::parameters::Parameters;
    use crate::text::{EncodedCorpus, GuideWeight, Normalization, Pair, Units, Vocabulary};
    use crate::training::Augmentation;

    /// A trainer of two pairs, with its model's parameters as they are.
    fn with_trainer(work: impl FnOnce(TrainingLoop, &EpochData)) {
        let settings = r#"{"seed": 1, "batch": {"sentences": 2}, "learning_rate": 0.01, "warmup_steps": 1, "decay": 1.0,
            "label_smoothing": 0.1, "dropout": {"embeddings": 0, "annotations": 0, "states": 0, "readout": 0},
            "max_gradient_norm": 1.0, "max_epochs": 9, "validate_every": null, "patience": null, "metric": "bleu"}"#;
        let settings: TrainingSettings = serde_json::from_str(settings).unwrap();
        let pair = |source: &str, target: &str| Pair { source: source.to_owned(), target: target.to_owned() };
        let pairs = vec![pair("a b c", "x y"), pair("b c", "y z")];
        let learn = |texts: &[&str]| {
            Arc::new(Vocabulary::train(texts.iter().copied(), Units::Word, Normalization::NONE, 99).unwrap())
        };
        let vocabularies = [learn(&["a b c"]), learn(&["x y z"])];
        let corpus = EncodedCorpus::new(pairs.clone(), &vocabularies[0], &vocabularies[1], 9).unwrap();
        let held_out = EncodedCorpus::new(pairs, &vocabularies[0], &vocabularies[1], 9).unwrap();
        let examples = EpochData::new(corpus, &vocabularies, None, Augmentation::default(), 9).unwrap();
        let sizes = r#"{"source_vocabulary": 7, "target_vocabulary": 7, "embedding_size": 8, "hidden_size": 8,
            "attention_size": 8, "layers": 1, "tied_output": true, "initial_state": "mean"}"#;
        let architecture: Architecture = serde_json::from_str(sizes).unwrap();
        let parameters =
            Parameters::initialize(&architecture.parameter_spec(), 1, &Device::Cpu).unwrap().with_grad().unwrap();
        let optimizer = Optimizer::new(&parameters, 1.0, None).unwrap();
        let model = RnnSearch::new(architecture, parameters).unwrap();
        let validation = ValidationSet {
            pairs: &held_out.pairs,
            examples: &held_out.examples,
            source_vocabulary: &vocabularies[0],
            target_vocabulary: &vocabularies[1],
        };
        let (settings, examples) = (&settings, &examples);
        let (progress, began) = (TrainState::default(), Instant::now());
        let parts = TrainerParts { model, optimizer, progress, settings, examples, validation: &validation, began };
        work(TrainingLoop::new(parts).unwrap(), examples);
    }

    struct NoObserver;

    impl Store for NoObserver {
        fn event(&mut self, _: &Event) -> Result<()> {
            Ok(())
        }

        fn save_resume(&mut self, _: &Snapshot) -> Result<()> {
            Ok(())
        }

        fn save_validated(&mut self, _: &Snapshot, _: bool) -> Result<()> {
            Ok(())
        }

        fn should_stop(&self) -> bool {
            false
        }
    }

    /// An observer that must not be asked to save.
    struct RefusesToSave;

    impl Store for RefusesToSave {
        fn event(&mut self, _: &Event) -> Result<()> {
            Ok(())
        }

        fn save_resume(&mut self, _: &Snapshot) -> Result<()> {
            unreachable!("state that cannot be read back is not saved")
        }

        fn save_validated(&mut self, _: &Snapshot, _: bool) -> Result<()> {
            unreachable!("a model that cannot be read back is not saved")
        }

        fn should_stop(&self) -> bool {
            false
        }
    }

    /// A run that ends in between validates once more; what that finds must not make what comes later stale.
    #[test]
    fn only_validations_that_are_due_tell_of_staleness() {
        for (due, evals_since_best) in [(None, 1), (Some(-1.0), 0)] {
            with_trainer(|mut trainer, _| {
                let before = TrainState {
                    validations: 3,
                    best_score: Some(200.0),
                    best_loss: Some(0.0),
                    ..TrainState::default()
                };
                trainer.progress = TrainState { best_due_score: due, ..before };
                trainer.validate(&mut NoObserver).unwrap();
                assert_eq!(trainer.progress.evals_since_best, evals_since_best);
                assert!(trainer.progress.best_score == Some(200.0) && trainer.progress.best_due_score.is_some());
            });
        }
        with_trainer(|mut trainer, _| {
            trainer.close(&mut NoObserver).unwrap();
            assert!(trainer.progress.best_score.is_some() && trainer.progress.best_due().is_none());
        });
    }

    /// Of two models with the same score the one of the lower loss is kept, though one of a lower score has one lower still.
    #[test]
    fn a_tie_goes_to_the_lower_loss_of_the_two() {
        with_trainer(|mut trainer, _| {
            let mut report = trainer.report().unwrap();
            let judged = [(85.0, 1.5), (90.0, 2.0), (90.0, 1.8), (90.0, 1.9)].map(|(bleu, loss)| {
                (report.scores.bleu, report.loss) = (bleu, loss);
                trainer.update_best(&report).0
            });
            assert_eq!(judged, [true, true, true, false]);
        });
    }

    #[test]
    fn saves_nothing_that_cannot_be_read_back() {
        for kind in ["parameter", "first_moment"] {
            with_trainer(|mut trainer, _| {
                let spoil = |(name, tensor): (String, &Tensor)| {
                    let spoiled = |values: &mut [f32]| {
                        values[0] = f32::INFINITY;
                        Ok(())
                    };
                    name.starts_with(kind).then(|| with_slice_mut(tensor, spoiled).unwrap())
                };
                trainer.snapshot().tensors().into_iter().find_map(spoil).unwrap();
                for attempt in [TrainingLoop::validate, TrainingLoop::close] {
                    let message = attempt(&mut trainer, &mut RefusesToSave).unwrap_err().to_string();
                    assert!(message.contains(kind) && message.contains("was kept"), "{message}");
                }
            });
        }
    }

    #[test]
    fn a_step_without_numbers_moves_nothing_and_a_row_of_them_ends_training() {
        with_trainer(|mut trainer, examples| {
            let good = Batch::new(&examples.of_epoch(1, 0), &[0, 1]);
            let mut bad = Batch::new(&examples.of_epoch(1, 0), &[0, 1]);
            bad.alignment_targets[0].push(GuideWeight { target: 0, source: 0, weight: f32::NAN });
            let parameters = |trainer: &TrainingLoop| -> Vec<Vec<f32>> {
                let values = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1().unwrap();
                trainer.model.parameters().iter().map(|(_, tensor)| values(tensor)).collect()
            };
            let mut totals = EpochTotals::default();
            for (batch, applied_steps) in [(&good, 1), (&bad, 1), (&bad, 1), (&good, 2)] {
                let before = parameters(&trainer);
                let event = trainer.step(batch, 9, &mut totals).unwrap();
                let moved = std::ptr::eq(batch, &raw const good);
                assert_eq!((matches!(event, Event::Step(_)), parameters(&trainer) != before), (moved, moved));
                assert_eq!(trainer.progress.applied_steps(), applied_steps);
            }
            assert_eq!((trainer.progress.step, trainer.progress.skipped), (4, 2));
            let left = (1..=MOST_SKIPPED).find(|_| trainer.step(&bad, 9, &mut totals).is_err());
            assert_eq!(left, Some(MOST_SKIPPED), "a good step begins the row anew");
        });
    }
}
