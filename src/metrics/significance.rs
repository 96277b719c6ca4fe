//! How far a score can be trusted, and whether two systems differ by more than chance.
//!
//! Segments are drawn anew, with replacement, as if another test set of the kind had been taken (Koehn 2004), or dealt
//! anew to two systems (Riezler & Maxwell 2005). Drawn are counts, so that a draw is some sums and one division.

use rayon::prelude::*;
use serde::Serialize;

use super::counts::{Counts, as_float};
use crate::random::SeededRng;

/// How often segments are drawn.
const DRAWS: u64 = 1000;
/// How often they are dealt.
const DEALS: u64 = 10_000;

/// What a score would be on other segments of the kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Confidence {
    /// The mean over the draws.
    pub mean: f64,
    /// Half of the interval that 95 % of them lie in.
    pub half_width: f64,
}

/// How probable a difference at least as large as that of two systems is where there is none: two ways to ask.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Significance {
    /// By paired bootstrap resampling.
    pub bootstrap: f64,
    /// By approximate randomisation.
    pub randomisation: f64,
}

/// By the counts of all segments.
pub fn confidence<C: Counts>(segments: &[C], seed: u64) -> Confidence {
    let mut scores: Vec<f64> = (0..DRAWS).into_par_iter().map(|draw| drawn(seed, draw, segments).score()).collect();
    let mean = mean(&scores);
    scores.sort_by(f64::total_cmp);
    let beyond = scores.len() / 40;
    Confidence { mean, half_width: (scores[scores.len() - beyond - 1] - scores[beyond]) / 2.0 }
}

/// By the counts that two systems have of the same segments.
pub fn significance<C: Counts>(baseline: &[C], system: &[C], seed: u64) -> Significance {
    let difference = (total(baseline).score() - total(system).score()).abs();
    let apart = |draw: u64| {
        let [one, other] = [baseline, system].map(|side| drawn(seed, draw, side).score());
        (one - other).abs()
    };
    let mut drawn: Vec<f64> = (0..DRAWS).into_par_iter().map(apart).collect();
    // Centred, they are what chance alone would do.
    let mean = mean(&drawn);
    drawn.iter_mut().for_each(|apart| *apart -= mean);
    let deal = |deal: u64| {
        let mut stream = SeededRng::new(seed, "deal", deal);
        let (mut one, mut other) = (C::default(), C::default());
        for (of_baseline, of_system) in baseline.iter().zip(system) {
            let (first, second) =
                if stream.below(2) == 0 { (of_baseline, of_system) } else { (of_system, of_baseline) };
            one.add(first);
            other.add(second);
        }
        (one.score() - other.score()).abs()
    };
    let dealt: Vec<f64> = (0..DEALS).into_par_iter().map(deal).collect();
    Significance { bootstrap: share_beyond(&drawn, difference), randomisation: share_beyond(&dealt, difference) }
}

/// As many segments as there are, drawn with replacement; the same for every system.
fn drawn<C: Counts>(seed: u64, draw: u64, segments: &[C]) -> C {
    let mut stream = SeededRng::new(seed, "draw", draw);
    let mut sum = C::default();
    segments.iter().for_each(|_| sum.add(&segments[stream.below(segments.len())]));
    sum
}

fn total<C: Counts>(segments: &[C]) -> C {
    let mut sum = C::default();
    segments.iter().for_each(|segment| sum.add(segment));
    sum
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / as_float(values.len())
}

/// The p-value: never 0, since the real difference itself is one of those that chance could have brought. What is as large
/// counts, but for rounding: sacrebleu leaves it out, by which two systems that say the same would differ significantly.
fn share_beyond(chance: &[f64], difference: f64) -> f64 {
    const ROUNDING: f64 = 1e-9;
    let beyond = chance.iter().filter(|&&value| value >= difference - ROUNDING).count();
    (as_float(beyond) + 1.0) / (as_float(chance.len()) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{BleuCounts, ChrfCounts, EditCounts};

    fn counts<C: Counts>(hypotheses: &[String], references: &[String]) -> Vec<C> {
        hypotheses.iter().zip(references).map(|(hypothesis, reference)| C::of(hypothesis, reference)).collect()
    }

    /// References, and hypotheses of which a share is right.
    fn corpus(right: f64, seed: u64) -> [Vec<String>; 2] {
        let mut stream = SeededRng::new(seed, "corpus", 0);
        let reference = |number: usize| format!("the fox number {number} sleeps in the {number}th wood today");
        let references: Vec<String> = (0..300).map(reference).collect();
        let wrong =
            |text: &String| if stream.uniform() < right { text.clone() } else { text.replace("fox", "red owl") };
        [references.iter().map(wrong).collect(), references]
    }

    fn check<C: Counts>() {
        let [good, references] = corpus(0.9, 1);
        let [same, _] = corpus(0.9, 2);
        let [bad, _] = corpus(0.6, 3);
        let [good, same, bad] = [good, same, bad].map(|hypotheses| counts::<C>(&hypotheses, &references));
        let sure = confidence(&good, 1);
        assert!((sure.mean - total(&good).score()).abs() < sure.half_width && sure.half_width > 0.1, "{sure:?}");
        assert_eq!(sure, confidence(&good, 1));
        let certain = significance(&good, &bad, 1);
        assert!(certain.bootstrap < 0.01 && certain.randomisation < 0.01, "{certain:?}");
        let chance = significance(&good, &same, 1);
        assert!(chance.bootstrap > 0.05 && chance.randomisation > 0.1, "{chance:?}");
        let equal = significance(&good, &good, 1);
        assert!(equal.bootstrap <= 1.0 && equal.randomisation <= 1.0);
    }

    #[test]
    fn chance_is_told_from_difference() {
        check::<BleuCounts>();
        check::<ChrfCounts>();
        check::<EditCounts>();
    }

    #[test]
    fn one_segment_leaves_no_doubt() {
        let one = counts::<BleuCounts>(&["a b c d".to_owned()], &["a b c d".to_owned()]);
        assert!(confidence(&one, 1).half_width.abs() < 1e-9);
    }

    /// Of two deals of two segments one is as the systems are, or the other way round; between equal systems all are alike.
    #[test]
    fn what_is_as_far_apart_counts() {
        let references = ["a b c d e", "f g h i j"].map(str::to_owned);
        let system = ["a b c d x", "f g h i y"].map(str::to_owned);
        let [baseline, system] = [&references, &system].map(|texts| counts::<BleuCounts>(texts, &references));
        let equal = significance(&baseline, &baseline, 1);
        assert_eq!((equal.bootstrap, equal.randomisation), (1.0, 1.0));
        assert!((significance(&baseline, &system, 1).randomisation - 0.5).abs() < 0.05);
    }
}
