//! Derivatives written by hand against automatic differentiation and against finite differences, at odd sizes: batches
//! of one, empty and ragged sequences, sizes that fill no vector.

#[path = "common/paths.rs"]
mod paths;

use std::collections::BTreeMap;

use candle_core::{Device, Tensor};
use paths::{PATHS, run};
use softalign::model::{Architecture, Dropout, DropoutRates, Gradients, InitialState, Parameters, RnnSearch};
use softalign::random::Stream;
use softalign::text::{Batch, Example, Look};

/// Source and target lengths of the batches tried, `</s>` not counted.
const BATCHES: [&[(usize, usize)]; 5] =
    [&[(1, 1)], &[(0, 0)], &[(3, 0), (1, 4)], &[(5, 2), (2, 5), (9, 7), (1, 1), (0, 3)], &[(17, 33), (33, 17)]];

fn architectures() -> Vec<Architecture> {
    let base = Architecture {
        source_vocabulary: 19,
        target_vocabulary: 23,
        embedding_size: 7,
        hidden_size: 10,
        attention_size: 5,
        layers: 1,
        tied_output: true,
        initial_state: InitialState::Mean,
    };
    vec![
        base.clone(),
        Architecture { hidden_size: 2, attention_size: 1, embedding_size: 1, tied_output: false, ..base.clone() },
        Architecture { hidden_size: 34, attention_size: 17, embedding_size: 33, layers: 2, ..base.clone() },
        Architecture { hidden_size: 100, attention_size: 70, embedding_size: 60, ..base.clone() },
        Architecture { initial_state: InitialState::BackwardFirst, layers: 3, ..base },
    ]
}

fn batch(lengths: &[(usize, usize)], architecture: &Architecture) -> Batch {
    let mut stream = Stream::new(5, "batch", lengths.len() as u64);
    let mut ids = |length: usize, vocabulary: usize| (0..length).map(|_| stream.below(vocabulary) as u32).collect();
    let example = |(row, &(source, target)): (usize, &(usize, usize))| Example {
        source: ids(source, architecture.source_vocabulary),
        target: ids(target, architecture.target_vocabulary),
        // Every other pair is guided, at every other unit, its end included.
        guide: if row % 2 == 0 {
            (0..=target).step_by(2).flat_map(|unit| looks(unit, source)).collect()
        } else {
            vec![]
        },
    };
    let examples: Vec<Example> = lengths.iter().enumerate().map(example).collect();
    Batch::new(&examples, &(0..examples.len()).collect::<Vec<_>>())
}

/// A guide of one target unit: to one source unit and, less, to the source's end.
fn looks(unit: usize, source: usize) -> [Look; 2] {
    [(unit % (source + 1), 0.4), (source, 0.2)].map(|(source, weight)| Look {
        target: unit as u32,
        source: source as u32,
        weight,
    })
}

fn parameters(architecture: &Architecture) -> Parameters {
    // Initial weights leave gates and attention too flat to show a wrong derivative.
    let drawn = Parameters::initialise(architecture, 3, &Device::Cpu).unwrap();
    let mut stream = Stream::new(3, "spread", 0);
    let spread: BTreeMap<String, Tensor> = drawn
        .iter()
        .map(|(name, tensor)| {
            let deviation = (1.6 / (*tensor.dims().last().unwrap() as f64).sqrt()).min(0.5);
            let values: Vec<f32> = (0..tensor.elem_count()).map(|_| (stream.normal() * deviation) as f32).collect();
            (name.clone(), Tensor::from_vec(values, tensor.shape(), &Device::Cpu).unwrap())
        })
        .collect();
    Parameters::from_tensors(architecture, spread).unwrap()
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

fn dropout() -> Dropout {
    Dropout::new(DropoutRates { embeddings: 0.2, annotations: 0.3, states: 0.1, readout: 0.4 }, 9, 2)
}

#[test]
fn both_paths_agree_at_odd_sizes() {
    for architecture in architectures() {
        let model = RnnSearch::new(architecture.clone(), parameters(&architecture).tracked().unwrap()).unwrap();
        for lengths in BATCHES {
            let batch = batch(lengths, &architecture);
            let [(loss, fused), (plain_loss, plain)] = PATHS.map(|path| run(path, &model, &batch, 0.1, &dropout()));
            assert_eq!(loss.units, plain_loss.units);
            assert!((loss.smoothed - plain_loss.smoothed).abs() < 1e-4 * plain_loss.smoothed, "{lengths:?}");
            assert!((loss.guidance - plain_loss.guidance).abs() <= 1e-4 * plain_loss.guidance, "{lengths:?}");
            for (name, gradient) in fused.iter() {
                for (a, b) in values(gradient).iter().zip(values(plain.get(name).unwrap())) {
                    assert!((a - b).abs() < 5e-5 * b.abs().max(1.0), "{name} {lengths:?} {architecture:?}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn gradients_are_slopes() {
    for architecture in architectures() {
        let start = parameters(&architecture);
        for lengths in BATCHES {
            let batch = batch(lengths, &architecture);
            let model = RnnSearch::new(architecture.clone(), start.clone()).unwrap();
            let (_, gradients) = run(PATHS[0], &model, &batch, 0.1, &dropout());
            for direction in 0..3 {
                let (expected, measured, typical) = slopes(&architecture, &start, &gradients, &batch, direction);
                assert!((expected - measured).abs() < 0.03 * typical, "{lengths:?}: {expected} {measured} {typical}");
            }
        }
    }
}

/// The slope of the loss along a random direction, by the gradients and by two losses a small step apart; and how steep
/// such a direction is on average.
fn slopes(
    architecture: &Architecture,
    start: &Parameters,
    gradients: &Gradients,
    batch: &Batch,
    direction: u64,
) -> (f64, f64, f64) {
    let norm = gradients
        .iter()
        .flat_map(|(_, gradient)| values(gradient))
        .map(|slope| f64::from(slope).powi(2))
        .sum::<f64>()
        .sqrt();
    // The whole move has about this length, whatever the number of parameters.
    let step = 0.02 / (architecture.parameter_count() as f64).sqrt();
    let loss = |step: f64| {
        let moved: BTreeMap<String, Tensor> = start
            .iter()
            .map(|(name, tensor)| (name.clone(), (tensor + (along(tensor, name, direction) * step).unwrap()).unwrap()))
            .collect();
        let parameters = Parameters::from_tensors(architecture, moved).unwrap();
        let model = RnnSearch::new(architecture.clone(), parameters).unwrap();
        let (loss, _) = run(PATHS[0], &model, batch, 0.1, &dropout());
        (loss.smoothed + loss.guidance) / loss.units as f64
    };
    let expected: f64 = gradients
        .iter()
        .map(|(name, gradient)| {
            let pairs = values(gradient).into_iter().zip(values(&along(gradient, name, direction)));
            pairs.map(|(slope, step)| f64::from(slope) * f64::from(step)).sum::<f64>()
        })
        .sum();
    (expected, (loss(step) - loss(-step)) / (2.0 * step), norm)
}

/// A random direction in one parameter's space.
fn along(tensor: &Tensor, name: &str, direction: u64) -> Tensor {
    let mut stream = Stream::new(direction, name, 1);
    let steps: Vec<f32> = (0..tensor.elem_count()).map(|_| stream.normal() as f32).collect();
    Tensor::from_vec(steps, tensor.shape(), &Device::Cpu).unwrap()
}
