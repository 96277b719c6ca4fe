//! Extreme inputs: zero, tiny, denormal and huge parameters, sentences of one and of five hundred tokens, batches of one
//! pair and of thousands, vocabularies of one word. Attention must remain a distribution, and outputs finite.
//!
//! `cargo bench --bench throughput -- extremes` measures their speed.

use crate::paths::{PATHS, run};
use candle_core::{Device, Tensor};
use softalign::attention::{AttentionConfig, ScoreName};
use softalign::model::{Architecture, DecoderKind, Dropout, InitialState, RnnSearch};
use softalign::parameters::Parameters;
use softalign::random::SeededRng;
use softalign::search::{BeamOptions, Source, search_all};
use softalign::text::{Batch, Example, SPECIALS, UNKNOWN};

fn architecture(score: ScoreName, decoder: DecoderKind) -> Architecture {
    Architecture {
        source_vocabulary: 12,
        target_vocabulary: 14,
        embedding_size: 9,
        hidden_size: 12,
        attention_size: 7,
        layers: 1,
        tied_output: true,
        initial_state: InitialState::Mean,
        lexicon: false,
        decoder,
        attention: AttentionConfig { score, ..AttentionConfig::default() },
    }
}

/// A model with `change` applied to every parameter.
fn model(architecture: Architecture, change: impl Fn(f32) -> f32) -> RnnSearch {
    let mut parameters = Parameters::initialize(&architecture.parameter_spec(), 1, &Device::Cpu).unwrap();
    for (_, tensor) in parameters.iter_mut() {
        let values: Vec<f32> = tensor.flatten_all().unwrap().to_vec1().unwrap();
        let values: Vec<f32> = values.into_iter().map(&change).collect();
        *tensor = Tensor::from_vec(values, tensor.shape(), &Device::Cpu).unwrap();
    }
    RnnSearch::new(architecture, parameters.with_grad().unwrap()).unwrap()
}

/// Random pairs of these source and target lengths, without start and end symbols.
fn examples(lengths: &[(usize, usize)], vocabularies: [usize; 2]) -> Vec<Example> {
    let mut rng = SeededRng::new(1, "tokens", 0);
    let mut tokens = |length: usize, vocabulary: usize| -> Vec<u32> {
        (0..length).map(|_| UNKNOWN + rng.below(vocabulary - UNKNOWN as usize) as u32).collect()
    };
    lengths.iter().map(|&(s, t)| Example::new(tokens(s, vocabularies[0]), tokens(t, vocabularies[1]))).collect()
}

/// Asserts that attention sums to 1 and that losses, gradients and scores are finite.
fn check(model: &RnnSearch, examples: &[Example], label: &str) {
    let batch = Batch::new(examples, &(0..examples.len()).collect::<Vec<_>>());
    for pair in model.force_decode(&batch, 0.1).unwrap() {
        assert!(pair.log_probability().is_finite() && pair.smoothed.is_finite(), "{label}: loss");
        for row in &pair.weights {
            let sum: f32 = row.iter().sum();
            assert!((sum - 1.0).abs() < 1e-4 && row.iter().all(|weight| *weight >= 0.0), "{label}: attention {row:?}");
        }
    }
    for path in PATHS {
        let (loss, gradients) = run(path, model, &batch, 0.1, &Dropout::none());
        assert!(loss.smoothed.is_finite(), "{label}: loss");
        for (name, gradient) in gradients.iter() {
            let values: Vec<f32> = gradient.flatten_all().unwrap().to_vec1().unwrap();
            assert!(values.iter().all(|value| value.is_finite()), "{label}: gradient of {name}");
        }
    }
    let sources: Vec<Source> = examples.iter().take(3).map(|example| example.source.clone().into()).collect();
    for hypotheses in search_all(&[model], &sources, &BeamOptions::default().into(), &mut |_| {}).unwrap() {
        assert!(hypotheses.iter().all(|one| one.score.is_finite()), "{label}: score");
    }
}

#[test]
fn parameters_of_any_magnitude_give_finite_results() {
    let mixed = examples(&[(1, 1), (5, 3), (2, 7), (9, 9)], [12, 14]);
    for decoder in [DecoderKind::Bahdanau, DecoderKind::Conditional] {
        for score in ScoreName::ALL {
            for factor in [0.0, 1e-42, 1e-38, 1e-20, 1.0, 1e3, 1e6] {
                let model = model(architecture(*score, decoder), |value| value * factor);
                check(&model, &mixed, &format!("{} × {factor:e}", score.name()));
            }
        }
    }
}

#[test]
fn batches_of_lengths_1_and_500_work() {
    let model = model(architecture(ScoreName::default(), DecoderKind::Bahdanau), |value| value);
    check(&model, &examples(&[(1, 1)], [12, 14]), "one token");
    check(&model, &examples(&[(500, 500)], [12, 14]), "five hundred tokens");
    check(&model, &examples(&[(500, 1), (1, 500), (1, 1), (0, 0)], [12, 14]), "both");
}

#[test]
fn batches_of_thousands_of_pairs_work() {
    let model = model(architecture(ScoreName::default(), DecoderKind::Bahdanau), |value| value);
    let lengths: Vec<(usize, usize)> = (0..4096).map(|number| (number % 4, number % 3)).collect();
    check(&model, &examples(&lengths, [12, 14]), "4,096 pairs");
}

#[test]
fn one_word_vocabularies_and_unknown_sentences_work() {
    let one = SPECIALS.len() + 1;
    let small = Architecture {
        source_vocabulary: one,
        target_vocabulary: one,
        ..architecture(ScoreName::default(), DecoderKind::Bahdanau)
    };
    check(&model(small, |value| value), &examples(&[(3, 2), (1, 1)], [one, one]), "one word");
    let unknown = vec![Example::new(vec![UNKNOWN; 6], vec![UNKNOWN; 5])];
    let model = model(architecture(ScoreName::default(), DecoderKind::Bahdanau), |value| value);
    check(&model, &unknown, "all unknown");
}
