//! Training and decoding on an NVIDIA GPU against PyTorch's values and against the CPU. Needs a build with `--features cuda`
//! and a GPU; `scripts/check_cuda.sh` runs it where there is one.
#![cfg(feature = "cuda")]

use crate::golden::{Reference, VARIANTS, Values, difference, flat};
use candle_core::Device;
use softalign::model::{BatchLoss, Dropout, DropoutRates, RnnSearch, TrainingStep};
use softalign::parameters::{Gradients, Parameters};
use softalign::text::{BEGIN, Batch, BatchShare, Example};
use softalign::training::Optimizer;

fn gpu() -> Device {
    softalign::gpu(0).expect("an NVIDIA GPU")
}

fn gradients(model: &RnnSearch, batch: &Batch, smoothing: f64, dropout: &Dropout) -> (BatchLoss, Gradients) {
    let mut gradients = Gradients::zeros(model.parameters()).unwrap();
    let loss = model.gradients(TrainingStep::new(batch, smoothing, *dropout), &mut gradients).unwrap();
    (loss, gradients)
}

fn largest_difference(ours: &Gradients, theirs: &Gradients) -> f32 {
    let pairs = ours.iter().map(|(name, ours)| difference(&flat(ours), &flat(theirs.get(name).unwrap())));
    pairs.fold(0.0, f32::max)
}

#[test]
fn loss_and_every_gradient_match_pytorch() {
    for variant in VARIANTS {
        let reference = Reference::load(variant);
        let smoothing = reference.values.label_smoothing;
        let (loss, gradients) = gradients(&reference.model(&gpu()), &reference.batch, smoothing, &Dropout::none());
        let mean = loss.smoothed / loss.tokens as f64;
        assert!((mean - reference.values.loss).abs() < 1e-5, "{variant}: {mean}");
        let likelihood: f64 = reference.values.log_probabilities.iter().sum();
        assert!((loss.negative_log_likelihood + likelihood).abs() < 1e-3, "{variant}");
        let theirs = reference.group("gradient/");
        let mut square = 0.0;
        for (name, gradient) in gradients.iter() {
            let gradient = flat(gradient);
            let difference = difference(&gradient, &flat(&theirs[name]));
            assert!(difference < 2e-5, "{variant} {name}: {difference}");
            square += gradient.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>();
        }
        assert!((square.sqrt() - reference.values.gradient_norm).abs() < 1e-4, "{variant}");
    }
}

#[test]
fn ten_training_steps_match_pytorch() {
    for variant in VARIANTS {
        let reference = Reference::load(variant);
        let Values { optimizer: settings, losses, label_smoothing, .. } = &reference.values;
        let model = reference.model(&gpu());
        let mut optimizer = Optimizer::new(model.parameters(), settings.max_gradient_norm, None).unwrap();
        for (step, theirs) in losses.iter().enumerate() {
            let (loss, gradients) = gradients(&model, &reference.batch, *label_smoothing, &Dropout::none());
            let ours = loss.smoothed / loss.tokens as f64;
            assert!((ours - theirs).abs() < 5e-5, "{variant}, step {step}: {ours} {theirs}");
            optimizer.step(model.parameters(), &gradients, settings.learning_rate).unwrap();
        }
    }
}

#[test]
fn forced_decoding_matches_the_cpu() {
    for variant in VARIANTS {
        let reference = Reference::load(variant);
        let [cpu, gpu] = [Device::Cpu, gpu()].map(|device| reference.model(&device).align(&reference.batch).unwrap());
        for (cpu, gpu) in cpu.iter().zip(&gpu) {
            assert!((cpu.log_probability() - gpu.log_probability()).abs() < 1e-4, "{variant}");
            let weights = cpu.weights.iter().zip(&gpu.weights).chain(cpu.posteriors.iter().zip(&gpu.posteriors));
            for (cpu, gpu) in weights {
                assert!(difference(gpu, cpu) < 1e-4, "{variant}");
            }
        }
    }
}

