//! Which attention a model has, and the shapes that follow from it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::scores::{Own, Projections, ScoreName};
use super::selection::Choice;
use crate::parameters::{Plan, Start};

/// Which attention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What queries and keys are compared by.
    pub score: ScoreName,
    /// How many attentions there are side by side, each over its own part of the dimensions.
    pub heads: usize,
    /// What energies are divided by, above 0.
    pub temperature: f64,
    /// Which weights pool.
    pub choice: Choice,
    /// The head whose weights are reported, in place of the mean over all: a matter of use, not of the model.
    #[serde(skip)]
    pub shown: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { score: ScoreName::default(), heads: 1, temperature: 1.0, choice: Choice::default(), shown: None }
    }
}

/// How a trained model's attention is used, where not as it was trained.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Whether the largest weight takes all.
    pub hard: bool,
    /// What energies are divided by.
    pub temperature: Option<f64>,
    /// The head whose weights are reported, counted from 1, in place of the mean over all.
    pub head: Option<usize>,
}

/// The sizes that attention meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// n: of states and of annotations.
    pub hidden: usize,
    /// a: in which projected queries and keys are compared, by all heads together.
    pub compared: usize,
}

impl fmt::Display for Settings {
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
            Choice::Soft => Ok(()),
            Choice::Hardest => formatter.write_str(", hard"),
            Choice::Sampled => formatter.write_str(", hard (sampled in training, straight-through derivative)"),
        }
    }
}

/// What settings and sizes come to.
#[derive(Clone, Copy)]
pub(super) struct Layout {
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
    /// The score's own parameter, by name and shape.
    pub own: Option<Own>,
    /// 1 / temperature, the score's own included
    pub sharpness: f64,
}

/// Names of the parameters.
pub(super) const QUERY: &str = "attention.query.weight";
pub(super) const KEY: &str = "attention.key.weight";
pub(super) const VALUE: &str = "attention.value.weight";
pub(super) const OUTPUT: &str = "attention.output.weight";

/// The name of a score's own parameter.
pub(super) fn own_name(own: Own) -> String {
    format!("attention.{}.weight", own.name)
}

impl Settings {
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
        self.choice != Choice::Soft
    }

    /// The same attention, used otherwise.
    ///
    /// # Errors
    /// What is allowed, as [`Self::check`] says it.
    pub fn read_as(&self, reading: &Reading, dimensions: Dimensions) -> Result<Self, String> {
        let mut settings = self.clone();
        if reading.hard {
            settings.choice = Choice::Hardest;
        }
        settings.temperature = reading.temperature.unwrap_or(self.temperature);
        if let Some(head) = reading.head {
            if !(1..=self.heads).contains(&head) {
                return Err(format!("head must be between 1 and {}, the heads of this model, not {head}", self.heads));
            }
            settings.shown = Some(head - 1);
        }
        settings.check(dimensions)?;
        Ok(settings)
    }

    /// Says what is wrong with the settings at such sizes, if anything is.
    ///
    /// # Errors
    /// What is allowed, in words that begin with the option's own name and end without a full stop.
    pub fn check(&self, dimensions: Dimensions) -> Result<(), String> {
        if self.heads == 0 {
            return Err("heads must be at least 1".to_owned());
        }
        if !(self.temperature.is_finite() && self.temperature > 0.0) {
            return Err(format!("attention-temperature must be above 0, not {}", self.temperature));
        }
        if self.is_fixed() && self.temperature != 1.0 {
            return Err("attention-temperature needs a score: mean and last weigh by none".to_owned());
        }
        if self.is_fixed() && self.heads != 1 {
            return Err("heads needs a score: with mean and last all heads would be alike".to_owned());
        }
        if self.is_fixed() && self.is_hard() {
            return Err("hard-attention needs a score: with mean and last there is nothing to choose".to_owned());
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
    pub fn plan(&self, plan: &mut Plan, dimensions: Dimensions) {
        let layout = self.layout(dimensions);
        let (n, d) = (layout.hidden, layout.query);
        if layout.projects_queries {
            plan.add(QUERY, &[d, n], Start::Glorot);
        }
        if layout.projects_keys {
            plan.add(KEY, &[d, n], Start::Glorot);
        }
        if let Some(own) = layout.own {
            plan.add(own_name(own), &(own.shape)(d, self.heads), own.start);
        }
        if layout.projects_values {
            plan.add(VALUE, &[n, n], Start::Glorot);
            plan.add(OUTPUT, &[n, n], Start::Glorot);
        }
    }

    pub(super) fn layout(&self, dimensions: Dimensions) -> Layout {
        let needs = self.score.needs();
        let several = self.heads > 1;
        let (projects_queries, projects_keys) = match needs.projections {
            Projections::Both => (true, true),
            Projections::Keys => (false, true),
            Projections::Heads => (several, several),
            Projections::None => (false, false),
        };
        let query = if projects_queries { dimensions.compared } else { dimensions.hidden };
        let own_temperature = (needs.temperature)(query / self.heads.max(1));
        Layout {
            hidden: dimensions.hidden,
            query,
            heads: self.heads * needs.parts,
            projects_queries,
            projects_keys,
            projects_values: several,
            own: needs.own,
            sharpness: 1.0 / (self.temperature * own_temperature),
        }
    }
}
