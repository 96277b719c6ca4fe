//! Warning about models that learn nothing.

use super::{TrainState, ValidationReport};

/// Steps and validations within which a model need not have learned anything.
const EARLY_STEPS: u64 = 500;
const EARLY_VALIDATIONS: u64 = 2;
/// Share of the perplexity of guessing above which nothing was learned.
const GUESSING: f64 = 0.9;
/// Decrease of the loss below which it is flat, in nats per token.
const FLAT: f64 = 0.1;

/// Monitor that warns once per run if a model is no better than guessing.
pub struct LossMonitor {
    learning_rate: f64,
    /// Loss at the first validation, in nats per token.
    first: Option<f64>,
    warned: bool,
}

impl LossMonitor {
    /// Returns a monitor of a training with this learning rate.
    pub fn new(learning_rate: f64) -> Self {
        Self { learning_rate, first: None, warned: false }
    }

    /// Returns the warning due after a validation, if any.
    pub fn warning(&mut self, progress: &TrainState, report: &ValidationReport) -> Option<String> {
        let (perplexity, guessing) = (report.perplexity, report.unigram_perplexity);
        let fallen = *self.first.get_or_insert(perplexity.ln()) - perplexity.ln();
        let early = progress.step < EARLY_STEPS || progress.validations <= EARLY_VALIDATIONS;
        if early || self.warned || !is_guessing(perplexity, guessing) {
            return None;
        }
        self.warned = true;
        let state = if fallen < FLAT { "the perplexity does not fall" } else { "the perplexity falls too slowly" };
        Some(format!(
            "{state}: after {} steps, the model is no better than guessing by the frequency of words (perplexity \
             {guessing:.0}); try another --learning-rate than {}",
            progress.step, self.learning_rate
        ))
    }
}

/// True if a perplexity is that of a model that learned nothing, given the perplexity of guessing by frequency.
pub fn is_guessing(perplexity: f64, unigram_perplexity: f64) -> bool {
    perplexity > GUESSING * unigram_perplexity
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(perplexity: f64) -> ValidationReport {
        ValidationReport { perplexity, unigram_perplexity: 200.0, ..ValidationReport::of_bleu(0.0) }
    }

    #[test]
    fn names_a_flat_loss_once() {
        let mut monitor = LossMonitor::new(1e-7);
        let progress = |step, validations| TrainState { step, validations, ..TrainState::default() };
        assert_eq!(monitor.warning(&progress(100, 1), &report(480.0)), None);
        assert_eq!(monitor.warning(&progress(900, 2), &report(480.0)), None);
        assert_eq!(monitor.warning(&progress(900, 9), &report(100.0)), None, "better than guessing");
        let warning = monitor.warning(&progress(900, 9), &report(479.0)).unwrap();
        assert!(warning.contains("does not fall") && warning.contains("0.0000001"), "{warning}");
        assert_eq!(monitor.warning(&progress(950, 10), &report(479.0)), None);
    }
}
