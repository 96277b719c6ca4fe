//! Resumption of a training, alone or by several processes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use candle_core::Device;

use super::data::{PairEncoder, TrainingData};
use super::locks::lock_for_resumed;
use super::resumed_sources::ResumedSources;
use super::run_context::RunContext;
use super::session::{Session, Timing, TrainedState, TrainingDir};
use super::synthetic_corpus::SyntheticFiles;
use crate::checkpoint::{Config, DataSummary, ModelDir, Resume};
use crate::error::usage_of;
use crate::parameters::Parameters;
use crate::reporter::{Reporter, Silent, counted};
use crate::training::{BestValidations, EpochData, Optimizer, RunLimits, TrainState};

/// Resumes the training in `out` with these limits; unset ones stay.
///
/// # Errors
/// There is no resumable state, it is damaged or does not match its settings, or the pairs differ.
pub(super) fn resume(out: &Path, limits: &RunLimits, sources: &ResumedSources, context: RunContext) -> Result<Session> {
    let (model_dir, began) = (ModelDir::new(out), Instant::now());
    limits.validate()?;
    let lock = lock_for_resumed(&model_dir, context.observer)?;
    let checkpoint = model_dir.load()?;
    let mut directory = TrainingDir { model_dir, lock: Some(lock), checkpoint };
    let data = resumed_data(&directory, sources, context.observer)?;
    let settings = &mut directory.checkpoint.config.training;
    let before = (settings.max_epochs, settings.max_minutes);
    limits.apply(settings);
    let is_replanned = before != (settings.max_epochs, settings.max_minutes);
    let mut saved = directory.model_dir.load_resume(&directory.checkpoint, context.device)?;
    if is_replanned {
        saved.progress.shortened_plan = None;
    }
    let data = directory.session_data(data)?;
    let state = directory.restored_state(saved, &data.examples)?;
    let max_epochs = directory.checkpoint.config.training.max_epochs;
    if state.progress.epoch >= max_epochs {
        context.observer.warn(&format!(
            "all {} are completed; --resume with more --max-epochs continues",
            counted(max_epochs as usize, "epoch")
        ));
    }
    let session = Session::new(directory, data, state, Timing::new(began, limits.save_every()))?;
    session.restore_directory(context.observer)?;
    Ok(session)
}

/// Joins the training that the first process has begun or resumed in `out`. It receives the parameters when it runs.
///
/// # Errors
/// The model or the pairs cannot be read here, or the pairs differ.
pub(super) fn join(out: &Path, sources: &ResumedSources, device: &Device) -> Result<Session> {
    let (model_dir, began) = (ModelDir::new(out), Instant::now());
    let checkpoint = model_dir.load()?;
    let directory = TrainingDir { model_dir, lock: None, checkpoint };
    let data = directory.session_data(resumed_data(&directory, sources, &Silent)?)?;
    let Config { architecture, training, .. } = &directory.checkpoint.config;
    let parameters = Parameters::initialize(&architecture.parameter_spec(), training.seed, device)?.with_grad()?;
    let optimizer = Optimizer::new(&parameters, training.max_gradient_norm, training.ema_decay)?;
    let progress = TrainState::default();
    let state = TrainedState { parameters, optimizer, progress, best_validations: BestValidations::default() };
    Session::new(directory, data, state, Timing { began, save_every: Duration::MAX })
}

impl TrainingDir {
    /// Returns the state to resume from.
    ///
    /// # Errors
    /// The state does not match the settings or the examples.
    fn restored_state(&self, mut saved: Resume, examples: &EpochData) -> Result<TrainedState> {
        let Self { model_dir, checkpoint, .. } = self;
        let Config { architecture, training, .. } = &checkpoint.config;
        let fits = saved.progress.check_position(examples, training);
        fits.map_err(|reason| anyhow!("{}: {reason}", model_dir.resume_path()))?;
        let parameters = Parameters::from_tensors(&architecture.parameter_spec(), saved.parameters);
        let parameters = parameters.with_context(|| model_dir.resume_path())?.with_grad()?;
        let optimizer = Optimizer::restore(
            &parameters,
            training.max_gradient_norm,
            training.ema_decay,
            saved.progress.applied_steps(),
            &mut saved.moments,
        );
        let optimizer = optimizer.with_context(|| model_dir.resume_path())?;
        let Resume { progress, best_validations, .. } = saved;
        Ok(TrainedState { parameters, optimizer, progress, best_validations })
    }
}

/// Reads the data of a resumed training, which must not have changed.
fn resumed_data(directory: &TrainingDir, given: &ResumedSources, reporter: &dyn Reporter) -> Result<TrainingData> {
    let TrainingDir { model_dir, checkpoint, .. } = directory;
    let Config { text, training, data: summary, .. } = &checkpoint.config;
    let path = model_dir.path().display();
    if given.guide().is_some() && summary.guide.is_none() {
        return usage_of("guide", format!("cannot be used with --resume: training in {path} began without it"));
    }
    let mut sources = given.resolve(summary).with_context(|| path.to_string())?;
    if sources.synthetic.is_empty() {
        let corpora = summary.synthetic.iter().cloned();
        sources.synthetic = corpora.map(|corpus| SyntheticFiles::new(model_dir, corpus)).collect();
    }
    let encoder =
        PairEncoder { source: &checkpoint.source, target: &checkpoint.target, max_length: text.max_length, reporter };
    let data = TrainingData::new(sources.read_training(reporter)?, &sources, &encoder, training.seed)?;
    ensure!(
        data.summary.fingerprint == summary.fingerprint,
        "{}: not the sentence pairs that {path} was trained on; --resume needs the same, in the same order",
        sources.name()
    );
    ensure!(
        guide_fingerprint(&data.summary) == guide_fingerprint(summary),
        "{}: not the links that {path} was trained with; --resume needs the same",
        sources.guide.clone().unwrap_or_else(|| PathBuf::from("--guide")).display()
    );
    Ok(data)
}

fn guide_fingerprint(summary: &DataSummary) -> Option<&str> {
    summary.guide.as_ref().map(|guide| guide.fingerprint.as_str())
}
