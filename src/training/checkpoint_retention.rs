//! Which of the models that a run validates are kept beside the best one.

use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::ValidationScore;

/// How many are kept, and by what they are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retention {
    /// Those of the best validations.
    Best(usize),
    /// Those of the last ones.
    Last(usize),
}

impl Retention {
    /// The steps of those to keep, of models by their steps and merits. Among equals the earlier one is better, as it is the
    /// one that becomes the best model, and the worst is one whose merit nobody knows.
    pub fn chosen(self, mut models: Vec<(u64, Option<ValidationScore>)>) -> Vec<u64> {
        let most = match self {
            Self::Best(most) => {
                const NONE: ValidationScore = ValidationScore { score: f64::NEG_INFINITY, loss: f64::INFINITY };
                let validation_score = |validation_score: Option<ValidationScore>| validation_score.unwrap_or(NONE);
                models.sort_by(|a, b| validation_score(b.1).compare(&validation_score(a.1)).then(a.0.cmp(&b.0)));
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

/// As in `the 3 best`.
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
    fn the_best_are_chosen_and_among_equals_those_of_lower_loss() {
        let known = [(10, 0.0, 1.0), (20, 7.5, 1.0), (40, 7.5, 0.5), (50, -3.0, 0.1), (60, 7.5, 1.0)];
        let mut models: Vec<_> =
            known.map(|(step, score, loss)| (step, Some(ValidationScore { score, loss }))).to_vec();
        models.insert(2, (30, None));
        let chosen = |keep: Retention| keep.chosen(models.clone());
        assert_eq!(chosen(Retention::Best(1)), [40]);
        assert_eq!(chosen(Retention::Best(3)), [40, 20, 60]);
        assert_eq!(chosen(Retention::Best(9)), [40, 20, 60, 10, 50, 30]);
        assert_eq!(chosen(Retention::Last(2)), [60, 50]);
        assert!(Retention::Best(2).chosen(Vec::new()).is_empty());
    }

    /// What is kept after each validation is what would be chosen of all.
    #[test]
    fn one_after_another_is_as_all_at_once() {
        let scores = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0];
        let all: Vec<_> = (1..).zip(scores.map(|score| Some(ValidationScore { score, loss: 1.0 }))).collect();
        for keep in [Retention::Best(1), Retention::Best(3), Retention::Last(2)] {
            let mut kept: Vec<(u64, Option<ValidationScore>)> = Vec::new();
            for model in &all {
                kept.push(*model);
                let steps = keep.chosen(kept.clone());
                kept.retain(|(step, _)| steps.contains(step));
            }
            let mut steps = keep.chosen(all.clone());
            steps.sort_unstable();
            assert_eq!(kept.iter().map(|(step, _)| *step).collect::<Vec<_>>(), steps, "{keep:?}");
        }
    }
}