#[test]
fn single_steps_match_pytorch() {
    for variant in VARIANTS {
        let reference = Reference::load(variant);
        let target = &reference.batch.target;
        let theirs = reference.tensors["logits"].to_vec2::<f32>().unwrap();
        let rows: Vec<usize> = (0..target.batch()).collect();
        let model = reference.model(&gpu());
        let mut decoder = model.reference_decoder(&reference.batch.source).unwrap();
        for step in 0..target.length {
            let before = |&row: &usize| if step == 0 { BEGIN } else { target.id(row, step - 1) };
            let logits = decoder.step(&rows, &rows.iter().map(before).collect::<Vec<_>>()).unwrap().logits;
            let ours = logits.chunks_exact(reference.architecture.target_vocabulary);
            for (row, ours) in ours.enumerate().filter(|&(row, _)| step < target.lengths[row]) {
                let index = target.lengths[..row].iter().sum::<usize>() + step;
                // Exact hard attention gives log-probabilities, which differ from logits by a constant.
                let shift = theirs[index][0] - ours[0];
                let ours: Vec<f32> = ours.iter().map(|logit| logit + shift).collect();
                assert!(difference(&ours, &theirs[index]) < 1e-4, "{variant}, sentence {row}, step {step}");
            }
        }
    }
}

#[test]
fn drops_what_the_cpu_drops_and_repeats_its_bits() {
    let rates = DropoutRates { embeddings: 0.2, annotations: 0.3, states: 0.4, readout: 0.5 };
    for variant in VARIANTS {
        let reference = Reference::load(variant);
        let run = |device| gradients(&reference.model(&device), &reference.batch, 0.1, &Dropout::new(rates, 1, 7));
        let [(_, cpu), (loss, first), (again, second)] = [Device::Cpu, gpu(), gpu()].map(run);
        assert!(largest_difference(&first, &cpu) < 5e-5, "{variant}");
        assert_eq!((loss.smoothed, largest_difference(&first, &second)), (again.smoothed, 0.0), "{variant}");
    }
}

/// Sizes above one warp, one block and one row of blocks, ragged lengths, one sentence, and empty ones.
#[test]
fn large_and_empty_batches_match_the_cpu() {
    let sizes = r#"{"source_vocabulary": 3001, "target_vocabulary": 5003, "embedding_size": 96, "hidden_size": 300,
        "attention_size": 260, "layers": 2, "tied_output": true, "initial_state": "mean", "decoder": "conditional"}"#;
    let architecture: softalign::model::Architecture = serde_json::from_str(sizes).unwrap();
    let example = |length: usize| {
        let ids = |factor: usize| (0..length).map(|i| 4 + (factor * (i + length) % 2900) as u32).collect();
        Example::new(ids(37), ids(91))
    };
    let rates = DropoutRates { embeddings: 0.2, annotations: 0.3, states: 0.4, readout: 0.5 };
    for lengths in [vec![0], vec![1], vec![0, 70, 3, 1, 40], (0..130).map(|i| i % 23).collect()] {
        let examples: Vec<Example> = lengths.iter().copied().map(example).collect();
        let batch = Batch::new(&examples, &Vec::from_iter(0..examples.len()));
        let run = |device: Device| {
            let parameters = Parameters::initialize(&architecture.parameter_spec(), 3, &device).unwrap();
            let model = RnnSearch::new(architecture.clone(), parameters.with_grad().unwrap()).unwrap();
            gradients(&model, &batch, 0.1, &Dropout::new(rates, 1, 7))
        };
        let [(cpu_loss, cpu), (loss, gpu)] = [Device::Cpu, gpu()].map(run);
        assert!((loss.smoothed - cpu_loss.smoothed).abs() < 1e-4 * cpu_loss.smoothed, "{lengths:?}");
        assert!(largest_difference(&gpu, &cpu) < 1e-4, "{lengths:?}");
    }
}

#[test]
fn gradients_of_shares_are_those_of_the_cpu() {
    let rates = DropoutRates { embeddings: 0.2, annotations: 0.3, states: 0.4, readout: 0.5 };
    for variant in VARIANTS {
        let reference = Reference::load(variant);
        let count = 2;
        for share in [0, 1].map(|index| BatchShare { index, count }) {
            let run = |device: Device| {
                let model = reference.model(&device);
                let mut gradients = Gradients::zeros(model.parameters()).unwrap();
                let step = TrainingStep::new(&reference.batch, 0.1, Dropout::new(rates, 1, 7)).of_share(share);
                let loss = model.gradients(step, &mut gradients).unwrap();
                (loss, gradients)
            };
            let [(cpu_loss, cpu), (loss, gpu)] = [Device::Cpu, gpu()].map(run);
            assert!((loss.smoothed - cpu_loss.smoothed).abs() < 1e-4 * cpu_loss.smoothed, "{variant}");
            assert_eq!(loss.tokens, cpu_loss.tokens, "{variant}");
            assert!(largest_difference(&gpu, &cpu) < 5e-5, "{variant}");
        }
    }
}
