//! Search on the CPU backend and on the reference backend finds the same hypotheses.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::lexicon::lexicon;
use candle_core::Device;
use softalign::attention::{AttentionConfig, AttentionMode};
use softalign::model::cpu::PackingMode;
use softalign::model::{
    Architecture, DecoderKind, ForcedScores, InitialState, RnnSearch, Shortlist, TokenLexicon, TokenRows,
};
use softalign::parameters::Parameters;
use softalign::random::SeededRng;
use softalign::search::{
    BeamOptions, DecodingConstraints, EnsembleScorer, Hypothesis, HypothesisScoring, LengthLimits, SamplingConfig,
    SamplingOptions, Scorer, Search, SearchInput, Source, sample, search, search_all,
};
use softalign::text::{Batch, Example, PaddedBatch};

/// Input of a search for each sentence of a batch.
pub fn inputs<'a>(padded: &PaddedBatch, constraints: &'a DecodingConstraints) -> Vec<SearchInput<'a>> {
    let lengths = (0..).zip(&padded.lengths);
    lengths
        .map(|(seed_index, &source_tokens)| SearchInput {
            seed_index,
            source_tokens,
            constraints,
            expected_length: None,
            cancellation: None,
        })
        .collect()
}

fn model(seed: u64) -> RnnSearch {
    model_of_size(seed, 140)
}

fn model_of_size(seed: u64, target_vocabulary: usize) -> RnnSearch {
    let architecture = Architecture {
        source_vocabulary: 31,
        target_vocabulary,
        embedding_size: 17,
        hidden_size: 22,
        attention_size: 9,
        layers: 2,
        tied_output: seed.is_multiple_of(2),
        initial_state: InitialState::Mean,
        lexicon: seed.is_multiple_of(2),
        decoder: if seed < 3 { DecoderKind::Bahdanau } else { DecoderKind::Conditional },
        attention: AttentionConfig {
            mode: if seed < 6 { AttentionMode::Soft } else { AttentionMode::Exact },
            ..AttentionConfig::default()
        },
    };
    let parameters = Parameters::initialize(&architecture.parameter_spec(), seed, &Device::Cpu).unwrap();
    let lexicon = architecture.lexicon.then(|| {
        Arc::new(if target_vocabulary < 3000 {
            lexicon([31, target_vocabulary])
        } else {
            large_lexicon(target_vocabulary)
        })
    });
    RnnSearch::new(architecture, parameters).unwrap().with_lexicon(lexicon)
}

/// Returns a lexicon with four links and an unlinked token of each source token.
fn large_lexicon(target_vocabulary: usize) -> TokenLexicon {
    let token = |source: u32, entry: u32| (source * 97 + entry * 389) % target_vocabulary as u32;
    let row = |source, entries: Range<u32>| BTreeSet::from_iter(entries.map(|entry| token(source, entry)));
    let [links, unlinked] =
        [0..4, 4..5].map(|entries| TokenRows::new((0..31).map(|source| row(source, entries.clone()))));
    let probabilities = vec![0.25; links.tokens.len()];
    TokenLexicon::from_parts(links, probabilities, Some(unlinked), [31, target_vocabulary]).unwrap()
}

fn sources() -> Vec<Source> {
    let mut rng = SeededRng::new(2, "sources", 0);
    [1, 7, 3, 12, 1, 5]
        .iter()
        .map(|&length| (0..length).map(|_| 4 + rng.below(27) as u32).collect::<Vec<u32>>().into())
        .collect()
}

fn assert_close(a: &[Hypothesis], b: &[Hypothesis]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert_eq!((&a.tokens, a.finished), (&b.tokens, b.finished));
        assert!((a.log_probability - b.log_probability).abs() < 1e-3, "{} {}", a.log_probability, b.log_probability);
        assert_eq!(a.attention.len(), b.attention.len());
        for (a, b) in a.attention.iter().zip(&b.attention) {
            assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }
}

#[test]
fn backends_find_the_same_hypotheses() {
    for (seeds, beam) in
        [(&[1][..], 1), (&[2], 1), (&[3], 4), (&[4], 7), (&[1, 4], 3), (&[2, 3, 5], 4), (&[6], 4), (&[7, 2], 3)]
    {
        let models: Vec<RnnSearch> = seeds.iter().map(|&seed| model(seed)).collect();
        let models: Vec<&RnnSearch> = models.iter().collect();
        let settings = BeamOptions { beam, ..BeamOptions::default() };
        let sources = sources();
        let padded = PaddedBatch::new(sources.iter().map(|source| source.tokens.as_slice()));
        let constraints = DecodingConstraints::default();
        let input = inputs(&padded, &constraints);
        let run = |scorer: &mut dyn Scorer| search(scorer, &input, &settings).unwrap();
        let reference = run(&mut EnsembleScorer::reference(&models, &padded).unwrap());
        let cpu = RnnSearch::with_packed(&models, PackingMode::Inference, |weights| {
            Ok(run(&mut EnsembleScorer::cpu(weights, &padded)))
        })
        .unwrap();
        let in_batches = search_all(&models, &sources, &settings.into(), &mut |_| {}).unwrap();
        assert_eq!([reference.len(), cpu.len(), in_batches.len()], [sources.len(); 3]);
        for ((reference, cpu), in_batches) in reference.iter().zip(&cpu).zip(&in_batches) {
            assert_close(reference, cpu);
            assert_close(cpu, in_batches);
        }
    }
}

