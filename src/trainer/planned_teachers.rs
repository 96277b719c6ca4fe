//! Teachers for which a time limit is long enough.

use std::path::Path;

use anyhow::Result;

use super::auxiliary::training_part;
use super::preparation::CheckedTraining;
use super::run_context::RunContext;
use super::spec::TrainingSpec;
use crate::reporter::{Silent, counted};
use crate::training::{RunConfig, RunLimits, TrainConfig};

/// Numbers of teachers, the best first.
const TEACHERS: [usize; 2] = [3, 2];

impl TrainingSpec {
    /// Adds teachers if a model can learn from them and the time limit is longer than one model needs.
    ///
    /// # Errors
    /// The pairs are unreadable or unusable, or an option does not suit them.
    pub(super) fn with_planned_teachers(self, out: &Path, context: RunContext) -> Result<Self> {
        let Some(minutes) = self.config.limits.max_minutes.filter(|_| self.may_have_teachers()) else {
            return Ok(self);
        };
        let silent = RunContext { observer: &Silent, ..context };
        let unlimited = self.without_time_limit();
        let start = unlimited.starting_point(out, context.device)?;
        let Some(needed) = CheckedTraining::new(&unlimited, start, silent)?.teacher_seconds(silent)? else {
            return Ok(self);
        };
        let Some(teachers) = TEACHERS.into_iter().find(|&count| 60.0 * training_part(minutes, count) >= needed) else {
            return Ok(self);
        };
        context.observer.note(&format!(
            "{minutes} minutes are enough for {} and the model itself; --teachers 0 trains only one model",
            counted(teachers, "teacher")
        ));
        let run = RunConfig { teachers: Some(teachers), ..self.config.run };
        Ok(Self { config: TrainConfig { run, ..self.config }, ..self })
    }

    fn without_time_limit(&self) -> Self {
        let limits = RunLimits { max_minutes: None, ..self.config.limits };
        Self { config: TrainConfig { limits, ..self.config.clone() }, ..self.clone() }
    }

    /// True if teachers can be added: the pairs can be read several times, and every model starts from random parameters.
    fn may_have_teachers(&self) -> bool {
        self.config.run.teachers.is_none()
            && self.init_from.is_none()
            && self.sources.monolingual_target.is_none()
            && self.check_auxiliary().is_ok()
    }
}
