//! The CPU implementation against the reference over whole runs: equal losses, and equal translations.

use std::path::Path;

use crate::gradients::base;
use crate::search::inputs;
use candle_core::Device;
use rayon::prelude::*;
use softalign::checkpoint::ModelDir;
use softalign::kernels::matrix::Precision;
use softalign::model::{Architecture, BatchLoss, Dropout, DropoutRates, ForcedScores, RnnSearch, TrainingStep};
use softalign::parameters::{Gradients, Parameters};
use softalign::random::SeededRng;
use softalign::search::{BeamOptions, DecodingConstraints, EnsembleScorer, Source, search, search_all};
use softalign::text::{Batch, BatchSize, Example, PaddedBatch, bucketed};
use softalign::training::Optimizer;

const STEPS: usize = 200;

/// Learnable pairs: the target is the reversed source with each token incremented.
fn examples() -> Vec<Example> {
    let mut rng = SeededRng::new(1, "examples", 0);
    let mut example = |length: usize| {
        let source: Vec<u32> = (0..length).map(|_| 4 + rng.below(20) as u32).collect();
        let target = source.iter().rev().map(|token| token + 1).collect();
        Example::new(source, target)
    };
    (0..512).map(|index| example(1 + index % 7)).collect()
}

/// Signature of both implementations of loss and gradients.
type GradientFn = fn(&RnnSearch, TrainingStep, &mut Gradients) -> candle_core::Result<BatchLoss>;

fn losses(path: GradientFn, precision: Precision) -> Vec<f64> {
    let architecture = Architecture {
        source_vocabulary: 25,
        target_vocabulary: 26,
        embedding_size: 24,
        hidden_size: 40,
        attention_size: 24,
        ..base()
    };
    let parameters =
        Parameters::initialize(&architecture.parameter_spec(), 1, &Device::Cpu).unwrap().with_grad().unwrap();
    let model = RnnSearch::new(architecture, parameters).unwrap().with_precision(precision);
    let mut optimizer = Optimizer::new(model.parameters(), 1.0, None).unwrap();
    let mut gradients = Gradients::zeros(model.parameters()).unwrap();
    let rates = DropoutRates { embeddings: 0.1, annotations: 0.1, states: 0.1, readout: 0.1 };
    let examples = examples();
    let lengths: Vec<_> = examples.iter().map(Example::length).collect();
    let batches = bucketed(&lengths, BatchSize::Sentences(16), &mut SeededRng::new(1, "shuffle", 0));
    let step = |(step, indices): (usize, &Vec<usize>)| {
        let batch = Batch::new(&examples, indices);
        let dropout = Dropout::new(rates, 1, step as u64);
        let loss = path(&model, TrainingStep::new(&batch, 0.1, dropout), &mut gradients).unwrap();
        optimizer.step(model.parameters(), &gradients, 0.003).unwrap();
        loss.smoothed / loss.tokens as f64
    };
    batches.iter().cycle().take(STEPS).enumerate().map(step).collect()
}

#[test]
fn backends_follow_the_same_loss_for_200_steps() {
    let [cpu, reference] =
        [RnnSearch::gradients, RnnSearch::reference_gradients].map(|path: GradientFn| losses(path, Precision::F32));
    assert!(
        reference[STEPS - 1] < 0.75 * reference[0],
        "nothing was learned: {} {}",
        reference[0],
        reference[STEPS - 1]
    );
    for (step, (cpu, reference)) in cpu.iter().zip(&reference).enumerate() {
        assert!((cpu - reference).abs() < 1e-3 * reference, "step {step}: {cpu} {reference}");
    }
}

#[test]
fn bf16_products_follow_the_loss_for_200_steps() {
    let [exact, rounded] = [Precision::F32, Precision::Bf16].map(|precision| losses(RnnSearch::gradients, precision));
    assert_ne!(exact, rounded);
    assert_eq!(rounded, losses(RnnSearch::gradients, Precision::Bf16), "bits repeat");
    // Later, when the loss falls fast, its fall begins some steps earlier or later.
    for (step, (exact, rounded)) in exact.iter().zip(&rounded).enumerate().take(STEPS / 2) {
        assert!((exact - rounded).abs() < 0.02 * exact, "step {step}: {exact} {rounded}");
    }
    let [exact, rounded]: [f64; 2] = [exact, rounded].map(|losses| losses.iter().sum());
    assert!((exact - rounded).abs() < 0.02 * exact, "{exact} {rounded}");
}

