//! Which of the models that a run validates are kept beside the best one.

use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How many are kept, and by what they are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Those of the best validations.
    Best(usize),
    /// Those of the last ones.
    Last(usize),
}

impl Keep {
    /// The steps of those to keep, of models by their steps and scores, more being better. Among equals the later one is
    /// better, and the worst is one whose score nobody knows.
    pub fn chosen(self, mut models: Vec<(u64, Option<f64>)>) -> Vec<u64> {
        let most = match self {
            Self::Best(most) => {
                let score = |score: Option<f64>| score.unwrap_or(f64::NEG_INFINITY);
                models.sort_by(|a, b| score(b.1).total_cmp(&score(a.1)).then(b.0.cmp(&a.0)));
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
impl fmt::Display for Keep {
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
    fn the_best_are_chosen_and_among_equals_the_later() {
        let models = vec![(10, Some(0.0)), (20, Some(7.5)), (30, None), (40, Some(7.5)), (50, Some(-3.0))];
        let chosen = |keep: Keep| keep.chosen(models.clone());
        assert_eq!(chosen(Keep::Best(1)), [40]);
        assert_eq!(chosen(Keep::Best(3)), [40, 20, 10]);
        assert_eq!(chosen(Keep::Best(9)), [40, 20, 10, 50, 30]);
        assert_eq!(chosen(Keep::Last(2)), [50, 40]);
        assert!(Keep::Best(2).chosen(Vec::new()).is_empty());
    }

    /// What is kept after each validation is what would be chosen of all.
    #[test]
    fn one_after_another_is_as_all_at_once() {
        let scores = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0];
        let all: Vec<(u64, Option<f64>)> = (1..).zip(scores.map(Some)).collect();
        for keep in [Keep::Best(1), Keep::Best(3), Keep::Last(2)] {
            let mut kept: Vec<(u64, Option<f64>)> = Vec::new();
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
