//! Files of a training: checkpoints, log, curves and attention during training.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::alignment::Alignment;
use crate::checkpoint::{Checkpoint, EventFile, Lock, ModelDir};
use crate::error::message_of;
use crate::render::{
    AttentionFrame, Axis, Figure, FramePair, Mark, Scale, Series, event_file_header, scalars_event, write_stacked,
    write_training_page,
};
use crate::training::{Event, Observer, Sample, Snapshot, Store};
use crate::translator::Linker;

/// Maximum frames of the attention page. More are thinned out evenly, keeping the last.
const MAX_FRAMES: usize = 200;

/// Numbers of a report that are not plotted over steps.
const NOT_PLOTTED: [&str; 4] = ["step", "epoch", "seconds", "done"];

/// Steps between progress lines in the log.
const LOG_EVERY: u64 = 50;

/// Store of a training in its model directory.
pub struct Recorder<'a> {
    model_dir: &'a ModelDir,
    lock: &'a Lock,
    checkpoint: &'a Checkpoint,
    observer: &'a dyn Observer,
    /// Lines of the log so far.
    reports: Vec<Value>,
    /// Attention so far, if it is recorded.
    attention: Option<Vec<AttentionRecord>>,
    /// TensorBoard's event file, if enabled, or the error that ended it.
    events: Option<Result<EventFile, String>>,
}

/// Line of attention.jsonl: attention after a step of training.
#[derive(Serialize, Deserialize)]
struct AttentionRecord {
    step: u64,
    pairs: Vec<AttentionPair>,
}

#[derive(Serialize, Deserialize)]
struct AttentionPair {
    /// Words of the source.
    source: Vec<String>,
    /// Words of the reference.
    target: Vec<String>,
    /// Weights in thousandths, `[target][source + 1]`; the end of the source is last.
    weights: Vec<Vec<u16>>,
    /// Mean log-probability per token of the reference, in nats.
    score: f64,
    /// Translation of the source by the model.
    translation: String,
}

impl<'a> Recorder<'a> {
    /// Returns a recorder that appends to the directory's files after a step.
    ///
    /// # Errors
    /// TensorBoard's event file cannot be created.
    pub fn new(
        model_dir: &'a ModelDir,
        lock: &'a Lock,
        checkpoint: &'a Checkpoint,
        step: u64,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let settings = &checkpoint.config.training;
        let events = if settings.tensorboard { Some(Ok(begin_events(model_dir, step)?)) } else { None };
        let attention = settings
            .keep_attention
            .then(|| model_dir.attention().lines().into_iter().filter_map(AttentionRecord::read).collect());
        let reports = model_dir.log().lines();
        Ok(Self { model_dir, lock, checkpoint, observer, reports, attention, events })
    }

    /// Appends a report to the log and to TensorBoard's file. If the latter fails, it warns once, and training continues.
    fn log(&mut self, mut line: Value, report: &impl Serialize) -> Result<()> {
        if let (Some(line), Value::Object(report)) = (line.as_object_mut(), serde_json::to_value(report)?) {
            line.extend(report);
        }
        self.model_dir.log().append(&line)?;
        let step = line["step"].as_u64().unwrap_or_default();
        let record = scalars_event(now(), step, &scalars(&line));
        self.reports.push(line);
        let Some(Ok(events)) = &mut self.events else { return Ok(()) };
        if let Err(reason) = events.append(&record) {
            let reason = message_of(&reason);
            self.observer.warn(&format!("{reason}; training continues without it"));
            self.events = Some(Err(reason));
        }
        Ok(())
    }

    /// Finishes recording.
    ///
    /// # Errors
    /// TensorBoard's file could not be written completely.
    pub fn finish(&self) -> Result<()> {
        if let Some(Err(reason)) = &self.events {
            bail!("{reason}; the model is complete, and the log has the values missing from TensorBoard");
        }
        Ok(())
    }

