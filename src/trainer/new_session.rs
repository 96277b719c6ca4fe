//! Beginning of a training.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use candle_core::Device;

use super::locks::lock_for_new;
use super::outcome::describe;
use super::preparation::{CheckedTraining, PreparedTraining};
use super::run_context::RunContext;
use super::session::{Session, Timing, TrainedState, TrainingDir};
use super::spec::{StartingPoint, TrainingSpec};
use super::vocabularies::ensure_running;
use super::warm_start::WarmStart;
use crate::checkpoint::{Checkpoint, Config, DirState, Lock, ModelDir, TrainedPairs};
use crate::model::TokenLexicon;
use crate::parameters::Parameters;
use crate::reporter::Reporter;
use crate::text::Pair;
use crate::training::{BestValidations, EpochData, Optimizer, TrainState};
use crate::translator::learn_aligner;

/// A new training before its pairs are read.
pub(super) struct NewTraining<'s> {
    pub spec: &'s TrainingSpec,
    pub start: StartingPoint,
    pub model_dir: ModelDir,
    /// None for a directory that does not exist yet.
    pub lock: Option<Lock>,
    /// Start of the time that counts for the time limit.
    pub began: Instant,
    /// Seconds of it that auxiliary models took.
    pub auxiliary_seconds: f64,
}

/// Begins a training in `out`, which is created if it does not exist.
///
/// # Errors
/// The pairs or options are unusable, the directory is locked or not empty, or a file cannot be written.
pub(super) fn begin(spec: &TrainingSpec, out: &Path, context: RunContext) -> Result<Session> {
    let (model_dir, began) = (ModelDir::new(out), Instant::now());
    let start = spec.starting_point(out, context.device)?;
    let existed = out.is_dir();
    let lock = existed.then(|| lock_for_new(&model_dir, spec.replace, context.observer)).transpose()?;
    let session = NewTraining { spec, start, model_dir, lock, began, auxiliary_seconds: 0.0 }.begin(context);
    if session.is_err() && !existed {
        // This fails if the directory is not empty, as intended.
        let _ = std::fs::remove_dir(out);
    }
    session
}

impl NewTraining<'_> {
    /// Prepares the training, and writes all files that precede the first step. A new directory is created only once all
    /// options are valid.
    ///
    /// # Errors
    /// As [`begin`].
    pub fn begin(self, context: RunContext) -> Result<Session> {
        let Self { spec, start, model_dir, lock, began, auxiliary_seconds } = self;
        let checked = CheckedTraining::new(spec, start, context)?;
        let lock = match lock {
            Some(lock) => lock,
            None => {
                model_dir.make()?;
                lock_for_new(&model_dir, spec.replace, context.observer)?
            }
        };
        let PreparedTraining { base, checkpoint, data, reasons, .. } = checked.prepare(began, context)?;
        ensure_running(context.observer)?;
        let directory = TrainingDir { model_dir, lock: Some(lock), checkpoint };
        directory.write_new(context.observer)?;
        reasons.iter().for_each(|line| context.observer.note(line));
        describe(&directory.checkpoint.config, context.observer);
        directory.write_trained_pairs(&data.training.pairs, base.as_ref())?;
        directory.write_aligner(&data.training.pairs, context.observer)?;
        let data = directory.session_data(data)?;
        directory.write_lexicon(&data.examples, base.as_ref())?;
        let progress = TrainState { auxiliary_seconds, ..TrainState::default() };
        let state = initial_state(&directory.checkpoint, base.as_ref(), progress, context.device)?;
        Session::new(directory, data, state, Timing::new(began, spec.config.limits.save_every()))
    }
}

impl TrainingDir {
    /// Writes configuration and vocabularies in place of another model, which is moved aside.
    fn write_new(&self, reporter: &dyn Reporter) -> Result<()> {
        let Self { model_dir, checkpoint, .. } = self;
        self.ensure_held()?;
        if model_dir.dir_state() != DirState::Nothing {
            let archived = model_dir.archive()?;
            reporter.note(&format!("the model in {} was moved to {}", model_dir.path().display(), archived.display()));
        }
        model_dir.clear()?;
        model_dir.save_config_and_vocabularies(checkpoint)
    }

    /// Writes the set of training pairs, with those of the base model.
    fn write_trained_pairs(&self, pairs: &[Pair], base: Option<&WarmStart>) -> Result<()> {
        let mut trained = TrainedPairs::new(pairs, self.checkpoint.config.text.normalization);
        if let Some(before) = base.map(WarmStart::trained_pairs).transpose()?.flatten() {
            trained = trained.with(before);
        }
        self.ensure_held()?;
        self.model_dir.save_trained_pairs(&self.checkpoint, &trained)
    }

    /// Trains and writes a statistical aligner, unless a side's tokens are characters.
    fn write_aligner(&self, pairs: &[Pair], reporter: &dyn Reporter) -> Result<()> {
        let text = &self.checkpoint.config.text;
        if text.has_character_tokens() {
            return Ok(());
        }
        let aligner = learn_aligner(pairs, text.normalization.form, None, reporter);
        self.ensure_held()?;
        self.model_dir.save_aligner(&self.checkpoint, &aligner)
    }

    /// Writes the token lexicon, if the architecture has one.
    fn write_lexicon(&self, examples: &EpochData, base: Option<&WarmStart>) -> Result<()> {
        self.ensure_held()?;
        match lexicon(&self.checkpoint, examples, base) {
            Some(lexicon) => self.model_dir.save_lexicon(&self.checkpoint, &lexicon),
            None => Ok(()),
        }
    }
}

/// Returns the token lexicon of a new model, merged with the base model's. It is learned from the alignment targets, or copies
/// characters.
fn lexicon(checkpoint: &Checkpoint, examples: &EpochData, base: Option<&WarmStart>) -> Option<TokenLexicon> {
    let Checkpoint { config, source, target, .. } = checkpoint;
    let Config { architecture, training, text, .. } = config;
    let sizes = [architecture.source_vocabulary, architecture.target_vocabulary];
    let learned = if !architecture.lexicon {
        None
    } else if training.guided_alignment.is_some() {
        Some(examples.lexicon(sizes, training.seed))
    } else {
        text.are_both_characters().then(|| TokenLexicon::identity(&source.origins(target), sizes[1]))
    };
    match base {
        Some(base) => base.lexicon(learned, [source, target]),
        None => learned,
    }
}

/// Returns the state before the first step: random parameters, or those of the base model.
fn initial_state(
    checkpoint: &Checkpoint,
    base: Option<&WarmStart>,
    progress: TrainState,
    device: &Device,
) -> Result<TrainedState> {
    let Config { architecture, training, .. } = &checkpoint.config;
    let random = Parameters::initialize(&architecture.parameter_spec(), training.seed, device)?;
    let parameters = match base {
        Some(base) => base.parameters(&random, [&checkpoint.source, &checkpoint.target])?,
        None => random,
    };
    let parameters = parameters.with_grad()?;
    let optimizer = Optimizer::new(&parameters, training.max_gradient_norm, training.ema_decay)?;
    Ok(TrainedState { parameters, optimizer, progress, best_validations: BestValidations::default() })
}
