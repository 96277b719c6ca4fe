//! How the step size goes over a training run.

use serde::{Deserialize, Serialize};

/// What becomes of the step size after warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// It falls each time that validations bring nothing better.
    #[default]
    Plateau,
    /// It falls to nothing along half a wave of a cosine, over the epochs or the time that training is to take (Loshchilov
    /// & Hutter 2017).
    Cosine,
    /// It falls to nothing evenly.
    Linear,
}

impl Schedule {
    /// The factor on the step size when this share of the training is done.
    pub fn factor(self, done: f64) -> f64 {
        match self {
            Self::Plateau => 1.0,
            Self::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * done.clamp(0.0, 1.0)).cos()),
            Self::Linear => 1.0 - done.clamp(0.0, 1.0),
        }
    }
}
