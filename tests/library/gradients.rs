//! Hand-written derivatives against automatic differentiation and finite differences, for every parameter: every score
//! with one head and with four, batches of one, empty and ragged sequences, sizes that fill no SIMD vector.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lexicon::lexicon;
use crate::paths::{PATHS, run};
use candle_core::{Device, Tensor};
use softalign::attention::{AttentionConfig, AttentionMode, ScoreName};
use softalign::model::{Architecture, DecoderKind, Dropout, DropoutRates, InitialState, RnnSearch};
use softalign::parameters::{ParameterSpec, Parameters};
use softalign::random::SeededRng;
use softalign::text::{Batch, Example, GuideWeight};

/// Source and target lengths of the batches, without `</s>`.
const BATCHES: [&[(usize, usize)]; 5] =
    [&[(1, 1)], &[(0, 0)], &[(3, 0), (1, 4)], &[(5, 2), (2, 5), (9, 7), (1, 1), (0, 3)], &[(17, 33), (33, 17)]];

pub fn base() -> Architecture {
    Architecture {
        source_vocabulary: 19,
        target_vocabulary: 23,
        embedding_size: 7,
        hidden_size: 10,
        attention_size: 5,
        layers: 1,
        tied_output: true,
        initial_state: InitialState::Mean,
        lexicon: false,
        decoder: DecoderKind::Bahdanau,
        attention: AttentionConfig::default(),
    }
}

/// Architectures of various shapes with the paper's additive attention.
fn shapes() -> Vec<Architecture> {
    vec![
        base(),
        Architecture { hidden_size: 2, attention_size: 1, embedding_size: 1, tied_output: false, ..base() },
        Architecture { hidden_size: 34, attention_size: 17, embedding_size: 33, layers: 2, ..base() },
        Architecture { hidden_size: 100, attention_size: 70, embedding_size: 60, ..base() },
        Architecture { initial_state: InitialState::BackwardFirst, layers: 3, ..base() },
        Architecture { decoder: DecoderKind::Conditional, hidden_size: 100, attention_size: 70, ..base() },
        Architecture { decoder: DecoderKind::Conditional, embedding_size: 33, layers: 2, ..base() },
        Architecture { lexicon: true, ..base() },
        Architecture { lexicon: true, decoder: DecoderKind::Conditional, hidden_size: 34, ..base() },
    ]
}

/// Architectures with every score: one head and four, several temperatures, and the conditional decoder.
fn scores() -> Vec<Architecture> {
    let with = |score, heads, temperature| Architecture {
        hidden_size: 40,
        attention_size: 36,
        attention: AttentionConfig { score, heads, temperature, ..AttentionConfig::default() },
        ..base()
    };
    let variants = |&score: &ScoreName| {
        let single = with(score, 1, 1.0);
        let fixed = single.attention.is_fixed();
        let others = [with(score, 4, 1.0), with(score, 1, 0.6), with(score, 4, 1.7)];
        let conditional = Architecture {
            decoder: DecoderKind::Conditional,
            lexicon: !fixed,
            ..with(score, if fixed { 1 } else { 4 }, 1.3)
        };
        [single, conditional].into_iter().chain(others.into_iter().filter(move |_| !fixed))
    };
    ScoreName::ALL.iter().flat_map(variants).collect()
}

fn batch(lengths: &[(usize, usize)], architecture: &Architecture) -> Batch {
    let mut rng = SeededRng::new(5, "batch", lengths.len() as u64);
    let mut ids = |length: usize, vocabulary: usize| (0..length).map(|_| rng.below(vocabulary) as u32).collect();
    let example = |(row, &(source, target)): (usize, &(usize, usize))| Example {
        source: ids(source, architecture.source_vocabulary),
        target: ids(target, architecture.target_vocabulary),
        // Every other pair is guided, at every other target token, `</s>` included.
        guide: if row % 2 == 0 && !architecture.attention.is_fixed() {
            (0..=target).step_by(2).flat_map(|token| guide_weights(token, source)).collect()
        } else {
            vec![]
        },
    };
    let examples: Vec<Example> = lengths.iter().enumerate().map(example).collect();
    Batch::new(&examples, &(0..examples.len()).collect::<Vec<_>>())
}

/// Guided-alignment targets of one target token: a source token and, with less weight, the source's `</s>`.
fn guide_weights(token: usize, source: usize) -> [GuideWeight; 2] {
    [(token % (source + 1), 0.4), (source, 0.2)].map(|(source, weight)| GuideWeight {
        target: token as u32,
        source: source as u32,
        weight,
    })
}

fn parameters(architecture: &Architecture) -> Parameters {
    // With initial weights, gates and attention are too flat to expose a wrong derivative.
    let initial = Parameters::initialize(&architecture.parameter_spec(), 3, &Device::Cpu).unwrap();
    let mut rng = SeededRng::new(3, "spread", 0);
    let tensors: BTreeMap<String, Tensor> = initial
        .iter()
        .map(|(name, tensor)| {
            let deviation = (1.6 / (*tensor.dims().last().unwrap() as f64).sqrt()).min(0.5);
            let values: Vec<f32> = (0..tensor.elem_count()).map(|_| (rng.normal() * deviation) as f32).collect();
            (name.clone(), Tensor::from_vec(values, tensor.shape(), &Device::Cpu).unwrap())
        })
        .collect();
    Parameters::from_tensors(&architecture.parameter_spec(), tensors).unwrap()
}

