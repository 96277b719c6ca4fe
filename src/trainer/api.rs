//! Entry to every training: [`train`] begins one, and [`resume`] resumes it.

use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value};

use super::auxiliary::{AuxiliaryTraining, planned_invocation};
use super::outcome::TrainingOutcome;
use super::resumed_sources::ResumedSources;
use super::run_context::RunContext;
use super::session::Session;
use super::spec::TrainingSpec;
use super::{new_session, resumed_session};
use crate::checkpoint::ModelDir;
use crate::error::usage;
use crate::training::RunLimits;

/// Trains a model in `out`, which is created if it does not exist, after its auxiliary models. Several processes train it
/// together if each of them calls this.
///
/// # Errors
/// The pairs or options are unusable, the directory is locked or not empty, a file cannot be written, or the loss is no
/// longer finite. The last good checkpoint remains.
pub fn train(spec: TrainingSpec, out: &Path, context: RunContext) -> Result<TrainingOutcome> {
    let is_alone = context.communicator.size() == 1;
    let spec = if is_alone { spec.with_planned_teachers(out, context)? } else { spec };
    if is_alone && spec.has_auxiliary_models() {
        return AuxiliaryTraining::begin(spec, out, context)?.run();
    }
    if is_alone {
        return new_session::begin(&spec, out, context)?.run(None, context);
    }
    if context.communicator.rank() > 0 {
        return join(out, &ResumedSources::Resolved(spec.sources), context);
    }
    check_together(spec.has_auxiliary_models())?;
    spec.sources.check_rereadable("several processes need")?;
    run_together(new_session::begin(&spec, out, context)?, context)
}

/// Resumes the training in `out` with these limits; unset ones stay. `sources` may give new paths of the pairs.
///
/// # Errors
/// There is no resumable state, it is damaged or does not match its settings, the pairs differ, or training fails as in
/// [`train`].
pub fn resume(
    out: &Path,
    limits: &RunLimits,
    sources: &ResumedSources,
    context: RunContext,
) -> Result<TrainingOutcome> {
    let is_alone = context.communicator.size() == 1;
    let is_auxiliary = ModelDir::new(out).is_before_last_training();
    if is_alone && is_auxiliary {
        return AuxiliaryTraining::resume(out, limits, sources, context)?.run();
    }
    if is_alone {
        return resumed_session::resume(out, limits, sources, context)?.run(None, context);
    }
    if context.communicator.rank() > 0 {
        return join(out, sources, context);
    }
    check_together(is_auxiliary)?;
    run_together(resumed_session::resume(out, limits, sources, context)?, context)
}

/// Rejects auxiliary models in a training of several processes.
fn check_together(has_auxiliary_models: bool) -> Result<()> {
    if has_auxiliary_models {
        return usage("several processes cannot train auxiliary models (--teachers, --monolingual-target)");
    }
    Ok(())
}

/// Runs the session of the first process, which the others join.
fn run_together(session: Session, context: RunContext) -> Result<TrainingOutcome> {
    context.observer.note(&format!("{} processes train together", context.communicator.size()));
    context.communicator.wait_for_all()?;
    session.run(None, context)
}

/// Joins the session that the first process has begun.
fn join(out: &Path, sources: &ResumedSources, context: RunContext) -> Result<TrainingOutcome> {
    context.communicator.wait_for_all()?;
    resumed_session::join(out, sources, context.device)?.run(None, context)
}

/// Returns the options that were given when the training in `out` began, by name; empty if there is no record.
pub fn recorded_options(out: &Path) -> Map<String, Value> {
    let model_dir = ModelDir::new(out);
    let invocation = if model_dir.is_before_last_training() {
        planned_invocation(&model_dir)
    } else {
        model_dir.config().and_then(|config| config.begun)
    };
    invocation.map(|invocation| invocation.options).unwrap_or_default()
}
