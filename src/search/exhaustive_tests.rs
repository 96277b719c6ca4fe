//! Constrained search and sampling compared with exhaustive search over a small table.

use std::cmp::Reverse;
use std::sync::Arc;

use super::table_scorer::{TableScorer, every_sequence};
use super::{
    AvoidedPhrases, BeamOptions, DecodingConstraints, ExpectedLength, Hypothesis, HypothesisScoring, LengthFormula,
    LengthLimits, RequiredPhrase, SamplingConfig, SamplingOptions, SearchInput, sample, search,
};
use crate::random::SeededRng;
use crate::text::{PhraseBoundaries, SurfaceForms};

/// Maximum tokens of an unconstrained translation.
const MAX_TOKENS: usize = 3;
/// Mean length of translations, of which four fifths are expected, in characters.
const MEAN_LENGTH: f64 = 5.0;
/// Beam that keeps every hypothesis.
const EXHAUSTIVE_BEAM: usize = 30_000;

fn surface_forms() -> Arc<SurfaceForms> {
    let texts = ["", "", "", "", " a", " b", " c", "d"];
    Arc::new(SurfaceForms::new(texts.map(str::to_owned).to_vec(), PhraseBoundaries::Words))
}

/// Input with constraints, whose translation has an expected length.
fn input<'a>(constraints: &'a DecodingConstraints, expected_length: Option<&'a ExpectedLength>) -> SearchInput<'a> {
    SearchInput { seed_index: 0, source_tokens: 1, constraints, expected_length, cancellation: None }
}

fn expected_length() -> Option<ExpectedLength> {
    ExpectedLength::new(MEAN_LENGTH, &surface_forms())
}

fn constraints(prefix: &[u32], required: &[&[u32]], avoided: &[&str]) -> DecodingConstraints {
    let surface_forms = surface_forms();
    DecodingConstraints {
        prefix: prefix.to_vec(),
        prefix_ends_word: !prefix.is_empty() && prefix.len().is_multiple_of(2),
        removed: 0,
        required: required.iter().map(|tokens| required_phrase(tokens, &surface_forms)).collect(),
        avoided: Arc::new(AvoidedPhrases::new(
            avoided.iter().map(|&text| text.to_owned()).collect(),
            &surface_forms,
            None,
        )),
        surface_forms,
    }
}

fn required_phrase(tokens: &[u32], surface_forms: &SurfaceForms) -> RequiredPhrase {
    let text: String = tokens.iter().map(|&token| surface_forms.text(token)).collect();
    RequiredPhrase { text: text.trim().to_owned(), tokens: tokens.to_vec(), term: Vec::new() }
}

/// Table in which no token is improbable, so that words may end and continue anywhere.
fn table(seed: u64) -> TableScorer {
    let mut table = TableScorer::new(1, seed);
    let probabilities = table.probabilities.iter_mut().flatten().flatten();
    probabilities.filter(|p| **p > 0.0).for_each(|p| *p = 0.12 + 0.4 * *p);
    table
}

fn limits(no_repeat: Option<usize>) -> LengthLimits {
    LengthLimits { length_factor: 0.0, length_extra: MAX_TOKENS + 1, no_repeat }
}

const SCORING: HypothesisScoring = HypothesisScoring {
    length_formula: LengthFormula::Power,
    length_penalty: 0.7,
    coverage_penalty: 0.0,
    brevity_penalty: 1.0,
};

/// True if `tokens` contains all required phrases as whole words. The phrases share no tokens.
fn contains(tokens: &[u32], required: &[RequiredPhrase], surface_forms: &SurfaceForms) -> bool {
    required.iter().map(|required| &required.tokens).all(|phrase| {
        let ends = tokens.windows(phrase.len()).position(|run| run == phrase).map(|start| start + phrase.len());
        ends.is_some_and(|end| tokens.get(end).is_none_or(|&token| !surface_forms.continues_word(token)))
    })
}

fn repeats(tokens: &[u32], n: usize) -> bool {
    let n_grams: Vec<&[u32]> = tokens.windows(n).collect();
    (1..n_grams.len()).any(|index| n_grams[..index].contains(&n_grams[index]))
}

/// True if a complete sequence meets the constraints.
fn meets(tokens: &[u32], constraints: &DecodingConstraints, avoided: &[&str], no_repeat: Option<usize>) -> bool {
    let forms = &constraints.surface_forms;
    let text: String = tokens.iter().map(|&token| forms.text(token)).collect();
    let next = tokens.get(constraints.prefix.len());
    tokens.starts_with(&constraints.prefix)
        && !(constraints.prefix_ends_word && next.is_some_and(|&token| forms.continues_word(token)))
        && contains(tokens, &constraints.required, forms)
        && !avoided.iter().any(|phrase| forms.contains_phrase(&text, 0, phrase))
        && !no_repeat.is_some_and(|n| repeats(tokens, n))
}