/// Builds the model, with a lexicon if the architecture has one.
fn model(architecture: &Architecture, parameters: Parameters) -> RnnSearch {
    let sizes = [architecture.source_vocabulary, architecture.target_vocabulary];
    let lexicon = architecture.lexicon.then(|| Arc::new(lexicon(sizes)));
    RnnSearch::new(architecture.clone(), parameters).unwrap().with_lexicon(lexicon)
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

fn dropout() -> Dropout {
    Dropout::new(DropoutRates { embeddings: 0.2, annotations: 0.3, states: 0.1, readout: 0.4 }, 9, 2)
}

#[track_caller]
fn assert_paths_agree(architecture: &Architecture) {
    let model = model(architecture, parameters(architecture).with_grad().unwrap());
    for lengths in BATCHES {
        let batch = batch(lengths, architecture);
        let [(loss, cpu), (reference_loss, reference)] = PATHS.map(|path| run(path, &model, &batch, 0.1, &dropout()));
        let label = || format!("{lengths:?} {architecture:?}");
        assert_eq!(loss.tokens, reference_loss.tokens);
        assert!((loss.smoothed - reference_loss.smoothed).abs() < 1e-4 * reference_loss.smoothed, "{}", label());
        assert!((loss.guidance - reference_loss.guidance).abs() <= 1e-4 * reference_loss.guidance, "{}", label());
        assert_eq!(cpu.iter().count(), model.parameters().iter().count());
        for (name, gradient) in cpu.iter() {
            let expected = reference.get(name).unwrap();
            assert_eq!(gradient.dims(), expected.dims(), "{name} {}", label());
            for (a, b) in values(gradient).iter().zip(values(expected)) {
                assert!((a - b).abs() < 5e-5 * b.abs().max(1.0), "{name} {}: {a} {b}", label());
            }
        }
    }
}

#[test]
fn backends_agree_at_odd_sizes() {
    shapes().iter().for_each(assert_paths_agree);
}

#[test]
fn backends_agree_for_every_score() {
    scores().iter().for_each(assert_paths_agree);
}

#[test]
fn backends_sample_the_same_hard_selections() {
    for mut architecture in scores().into_iter().filter(|architecture| !architecture.attention.is_fixed()) {
        for mode in [AttentionMode::Sampled, AttentionMode::Hardest] {
            architecture.attention.mode = mode;
            assert_paths_agree(&architecture);
        }
    }
}

/// Architectures with exact hard attention.
fn exact() -> Vec<Architecture> {
    let shapes = shapes().into_iter().chain(
        scores()
            .into_iter()
            .filter(|architecture| architecture.attention.heads == 1 && !architecture.attention.is_fixed()),
    );
    let exact = |mut architecture: Architecture| {
        architecture.attention.mode = AttentionMode::Exact;
        architecture
    };
    shapes.map(exact).collect()
}

#[test]
fn backends_marginalize_hard_attention_alike() {
    exact().iter().for_each(assert_paths_agree);
}

#[test]
fn gradients_match_finite_differences() {
    for architecture in shapes().into_iter().chain(scores()).chain(exact().into_iter().step_by(4)) {
        let start = parameters(&architecture);
        for lengths in BATCHES {
            assert_matches_finite_differences(&architecture, &start, &batch(lengths, &architecture));
        }
    }
}

/// Compares the gradient of each parameter with the finite-difference slope of the loss along it.
#[track_caller]
fn assert_matches_finite_differences(architecture: &Architecture, start: &Parameters, batch: &Batch) {
    let loss = |moved: Parameters| {
        let model = model(architecture, moved);
        let (loss, gradients) = run(PATHS[0], &model, batch, 0.1, &dropout());
        ((loss.smoothed + loss.guidance) / loss.tokens as f64, gradients)
    };
    let (_, gradients) = loss(start.clone());
    for (name, gradient) in gradients.iter() {
        let gradient: Vec<f64> = values(gradient).into_iter().map(f64::from).collect();
        let norm = gradient.iter().map(|value| value * value).sum::<f64>().sqrt();
        // The slope along the gradient is the gradient's norm. A zero gradient is tested along any direction.
        let direction: Vec<f64> = match norm {
            0.0 => gradient.iter().map(|_| 1.0 / (gradient.len() as f64).sqrt()).collect(),
            _ => gradient.iter().map(|value| value / norm).collect(),
        };
        let moved = |step: f64| loss(along(&architecture.parameter_spec(), start, name, &direction, step)).0;
        let slope = |step: f64| (moved(step) - moved(-step)) / (2.0 * step);
        // Richardson extrapolation cancels the error of second order.
        let measured = (4.0 * slope(0.004) - slope(0.008)) / 3.0;
        let label = || format!("{name} in {architecture:?}, {:?}", batch.target.lengths);
        // Losses are accurate to about 1e-6.
        assert!((norm - measured).abs() < 0.01 * norm + 1e-3, "{}: {norm} {measured}", label());
    }
}

/// Returns the parameters with one of them moved by `step` along `direction`.
fn along(spec: &ParameterSpec, start: &Parameters, name: &str, direction: &[f64], step: f64) -> Parameters {
    let mut tensors: BTreeMap<String, Tensor> =
        start.iter().map(|(name, tensor)| (name.clone(), tensor.clone())).collect();
    let tensor = &tensors[name];
    assert_eq!(tensor.elem_count(), direction.len(), "{name}");
    let moved: Vec<f32> =
        values(tensor).iter().zip(direction).map(|(value, slope)| (f64::from(*value) + step * slope) as f32).collect();
    let moved = Tensor::from_vec(moved, tensor.shape(), &Device::Cpu).unwrap();
    tensors.insert(name.to_owned(), moved);
    Parameters::from_tensors(spec, tensors).unwrap()
}