    /// Updates log and graphics by an event.
    fn record(&mut self, event: &Event) -> Result<()> {
        match event {
            Event::Step(report) if report.step.is_multiple_of(LOG_EVERY) => {
                self.log(json!({"event": "progress"}), report)
            }
            Event::Validation { progress, report, best } => {
                let line = json!({"event": "validation", "epoch": progress.epochs_begun(), "step": progress.step,
                    "seconds": progress.seconds, "best": best});
                self.log(line, report)?;
                self.draw(progress.step, &report.samples)
            }
            _ => Ok(()),
        }
    }

    /// Draws the curves after a validation, and records the attention of the samples if enabled.
    fn draw(&mut self, step: u64, samples: &[Sample]) -> Result<()> {
        self.model_dir.save_curves(|out| write_stacked(&curves(&self.reports), out))?;
        let Some(records) = &mut self.attention else { return Ok(()) };
        let record = AttentionRecord { step, pairs: samples.iter().map(AttentionPair::from).collect() };
        self.model_dir.attention().append(&json!(record))?;
        records.push(record);
        let every = records.len().div_ceil(MAX_FRAMES);
        let mut frames: Vec<AttentionFrame> = records.iter().rev().step_by(every).map(AttentionRecord::frame).collect();
        frames.reverse();
        let threshold = Linker { attention: true, ..Linker::default() }.min_link_score();
        self.model_dir
            .save_training_page(|out| write_training_page(out, "Attention during training", threshold, &frames))
    }
}

impl Store for Recorder<'_> {
    fn event(&mut self, event: &Event) -> Result<()> {
        let lock = self.lock;
        self.observer.event(event);
        lock.guard(|| self.record(event))
    }

    fn save_resume(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.lock.guard(|| self.model_dir.save_resume(self.checkpoint, snapshot))
    }

    fn save_validated(&mut self, snapshot: &Snapshot, best: bool) -> Result<()> {
        self.lock.guard(|| {
            if best {
                self.model_dir.save_model(self.checkpoint, snapshot.averaged)?;
            }
            self.model_dir.keep(self.checkpoint, snapshot.progress, snapshot.averaged)
        })
    }

    fn should_stop(&self) -> bool {
        self.observer.should_stop()
    }
}

impl AttentionRecord {
    /// Parses a line of the file. None if it is damaged.
    fn read(line: Value) -> Option<Self> {
        let record: Self = serde_json::from_value(line).ok()?;
        record.pairs.iter().all(AttentionPair::is_valid).then_some(record)
    }

    fn frame(&self) -> AttentionFrame {
        AttentionFrame { step: self.step, pairs: self.pairs.iter().map(AttentionPair::frame_pair).collect() }
    }
}

impl From<&Sample> for AttentionPair {
    fn from(sample: &Sample) -> Self {
        let attention = &sample.attention;
        let mut weights: Vec<Vec<u16>> = Vec::new();
        for (row, end) in attention.rows().zip(attention.end_weights()) {
            weights.push(row.iter().chain([end]).map(|weight| (1000.0 * weight).round() as u16).collect());
        }
        Self {
            source: attention.source().to_vec(),
            target: attention.target().to_vec(),
            weights,
            score: sample.score,
            translation: sample.translation.clone(),
        }
    }
}

impl AttentionPair {
    /// True if there is a row of weights for each target word, with a weight for each source word and the end.
    fn is_valid(&self) -> bool {
        let columns = self.source.len() + 1;
        self.weights.len() == self.target.len() && self.weights.iter().all(|row| row.len() == columns)
    }

    fn frame_pair(&self) -> FramePair {
        let mut rows: Vec<Vec<f32>> = Vec::with_capacity(self.weights.len());
        for row in &self.weights {
            rows.push(row.iter().map(|&weight| f32::from(weight) / 1000.0).collect());
        }
        FramePair {
            alignment: Alignment::from_rows(self.source.clone(), self.target.clone(), &rows),
            score: self.score,
            translation: self.translation.clone(),
        }
    }
}

