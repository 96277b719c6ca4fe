//! Bias of the score of the best of several systems, if the segments that measure it also chose it.

use rayon::prelude::*;

use super::sufficient_stats::{SufficientStats, as_float};
use crate::random::SeededRng;

/// Bootstrap samples.
const SAMPLES: u64 = 500;

/// Whether higher scores are better.
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
/// Bootstrap bias correction (Tsamardinos, Greasidou & Borboudakis 2018, "Bootstrapping the out-of-sample predictions for
/// efficient and accurate cross-validation"): each sample of segments chooses a candidate, which the segments outside the
/// sample compare with the best one.
pub fn selection_bias<C: SufficientStats>(candidates: &[Vec<C>], better: Better, seed: u64) -> f64 {
    let segments = candidates.first().map_or(0, Vec::len);
    if candidates.len() < 2 || segments < 2 {
        return 0.0;
    }
    let best = index_of_best(candidates, &vec![1; segments], better);
    let differences = (0..SAMPLES).into_par_iter().filter_map(|sample| {
        let mut rng = SeededRng::new(seed, "choose", sample);
        let mut draws = vec![0; segments];
        (0..segments).for_each(|_| draws[rng.below(segments)] += 1);
        let outside: Vec<usize> = draws.iter().map(|&draws| usize::from(draws == 0)).collect();
        if outside.iter().all(|&draws| draws == 0) {
            return None;
        }
        let chosen = index_of_best(candidates, &draws, better);
        Some(better.signed(weighted(&candidates[best], &outside) - weighted(&candidates[chosen], &outside)))
    });
    let differences: Vec<f64> = differences.collect();
    (differences.iter().sum::<f64>() / as_float(differences.len().max(1))).max(0.0)
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
        let system = |number| {
            let mut rng = SeededRng::new(number, "errors", 0);
            (0..segments).map(|_| EditStats { edits: rng.below(2), reference_length: 1 }).collect()
        };
        (0..systems).map(system).collect()
    }

    #[test]
    fn finds_the_advantage_of_the_luckiest_of_equal_systems() {
        let systems = equal_systems(30, 100);
        let lowest = systems.iter().map(|system| weighted(system, &[1; 100])).fold(100.0, f64::min);
        let bias = selection_bias(&systems, Better::Lower, 1);
        // Their true error rate is 50 %.
        assert!(lowest < 42.0 && (lowest + bias - 50.0).abs() < 3.0, "{lowest} + {bias}");
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
