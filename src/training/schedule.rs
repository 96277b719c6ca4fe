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
    /// It stays for three fifths of that and falls along half a wave in the rest: warm-up, stable, decay (Hu et al. 2024,
    /// "MiniCPM", section 4; Hägele et al. 2024).
    Hold,
}

/// The share of the training at whose end [`Schedule::Hold`] lets go.
const HELD: f64 = 0.6;

impl Schedule {
    /// The factor on the step size when this share of the training is done.
    pub fn factor(self, done: f64) -> f64 {
        match self {
            Self::Plateau => 1.0,
            Self::Cosine => half_wave(done),
            Self::Hold => half_wave((done - HELD) / (1.0 - HELD)),
        }
    }
}

/// From 1 at 0 to 0 at 1.
fn half_wave(done: f64) -> f64 {
    0.5 * (1.0 + (PI * done.clamp(0.0, 1.0)).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_planned_falls_to_nothing_and_a_plateau_waits() {
        let factors = |schedule: Schedule| {
            [-1.0, 0.0, 0.5, 0.6, 0.8, 1.0, 2.0].map(|done| (schedule.factor(done) * 1e3).round() / 1e3)
        };
        assert_eq!(factors(Schedule::Cosine), [1.0, 1.0, 0.5, 0.345, 0.095, 0.0, 0.0]);
        assert_eq!(factors(Schedule::Hold), [1.0, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0]);
        assert_eq!(factors(Schedule::Plateau), [1.0; 7]);
    }
}