/// Returns the Unix time in seconds.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// Begins TensorBoard's event file after a step.
fn begin_events(model_dir: &ModelDir, step: u64) -> Result<EventFile> {
    let mut events = model_dir.create_event_file()?;
    events.append(&event_file_header(now(), step + 1))?;
    Ok(events)
}

/// Returns the numbers of a report, prefixed with their group: training, validation or attention.
fn scalars(report: &Value) -> Vec<(String, f64)> {
    let group = if report["event"] == "validation" { "validation" } else { "training" };
    let mut scalars = Vec::new();
    for (group, values) in [(group, report), ("attention", &report["attention"])] {
        for (key, value) in values.as_object().into_iter().flatten() {
            if let Some(value) = value.as_f64().filter(|_| !NOT_PLOTTED.contains(&key.as_str())) {
                scalars.push((format!("{group}/{key}"), value));
            }
        }
    }
    scalars
}

/// Curve over the steps of training.
struct Curve {
    name: &'static str,
    /// Event of the reports with its points.
    event: &'static str,
    /// JSON pointer to the plotted number in a report.
    number: &'static str,
    factor: f64,
}

impl Curve {
    /// Returns the curve of a number in the progress reports.
    const fn progress(name: &'static str, number: &'static str) -> Self {
        Self { name, event: "progress", number, factor: 1.0 }
    }

    /// Returns the curve of a number in the validations.
    const fn validation(name: &'static str, number: &'static str) -> Self {
        Self { name, event: "validation", number, factor: 1.0 }
    }

    /// Returns the curve of a share in the validations, in percent.
    const fn share(name: &'static str, number: &'static str) -> Self {
        Self { name, event: "validation", number, factor: 100.0 }
    }

    /// Draws the curve by the reports that have its number.
    fn series(&self, reports: &[Value]) -> Series {
        let mut points = Vec::new();
        for report in reports.iter().filter(|report| report["event"] == self.event) {
            let number = report.pointer(self.number).and_then(Value::as_f64);
            if let (Some(step), Some(number)) = (report["step"].as_f64(), number) {
                points.push([step, self.factor * number]);
            }
        }
        Series { name: self.name.to_owned(), points }
    }
}

const PERPLEXITY: [Curve; 2] =
    [Curve::progress("training, with dropout", "/perplexity"), Curve::validation("validation", "/perplexity")];
const SCORES: [Curve; 3] = [
    Curve::validation("BLEU", "/bleu"),
    Curve::validation("chrF", "/chrf"),
    Curve::validation("exact", "/exact_match"),
];
/// Scores of single words, about which BLEU says little.
const SCORES_OF_WORDS: [Curve; 2] = [Curve::validation("WER", "/wer"), Curve::validation("PER", "/per")];
const ATTENTION: [Curve; 5] = [
    Curve::share("entropy (share of the maximum)", "/attention/normalized_entropy"),
    Curve::share("weight on </s>", "/attention/end"),
    Curve::share("weight on punctuation", "/attention/punctuation"),
    Curve::share("correlation of positions", "/attention/diagonality"),
    Curve::share("covered source tokens", "/attention/coverage"),
];
const OPTIMIZATION: [Curve; 2] =
    [Curve::progress("learning rate", "/learning_rate"), Curve::progress("gradient norm", "/gradient_norm")];

/// Returns the curves of perplexity, scores, attention and optimization by step.
fn curves(reports: &[Value]) -> Vec<Figure> {
    let of_words = reports.iter().any(|report| report["wer"].is_number());
    let scores = if of_words { &SCORES_OF_WORDS[..] } else { &SCORES[..] };
    let figures = [
        figure("perplexity per token", Scale::Logarithmic, &PERPLEXITY, reports),
        figure("scores, %", Scale::Linear, scores, reports),
        figure("attention, %", Scale::Linear, &ATTENTION, reports),
        figure("optimization", Scale::Logarithmic, &OPTIMIZATION, reports),
    ];
    figures.into_iter().filter(|figure| !figure.series.is_empty()).collect()
}