#[test]
fn backends_translate_1000_sentences_alike() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (checkpoint, parameters) = ModelDir::new(&dir.join("checkpoints")).load_model(&Device::Cpu).unwrap();
    let model = RnnSearch::new(checkpoint.config.architecture.clone(), parameters).unwrap();
    let text = std::fs::read_to_string(dir.join("data/test.tsv")).unwrap();
    let source = |line: &str| Source::from(checkpoint.source.encode(line.split('\t').next().unwrap()).unwrap());
    let sources: Vec<Source> = text.lines().map(source).collect();
    assert_eq!(sources.len(), 1000);
    let (settings, constraints) = (BeamOptions::default(), DecodingConstraints::default());
    let cpu = search_all(&[&model], &sources, &settings.into(), &mut |_| {}).unwrap();
    sources.par_chunks(50).zip(cpu.par_chunks(50)).for_each(|(sources, cpu)| {
        let padded = PaddedBatch::new(sources.iter().map(|source| source.tokens.as_slice()));
        let input = inputs(&padded, &constraints);
        let reference = search(&mut EnsembleScorer::reference(&[&model], &padded).unwrap(), &input, &settings).unwrap();
        for (cpu, reference) in cpu.iter().zip(&reference) {
            // Either of two hypotheses with nearly equal scores may win.
            let tie = (cpu[0].score - reference[0].score).abs() < 1e-5;
            assert!(cpu[0].tokens == reference[0].tokens || tie, "{:?} {:?}", cpu[0], reference[0]);
        }
    });
}

#[test]
fn backends_agree_on_posterior_attention_of_the_shipped_model() {
    let dir = ModelDir::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("checkpoints"));
    let (checkpoint, parameters) = dir.load_model(&Device::Cpu).unwrap();
    let architecture = checkpoint.config.architecture.clone();
    // Not all tokens are candidates, and the lexicon has tokens that are none.
    assert!(architecture.target_vocabulary > 1000 && architecture.lexicon);
    let lexicon = dir.load_lexicon(&checkpoint).unwrap();
    let model = RnnSearch::new(architecture, parameters).unwrap().with_lexicon(lexicon);
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/challenge.tsv")).unwrap();
    let example = |line: &str| {
        let (source, target) = line.split_once('\t').unwrap();
        Example::new(checkpoint.source.encode(source).unwrap(), checkpoint.target.encode(target).unwrap())
    };
    let examples: Vec<Example> = text.lines().take(40).map(example).chain([Example::new(vec![], vec![])]).collect();
    let batch = Batch::new(&examples, &Vec::from_iter(0..examples.len()));
    let (cpu, reference) = (model.align(&batch).unwrap(), model.reference_align(&batch).unwrap());
    for (index, (cpu, reference)) in cpu.iter().zip(&reference).enumerate() {
        assert_eq!(cpu.posteriors.len(), examples[index].target.len() + 1);
        let differ = cpu.posteriors.iter().flatten().zip(reference.posteriors.iter().flatten());
        let largest = differ.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
        assert!(largest < 1e-3, "pair {index}: {largest}");
        let alone = model.align(&Batch::new(&examples, &[index])).unwrap().remove(0);
        assert_eq!(alone.posteriors, cpu.posteriors, "other pairs of the batch change nothing");
    }
    let differ = |pair: &ForcedScores| {
        let cells = pair.posteriors.iter().flatten().zip(pair.weights.iter().flatten());
        cells.map(|(posterior, weight)| (posterior - weight).abs()).fold(0.0, f32::max)
    };
    assert!(cpu.iter().map(differ).fold(0.0, f32::max) > 0.2, "posteriors are the weights");
}
