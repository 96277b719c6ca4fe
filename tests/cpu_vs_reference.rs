//! The fused path over whole runs: it learns what the plain path learns, and finds the translations that it finds.

use std::path::Path;

use candle_core::Device;
use softalign::attention::AttentionConfig;
use softalign::checkpoint::ModelDir;
use softalign::model::{Architecture, BatchLoss, DecoderKind, Dropout, DropoutRates, InitialState, RnnSearch};
use softalign::parameters::{Gradients, Parameters};
use softalign::random::SeededRng;
use softalign::search::{BeamSearch, DecodingConstraints, EnsembleScorer, SearchInput, Source, search, search_all};
use softalign::text::{Batch, BatchSize, Example, PaddedBatch, bucketed};
use softalign::training::Optimizer;

const STEPS: usize = 200;

/// Pairs that can be learned: the target is the source backwards, each unit moved by one.
fn examples() -> Vec<Example> {
    let mut stream = SeededRng::new(1, "examples", 0);
    let mut example = |length: usize| {
        let source: Vec<u32> = (0..length).map(|_| 4 + stream.below(20) as u32).collect();
        let target = source.iter().rev().map(|unit| unit + 1).collect();
        Example::new(source, target)
    };
    (0..512).map(|index| example(1 + index % 7)).collect()
}

/// A path to loss and gradients.
type Gradient = fn(&RnnSearch, &Batch, f64, &Dropout, &mut Gradients) -> candle_core::Result<BatchLoss>;

fn losses(path: Gradient) -> Vec<f64> {
    let architecture = Architecture {
        source_vocabulary: 25,
        target_vocabulary: 26,
        embedding_size: 24,
        hidden_size: 40,
        attention_size: 24,
        layers: 1,
        tied_output: true,
        initial_state: InitialState::Mean,
        lexicon: false,
        decoder: DecoderKind::default(),
        attention: AttentionConfig::default(),
    };
    let parameters =
        Parameters::initialize(&architecture.parameter_spec(), 1, &Device::Cpu).unwrap().with_grad().unwrap();
    let model = RnnSearch::new(architecture, parameters).unwrap();
    let mut optimizer = Optimizer::new(model.parameters(), 1.0, None).unwrap();
    let mut gradients = Gradients::zeros(model.parameters()).unwrap();
    let rates = DropoutRates { embeddings: 0.1, annotations: 0.1, states: 0.1, readout: 0.1 };
    let examples = examples();
    let lengths: Vec<_> = examples.iter().map(|example| (example.source.len(), example.target.len())).collect();
    let batches = bucketed(&lengths, BatchSize::Sentences(16), &mut SeededRng::new(1, "shuffle", 0));
    let step = |(step, chosen): (usize, &Vec<usize>)| {
        let batch = Batch::new(&examples, chosen);
        let dropout = Dropout::new(rates, 1, step as u64);
        let loss = path(&model, &batch, 0.1, &dropout, &mut gradients).unwrap();
        optimizer.step(model.parameters(), &gradients, 0.003).unwrap();
        loss.smoothed / loss.units as f64
    };
    batches.iter().cycle().take(STEPS).enumerate().map(step).collect()
}

#[test]
fn backends_follow_the_same_loss_for_200_steps() {
    let [fused, plain] = [RnnSearch::gradients, RnnSearch::reference_gradients].map(|path: Gradient| losses(path));
    assert!(plain[STEPS - 1] < 0.75 * plain[0], "nothing was learned: {} {}", plain[0], plain[STEPS - 1]);
    for (step, (fused, plain)) in fused.iter().zip(&plain).enumerate() {
        assert!((fused - plain).abs() < 1e-3 * plain, "step {step}: {fused} {plain}");
    }
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
    let (settings, constraints) = (BeamSearch::default(), DecodingConstraints::default());
    let fused = search_all(&[&model], &sources, &settings.into(), &mut |_| {}).unwrap();
    for (sources, fused) in sources.chunks(50).zip(fused.chunks(50)) {
        let padded = PaddedBatch::new(sources.iter().map(|source| source.units.as_slice()));
        let input = |(number, &units): (usize, &usize)| SearchInput { number, units, constraints: &constraints };
        let input: Vec<SearchInput> = padded.lengths.iter().enumerate().map(input).collect();
        let plain = search(&mut EnsembleScorer::reference(&[&model], &padded).unwrap(), &input, &settings).unwrap();
        for (fused, plain) in fused.iter().zip(&plain) {
            // Where two hypotheses score alike to the last bits, either may win.
            let tie = (fused[0].score - plain[0].score).abs() < 1e-5;
            assert!(fused[0].units == plain[0].units || tie, "{:?} {:?}", fused[0], plain[0]);
        }
    }
}
