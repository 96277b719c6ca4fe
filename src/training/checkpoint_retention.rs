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

/// Validated model.
#[derive(Clone, Copy, Debug)]
pub struct ValidatedModel {
    /// Step of its validation.
    pub step: u64,
    /// Score, if it is known.
    pub score: Option<ValidationScore>,
}

impl ValidatedModel {
    /// Returns the score; an unknown one is worse than any other.
    fn comparable_score(&self) -> ValidationScore {
        self.score.unwrap_or(ValidationScore { score: f64::NEG_INFINITY, loss: f64::INFINITY })
    }
}

impl Retention {
    /// Returns the steps of the models to keep. Ties go to the earlier model, as for the best model; a model without a score
    /// ranks last.
    pub fn select(self, mut models: Vec<ValidatedModel>) -> Vec<u64> {
        let most = match self {
            Self::Best(most) => {
                models.sort_by(|one, other| {
                    let order = other.comparable_score().compare(&one.comparable_score());
                    order.then(one.step.cmp(&other.step))
                });
                most
            }
            Self::Last(most) => {
                models.sort_by_key(|model| Reverse(model.step));
                most
            }
        };
        models.into_iter().take(most).map(|model| model.step).collect()
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

    fn model(step: u64, score: f64, loss: f64) -> ValidatedModel {
        ValidatedModel { step, score: Some(ValidationScore { score, loss }) }
    }

    #[test]
    fn selects_best_scores_with_ties_by_lower_loss() {
        let known = [(10, 0.0, 1.0), (20, 7.5, 1.0), (40, 7.5, 0.5), (50, -3.0, 0.1), (60, 7.5, 1.0)];
        let mut models = known.map(|(step, score, loss)| model(step, score, loss)).to_vec();
        models.insert(2, ValidatedModel { step: 30, score: None });
        for (retention, selected) in [
            (Retention::Best(1), &[40][..]),
            (Retention::Best(3), &[40, 20, 60]),
            (Retention::Best(9), &[40, 20, 60, 10, 50, 30]),
            (Retention::Last(2), &[60, 50]),
        ] {
            assert_eq!(retention.select(models.clone()), selected, "{retention:?}");
        }
        assert!(Retention::Best(2).select(Vec::new()).is_empty());
    }

    #[test]
    fn incremental_selection_equals_selection_from_all() {
        let scores = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0];
        let all: Vec<ValidatedModel> = (1..).zip(scores).map(|(step, score)| model(step, score, 1.0)).collect();
        for keep in [Retention::Best(1), Retention::Best(3), Retention::Last(2)] {
            let mut kept: Vec<ValidatedModel> = Vec::new();
            for model in &all {
                kept.push(*model);
                let steps = keep.select(kept.clone());
                kept.retain(|model| steps.contains(&model.step));
            }
            let mut steps = keep.select(all.clone());
            steps.sort_unstable();
            assert_eq!(kept.iter().map(|model| model.step).collect::<Vec<_>>(), steps, "{keep:?}");
        }
    }
}
