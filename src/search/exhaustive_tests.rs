//! What search finds under demands, and what it draws, held against trying every sequence of a small table.

use std::sync::Arc;

use super::table_scorer::{TableScorer, every_sequence};
use super::{
    AvoidedPhrase, BeamSearch, DecodingConstraints, Hypothesis, HypothesisScoring, LengthFormula, LengthLimits,
    RequiredPhrase, SampleSearch, SamplingConfig, SearchInput, sample, search,
};
use crate::text::SurfaceForms;

/// Words of a translation without demands, at most.
const WORDS: usize = 3;
/// Enough to keep every hypothesis.
const EVERY: usize = 30_000;

fn spelling() -> Arc<SurfaceForms> {
    let texts = ["", "", "", "", " a", " b", " c", "d"];
    Arc::new(SurfaceForms::new(texts.map(str::to_owned).to_vec(), true))
}

fn constraints(prefix: &[u32], required: &[&[u32]], avoided: &[&str]) -> DecodingConstraints {
    let spelling = spelling();
    DecodingConstraints {
        prefix: prefix.to_vec(),
        prefix_ends_word: !prefix.is_empty() && prefix.len().is_multiple_of(2),
        left_out: 0,
        required: required.iter().map(|units| RequiredPhrase { units: units.to_vec(), of: None }).collect(),
        avoided: avoided.iter().map(|text| AvoidedPhrase::new(text, &spelling)).collect(),
        spelling,
    }
}

fn limits(no_repeat: Option<usize>) -> LengthLimits {
    LengthLimits { length_factor: 0.0, length_extra: WORDS + 1, no_repeat }
}

const RANKING: HypothesisScoring =
    HypothesisScoring { length_formula: LengthFormula::Power, length_penalty: 0.7, coverage_penalty: 0.0 };

/// The phrases of `required`, which have no unit in common, all stand in `units`, each followed by no part of its last word.
fn contains(units: &[u32], required: &[RequiredPhrase], spelling: &SurfaceForms) -> bool {
    required.iter().map(|required| &required.units).all(|phrase| {
        let ends = units.windows(phrase.len()).position(|run| run == phrase).map(|place| place + phrase.len());
        ends.is_some_and(|end| units.get(end).is_none_or(|&unit| !spelling.continues_word(unit)))
    })
}

fn repeats(units: &[u32], run: usize) -> bool {
    let runs: Vec<&[u32]> = units.windows(run).collect();
    (1..runs.len()).any(|place| runs[..place].contains(&runs[place]))
}

/// Whether a sequence keeps to the demands, asked of the whole of it.
fn keeps_to(units: &[u32], constraints: &DecodingConstraints, avoided: &[&str], no_repeat: Option<usize>) -> bool {
    let text = |units: &[u32]| -> String { units.iter().map(|&unit| constraints.spelling.text(unit)).collect() };
    let says = |phrase: &&str| (1..=units.len()).any(|end| constraints.spelling.says(&text(&units[..end]), 0, phrase));
    let next = units.get(constraints.prefix.len());
    units.starts_with(&constraints.prefix)
        && !(constraints.prefix_ends_word && next.is_some_and(|&unit| constraints.spelling.continues_word(unit)))
        && contains(units, &constraints.required, &constraints.spelling)
        && !avoided.iter().any(says)
        && !no_repeat.is_some_and(|run| repeats(units, run))
}

/// Beam search with room for all, and the sequences that keep to the demands, best first.
fn found_and_expected(
    seed: u64,
    constraints: &DecodingConstraints,
    avoided: &[&str],
    no_repeat: Option<usize>,
    beam: usize,
) -> (Vec<Hypothesis>, Vec<(f64, Vec<u32>)>) {
    let mut table = TableScorer::new(1, seed);
    let settings = BeamSearch { beam, scoring: RANKING, limits: limits(no_repeat), best: usize::MAX };
    let found = search(&mut table, &[SearchInput { number: 0, units: 1, constraints }], &settings).unwrap().remove(0);
    let score = |units: &[u32]| table.log_probability(0, units) / (units.len() as f64 + 1.0).powf(0.7);
    let all = every_sequence(WORDS + constraints.units());
    let kept = all.into_iter().filter(|units| keeps_to(units, constraints, avoided, no_repeat));
    let mut kept: Vec<(f64, Vec<u32>)> = kept.map(|units| (score(&units), units)).collect();
    kept.sort_by(|a, b| b.0.total_cmp(&a.0));
    (found, kept)
}

