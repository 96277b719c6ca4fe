//! The model against PyTorch: logits, attention, loss, every gradient, and the losses of ten training steps.
//!
//! `scripts/reference_model.py` generated the values in `tests/reference/`; these tests need no Python.

use crate::golden::{Reference, VARIANTS, Values, difference, flat};
use crate::paths::{PATHS, run};
use candle_core::Device;
use softalign::model::cpu::{CpuIncrementalDecoder, PackedModel, PackingMode};
use softalign::model::reference::ReferenceModel;
use softalign::model::{Dropout, DropoutRates, RnnSearch};
use softalign::text::{BEGIN, Batch, Example, PaddedBatch};
use softalign::training::Optimizer;

#[test]
fn annotations_and_attention_match_pytorch() {
    for variant in VARIANTS {
        let reference = Reference::load(variant);
        let model = reference.model(&Device::Cpu);
        let source: &PaddedBatch = &reference.batch.source;
        let encoder = ReferenceModel::new(model.architecture(), model.parameters()).unwrap();
        let annotations = encoder.annotate(source).unwrap();
        let ours = annotations.values.broadcast_mul(&annotations.mask.unsqueeze(2).unwrap()).unwrap();
        assert!(difference(&flat(&ours), &flat(&reference.tensors["annotations"])) < 1e-5, "{variant}");

        let of = |name: &str| reference.tensors.get(name).map(|tensor| tensor.to_vec3::<f32>().unwrap());
        let (attention, posteriors) = (of("attention").unwrap(), of("posteriors"));
        for align in [RnnSearch::align, RnnSearch::reference_align] {
            for (sentence, pair) in align(&model, &reference.batch).unwrap().into_iter().enumerate() {
                let log_probability = reference.values.log_probabilities[sentence];
                assert!((pair.log_probability() - log_probability).abs() < 1e-4, "{variant}");
                assert_eq!(pair.weights.len(), reference.batch.target.lengths[sentence]);
                assert_eq!(pair.posteriors.len(), posteriors.as_ref().map_or(0, |_| pair.weights.len()), "{variant}");
                let theirs = attention[sentence].iter().zip(&pair.weights);
                let posteriors = posteriors.iter().flat_map(|all| all[sentence].iter().zip(&pair.posteriors));
                for (theirs, row) in theirs.chain(posteriors) {
                    assert!(difference(row, &theirs[..row.len()]) < 1e-5, "{variant}");
                    assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                }
            }
        }
    }
}

#[test]
fn logits_match_pytorch() {
    for variant in VARIANTS {
        let reference = Reference::load(variant);
        let target = &reference.batch.target;
        let theirs = reference.tensors["logits"].to_vec2::<f32>().unwrap();
        let rows: Vec<usize> = (0..target.batch()).collect();
        let compare = |weights: &PackedModel| {
            let mut decoding = CpuIncrementalDecoder::new(weights, &reference.batch.source);
            for step in 0..target.length {
                let before = |&row: &usize| if step == 0 { BEGIN } else { target.id(row, step - 1) };
                let logits = decoding.step(&rows, &rows.iter().map(before).collect::<Vec<_>>()).logits;
                let ours = logits.chunks_exact(reference.architecture.target_vocabulary);
                for (row, ours) in ours.enumerate().filter(|&(row, _)| step < target.lengths[row]) {
                    // The reference concatenates the rows of all sentences.
                    let index = target.lengths[..row].iter().sum::<usize>() + step;
                    assert!(difference(ours, &theirs[index]) < 1e-5, "{variant}, sentence {row}, step {step}");
                }
            }
            Ok(())
        };
        RnnSearch::with_packed(&[&reference.model(&Device::Cpu)], PackingMode::Inference, |weights| {
            compare(&weights[0])
        })
        .unwrap();
    }
}