/// Sequence that meets the constraints.
struct ExpectedTranslation {
    tokens: Vec<u32>,
    score: f64,
}

/// Results of beam search, and the sequences that meet the constraints, both best first.
fn found_and_expected(
    seed: u64,
    constraints: &DecodingConstraints,
    avoided: &[&str],
    no_repeat: Option<usize>,
    beam: usize,
) -> (Vec<Hypothesis>, Vec<ExpectedTranslation>) {
    let mut table = table(seed);
    let settings = BeamOptions { beam, scoring: SCORING, limits: limits(no_repeat), best: usize::MAX };
    let expected_length = expected_length();
    let input = input(constraints, expected_length.as_ref());
    let found = search(&mut table, &[input], &settings).unwrap().remove(0);
    let mut valid = every_sequence(MAX_TOKENS + constraints.max_extra_tokens());
    valid.retain(|tokens| meets(tokens, constraints, avoided, no_repeat));
    let mut expected: Vec<ExpectedTranslation> = Vec::with_capacity(valid.len());
    for tokens in valid {
        let characters: usize = tokens.iter().map(|&token| constraints.surface_forms.text(token).len()).sum();
        let lacking_share = (1.0 - characters as f64 / (0.8 * MEAN_LENGTH)).max(0.0);
        let score = table.log_probability(0, &tokens) / (tokens.len() as f64 + 1.0).powf(0.7) - lacking_share;
        expected.push(ExpectedTranslation { tokens, score });
    }
    expected.sort_by(|a, b| b.score.total_cmp(&a.score));
    (found, expected)
}

#[test]
fn wide_beam_agrees_with_exhaustive_search_under_constraints() {
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
            let (found, expected) = found_and_expected(seed, &constraints, avoided, no_repeat, EXHAUSTIVE_BEAM);
            let finished: Vec<&Hypothesis> = found.iter().filter(|one| one.finished).collect();
            assert_eq!(finished.len(), expected.len(), "{prefix:?} {required:?} {avoided:?} {no_repeat:?} {seed}");
            let mut missing: Vec<&Vec<u32>> = expected.iter().map(|expected| &expected.tokens).collect();
            missing.sort();
            for (one, expected) in finished.iter().zip(&expected) {
                assert!((one.score - expected.score).abs() < 1e-5 && one.unmet_phrases.is_empty());
                missing.remove(missing.binary_search(&&one.tokens).unwrap());
            }
        }
    }
}

#[test]
fn narrow_beam_meets_all_constraints() {
    let mut finished = 0;
    for beam in 1..4 {
        for seed in 0..20 {
            let constraints = constraints(&[4], &[&[5, 7], &[6], &[4]], &["c a"]);
            let (found, expected) = found_and_expected(seed, &constraints, &["c a"], Some(3), beam);
            let best = &found[0];
            assert!(best.unmet_phrases.is_empty() && best.tokens[0] == 4, "{beam} {seed} {best:?}");
            let is_expected =
                expected.iter().any(|one| one.tokens == best.tokens && (one.score - best.score).abs() < 1e-5);
            assert!(!best.finished || is_expected, "{beam} {seed} {best:?}");
            finished += usize::from(best.finished);
        }
    }
    assert!(finished > 10, "{finished} of 60");
}

fn pick<T: Clone>(rng: &mut SeededRng, values: &[T]) -> T {
    values[rng.below(values.len())].clone()
}

/// Rank of the best hypothesis, with its score raised by a relative tolerance.
fn best_rank(
    seed: u64,
    constraints: &DecodingConstraints,
    settings: &BeamOptions,
    tolerance: f64,
) -> (bool, Reverse<usize>, f64) {
    let mut table = if seed.is_multiple_of(2) { TableScorer::new(1, seed) } else { table(seed) };
    let expected_length = expected_length();
    let input = input(constraints, expected_length.as_ref());
    let best = search(&mut table, &[input], settings).unwrap().remove(0).remove(0);
    let unmet = best.unmet_phrases.iter().filter(|&&phrase| !constraints.required[phrase].is_term()).count();
    (best.finished, Reverse(unmet), best.score + tolerance * best.score.abs().max(1.0))
}

