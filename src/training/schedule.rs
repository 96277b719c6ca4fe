//! Learning rate schedules.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// Learning rate schedule after warmup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Schedule {
    /// Constant, then cosine decay to 0 in the last two fifths of the planned epochs or minutes (Hu et al. 2024,
    /// section 4; Hägele et al. 2024).
    Hold,
    /// Cosine decay to 0 over the planned epochs or minutes (Loshchilov & Hutter 2017).
    Cosine,
    /// Multiplied by --decay when validations stop improving.
    #[default]
    Plateau,
}

/// Share of the training after which [`Schedule::Hold`] decays.
pub(super) const HOLD_SHARE: f64 = 0.6;

impl Schedule {
    /// Returns the factor on the learning rate after a share of the training.
    pub fn factor(self, done: f64) -> f64 {
        match self {
            Self::Plateau => 1.0,
            Self::Cosine => cosine_decay(done),
            Self::Hold => cosine_decay((done - HOLD_SHARE) / (1.0 - HOLD_SHARE)),
        }
    }
}

fn cosine_decay(done: f64) -> f64 {
    0.5 * (1.0 + (PI * done.clamp(0.0, 1.0)).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_and_hold_decay_to_zero_and_plateau_stays() {
        for (schedule, factors) in [
            (Schedule::Cosine, [1.0, 1.0, 0.5, 0.345, 0.095, 0.0, 0.0]),
            (Schedule::Hold, [1.0, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0]),
            (Schedule::Plateau, [1.0; 7]),
        ] {
            let found = [-1.0, 0.0, 0.5, 0.6, 0.8, 1.0, 2.0].map(|done| (schedule.factor(done) * 1e3).round() / 1e3);
            assert_eq!(found, factors, "{schedule:?}");
        }
    }
}
