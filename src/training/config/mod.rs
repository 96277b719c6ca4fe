//! Training configuration: settings of the user, and defaults chosen from the data.

mod auto;
mod explain;
mod hard_attention;
mod limits;
mod model;
mod option_names;
mod ranges;
mod resolve;
mod run;

use anyhow::Result;
use serde::{Deserialize, Serialize};

pub use self::limits::RunLimits;
pub use self::model::{ModelConfig, Preset};
pub use self::resolve::ResolvedConfig;
pub use self::run::RunConfig;

/// Settings of a training. Every field is optional: [`Self::resolve`] chooses unset ones from the data.
///
/// As JSON, it is one object: the keys are the option names of the command line, and unset fields are absent.
///
/// ```
/// use softalign::{ModelConfig, RunConfig, TrainConfig};
///
/// let config: TrainConfig = serde_json::from_str(r#"{"hidden-size": 64, "seed": 3}"#)?;
/// assert_eq!(config.model, ModelConfig { hidden_size: Some(64), ..ModelConfig::default() });
/// assert_eq!(config.run, RunConfig { seed: Some(3), ..RunConfig::default() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(group = clap::ArgGroup::new(Preset::GROUP).multiple(true)))]
pub struct TrainConfig {
    /// Options of the model and its text. With a base model, the base model decides them.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub model: ModelConfig,

    /// Options of the training run that are fixed once it has begun.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub run: RunConfig,

    /// Limits of the training, which may change when it resumes.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub limits: RunLimits,
}

impl TrainConfig {
    /// Checks all settings as far as they do not depend on the data.
    ///
    /// # Errors
    /// A [`crate::error::UsageError`] names the option.
    pub fn validate(&self) -> Result<()> {
        self.model.validate()?;
        self.run.validate(self.model.attention.unwrap_or_default())?;
        self.limits.validate()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_of_all_parts_are_one_object() {
        let options = json!({"max-epochs": 4, "layers": 2, "lowercase": true, "seed": 3, "learning-rate": 0.1});
        let config: TrainConfig = serde_json::from_value(options.clone()).unwrap();
        assert_eq!((config.model.layers, config.model.lowercase), (Some(2), true));
        assert_eq!((config.run.seed, config.run.learning_rate), (Some(3), Some(0.1)));
        assert_eq!(config.limits.max_epochs, Some(4));
        let mut written = serde_json::to_value(&config).unwrap();
        assert_eq!(serde_json::from_value::<TrainConfig>(written.clone()).unwrap(), config);
        written.as_object_mut().unwrap().retain(|_, value| *value != json!(false));
        assert_eq!(written, options);
    }

    #[test]
    fn refuses_unknown_and_repeated_options_and_other_types() {
        for (text, reason) in [
            (r#"{"layers": 2, "max-epoch": 3}"#, "unknown field `max-epoch`"),
            (r#"{"max_epochs": 3}"#, "unknown field `max_epochs`"),
            (r#"{"model": {"layers": 2}}"#, "unknown field `model`"),
            (r#"{"seed": 1, "seed": 2}"#, "duplicate field `seed`"),
            (r#"{"max-epochs": "three"}"#, "invalid type: string \"three\", expected u64"),
            (r#"{"layers": -1}"#, "invalid value: integer `-1`, expected usize"),
        ] {
            let error = serde_json::from_str::<TrainConfig>(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
