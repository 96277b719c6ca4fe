//! Limits of a training, which may change when it resumes.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::option_names::option_names;
use super::ranges::{minutes, positive};
use crate::training::TrainingSettings;

/// Minutes between two saved training states.
const SAVE_EVERY: f64 = 5.0;

/// Limits of a training: when it ends and how often it saves its state. They may change when it resumes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RunLimits {
    /// Maximum number of epochs [default: chosen from the data].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, group = super::Preset::GROUP, value_name = "N", help_heading = "Training"))]
    pub max_epochs: Option<u64>,

    /// Time limit in minutes, including preparation and earlier runs [default: none]. The model size is chosen to fit it, and
    /// --teachers if there is time for them. Training stops earlier if further epochs would not help.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "M", help_heading = "Training"))]
    pub max_minutes: Option<f64>,

    /// Minutes between saves of the state for --resume; each validation saves it too [default: 5].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "M", help_heading = "Training"))]
    pub save_every: Option<f64>,

    /// Stop after N consecutive validations without improvement of score or loss [default: 6 with plateau; 10 with
    /// --init-from; else unlimited].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Training"))]
    pub patience: Option<u64>,
}

impl RunLimits {
    /// Returns the names of these options on the command line and in JSON, in the order of the help.
    pub fn option_names() -> &'static [&'static str] {
        option_names::<Self>()
    }

    /// Returns the minutes between two saved training states.
    pub fn save_every(&self) -> f64 {
        self.save_every.unwrap_or(SAVE_EVERY)
    }

    /// Returns these limits, completed by those that training began with.
    #[must_use]
    pub fn or(&self, before: &Self) -> Self {
        Self {
            max_epochs: self.max_epochs.or(before.max_epochs),
            max_minutes: self.max_minutes.or(before.max_minutes),
            save_every: self.save_every.or(before.save_every),
            patience: self.patience.or(before.patience),
        }
    }

    /// Changes the settings of a resumed training to these limits; unset ones stay.
    pub fn apply(&self, settings: &mut TrainingSettings) {
        settings.max_epochs = self.max_epochs.unwrap_or(settings.max_epochs);
        settings.max_minutes = self.max_minutes.or(settings.max_minutes);
        settings.patience = self.patience.or(settings.patience);
    }

    /// Checks the limits.
    ///
    /// # Errors
    /// A [`crate::error::UsageError`] names the option.
    pub fn validate(&self) -> Result<()> {
        positive("max-epochs", self.max_epochs)?;
        minutes("max-minutes", self.max_minutes)?;
        minutes("save-every", self.save_every)?;
        positive("patience", self.patience)
    }
}