#[test]
fn wider_beam_never_scores_below_greedy_search() {
    let mut improved = 0;
    for seed in 0..3_000 {
        let rng = &mut SeededRng::new(seed, "beam", 0);
        let scoring = HypothesisScoring {
            length_formula: pick(rng, &[LengthFormula::Power, LengthFormula::Wu, LengthFormula::Reward]),
            length_penalty: pick(rng, &[0.0, 0.3, 0.8, 1.0, 2.0]),
            coverage_penalty: pick(rng, &[0.0, 0.2, 1.0]),
            brevity_penalty: pick(rng, &[0.0, 1.0, 3.0]),
        };
        let limits = LengthLimits {
            length_factor: 0.0,
            length_extra: 1 + rng.below(9),
            no_repeat: pick(rng, &[None, Some(1), Some(2)]),
        };
        let mut constraints = constraints(
            pick(rng, &[&[][..], &[6], &[4, 4]]),
            pick(rng, &[&[][..], &[&[5][..]], &[&[5, 7], &[6]]]),
            pick(rng, &[&[][..], &["b"], &["a b", "c", "ad"]]),
        );
        // The table attends to the previous token.
        let terms = pick(rng, &[Vec::new(), Vec::from_iter(Some(5..6))]);
        constraints.required.iter_mut().for_each(|phrase| phrase.term.clone_from(&terms));
        let constraints = pick(rng, &[DecodingConstraints::default(), constraints]);
        let wide = BeamOptions { beam: 2 + rng.below(6), scoring, limits, best: 1 };
        let greedy = best_rank(seed, &constraints, &BeamOptions { beam: 1, ..wide }, 0.0);
        let found = best_rank(seed, &constraints, &wide, 1e-6);
        assert!(found >= greedy, "{seed}: {found:?}, greedy {greedy:?}, {wide:?}, {constraints:?}");
        improved += usize::from(best_rank(seed, &constraints, &wide, -1e-6) > greedy);
    }
    assert!(improved > 100, "{improved}");
}

fn sampling(samples: usize, first: usize) -> SamplingOptions {
    let sampling = SamplingConfig::default();
    SamplingOptions { samples, sampling, scoring: SCORING, limits: limits(None), seed: 3, first }
}

#[test]
fn sample_frequencies_match_probabilities() {
    const SAMPLES: usize = 20_000;
    let constraints = constraints(&[], &[], &["c"]);
    let mut table = table(4);
    let drawn = sample(&mut table, &[input(&constraints, None)], &sampling(SAMPLES, 0)).unwrap().remove(0);
    assert!(drawn.len() == SAMPLES && drawn.iter().all(|one| !one.tokens.contains(&6)));
    for tokens in every_sequence(2).iter().filter(|tokens| !tokens.contains(&6)) {
        let mut last = crate::text::BEGIN;
        let mut probability = 1.0;
        for &token in tokens.iter().chain([&crate::text::END]) {
            let row = &table.probabilities[0][last as usize];
            probability *= row[token as usize] / (1.0 - row[6]);
            last = token;
        }
        let same: Vec<&Hypothesis> = drawn.iter().filter(|one| one.finished && one.tokens == *tokens).collect();
        let frequency = same.len() as f64 / SAMPLES as f64;
        assert!((frequency - probability).abs() < 0.012, "{tokens:?} {frequency} {probability}");
        // Log-probabilities are those of the unconstrained model.
        assert!(same.iter().all(|one| (one.log_probability - table.log_probability(0, tokens)).abs() < 1e-5));
        assert!(same.iter().all(|one| one.attention.len() == tokens.len() + 1));
    }
}

/// Tokens of the samples that are drawn for sentences with these indices.
fn sampled_tokens(table: &mut TableScorer, seed_indices: &[u64], options: &SamplingOptions) -> Vec<Vec<Vec<u32>>> {
    let constraints = &DecodingConstraints::default();
    let mut inputs = Vec::new();
    for &seed_index in seed_indices {
        inputs.push(SearchInput { seed_index, ..input(constraints, None) });
    }
    let found = sample(table, &inputs, options).unwrap().into_iter();
    found.map(|samples| samples.into_iter().map(|one| one.tokens).collect()).collect()
}

#[test]
fn samples_depend_only_on_seed_and_index() {
    let all = sampled_tokens(&mut TableScorer::new(3, 1), &[0, 1, 2], &sampling(4, 5));
    let mut table = TableScorer::new(3, 1);
    table.rows = vec![2];
    let alone = sampled_tokens(&mut table, &[0], &sampling(4, 7));
    assert_eq!(alone[0], all[2]);
    let other = sampled_tokens(&mut TableScorer::new(1, 1), &[0], &SamplingOptions { seed: 4, ..sampling(40, 5) });
    let same = sampled_tokens(&mut TableScorer::new(1, 1), &[0], &sampling(40, 5));
    assert_ne!(other, same);
    assert!(sampled_tokens(&mut TableScorer::new(1, 1), &[], &sampling(4, 5)).is_empty());
}