#[test]
fn a_wide_beam_finds_what_trying_everything_finds_under_every_demand() {
    let none: &[&[u32]] = &[];
    for (prefix, required, avoided, no_repeat) in [
        (&[][..], none, &[][..], Some(1)),
        (&[], none, &[], Some(2)),
        (&[6], none, &[], None),
        (&[4, 4], none, &[], None),
        (&[], &[&[5]], &[], None),
        (&[], &[&[5, 7], &[6]], &[], None),
        (&[], &[&[4], &[5], &[6]], &[], None),
        (&[4], &[&[6, 5]], &[], None),
        (&[], none, &["b"], None),
        (&[], none, &["a b", "c", "ad"], None),
        (&[5], &[&[4]], &["c", "b a"], Some(2)),
    ] {
        for seed in 0..10 {
            let constraints = constraints(prefix, required, avoided);
            let (found, expected) = found_and_expected(seed, &constraints, avoided, no_repeat, EVERY);
            let finished: Vec<&Hypothesis> = found.iter().filter(|one| one.finished).collect();
            assert_eq!(finished.len(), expected.len(), "{prefix:?} {required:?} {avoided:?} {no_repeat:?} {seed}");
            let mut left: Vec<&Vec<u32>> = expected.iter().map(|(_, units)| units).collect();
            left.sort();
            for (one, (score, _)) in finished.iter().zip(&expected) {
                assert!((one.score - score).abs() < 1e-5 && one.unmet_constraints == 0);
                left.remove(left.binary_search(&&one.units).unwrap());
            }
        }
    }
}

#[test]
fn a_narrow_beam_keeps_to_every_demand() {
    let mut ended = 0;
    for beam in 1..4 {
        for seed in 0..20 {
            let constraints = constraints(&[4], &[&[5, 7], &[6], &[4]], &["c a"]);
            let (found, expected) = found_and_expected(seed, &constraints, &["c a"], Some(3), beam);
            let best = &found[0];
            assert!(best.unmet_constraints == 0 && best.units[0] == 4, "{beam} {seed} {best:?}");
            let same = |(score, units): &(f64, Vec<u32>)| *units == best.units && (score - best.score).abs() < 1e-5;
            assert!(!best.finished || expected.iter().any(same), "{beam} {seed} {best:?}");
            ended += usize::from(best.finished);
        }
    }
    assert!(ended > 10, "{ended} of 60");
}

fn draws(count: usize, first: usize) -> SampleSearch {
    let chance = SamplingConfig::default();
    SampleSearch { draws: count, chance, scoring: RANKING, limits: limits(None), seed: 3, first }
}

#[test]
fn sequences_are_drawn_as_often_as_they_are_probable() {
    const DRAWS: usize = 20_000;
    let constraints = constraints(&[], &[], &["c"]);
    let mut table = TableScorer::new(1, 4);
    let input = SearchInput { number: 0, units: 1, constraints: &constraints };
    let drawn = sample(&mut table, &[input], &draws(DRAWS, 0)).unwrap().remove(0);
    assert!(drawn.len() == DRAWS && drawn.iter().all(|one| !one.units.contains(&6)));
    for units in every_sequence(2).iter().filter(|units| !units.contains(&6)) {
        let mut last = crate::text::BEGIN;
        let mut probability = 1.0;
        for &unit in units.iter().chain([&crate::text::END]) {
            let row = &table.probabilities[0][last as usize];
            probability *= row[unit as usize] / (1.0 - row[6]);
            last = unit;
        }
        let same: Vec<&Hypothesis> = drawn.iter().filter(|one| one.finished && one.units == *units).collect();
        let share = same.len() as f64 / DRAWS as f64;
        assert!((share - probability).abs() < 0.012, "{units:?} {share} {probability}");
        // What is said of it is the model's own, whatever was barred.
        assert!(same.iter().all(|one| (one.log_probability - table.log_probability(0, units)).abs() < 1e-5));
        assert!(same.iter().all(|one| one.attention.len() == units.len() + 1));
    }
}

#[test]
fn what_is_drawn_depends_on_seed_and_number_alone() {
    let nothing = DecodingConstraints::default();
    let input = |number| SearchInput { number, units: 1, constraints: &nothing };
    let units = |found: Vec<Hypothesis>| found.into_iter().map(|one| one.units).collect::<Vec<_>>();
    let mut all = sample(&mut TableScorer::new(3, 1), &[input(0), input(1), input(2)], &draws(4, 5)).unwrap();
    let mut table = TableScorer::new(3, 1);
    table.rows = vec![2];
    let alone = sample(&mut table, &[input(0)], &draws(4, 7)).unwrap().remove(0);
    assert_eq!(units(alone), units(all.pop().unwrap()));
    let other =
        sample(&mut TableScorer::new(1, 1), &[input(0)], &SampleSearch { seed: 4, ..draws(40, 5) }).unwrap().remove(0);
    let same = sample(&mut TableScorer::new(1, 1), &[input(0)], &draws(40, 5)).unwrap().remove(0);
    assert_ne!(units(other), units(same));
    assert!(sample(&mut TableScorer::new(1, 1), &[], &draws(4, 5)).unwrap().is_empty());
}
