//! Progress of a training on standard error.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::super::console::{Console, style};
use super::super::signals::Signals;
use crate::metrics::{ErrorRates, Scores};
use crate::render::{clock, readable};
use crate::reporter::{Reporter, Stage};
use crate::training::{
    CollapseMonitor, Event, LossMonitor, Observer, Sample, StepReport, TrainState, ValidationReport, ValidationScore,
    attention_line,
};

/// Time between two lines on standard error where it is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(15);
/// Samples shown after each validation.
const SHOWN: usize = 2;
/// Relative decrease of the loss below which equal scores are not marked as better.
const MIN_IMPROVEMENT: f64 = 1e-3;

/// Progress of a training on standard error.
pub struct TrainingDisplay<'a> {
    console: &'a Console,
    signals: &'a Signals,
    bar: ProgressBar,
    /// Prints details of validations.
    verbose: bool,
    /// Line to print once the first training begins.
    announcement: Option<String>,
    model: Mutex<ModelInTraining>,
    last_line: Mutex<Instant>,
}

/// Model that is being trained.
#[derive(Default)]
struct ModelInTraining {
    /// Begins lines about an auxiliary model; empty for others.
    prefix: String,
    /// None before the first training.
    monitors: Option<Monitors>,
    /// Last validation that was marked as the best.
    marked: Option<ValidationScore>,
}

/// Monitors that warn of a model that learns badly.
struct Monitors {
    collapse: CollapseMonitor,
    loss: LossMonitor,
}

impl ModelInTraining {
    /// Returns the warnings due after a validation.
    fn warnings(&mut self, progress: &TrainState, report: &ValidationReport) -> Vec<String> {
        let Some(Monitors { collapse, loss }) = &mut self.monitors else { return Vec::new() };
        let collapsed = report.attention.as_ref().and_then(|stats| collapse.warning(progress, stats));
        [loss.warning(progress, report), collapsed].into_iter().flatten().collect()
    }

    /// Returns true if the best validation so far is better than the last marked one by more than the noise of rounding.
    fn mark(&mut self, score: ValidationScore) -> bool {
        let is_better = self
            .marked
            .is_none_or(|marked| score.score > marked.score || score.loss < (1.0 - MIN_IMPROVEMENT) * marked.loss);
        if is_better {
            self.marked = Some(score);
        }
        is_better
    }
}

impl<'a> TrainingDisplay<'a> {
    /// Returns a display; nothing is drawn before the first epoch.
    pub fn new(console: &'a Console, signals: &'a Signals, bar: ProgressBar, verbose: bool) -> Self {
        let (model, last_line) = (Mutex::default(), Mutex::new(Instant::now()));
        Self { console, signals, bar, verbose, announcement: None, model, last_line }
    }

    /// Sets a line to print once the first training begins, when the pairs and options are known to be valid.
    #[must_use]
    pub fn announcing(mut self, line: Option<String>) -> Self {
        self.announcement = line;
        self
    }

    /// True once the training of a model has begun.
    pub fn has_begun(&self) -> bool {
        locked(&self.model).monitors.is_some()
    }

    fn prefix(&self) -> String {
        locked(&self.model).prefix.clone()
    }

    fn line(&self, line: &str) {
        // A bar without a length is not drawn yet; suspending would draw it.
        if self.console.is_terminal() && self.bar.length().is_some() {
            self.bar.suspend(|| self.console.note(line));
        } else {
            self.console.note(line);
        }
    }

    fn step(&self, report: &StepReport) {
        self.bar.inc(1);
        // A narrow terminal cuts off the end.
        let figures = format!(
            "{} left  training perplexity {}  {:.0} tokens/s  step {}",
            clock(Duration::try_from_secs_f64(report.seconds_left).unwrap_or_default()),
            readable(report.perplexity, 2),
            report.tokens_per_second,
            report.step,
        );
        let mut last_line = locked(&self.last_line);
        if !self.console.is_terminal() && last_line.elapsed() >= LINE_EVERY {
            *last_line = Instant::now();
            self.line(&format!("{}epoch {}  {figures}", self.prefix(), report.epoch));
        }
        self.bar.set_message(figures);
    }

