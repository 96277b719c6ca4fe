//! Configuration of a model's attention, and the shapes that follow from it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::mode::AttentionMode;
use super::scores::{Projections, ScoreName, ScoreParam};
use crate::error::written_number;
use crate::parameters::{Init, ParameterSpec};

/// Least temperature: energies divided by less would not be finite in 32 bits.
const MIN_TEMPERATURE: f64 = 1e-30;

/// Configuration of attention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AttentionConfig {
    /// Score that compares queries with keys.
    pub score: ScoreName,
    /// Number of heads, each over its own slice of the dimensions.
    pub heads: usize,
    /// Divisor of the energies, above 0.
    pub temperature: f64,
    /// Soft or hard attention.
    #[serde(rename = "choice")]
    pub mode: AttentionMode,
    /// Head whose weights are reported instead of the mean over all heads. Set at inference and not saved with the
    /// model.
    #[serde(skip)]
    pub reported_head: Option<usize>,
}

impl Default for AttentionConfig {
    fn default() -> Self {
        Self {
            score: ScoreName::default(),
            heads: 1,
            temperature: 1.0,
            mode: AttentionMode::default(),
            reported_head: None,
        }
    }
}

/// Changes to a trained model's attention at inference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct InferenceOverrides {
    /// Use hard attention: only the source token with the largest weight counts.
    #[cfg_attr(feature = "cli", arg(help_heading = "Attention", long))]
    pub hard_attention: bool,

    /// Softmax temperature of attention: below 1 sharper, above 1 flatter [default: as in training].
    #[cfg_attr(
        feature = "cli",
        arg(
            help_heading = "Attention",
            id = "attention_temperature",
            long = "attention-temperature",
            value_name = "T",
            allow_negative_numbers = true
        )
    )]
    #[serde(rename = "attention_temperature")]
    pub temperature: Option<f64>,

    /// Show the weights of this head, counted from 1 [default: the mean of all heads].
    #[cfg_attr(feature = "cli", arg(help_heading = "Attention", long, value_name = "K"))]
    pub head: Option<usize>,
}

/// Sizes of the model that attention depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionDims {
    /// n: size of states and of annotations.
    pub hidden: usize,
    /// a: size of projected queries and keys, all heads together.
    pub attention: usize,
}

impl fmt::Display for AttentionConfig {
    /// Writes the score and every setting that is not the default.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.score.name())?;
        if self.heads > 1 {
            write!(formatter, ", {} heads", self.heads)?;
        }
        if self.temperature != 1.0 {
            write!(formatter, ", temperature {}", self.temperature)?;
        }
        match self.mode {
            AttentionMode::Soft => Ok(()),
            AttentionMode::Hardest => formatter.write_str(", hard"),
            AttentionMode::Sampled => formatter.write_str(", hard (sampled in training, straight-through derivative)"),
            AttentionMode::Exact => formatter.write_str(", hard (marginalized exactly)"),
        }
    }
}

/// Shapes that follow from configuration and sizes.
#[derive(Clone, Copy)]
pub(super) struct AttentionLayout {
    /// n
    pub hidden: usize,
    /// d: size of a query and of a key, all heads together
    pub query: usize,
    /// Weights per position: heads times the score's pools.
    pub heads: usize,
    /// Queries are W_q s.
    pub projects_queries: bool,
    /// Keys are W_k h.
    pub projects_keys: bool,
    /// Values are W_v h, and contexts W_o times the pooled values.
    pub projects_values: bool,
    /// The score's own parameter.
    pub param: Option<ScoreParam>,
    /// 1 / temperature, with the score's own temperature included
    pub inverse_temperature: f64,
}

/// Parameter names.
pub(super) const QUERY_WEIGHT: &str = "attention.query.weight";
pub(super) const KEY_WEIGHT: &str = "attention.key.weight";
pub(super) const VALUE_WEIGHT: &str = "attention.value.weight";
pub(super) const OUTPUT_WEIGHT: &str = "attention.output.weight";

/// Name of a score's own parameter.
pub(super) fn score_param_name(param: ScoreParam) -> String {
    format!("attention.{}.weight", param.name)
}

impl AttentionConfig {
    /// Returns true for the default configuration.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if the weights do not depend on the query. Such attention can be neither guided nor read as an
    /// alignment.
    pub fn is_fixed(&self) -> bool {
        self.score.is_fixed()
    }

    /// Returns true if attention is hard at inference.
    pub fn is_hard(&self) -> bool {
        self.mode.is_hard()
    }

