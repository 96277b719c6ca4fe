//! Results at every SIMD level agree up to rounding.
//!
//! A file of its own because the limit applies to the whole process.

#[path = "common/paths.rs"]
mod paths;

use candle_core::Device;
use paths::{PATHS, run};
use softalign::attention::AttentionConfig;
use softalign::kernels::matrix::Precision;
use softalign::kernels::simd::{SimdLevel, limit_simd};
use softalign::model::{Architecture, DecoderKind, Dropout, DropoutRates, InitialState, RnnSearch};
use softalign::parameters::Parameters;
use softalign::random::SeededRng;
use softalign::search::{BeamOptions, Source, search_all};
use softalign::text::{Batch, Example};
use softalign::training::Optimizer;

#[test]
fn all_simd_levels_agree() {
    let results = [SimdLevel::Baseline, SimdLevel::Avx2OrNeon, SimdLevel::Avx512].map(|level| {
        limit_simd(level);
        results()
    });
    for (name, (values, tolerance)) in &results[2] {
        for other in &results[..2] {
            let (found, _) = &other.iter().find(|(other, _)| other == name).unwrap().1;
            assert_eq!(found.len(), values.len());
            for (a, b) in found.iter().zip(values) {
                assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{name}: {a} {b}");
            }
        }
    }
}

/// Results in each precision, each with its tolerance. Sums that differ by rounding may be rounded to different bf16 numbers.
fn results() -> Vec<(String, (Vec<f32>, f32))> {
    let in_bf16 = results_in(Precision::Bf16).into_iter().filter(|(name, _)| !name.starts_with("updated"));
    let in_bf16 = in_bf16.map(|(name, (values, tolerance))| (format!("{name} in bf16"), (values, 500.0 * tolerance)));
    results_in(Precision::F32).into_iter().chain(in_bf16).collect()
}

/// Loss, gradients, updated parameters and translations of one model, each with its tolerance.
fn results_in(precision: Precision) -> Vec<(String, (Vec<f32>, f32))> {
    let architecture = Architecture {
        source_vocabulary: 90,
        target_vocabulary: 120,
        embedding_size: 50,
        hidden_size: 98,
        attention_size: 67,
        layers: 2,
        tied_output: true,
        initial_state: InitialState::Mean,
        lexicon: false,
        decoder: DecoderKind::Bahdanau,
        attention: AttentionConfig::default(),
    };
    let parameters = Parameters::initialize(&architecture.parameter_spec(), 4, &Device::Cpu).unwrap();
    let model = RnnSearch::new(architecture, parameters).unwrap().with_precision(precision);
    let mut rng = SeededRng::new(1, "levels", 0);
    let mut ids = |length: usize| (0..length).map(|_| 4 + rng.below(86) as u32).collect::<Vec<u32>>();
    let examples: Vec<Example> =
        [(3, 9), (21, 4), (1, 1), (8, 8)].map(|(source, target)| Example::new(ids(source), ids(target))).into();
    let batch = Batch::new(&examples, &[0, 1, 2, 3]);
    let rates = DropoutRates { embeddings: 0.2, annotations: 0.2, states: 0.2, readout: 0.2 };
    let (loss, gradients) = run(PATHS[0], &model, &batch, 0.1, &Dropout::new(rates, 1, 1));
    let sources: Vec<Source> = examples.iter().map(|example| example.source.clone().into()).collect();
    let found = search_all(&[&model], &sources, &BeamOptions::default().into(), &mut |_| {}).unwrap();
    let tokens = found.iter().flat_map(|found| &found[0].tokens).map(|&token| token as f32).collect();
    let mut results =
        vec![("loss".to_owned(), (vec![loss.smoothed as f32], 1e-5)), ("translations".to_owned(), (tokens, 0.0))];
    Optimizer::new(model.parameters(), 1.0, None).unwrap().step(model.parameters(), &gradients, 0.01).unwrap();
    let values = |tensor: &candle_core::Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    for (name, gradient) in gradients.iter() {
        results.push((format!("gradient of {name}"), (values(gradient), 2e-5)));
    }
    // Adam's first step keeps only the sign of a gradient, so tiny gradients may flip: compare the recurrent weights only.
    for (name, parameter) in model.parameters().iter().filter(|(name, _)| name.ends_with("weight_hh")) {
        results.push((format!("updated {name}"), (values(parameter), 1e-3)));
    }
    results
}
