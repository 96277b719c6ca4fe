//! What the user is told of attention while a model is trained.

use super::{TrainState, TrainingSettings};
use crate::alignment::{AttentionStats, Collapse};
use crate::text::TextSettings;

/// Validations and steps within which flat attention means nothing: it has yet to be learnt.
const EARLY_VALIDATIONS: u64 = 2;
const EARLY_STEPS: u64 = 500;
/// Validations in a row without improvement after which steps are enough, however few: training is about to end.
const STALE: u64 = 3;

/// Warns of collapsed attention, once a run.
pub struct CollapseMonitor {
    advice: &'static str,
    warned: bool,
}

impl CollapseMonitor {
    /// Returns a monitor of a model with these settings, which decide its advice.
    pub fn new(text: &TextSettings, training: &TrainingSettings) -> Self {
        let advice = if text.of_characters() || training.guidance.is_some_and(|weight| weight >= 0.5) {
            "train on more pairs, or with a smaller --preset"
        } else {
            "train on more pairs, or with --guided-alignment"
        };
        Self { advice, warned: false }
    }

    /// What to warn of after a validation, if there is anything.
    pub fn warning(&mut self, progress: &TrainState, health: &AttentionStats) -> Option<String> {
        let learning = progress.step < EARLY_STEPS && progress.evals_since_best < STALE;
        let early = progress.validations <= EARLY_VALIDATIONS || learning;
        let collapse = health.collapse.filter(|_| !early && !self.warned)?;
        self.warned = true;
        let what = match collapse {
            Collapse::Flat => "is nearly even over all units",
            Collapse::End => "rests on the sentence's end for all target units",
            Collapse::Column => "rests on one unit for all target units",
        };
        Some(format!("attention {what}, so alignments say nothing; {}", self.advice))
    }
}

/// The figures in one line.
pub fn attention_line(health: &AttentionStats) -> String {
    let flatness =
        health.row_entropy.map(|rows| format!("flatness {:.2}  ", rows.normalized_entropy)).unwrap_or_default();
    format!(
        "attention: {flatness}on the end {:.0} %  on punctuation {:.0} % ({:.0} % of units)  diagonal {:.2}  coverage {:.0} %",
        100.0 * health.end,
        100.0 * health.punctuation,
        100.0 * health.punctuation_units,
        health.diagonality,
        100.0 * health.coverage
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::AttentionSums;

    fn progress(validations: u64, step: u64) -> TrainState {
        TrainState { validations, step, ..TrainState::default() }
    }

    fn health(collapse: Option<Collapse>) -> AttentionStats {
        AttentionStats { collapse, ..AttentionSums::default().stats() }
    }

    fn watch() -> CollapseMonitor {
        CollapseMonitor { advice: "do this", warned: false }
    }

    #[test]
    fn a_collapse_is_told_once() {
        let (mut watch, flat) = (watch(), health(Some(Collapse::Flat)));
        assert_eq!(watch.warning(&progress(3, 600), &health(None)), None);
        let warning = watch.warning(&progress(4, 800), &flat).unwrap();
        assert!(warning.contains("nearly even") && warning.ends_with("do this"), "{warning}");
        assert_eq!(watch.warning(&progress(5, 1000), &flat), None);
        assert_eq!(watch.warning(&progress(6, 1200), &health(Some(Collapse::End))), None);
    }

    #[test]
    fn the_first_validations_mean_nothing() {
        let mut watch = watch();
        for early in [progress(1, 5000), progress(2, 10_000), progress(30, 499)] {
            assert_eq!(watch.warning(&early, &health(Some(Collapse::Column))), None, "{early:?}");
        }
        assert!(watch.warning(&progress(3, 500), &health(Some(Collapse::Column))).is_some());
    }

    #[test]
    fn a_run_that_ends_early_is_warned_in_time() {
        let mut watch = watch();
        let evals_since_best = |evals_since_best| TrainState { evals_since_best, ..progress(9, 60) };
        assert_eq!(watch.warning(&evals_since_best(2), &health(Some(Collapse::Flat))), None);
        assert!(watch.warning(&evals_since_best(3), &health(Some(Collapse::Flat))).is_some());
    }

    #[test]
    fn the_line_is_short() {
        let line = attention_line(&health(None));
        let expected =
            "attention: flatness 0.00  on the end 0 %  on punctuation 0 % (0 % of units)  diagonal 0.00  coverage 0 %";
        assert_eq!(line, expected);
        let hard = attention_line(&AttentionStats { row_entropy: None, ..health(None) });
        assert!(hard.starts_with("attention: on the end 0 %"), "{hard}");
    }
}