/// Returns the figure of curves, without those that have no points, up to the last step. The best validation is marked.
fn figure(label: &str, scale: Scale, curves: &[Curve], reports: &[Value]) -> Figure {
    let series = curves.iter().map(|curve| curve.series(reports));
    let last = reports.iter().filter_map(|report| report["step"].as_f64()).fold(0.0, f64::max);
    let best = reports.iter().rfind(|report| report["best"] == true).and_then(|report| report["step"].as_f64());
    Figure {
        x: Axis { label: "steps".to_owned(), scale: Scale::WholeTo(last) },
        y: Axis { label: label.to_owned(), scale },
        series: series.filter(|series| !series.points.is_empty()).collect(),
        counts: None,
        mark: best.map(|x| Mark { x, name: "kept model".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_reports_as_curves() {
        let reports = [
            json!({"event": "progress", "step": 50, "loss": 4.0, "perplexity": 40.0, "learning_rate": 0.002}),
            json!({"event": "validation", "step": 60, "perplexity": 30.0, "best": true, "bleu": 1.0, "chrf": 20.0, "exact_match": 0.0,
                "attention": {"end": 0.25, "punctuation": 0.1, "diagonality": -0.1, "coverage": 1.0}}),
        ];
        let figures = curves(&reports);
        assert_eq!(
            figures.iter().map(|figure| figure.series.len()).collect::<Vec<_>>(),
            [2, 3, 4, 1],
            "hard attention"
        );
        assert_eq!(figures[0].series[0].points, [[50.0, 40.0]]);
        assert_eq!(figures[0].mark.as_ref().unwrap().x, 60.0);
        assert_eq!(figures[2].series[0].points, [[60.0, 25.0]]);
        assert_eq!(curves(&reports[..1]).len(), 2, "no scores yet");
        let earlier = json!({"event": "progress", "step": 50, "loss": 4.0});
        assert!(curves(&[earlier]).is_empty(), "label smoothing is in the loss");
        let single_words = json!({"event": "validation", "step": 60, "bleu": 0.0, "wer": 60.0, "per": 20.0});
        let curves = curves(&[single_words]);
        assert_eq!(curves[0].series.iter().map(|series| series.name.as_str()).collect::<Vec<_>>(), ["WER", "PER"]);
    }

    #[test]
    fn extracts_scalars_of_reports() {
        let progress = json!({"event": "progress", "step": 50, "epoch": 1, "done": 0.5, "seconds": 9.5, "loss": 4.0});
        assert_eq!(scalars(&progress), [("training/loss".to_owned(), 4.0)]);
        let attention = json!({"end": 0.25, "collapse": "flat"});
        let validation = json!({"event": "validation", "step": 60, "bleu": 1.5, "best": true, "perplexity": null,
            "samples": [{"source": "a"}], "attention": attention});
        let expected = [("validation/bleu".to_owned(), 1.5), ("attention/end".to_owned(), 0.25)];
        assert_eq!(scalars(&validation), expected);
    }

    /// Reads a line of attention.jsonl with these weights.
    fn record(weights: Value) -> Option<AttentionRecord> {
        let pair = json!({"source": ["a", "b"], "target": ["c"], "weights": weights, "score": -1.0, "translation": ""});
        AttentionRecord::read(json!({"step": 3, "pairs": [pair]}))
    }

    #[test]
    fn skips_damaged_attention_lines() {
        assert!(record(json!([[500, 250, 250]])).is_some());
        for damaged in
            [json!([]), json!([[500, 500]]), json!([[500, 250, 250], [1, 2, 3]]), json!("x"), json!([[-1, 0, 0]])]
        {
            assert!(record(damaged.clone()).is_none(), "{damaged}");
        }
    }
}
