//! What a training run shows and saves.

use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::console::{Console, style};
use super::super::numbers::{clock, readable};
use super::super::signals::Signals;
use super::attention_watch::{AttentionWatch, attention_line};
use super::record::TrainingRecord;
use crate::checkpoint::{Checkpoint, Folder, Lock};
use crate::training::{Event, Observer, Progress, Sample, Snapshot, StepReport, ValidationReport};

/// Steps between two progress lines of the log.
const LOG_EVERY: u64 = 50;
/// Time between two lines on standard error where it is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(15);
/// Samples shown after each validation.
const SHOWN: usize = 2;

/// Shows a run on standard error, writes its log, and saves its checkpoints.
pub struct TrainingDisplay<'a> {
    console: &'a Console,
    folder: &'a Folder,
    lock: &'a Lock,
    checkpoint: &'a Checkpoint,
    bar: ProgressBar,
    watch: AttentionWatch,
    record: TrainingRecord<'a>,
    signals: &'a Signals,
    last_line: Instant,
}

impl<'a> TrainingDisplay<'a> {
    /// Goes on after a step.
    ///
    /// # Errors
    /// A file cannot be begun: the path, with the system's reason.
    pub fn new(
        console: &'a Console,
        (folder, lock): (&'a Folder, &'a Lock),
        checkpoint: &'a Checkpoint,
        step: u64,
        signals: &'a Signals,
    ) -> Result<Self> {
        let visible = console.is_terminal() && !console.is_quiet();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{prefix} {bar:16} {pos}/{len}  {wide_msg}"));
        let last_line = Instant::now();
        let watch = AttentionWatch::new(&checkpoint.config);
        let record = TrainingRecord::new(folder, checkpoint, step)?;
        Ok(Self { console, folder, lock, checkpoint, bar, watch, record, signals, last_line })
    }

    /// Ends the record of the run.
    ///
    /// # Errors
    /// A file that training could do without could not be written to its end.
    pub fn finish(self) -> Result<()> {
        self.record.finish()
    }

    fn log(&mut self, mut line: Value, report: &impl Serialize) -> Result<()> {
        merge(&mut line, serde_json::to_value(report)?);
        let warning = self.record.log(line)?.map(|reason| format!("warning: {reason}; training goes on without it"));
        warning.iter().for_each(|warning| self.line(warning));
        Ok(())
    }

    fn line(&self, line: &str) {
        if self.console.is_terminal() {
            self.bar.suspend(|| self.console.note(line));
        } else {
            self.console.note(line);
        }
    }

    fn step(&mut self, report: &StepReport) -> Result<()> {
        self.bar.inc(1);
        // If the rest goes as fast as what is done.
        let left = report.seconds * (1.0 / report.done - 1.0);
        let figures = format!(
            "step {}  loss {}  {:.0} tokens/s  {} left",
            report.step,
            readable(report.loss, 3),
            report.tokens_per_second,
            clock(Duration::try_from_secs_f64(left).unwrap_or_default()),
        );
        if !self.console.is_terminal() && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            self.line(&format!("epoch {}  {figures}", report.epoch));
        }
        self.bar.set_message(figures);
        if report.step.is_multiple_of(LOG_EVERY) {
            self.log(json!({"event": "progress"}), report)?;
        }
        Ok(())
    }

    fn validation(&mut self, progress: &Progress, report: &ValidationReport, best: bool) -> Result<()> {
        let epochs = progress.epoch + u64::from(progress.position > 0);
        let scores = &report.scores;
        self.line(&format!(
            "epoch {epochs}  step {}  {}  validation: loss {}  perplexity {}  BLEU {:.2}  chrF {:.2}  exact {:.1} %{}",
            progress.step,
            clock(Duration::from_secs_f64(progress.seconds)),
            readable(report.loss, 3),
            readable(report.perplexity, 2),
            scores.bleu,
            scores.chrf,
            scores.exact_match,
            if best { "  ← best" } else { "" }
        ));
        if let Some(health) = &report.attention {
            self.line(&format!("    {}", attention_line(health)));
            if let Some(warning) = self.watch.warning(progress, health) {
                self.line(&format!("warning: {warning}"));
            }
        }
        for Sample { source, reference, translation, .. } in report.samples.iter().take(SHOWN) {
            self.line(&format!("    {source}\n    = {reference}\n    → {translation}"));
        }
        let line = json!({"event": "validation", "epoch": epochs, "step": progress.step, "seconds": progress.seconds,
            "best": best});
        self.log(line, report)?;
        self.record.validation(progress.step, &report.samples)
    }
}

impl Observer for TrainingDisplay<'_> {
    fn event(&mut self, event: &Event) -> Result<()> {
        self.lock.ensure_held()?;
        match event {
            Event::Epoch { epoch, batches, done } => {
                self.bar.set_prefix(format!("epoch {epoch}"));
                self.bar.set_length(*batches as u64);
                self.bar.set_position(*done as u64);
                self.bar.reset_eta();
            }
            Event::Step(report) => self.step(report)?,
            Event::Skipped { step, skipped } => {
                self.bar.inc(1);
                self.line(&format!(
                    "warning: step {step} moved nothing, since its loss or gradient was no finite number ({skipped} such so \
                     far)"
                ));
            }
            Event::Validating => self.bar.set_message("validating …"),
            Event::Validation { progress, report, best } => self.validation(progress, report, *best)?,
        }
        Ok(())
    }

    fn save_resume(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.lock.ensure_held()?;
        self.folder.save_resume(self.checkpoint, snapshot)
    }

    fn save_validated(&mut self, snapshot: &Snapshot, best: bool) -> Result<()> {
        self.lock.ensure_held()?;
        if best {
            self.folder.save_model(self.checkpoint, snapshot.used)?;
        }
        self.folder.keep(self.checkpoint, snapshot.progress, snapshot.used)
    }

    fn stop(&self) -> bool {
        self.signals.asked().is_some()
    }
}

impl Drop for TrainingDisplay<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn merge(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
}
