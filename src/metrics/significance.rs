//! Confidence intervals and paired significance tests of corpus scores.
//!
//! Bootstrap resampling draws segments with replacement (Koehn 2004); approximate randomization swaps the outputs of two
//! systems segment by segment (Riezler & Maxwell 2005). Both resample sufficient statistics, so that a sample costs a sum.

use rayon::prelude::*;
use serde::Serialize;

use super::sufficient_stats::{SufficientStats, as_float};
use crate::random::SeededRng;

/// Bootstrap samples.
const BOOTSTRAP_SAMPLES: u64 = 1000;
/// Trials of approximate randomization.
pub const RANDOMIZATION_TRIALS: u64 = 10_000;

/// Bootstrap estimate of a score (Koehn 2004).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Confidence {
    /// Mean over the samples.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval.
    pub half_width: f64,
}

/// p-values of the score difference of two systems under the null hypothesis of no difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Significance {
    /// Paired bootstrap resampling.
    pub bootstrap: f64,
    /// Approximate randomization.
    pub randomization: f64,
}

/// Estimates the confidence interval from the statistics of all segments.
pub fn confidence<C: SufficientStats>(segments: &[C], seed: u64) -> Confidence {
    let mut scores: Vec<f64> =
        (0..BOOTSTRAP_SAMPLES).into_par_iter().map(|sample| resample(seed, sample, segments).score()).collect();
    let mean = mean(&scores);
    scores.sort_by(f64::total_cmp);
    let tail = scores.len() / 40;
    Confidence { mean, half_width: (scores[scores.len() - tail - 1] - scores[tail]) / 2.0 }
}

/// Tests the difference of two systems from their statistics of the same segments.
pub fn significance<C: SufficientStats>(baseline: &[C], system: &[C], seed: u64) -> Significance {
    let difference = (total(baseline).score() - total(system).score()).abs();
    let samples = (0..BOOTSTRAP_SAMPLES).into_par_iter().map(|sample| {
        let [one, other] = [baseline, system].map(|side| resample(seed, sample, side).score());
        (one - other).abs()
    });
    let mut bootstrap: Vec<f64> = samples.collect();
    // Centered, they follow the null hypothesis.
    let mean = mean(&bootstrap);
    bootstrap.iter_mut().for_each(|difference| *difference -= mean);
    let trials = (0..RANDOMIZATION_TRIALS).into_par_iter();
    let randomized: Vec<f64> = trials.map(|trial| swapped_difference(seed, trial, baseline, system)).collect();
    Significance { bootstrap: p_value(&bootstrap, difference), randomization: p_value(&randomized, difference) }
}

/// Draws as many segments as there are, with replacement; the same ones for every system.
fn resample<C: SufficientStats>(seed: u64, sample: u64, segments: &[C]) -> C {
    let mut rng = SeededRng::new(seed, "draw", sample);
    let mut sum = C::default();
    segments.iter().for_each(|_| sum.add(&segments[rng.below(segments.len())]));
    sum
}

/// Difference of two systems' scores after each segment's outputs are swapped with a probability of one half.
fn swapped_difference<C: SufficientStats>(seed: u64, trial: u64, baseline: &[C], system: &[C]) -> f64 {
    let mut rng = SeededRng::new(seed, "deal", trial);
    let (mut one, mut other) = (C::default(), C::default());
    for (of_baseline, of_system) in baseline.iter().zip(system) {
        let (first, second) = if rng.below(2) == 0 { (of_baseline, of_system) } else { (of_system, of_baseline) };
        one.add(first);
        other.add(second);
    }
    (one.score() - other.score()).abs()
}

fn total<C: SufficientStats>(segments: &[C]) -> C {
    let mut sum = C::default();
    segments.iter().for_each(|segment| sum.add(segment));
    sum
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / as_float(values.len())
}

/// p-value with the observed difference counted as one sample, so that it is never 0. Unlike in sacrebleu, differences
/// equal up to rounding count: otherwise identical systems would differ significantly.
fn p_value(null: &[f64], difference: f64) -> f64 {
    const ROUNDING: f64 = 1e-9;
    let beyond = null.iter().filter(|&&value| value >= difference - ROUNDING).count();
    (as_float(beyond) + 1.0) / (as_float(null.len()) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{BleuStats, BleuTokenizer, ChrfStats, TerStats};

    fn of_bleu(hypothesis: &str, reference: &str) -> BleuStats {
        BleuStats::of_segment(hypothesis, reference, BleuTokenizer::V13a)
    }

    fn stats<C>(hypotheses: &[String], references: &[String], of_segment: fn(&str, &str) -> C) -> Vec<C> {
        hypotheses.iter().zip(references).map(|(hypothesis, reference)| of_segment(hypothesis, reference)).collect()
    }

    /// Hypotheses, of which a share is correct, and references.
    fn corpus(right: f64, seed: u64) -> [Vec<String>; 2] {
        let mut rng = SeededRng::new(seed, "corpus", 0);
        let mut hypotheses = Vec::new();
        let mut references = Vec::new();
        for number in 0..300 {
            let reference = format!("the fox number {number} sleeps in the {number}th wood today");
            let is_right = rng.uniform() < right;
            hypotheses.push(if is_right { reference.clone() } else { reference.replace("fox", "red owl") });
            references.push(reference);
        }
        [hypotheses, references]
    }

    fn tells_chance_from_difference<C: SufficientStats>(of_segment: fn(&str, &str) -> C) {
        let [good, references] = corpus(0.9, 1);
        let [same, _] = corpus(0.9, 2);
        let [bad, _] = corpus(0.6, 3);
        let [good, same, bad] = [good, same, bad].map(|hypotheses| stats(&hypotheses, &references, of_segment));
        let interval = confidence(&good, 1);
        assert!((interval.mean - total(&good).score()).abs() < interval.half_width, "{interval:?}");
        assert!(interval.half_width > 0.1, "{interval:?}");
        assert_eq!(interval, confidence(&good, 1));
        let certain = significance(&good, &bad, 1);
        assert!(certain.bootstrap < 0.01 && certain.randomization < 0.01, "{certain:?}");
        let chance = significance(&good, &same, 1);
        assert!(chance.bootstrap > 0.05 && chance.randomization > 0.1, "{chance:?}");
        let equal = significance(&good, &good, 1);
        assert!(equal.bootstrap <= 1.0 && equal.randomization <= 1.0);
    }

    #[test]
    fn separates_chance_from_real_differences() {
        tells_chance_from_difference(of_bleu);
        tells_chance_from_difference(ChrfStats::of_segment);
        tells_chance_from_difference(TerStats::of_segment);
    }

    #[test]
    fn gives_a_single_segment_an_interval_of_zero_width() {
        let one = stats(&["a b c d".to_owned()], &["a b c d".to_owned()], of_bleu);
        assert!(confidence(&one, 1).half_width.abs() < 1e-9);
    }

    /// Of two segments, half of all swaps reproduce the observed difference; identical systems always do.
    #[test]
    fn counts_equal_differences() {
        let references = ["a b c d e", "f g h i j"].map(str::to_owned);
        let system = ["a b c d x", "f g h i y"].map(str::to_owned);
        let [baseline, system] = [&references, &system].map(|texts| stats(texts, &references, of_bleu));
        let equal = significance(&baseline, &baseline, 1);
        assert_eq!((equal.bootstrap, equal.randomization), (1.0, 1.0));
        assert!((significance(&baseline, &system, 1).randomization - 0.5).abs() < 0.05);
    }
}
