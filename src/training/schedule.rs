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
    /// It stays for three fifths of the epochs or the time that training is to take, and falls to nothing along half a wave
    /// of a cosine in the rest: warm-up, stable, decay (Hu et al. 2024, "MiniCPM", section 4; Hägele et al. 2024).
    // Models of before name one that fell from the beginning on, and learnt less.
    #[serde(alias = "cosine")]
    Hold,
}

/// The share of the training at whose end [`Schedule::Hold`] lets go.
const HELD: f64 = 0.6;

impl Schedule {
    /// The factor on the step size when this share of the training is done.
    pub fn factor(self, done: f64) -> f64 {
        match self {
            Self::Plateau => 1.0,
            Self::Hold => {
                let fallen = ((done - HELD) / (1.0 - HELD)).clamp(0.0, 1.0);
                0.5 * (1.0 + (PI * fallen).cos())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_planned_falls_to_nothing_and_a_plateau_waits() {
        let factors = |schedule: Schedule| {
            [-1.0, 0.0, 0.5, 0.6, 0.8, 1.0, 2.0].map(|done| (schedule.factor(done) * 1e3).round() / 1e3)
        };
        assert_eq!(factors(Schedule::Hold), [1.0, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0]);
        assert_eq!(factors(Schedule::Plateau), [1.0; 7]);
    }
}