    /// Returns true if posterior attention is defined and of interest: the weights are all of α, and depend on the query.
    pub fn has_posteriors(&self) -> bool {
        !self.is_hard() && !self.is_fixed() && self.reported_head.is_none()
    }

    /// Returns true if the position is marginalized.
    pub fn is_exact(&self) -> bool {
        self.mode == AttentionMode::Exact
    }

    /// Returns the configuration with overrides for inference.
    ///
    /// # Errors
    /// As [`Self::check`], or the head does not exist.
    pub fn with_overrides(&self, overrides: &InferenceOverrides, dimensions: AttentionDims) -> Result<Self, String> {
        let mut settings = self.clone();
        if overrides.hard_attention {
            settings.mode = AttentionMode::Hardest;
        }
        settings.temperature = overrides.temperature.unwrap_or(self.temperature);
        if let Some(head) = overrides.head {
            if !(1..=self.heads).contains(&head) {
                return Err(format!(
                    "head must be between 1 and {}, the number of heads of this model, not {head}",
                    self.heads
                ));
            }
            settings.reported_head = Some(head - 1);
        }
        settings.check(dimensions)?;
        Ok(settings)
    }

    /// Checks the configuration against the model's sizes.
    ///
    /// # Errors
    /// Names the option and its valid values.
    pub fn check(&self, dimensions: AttentionDims) -> Result<(), String> {
        if self.heads == 0 {
            return Err("heads must be at least 1".to_owned());
        }
        if !(self.temperature.is_finite() && self.temperature > 0.0) {
            return Err(format!("attention-temperature must be above 0, not {}", self.temperature));
        }
        if self.temperature < MIN_TEMPERATURE {
            return Err(format!(
                "attention-temperature must be at least {MIN_TEMPERATURE:e}, not {}; use hard-attention to \
                 select the largest weight",
                written_number(self.temperature)
            ));
        }
        let changed = [
            ("attention-temperature", self.temperature != 1.0),
            ("heads", self.heads != 1),
            ("hard-attention", self.mode != AttentionMode::Soft),
        ];
        if let Some((option, _)) = changed.iter().find(|(_, changed)| self.is_fixed() && *changed) {
            return Err(format!("{option} needs a score: mean and last have none"));
        }
        if self.is_exact() && self.heads > 1 {
            return Err(format!("hard-attention exact needs one head, not {}", self.heads));
        }
        let layout = self.layout(dimensions);
        for (what, size) in [("the hidden size", layout.hidden), ("the attention size", layout.query)] {
            if !size.is_multiple_of(self.heads) {
                return Err(format!("heads must divide {what}, but {size} is not a multiple of {}", self.heads));
            }
        }
        Ok(())
    }

    /// Adds the attention's parameters to `spec`.
    pub fn add_parameters(&self, spec: &mut ParameterSpec, dimensions: AttentionDims) {
        let layout = self.layout(dimensions);
        let (n, d) = (layout.hidden, layout.query);
        if layout.projects_queries {
            spec.add(QUERY_WEIGHT, &[d, n], Init::Glorot);
        }
        if layout.projects_keys {
            spec.add(KEY_WEIGHT, &[d, n], Init::Glorot);
        }
        if let Some(param) = layout.param {
            spec.add(score_param_name(param), &(param.shape)(d, self.heads), param.init);
        }
        if layout.projects_values {
            spec.add(VALUE_WEIGHT, &[n, n], Init::Glorot);
            spec.add(OUTPUT_WEIGHT, &[n, n], Init::Glorot);
        }
    }

    /// Number of weight distributions per step: those of each head.
    pub fn distributions(&self) -> usize {
        self.heads * self.score.spec().pools
    }

    pub(super) fn layout(&self, dimensions: AttentionDims) -> AttentionLayout {
        let spec = self.score.spec();
        let several = self.heads > 1;
        let (projects_queries, projects_keys) = match spec.projections {
            Projections::Both => (true, true),
            Projections::Keys => (false, true),
            Projections::IfMultiHead => (several, several),
            Projections::None => (false, false),
        };
        let query = if projects_queries { dimensions.attention } else { dimensions.hidden };
        let own_temperature = (spec.temperature)(query / self.heads.max(1));
        AttentionLayout {
            hidden: dimensions.hidden,
            query,
            heads: self.distributions(),
            projects_queries,
            projects_keys,
            projects_values: several,
            param: spec.param,
            inverse_temperature: 1.0 / (self.temperature * own_temperature),
        }
    }
}
