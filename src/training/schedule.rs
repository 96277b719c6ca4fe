//! How the step size goes over a training run.

use std::f64::consts::PI;

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
}

impl Schedule {
    /// The factor on the step size when this share of the training is done.
    pub fn factor(self, done: f64) -> f64 {
        match self {
            Self::Plateau => 1.0,
            Self::Cosine => 0.5 * (1.0 + (PI * done.clamp(0.0, 1.0)).cos()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cosine_falls_to_nothing_and_a_plateau_waits() {
        let factors = [-1.0, 0.0, 0.5, 1.0, 2.0].map(|done| (Schedule::Cosine.factor(done) * 1e9).round() / 1e9);
        assert_eq!(factors, [1.0, 1.0, 0.5, 0.0, 0.0]);
        assert_eq!(Schedule::Plateau.factor(0.9), 1.0);
    }
}
