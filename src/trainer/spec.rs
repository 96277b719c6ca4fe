//! Specification of a new training.

use std::path::Path;

use anyhow::Result;
use candle_core::Device;
use serde_json::{Map, Value};

use super::sources::TrainingSources;
use super::warm_start::{InitFrom, WarmStart};
use crate::checkpoint::Invocation;
use crate::training::TrainConfig;

/// Specification of a new training.
#[derive(Clone, Debug)]
pub struct TrainingSpec {
    /// Settings. The data determine unset ones.
    pub config: TrainConfig,
    /// Sources of the pairs.
    pub sources: TrainingSources,
    /// The model that training is initialized from.
    pub init_from: Option<InitFrom>,
    /// Command that starts the training, to record in config.json.
    pub command: GivenCommand,
    /// True to move an existing model to `previous/` instead of failing.
    pub replace: bool,
}

/// Command that starts a training; empty for calls of the library.
#[derive(Clone, Debug, Default)]
pub struct GivenCommand {
    /// Command line without the program's name.
    pub command_line: Vec<String>,
    /// Given options by their long names.
    pub options: Map<String, Value>,
}

impl GivenCommand {
    /// Returns the record of the command for config.json.
    pub(super) fn invocation(&self) -> Invocation {
        let Self { command_line, options } = self.clone();
        Invocation { command_line, options, threads: rayon::current_num_threads() }
    }
}

impl From<Invocation> for GivenCommand {
    fn from(recorded: Invocation) -> Self {
        Self { command_line: recorded.command_line, options: recorded.options }
    }
}

/// Starting point of a training.
pub(super) struct StartingPoint {
    /// Base model of a warm start; none for random initialization.
    pub base: Option<WarmStart>,
    /// Valid settings, completed by the base model.
    pub config: TrainConfig,
}

impl TrainingSpec {
    /// Loads the base model, if any, and completes and validates the settings.
    ///
    /// # Errors
    /// The base model cannot be loaded, or an option is out of range or does not go with another one.
    pub(super) fn starting_point(&self, out: &Path, device: &Device) -> Result<StartingPoint> {
        let base = self.init_from.as_ref().map(|from| WarmStart::load(from, out, device)).transpose()?;
        let config = self.completed_config(base.as_ref())?;
        Ok(StartingPoint { base, config })
    }

    /// Returns the validated settings, completed by those of the base model and the default weight of user links.
    fn completed_config(&self, base: Option<&WarmStart>) -> Result<TrainConfig> {
        let mut config = self.config.clone();
        if let Some(base) = base {
            base.vocabulary.check(&config.model)?;
            config.model = config.model.initialized_from(&base.config().text, &base.config().architecture);
        }
        if self.sources.guide.is_some() {
            config.run = config.run.with_user_links()?;
        }
        config.run.keep_attention |= self.sources.attention_pairs.is_some();
        config.validate()?;
        Ok(config)
    }
}