#[test]
fn search_is_independent_of_its_batch() {
    let model = model(5);
    let sources = sources();
    let batched = search_all(&[&model], &sources, &BeamOptions::default().into(), &mut |_| {}).unwrap();
    assert_eq!(batched.len(), sources.len());
    for (source, batched) in sources.iter().zip(&batched) {
        let alone =
            search_all(&[&model], std::slice::from_ref(source), &BeamOptions::default().into(), &mut |_| {}).unwrap();
        assert_close(&alone[0], batched);
    }
}

#[test]
fn shortlists_are_the_same_on_both_backends_and_in_any_batch() {
    let (first, second) = (model_of_size(2, 3000), model_of_size(4, 3000));
    let constrained = DecodingConstraints { prefix: vec![2999], ..DecodingConstraints::default() };
    for models in [&[&first][..], &[&first, &second]] {
        let settings = BeamOptions::default();
        let mut sources = sources();
        sources[3].constraints = constrained.clone();
        let batched = search_all(models, &sources, &settings.into(), &mut |_| {}).unwrap();
        assert_eq!(batched.len(), sources.len());
        for (source, batched) in sources.iter().zip(&batched) {
            let found = search_all(models, std::slice::from_ref(source), &settings.into(), &mut |_| {}).unwrap();
            assert_close(&found[0], batched);
            let padded = PaddedBatch::new(std::iter::once(source.tokens.as_slice()));
            let constraints = &source.constraints;
            let input = [SearchInput {
                seed_index: 0,
                source_tokens: padded.lengths[0],
                constraints,
                expected_length: None,
                cancellation: None,
            }];
            let selected = constraints.is_empty().then_some(&source.tokens[..]);
            let lexicons: Vec<&TokenLexicon> = models.iter().map(|model| &**model.lexicon().unwrap()).collect();
            let shortlist = Shortlist::new(&lexicons, std::iter::once(selected));
            let scorer = EnsembleScorer::reference(models, &padded).unwrap();
            let reference = search(&mut scorer.restricted(Some(&shortlist)), &input, &settings).unwrap();
            assert_close(&reference[0], batched);
        }
    }
}

#[test]
fn empty_sources_have_empty_translations() {
    let mut done = 0;
    let found = search_all(
        &[&model(1)],
        &[vec![].into(), vec![5].into(), vec![].into()],
        &BeamOptions::greedy().into(),
        &mut |n| done += n,
    )
    .unwrap();
    assert_eq!(done, 3);
    assert!(found[0][0].tokens.is_empty() && found[2][0].tokens.is_empty() && found[0][0].finished);
}

#[test]
fn samples_agree_across_backends_and_batches() {
    let (first, second) = (model(3), model(4));
    let models = [&first, &second];
    let sources = sources();
    let sampling = SamplingConfig { temperature: 0.8, top_k: Some(20), top_p: 0.95 };
    let (scoring, limits) =
        (HypothesisScoring::default(), LengthLimits { no_repeat: Some(2), ..LengthLimits::default() });
    let settings = SamplingOptions { samples: 3, sampling, scoring, limits, seed: 7, first: 10 };
    let batched = search_all(&models, &sources, &Search::Sample(settings), &mut |_| {}).unwrap();
    assert_eq!(batched.len(), sources.len());
    let constraints = DecodingConstraints::default();
    for (number, (source, batched)) in sources.iter().zip(&batched).enumerate() {
        let padded = PaddedBatch::new([source.tokens.as_slice()].into_iter());
        let input = [SearchInput {
            seed_index: number as u64,
            source_tokens: padded.lengths[0],
            constraints: &constraints,
            expected_length: None,
            cancellation: None,
        }];
        let reference = sample(&mut EnsembleScorer::reference(&models, &padded).unwrap(), &input, &settings).unwrap();
        assert_close(&reference[0], batched);
        let moved = SamplingOptions { first: 10 + number, ..settings };
        let alone = search_all(&models, std::slice::from_ref(source), &Search::Sample(moved), &mut |_| {}).unwrap();
        assert_close(&alone[0], batched);
    }
}

#[test]
fn ensemble_search_agrees_with_forced_scores() {
    let models = [model(1), model(2), model(4)];
    let models: Vec<&RnnSearch> = models.iter().collect();
    let sources = sources();
    let settings = BeamOptions {
        limits: LengthLimits { length_factor: 20.0, ..LengthLimits::default() },
        ..BeamOptions::default()
    };
    let found = search_all(&models, &sources, &settings.into(), &mut |_| {}).unwrap();
    assert_eq!(found.len(), sources.len());
    let best: Vec<&Hypothesis> = found.iter().map(|hypotheses| &hypotheses[0]).collect();
    let examples: Vec<Example> = sources
        .iter()
        .zip(&best)
        .map(|(source, one)| Example::new(source.tokens.clone(), one.tokens.clone()))
        .collect();
    for (index, one) in best.iter().enumerate().filter(|(_, one)| one.finished) {
        let batch = Batch::new(&examples, &[index]);
        let forced: Vec<ForcedScores> =
            models.iter().map(|model| model.force_decode(&batch, 0.0).unwrap().remove(0)).collect();
        let mean = ForcedScores::ensemble_mean(&forced);
        assert!((mean.log_probability() - one.log_probability).abs() < 1e-3);
        assert_eq!(mean.weights.len(), one.attention.len());
        for (a, b) in mean.weights.iter().zip(&one.attention) {
            assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }
    assert!(best.iter().any(|one| one.finished));
}
