//! Retention of validated models beside the best one.

use std::cmp::Reverse;
use std::fmt;

use super::ValidationScore;

/// Number of retained models and the criterion that selects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// The models of the best validations.
    Best(usize),
    /// The models of the last validations.
    Last(usize),
}

impl Retention {
    /// Returns the steps of the models to keep, given the step and score of each. Ties go to the earlier model, as for the
    /// best model; a model without a score ranks last.
    pub fn select(self, mut models: Vec<(u64, Option<ValidationScore>)>) -> Vec<u64> {
        let most = match self {
            Self::Best(most) => {
                const UNKNOWN: ValidationScore = ValidationScore { score: f64::NEG_INFINITY, loss: f64::INFINITY };
                let score = |score: Option<ValidationScore>| score.unwrap_or(UNKNOWN);
                models.sort_by(|a, b| score(b.1).compare(&score(a.1)).then(a.0.cmp(&b.0)));
                most
            }
            Self::Last(most) => {
                models.sort_by_key(|(step, _)| Reverse(*step));
                most
            }
        };
        models.into_iter().take(most).map(|(step, _)| step).collect()
    }
}

/// Formats as in `the 3 best`.
impl fmt::Display for Retention {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Best(most) => write!(formatter, "the {most} best"),
            Self::Last(most) => write!(formatter, "the last {most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_best_scores_with_ties_by_lower_loss() {
        let known = [(10, 0.0, 1.0), (20, 7.5, 1.0), (40, 7.5, 0.5), (50, -3.0, 0.1), (60, 7.5, 1.0)];
        let mut models: Vec<_> =
            known.map(|(step, score, loss)| (step, Some(ValidationScore { score, loss }))).to_vec();
        models.insert(2, (30, None));
        let selected = |keep: Retention| keep.select(models.clone());
        assert_eq!(selected(Retention::Best(1)), [40]);
        assert_eq!(selected(Retention::Best(3)), [40, 20, 60]);
        assert_eq!(selected(Retention::Best(9)), [40, 20, 60, 10, 50, 30]);
        assert_eq!(selected(Retention::Last(2)), [60, 50]);
        assert!(Retention::Best(2).select(Vec::new()).is_empty());
    }

    #[test]
    fn incremental_selection_equals_selection_from_all() {
        let scores = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0];
        let all: Vec<_> = (1..).zip(scores.map(|score| Some(ValidationScore { score, loss: 1.0 }))).collect();
        for keep in [Retention::Best(1), Retention::Best(3), Retention::Last(2)] {
            let mut kept: Vec<(u64, Option<ValidationScore>)> = Vec::new();
            for model in &all {
                kept.push(*model);
                let steps = keep.select(kept.clone());
                kept.retain(|(step, _)| steps.contains(step));
            }
            let mut steps = keep.select(all.clone());
            steps.sort_unstable();
            assert_eq!(kept.iter().map(|(step, _)| *step).collect::<Vec<_>>(), steps, "{keep:?}");
        }
    }
}