    fn validation(&self, progress: &TrainState, report: &ValidationReport, best: bool) {
        let best = best && progress.best_validation_score().is_some_and(|score| locked(&self.model).mark(score));
        let epochs = progress.epochs_begun();
        self.line(&format!(
            "{}epoch {epochs}, {}  perplexity {}  {}{}",
            self.prefix(),
            clock(Duration::from_secs_f64(progress.seconds)),
            readable(report.perplexity, 2),
            main_scores(&report.scores),
            if best { "  ← best" } else { "" }
        ));
        if self.verbose {
            self.details(progress, report);
        }
        for warning in locked(&self.model).warnings(progress, report) {
            self.line(&format!("warning: {warning}"));
        }
    }

    fn details(&self, progress: &TrainState, report: &ValidationReport) {
        self.line(&format!("    step {}  loss {}", progress.step, readable(report.loss, 3)));
        if let Some(stats) = &report.attention {
            self.line(&format!("    {}", attention_line(stats)));
        }
        for Sample { source, reference, translation, .. } in report.samples.iter().take(SHOWN) {
            self.line(&format!("    {source}\n    = {reference}\n    → {translation}"));
        }
    }
}

/// Returns the progress bar of a training, which is drawn only in a terminal.
pub fn progress_bar(console: &Console) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, console.target());
    bar.set_style(style("{prefix} {bar:10} {pos}/{len}  {wide_msg}"));
    bar
}

/// Formats the scores that matter: those of sentences or of single words.
fn main_scores(scores: &Scores) -> String {
    match scores.errors {
        ErrorRates::SingleWords { wer, per } => format!("WER {wer:.2} %  PER {per:.2} %"),
        ErrorRates::Sentences { .. } => {
            format!("BLEU {:.2}  chrF {:.2}  exact {:.1} %", scores.bleu, scores.chrf, scores.exact_match)
        }
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reporter for TrainingDisplay<'_> {
    fn note(&self, line: &str) {
        self.line(line);
    }

    fn warn(&self, line: &str) {
        self.line(&format!("warning: {line}"));
    }

    fn stage(&self, name: &'static str, total: Option<usize>) -> Box<dyn Stage + '_> {
        // After the last epoch its bar would stay above that of the stage. Before the first one, the bar is still needed.
        if self.bar.length().is_some() {
            self.bar.finish_and_clear();
        }
        Reporter::stage(self.console, name, total)
    }
}

impl Observer for TrainingDisplay<'_> {
    fn event(&self, event: &Event) {
        match event {
            Event::Model { name, text, settings } => {
                if let Some(line) = self.announcement.as_deref().filter(|_| !self.has_begun()) {
                    self.line(line);
                }
                let prefix = name.map(|name| format!("{name}  ")).unwrap_or_default();
                let collapse = CollapseMonitor::new(text, settings);
                let monitors = Some(Monitors { collapse, loss: LossMonitor::new(settings.learning_rate) });
                *locked(&self.model) = ModelInTraining { prefix, monitors, marked: None };
                self.signals.begin_steps();
            }
            Event::Epoch { epoch, batches, done } => {
                self.bar.set_prefix(format!("{}epoch {epoch}", self.prefix()));
                self.bar.set_length(*batches as u64);
                self.bar.set_position(*done as u64);
                self.bar.reset_eta();
            }
            Event::Step(report) => self.step(report),
            Event::Skipped { step, skipped } => {
                self.bar.inc(1);
                self.line(&format!(
                    "warning: step {step} was skipped: its loss or gradient is not finite ({skipped} skipped so far)"
                ));
            }
            Event::Validating => self.bar.set_message("validating …"),
            Event::Validation { progress, report, best } => self.validation(progress, report, *best),
            Event::Shortened { validations, share } => self.line(&format!(
                "no improvement for {validations} validations: the learning rate decays from now on, and training ends after \
                 {:.0} % of its plan",
                100.0 * share
            )),
        }
    }

    fn should_stop(&self) -> bool {
        self.signals.asked().is_some()
    }
}

impl Drop for TrainingDisplay<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