#[test]
fn loss_and_every_gradient_match_pytorch() {
    for (variant, path) in VARIANTS.into_iter().flat_map(|variant| PATHS.map(|path| (variant, path))) {
        let reference = Reference::load(variant);
        let smoothing = reference.values.label_smoothing;
        let (loss, gradients) =
            run(path, &reference.model(&Device::Cpu), &reference.batch, smoothing, &Dropout::none());
        let mean = loss.smoothed / loss.tokens as f64;
        assert!((mean - reference.values.loss).abs() < 1e-5, "{variant}: {mean}");
        let likelihood: f64 = reference.values.log_probabilities.iter().sum();
        assert!((loss.negative_log_likelihood + likelihood).abs() < 1e-3, "{variant}");

        let theirs = reference.group("gradient/");
        assert_eq!(gradients.iter().map(|(name, _)| name).collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
        let mut square = 0.0;
        for (name, gradient) in gradients.iter() {
            assert_eq!(gradient.dims(), theirs[name].dims(), "{variant} {name}");
            let difference = difference(&flat(gradient), &flat(&theirs[name]));
            assert!(difference < 1e-5, "{variant} {name}: {difference}");
            square += flat(gradient).iter().map(|&value| f64::from(value).powi(2)).sum::<f64>();
        }
        assert!((square.sqrt() - reference.values.gradient_norm).abs() < 1e-4, "{variant}");
    }
}

#[test]
fn ten_training_steps_match_pytorch() {
    for (variant, path) in VARIANTS.into_iter().flat_map(|variant| PATHS.map(|path| (variant, path))) {
        let reference = Reference::load(variant);
        let Values { optimizer: settings, losses, label_smoothing, .. } = &reference.values;
        let model = reference.model(&Device::Cpu);
        let mut optimizer = Optimizer::new(model.parameters(), settings.max_gradient_norm, None).unwrap();
        for (step, theirs) in losses.iter().enumerate() {
            let (loss, gradients) = run(path, &model, &reference.batch, *label_smoothing, &Dropout::none());
            let ours = loss.smoothed / loss.tokens as f64;
            assert!((ours - theirs).abs() < 2e-5, "{variant}, step {step}: {ours} {theirs}");
            optimizer.step(model.parameters(), &gradients, settings.learning_rate).unwrap();
        }
    }
}

#[test]
fn backends_apply_the_same_dropout_masks() {
    for variant in VARIANTS {
        let reference = Reference::load(variant);
        let model = reference.model(&Device::Cpu);
        let rates = DropoutRates { embeddings: 0.2, annotations: 0.3, states: 0.4, readout: 0.5 };
        let [(loss, cpu), (reference_loss, expected)] =
            PATHS.map(|path| run(path, &model, &reference.batch, 0.1, &Dropout::new(rates, 1, 7)));
        assert!((loss.smoothed - reference_loss.smoothed).abs() < 1e-4, "{variant}");
        for (name, gradient) in cpu.iter() {
            let difference = difference(&flat(gradient), &flat(expected.get(name).unwrap()));
            // Rounding of the reference's products: 1.2e-5 on ARM, less on x86-64.
            assert!(difference < 2e-5, "{variant} {name}: {difference}");
        }
    }
}

#[test]
fn padding_changes_nothing() {
    let reference = Reference::load("deep");
    let model = reference.model(&Device::Cpu);
    let values = &reference.values;
    for force in [RnnSearch::force_decode, RnnSearch::reference_force_decode] {
        for (sentence, batched) in force(&model, &reference.batch, 0.0).unwrap().iter().enumerate() {
            let without_end = |ids: &Vec<u32>| ids[..ids.len() - 1].to_vec();
            let example = Example::new(without_end(&values.sources[sentence]), without_end(&values.targets[sentence]));
            let alone = force(&model, &Batch::new(&[example], &[0]), 0.0).unwrap().remove(0);
            assert!((alone.log_probability() - batched.log_probability()).abs() < 1e-5);
            for (a, b) in alone.weights.iter().zip(&batched.weights) {
                assert!(difference(a, b) < 1e-6);
            }
        }
    }
}
