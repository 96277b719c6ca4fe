//! Attention diagnostics during training.

use super::{TrainState, TrainingSettings};
use crate::alignment::{AttentionStats, Collapse};
use crate::text::TextSettings;

/// Validations and steps within which collapsed attention is normal, since it has not been learned yet.
const EARLY_VALIDATIONS: u64 = 2;
const EARLY_STEPS: u64 = 500;
/// Consecutive validations without improvement after which [`EARLY_STEPS`] is waived, since training is about to end.
const STALE_VALIDATIONS: u64 = 3;

/// Monitor that warns about collapsed attention once per run.
pub struct CollapseMonitor {
    advice: &'static str,
    warned: bool,
}

impl CollapseMonitor {
    /// Returns a monitor whose advice suits these settings.
    pub fn new(text: &TextSettings, training: &TrainingSettings) -> Self {
        let advice = if text.has_character_tokens() || training.guided_alignment.is_some_and(|weight| weight >= 0.5) {
            "train on more pairs, or with a smaller --preset"
        } else {
            "train on more pairs, or with --guided-alignment"
        };
        Self { advice, warned: false }
    }

    /// Returns the warning due after a validation, if any.
    pub fn warning(&mut self, progress: &TrainState, stats: &AttentionStats) -> Option<String> {
        let few_steps = progress.step < EARLY_STEPS && progress.validations_since_best < STALE_VALIDATIONS;
        let early = progress.validations <= EARLY_VALIDATIONS || few_steps;
        let collapse = stats.collapse.filter(|_| !early && !self.warned)?;
        self.warned = true;
        let state = match collapse {
            Collapse::Flat => "is nearly uniform over all source tokens",
            Collapse::End => "is on the end of the source for all target tokens",
            Collapse::Column => "is on one source token for all target tokens",
        };
        Some(format!("attention {state}, so alignments are meaningless; {}", self.advice))
    }
}

/// Formats attention statistics in one line.
pub fn attention_line(stats: &AttentionStats) -> String {
    let entropy = stats
        .row_entropy
        .map(|rows| format!("entropy {:.0} % of the maximum  ", 100.0 * rows.normalized_entropy))
        .unwrap_or_default();
    format!(
        "attention: {entropy}on </s> {:.0} %  on punctuation {:.0} % ({:.0} % of tokens)  correlation of positions {:.2}  \
         coverage {:.0} %",
        100.0 * stats.end,
        100.0 * stats.punctuation,
        100.0 * stats.punctuation_tokens,
        stats.diagonality,
        100.0 * stats.coverage
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::AttentionSums;

    fn progress(validations: u64, step: u64) -> TrainState {
        TrainState { validations, step, ..TrainState::default() }
    }

    fn stats(collapse: Option<Collapse>) -> AttentionStats {
        AttentionStats { collapse, ..AttentionSums::default().stats() }
    }

    fn monitor() -> CollapseMonitor {
        CollapseMonitor { advice: "do this", warned: false }
    }

    #[test]
    fn warns_once() {
        let (mut monitor, flat) = (monitor(), stats(Some(Collapse::Flat)));
        assert_eq!(monitor.warning(&progress(3, 600), &stats(None)), None);
        let warning = monitor.warning(&progress(4, 800), &flat).unwrap();
        assert!(warning.contains("nearly uniform") && warning.ends_with("do this"), "{warning}");
        assert_eq!(monitor.warning(&progress(5, 1000), &flat), None);
        assert_eq!(monitor.warning(&progress(6, 1200), &stats(Some(Collapse::End))), None);
    }

    #[test]
    fn first_validations_do_not_warn() {
        let mut monitor = monitor();
        for early in [progress(1, 5000), progress(2, 10_000), progress(30, 499)] {
            assert_eq!(monitor.warning(&early, &stats(Some(Collapse::Column))), None, "{early:?}");
        }
        assert!(monitor.warning(&progress(3, 500), &stats(Some(Collapse::Column))).is_some());
    }

    #[test]
    fn warns_before_patience_ends_a_short_run() {
        let mut monitor = monitor();
        let flat = stats(Some(Collapse::Flat));
        let mut progress = TrainState { validations_since_best: 2, ..progress(9, 60) };
        assert_eq!(monitor.warning(&progress, &flat), None);
        progress.validations_since_best = 3;
        assert!(monitor.warning(&progress, &flat).is_some());
    }

    #[test]
    fn formats_statistics_in_one_line() {
        let line = attention_line(&stats(None));
        let expected = "attention: entropy 0 % of the maximum  on </s> 0 %  on punctuation 0 % (0 % of tokens)  correlation of positions 0.00  coverage 0 %";
        assert_eq!(line, expected);
        let hard = attention_line(&AttentionStats { row_entropy: None, ..stats(None) });
        assert!(hard.starts_with("attention: on </s> 0 %"), "{hard}");
    }
}
