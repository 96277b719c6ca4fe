//! Bias of the score of the best of several systems, if the segments that measure it also chose it.

use rayon::prelude::*;

use super::sufficient_stats::{SufficientStats, as_float};
use crate::random::SeededRng;

/// Bootstrap samples.
const SAMPLES: u64 = 500;

/// Direction in which scores are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Higher scores are better.
    Higher,
    /// Lower scores are better.
    Lower,
}

/// Estimates by how much the score of the best candidate is better than on other segments, because the segments that measure
/// it also chose it. At least 0; 0 for one candidate or segment. Each candidate has its statistics of the same segments.
///
/// Optimism of the bootstrap (Efron & Tibshirani 1993, *An Introduction to the Bootstrap*, section 17.6): each sample of
/// segments chooses a candidate, whose score on the sample is compared with that on all segments. Where candidates are equal,
/// this is 0.7 of the bias: what another search by the same model, such as beam search after a choice by greedy search, inherits.
pub fn selection_bias<C: SufficientStats>(candidates: &[Vec<C>], better: Better, seed: u64) -> f64 {
    let segments = candidates.first().map_or(0, Vec::len);
    if candidates.len() < 2 || segments < 2 {
        return 0.0;
    }
    let all = vec![1; segments];
    let optimism = (0..SAMPLES).into_par_iter().map(|sample| {
        let mut rng = SeededRng::new(seed, "choose", sample);
        let mut draws = vec![0; segments];
        (0..segments).for_each(|_| draws[rng.below(segments)] += 1);
        let chosen = &candidates[index_of_best(candidates, &draws, better)];
        better.signed(weighted(chosen, &draws) - weighted(chosen, &all))
    });
    let optimism: Vec<f64> = optimism.collect();
    (optimism.iter().sum::<f64>() / as_float(optimism.len())).max(0.0)
}

impl Better {
    /// Returns a difference of scores such that it is positive for the better one.
    fn signed(self, difference: f64) -> f64 {
        match self {
            Self::Higher => difference,
            Self::Lower => -difference,
        }
    }
}

/// Returns the candidate with the best score over segments that occur this often.
fn index_of_best<C: SufficientStats>(candidates: &[Vec<C>], draws: &[usize], better: Better) -> usize {
    let scores = candidates.iter().map(|candidate| better.signed(weighted(candidate, draws)));
    let best = scores.enumerate().max_by(|one, other| one.1.total_cmp(&other.1));
    best.map_or(0, |(index, _)| index)
}

/// Returns the score over segments that occur this often.
fn weighted<C: SufficientStats>(segments: &[C], draws: &[usize]) -> f64 {
    let mut sum = C::default();
    for (segment, &draws) in segments.iter().zip(draws) {
        (0..draws).for_each(|_| sum.add(segment));
    }
    sum.score()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::EditStats;

    /// Systems that make an error in a segment with a probability of one half, by chance alone.
    fn equal_systems(systems: u64, segments: usize) -> Vec<Vec<EditStats>> {
        let streams = (0..systems).map(|number| SeededRng::new(number, "errors", 0));
        streams
            .map(|mut rng| (0..segments).map(|_| EditStats { edits: rng.below(2), reference_length: 1 }).collect())
            .collect()
    }

    #[test]
    fn finds_most_of_the_advantage_of_the_luckiest_of_equal_systems() {
        let systems = equal_systems(30, 100);
        let lowest = systems.iter().map(|system| weighted(system, &[1; 100])).fold(100.0, f64::min);
        let bias = selection_bias(&systems, Better::Lower, 1);
        // Their true error rate is 50 %.
        let share = bias / (50.0 - lowest);
        assert!(lowest < 42.0 && (0.6..0.9).contains(&share), "{lowest} + {bias}");
    }

    #[test]
    fn clear_winners_and_single_systems_are_not_biased() {
        let mut systems = equal_systems(5, 100);
        assert_eq!(selection_bias(&systems[..1], Better::Lower, 1), 0.0);
        systems[3].iter_mut().for_each(|segment| segment.edits = 0);
        assert_eq!(selection_bias(&systems, Better::Lower, 1), 0.0);
        assert!(selection_bias(&systems, Better::Higher, 1) > 0.0);
        assert_eq!(selection_bias::<EditStats>(&[], Better::Higher, 1), 0.0);
    }
}
