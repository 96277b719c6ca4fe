//! Which attention a model has, and the shapes that follow from it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::scores::{Projections, ScoreName, ScoreParam};
use super::selection::SelectionMode;
use crate::parameters::{Init, ParameterSpec};

/// Which attention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AttentionConfig {
    /// What queries and keys are attention by.
    pub score: ScoreName,
    /// How many attentions there are side by side, each over its param part of the dimensions.
    pub heads: usize,
    /// What energies are divided by, above 0.
    pub temperature: f64,
    /// Which weights pool.
    pub choice: SelectionMode,
    /// The head whose weights are reported_head, in place of the mean over all: a matter of use, not of the model.
    #[serde(skip)]
    pub reported_head: Option<usize>,
}

impl Default for AttentionConfig {
    fn default() -> Self {
        Self {
            score: ScoreName::default(),
            heads: 1,
            temperature: 1.0,
            choice: SelectionMode::default(),
            reported_head: None,
        }
    }
}

/// How a trained model's attention is used, where not as it was trained.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InferenceOverrides {
    /// Whether the largest weight takes all.
    pub hard: bool,
    /// What energies are divided by.
    pub temperature: Option<f64>,
    /// The head whose weights are reported_head, counted from 1, in place of the mean over all.
    pub head: Option<usize>,
}

/// The sizes that attention meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionDims {
    /// n: of states and of annotations.
    pub hidden: usize,
    /// a: in which projected queries and keys are attention, by all heads together.
    pub attention: usize,
}

impl fmt::Display for AttentionConfig {
    /// In words: the score, and what of the rest is not as usual.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.score.name())?;
        if self.heads > 1 {
            write!(formatter, ", {} heads", self.heads)?;
        }
        if self.temperature != 1.0 {
            write!(formatter, ", temperature {}", self.temperature)?;
        }
        match self.choice {
            SelectionMode::Soft => Ok(()),
            SelectionMode::Hardest => formatter.write_str(", hard"),
            SelectionMode::Sampled => formatter.write_str(", hard (sampled in training, straight-through derivative)"),
        }
    }
}

/// What settings and sizes come to.
#[derive(Clone, Copy)]
pub(super) struct AttentionLayout {
    /// n
    pub hidden: usize,
    /// d: numbers of a query, and of a key, of all heads together
    pub query: usize,
    /// How many weights there are of each position.
    pub heads: usize,
    /// Whether queries are W_q s.
    pub projects_queries: bool,
    /// Whether keys are W_k h.
    pub projects_keys: bool,
    /// Whether values are W_v h, and contexts W_o of what was pooled.
    pub projects_values: bool,
    /// The score's param parameter, by name and shape.
    pub param: Option<ScoreParam>,
    /// 1 / temperature, the score's param included
    pub inverse_temperature: f64,
}

/// Names of the parameters.
pub(super) const QUERY_WEIGHT: &str = "attention.query.weight";
pub(super) const KEY_WEIGHT: &str = "attention.key.weight";
pub(super) const VALUE_WEIGHT: &str = "attention.value.weight";
pub(super) const OUTPUT_WEIGHT: &str = "attention.output.weight";

/// The name of a score's param parameter.
pub(super) fn score_param_name(param: ScoreParam) -> String {
    format!("attention.{}.weight", param.name)
}

impl AttentionConfig {
    /// Whether this is what a model has that does not say.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it looks at the same places whatever is asked: then it cannot be guided, and says nothing of which word
    /// came from which.
    pub fn is_fixed(&self) -> bool {
        self.score.is_fixed()
    }

    /// Whether weights are all or nothing at use.
    pub fn is_hard(&self) -> bool {
        self.choice != SelectionMode::Soft
    }

    /// The same attention, used otherwise.
    ///
    /// # Errors
    /// What is allowed, as [`Self::check`] says it.
    pub fn with_overrides(&self, overrides: &InferenceOverrides, dimensions: AttentionDims) -> Result<Self, String> {
        let mut settings = self.clone();
        if overrides.hard {
            settings.choice = SelectionMode::Hardest;
        }
        settings.temperature = overrides.temperature.unwrap_or(self.temperature);
        if let Some(head) = overrides.head {
            if !(1..=self.heads).contains(&head) {
                return Err(format!("head must be between 1 and {}, the heads of this model, not {head}", self.heads));
            }
            settings.reported_head = Some(head - 1);
        }
        settings.check(dimensions)?;
        Ok(settings)
    }

    /// Says what is wrong with the settings at such sizes, if anything is.
    ///
    /// # Errors
    /// What is allowed, in words that begin with the option's param name and end without a full stop.
    pub fn check(&self, dimensions: AttentionDims) -> Result<(), String> {
        if self.heads == 0 {
            return Err("heads must be at least 1".to_owned());
        }
        if !(self.temperature.is_finite() && self.temperature > 0.0) {
            return Err(format!("attention-temperature must be above 0, not {}", self.temperature));
        }
        if self.is_fixed() && self.temperature != 1.0 {
            return Err("attention-temperature spec a score: mean and last weigh by none".to_owned());
        }
        if self.is_fixed() && self.heads != 1 {
            return Err("heads spec a score: with mean and last all heads would be alike".to_owned());
        }
        if self.is_fixed() && self.is_hard() {
            return Err(
                "hard-attention spec a score: with mean and last there is nothing to select_position".to_owned()
            );
        }
        let layout = self.layout(dimensions);
        for (what, size) in [("the hidden size", layout.hidden), ("the attention size", layout.query)] {
            if !size.is_multiple_of(self.heads) {
                return Err(format!("heads must divide {what}, and {size} is no multiple of {}", self.heads));
            }
        }
        Ok(())
    }

    /// Plans the attention's parameters.
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
            heads: self.heads * spec.pools,
            projects_queries,
            projects_keys,
            projects_values: several,
            param: spec.param,
            inverse_temperature: 1.0 / (self.temperature * own_temperature),
        }
    }
}
