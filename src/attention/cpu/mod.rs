//! Attention of the translator on slices, with hand-written derivatives.
//!
//! Typestates of one pass: [`ForwardTape`], then [`GuidedTape`] with the guided alignment gradient, then
//! [`BackwardPass`]. Sentences are ragged: a cell is one position of one sentence, without padding, sentence by
//! sentence.

mod backward;
mod forward;
mod guided_alignment;
pub mod pooling;
mod weights;

pub use backward::{BackwardPass, GradientInputs};
pub use forward::{ForwardTape, GuidedTape, TapeStep};
pub use weights::{PackedAttention, RaggedMemory};

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::*;
    use crate::attention::config::{AttentionConfig, AttentionDims};
    use crate::attention::mode::{AttentionMode, AttentionWeights};
    use crate::attention::reference;
    use crate::attention::scores::ScoreName;
    use crate::kernels::buffer_pool::Buffer;
    use crate::kernels::matrix::Precision;
    use crate::parameters::{ParameterSpec, Parameters};
    use crate::random::SeededRng;

    const N: usize = 24;
    const DIMENSIONS: AttentionDims = AttentionDims { hidden: N, attention: 20 };
    const LENGTHS: [usize; 3] = [500, 7, 1];

    fn numbers(count: usize, purpose: &str) -> Vec<f32> {
        let mut stream = SeededRng::new(1, purpose, 0);
        (0..count).map(|_| stream.normal() as f32).collect()
    }

    fn all_settings() -> Vec<AttentionConfig> {
        let mut all = Vec::new();
        for &score in ScoreName::ALL {
            let heads = if score.is_fixed() { &[1][..] } else { &[1, 4] };
            for (&heads, mode) in
                heads.iter().flat_map(|heads| [(heads, AttentionMode::Soft), (heads, AttentionMode::Hardest)])
            {
                // At a temperature of 1e-4 energies near 1 become some ten thousands.
                let temperatures = if score.is_fixed() { &[1.0][..] } else { &[1.0, 1e-4, 1e4] };
                for &temperature in temperatures {
                    all.push(AttentionConfig { score, heads, temperature, mode, ..AttentionConfig::default() });
                }
            }
        }
        all
    }

    /// Sentences with one state each.
    struct Sentences<'a> {
        /// `[cells, N]`, sentence by sentence
        annotations: &'a [f32],
        lengths: &'a [usize],
        /// `[sentences, N]`
        states: &'a [f32],
    }

    /// Weights and contexts of each sentence by the CPU backend.
    fn attend_cpu(
        settings: &AttentionConfig,
        parameters: &Parameters,
        sentences: &Sentences,
        origin: AttentionWeights,
    ) -> [Vec<Vec<f32>>; 2] {
        let &Sentences { annotations, lengths, states } = sentences;
        let attended = Parameters::with_views(&[parameters], |slices| {
            let weights = PackedAttention::new(settings, DIMENSIONS, &slices[0], Precision::F32, false);
            let starts: Vec<usize> = (0..=lengths.len()).map(|end| lengths[..end].iter().sum()).collect();
            let memory = weights.project_memory(Buffer::from_slice(annotations), &starts);
            let mut tape = ForwardTape::new(&weights, &memory, lengths.len(), 1);
            let mut contexts = vec![0.0; lengths.len() * N];
            let into = TapeStep { tape: &mut tape, step: 0, contexts: &mut contexts };
            weights.attend(&memory, 0..lengths.len(), states, origin, into);
            let mut reported = Vec::new();
            for (row, &length) in lengths.iter().enumerate() {
                reported.push(tape.reported(&weights, 0, row, length));
            }
            Ok([reported, contexts.chunks(N).map(<[f32]>::to_vec).collect()])
        });
        attended.unwrap()
    }

    /// Weights and context of one sentence by the reference backend.
    fn attend_reference(
        settings: &AttentionConfig,
        parameters: &Parameters,
        sentence: &Sentences,
        origin: AttentionWeights,
    ) -> [Vec<f32>; 2] {
        let attention = reference::Attention::new(settings, DIMENSIONS, parameters).unwrap();
        let length = sentence.lengths[0];
        let annotations = Tensor::from_slice(sentence.annotations, (1, length, N), &Device::Cpu).unwrap();
        let mask = Tensor::ones((1, length), candle_core::DType::F32, &Device::Cpu).unwrap();
        let memory = attention.project_memory(annotations, mask).unwrap();
        let state = Tensor::from_slice(sentence.states, (1, N), &Device::Cpu).unwrap();
        let attended = attention.attend(&memory, &state, origin).unwrap();
        [attended.reported, attended.context].map(|tensor| tensor.flatten_all().unwrap().to_vec1().unwrap())
    }

    #[track_caller]
    fn assert_near(found: &[f32], expected: &[f32], tolerance: f32, settings: &AttentionConfig) {
        let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < tolerance);
        assert!(is_near && found.len() == expected.len(), "{settings:?} {}", found.len());
    }

    #[test]
    fn every_score_equals_its_reference_and_sums_to_one() {
        for settings in all_settings() {
            let mut spec = ParameterSpec::default();
            settings.add_parameters(&mut spec, DIMENSIONS);
            let parameters = Parameters::initialize(&spec, 3, &Device::Cpu).unwrap();
            let cells: usize = LENGTHS.iter().sum();
            let (annotations, states) = (numbers(cells * N, "annotations"), numbers(LENGTHS.len() * N, "states"));
            let sentences = Sentences { annotations: &annotations, lengths: &LENGTHS, states: &states };
            let [weights, contexts] = attend_cpu(&settings, &parameters, &sentences, AttentionWeights::Model);
            let mut first = 0;
            for (row, length) in LENGTHS.into_iter().enumerate() {
                let sum: f32 = weights[row].iter().sum();
                assert!((sum - 1.0).abs() < 1e-4, "{settings:?} {length}: {sum}");
                assert!(
                    weights[row].iter().all(|&weight| weight >= 0.0) && contexts[row].iter().all(|c| c.is_finite())
                );
                let sentence = Sentences {
                    annotations: &annotations[first * N..][..length * N],
                    lengths: &[length],
                    states: &states[row * N..][..N],
                };
                let expected = attend_reference(&settings, &parameters, &sentence, AttentionWeights::Model);
                // At a high temperature rounding may exceed the differences between energies.
                assert_near(&weights[row], &expected[0], 2e-3, &settings);
                assert_near(&contexts[row], &expected[1], 2e-3, &settings);
                first += length;
            }
        }
    }

    #[test]
    fn given_weights_pool_as_in_the_reference() {
        const LENGTH: usize = 7;
        for settings in all_settings() {
            let mut spec = ParameterSpec::default();
            settings.add_parameters(&mut spec, DIMENSIONS);
            let parameters = Parameters::initialize(&spec, 3, &Device::Cpu).unwrap();
            let (annotations, state) = (numbers(LENGTH * N, "annotations"), numbers(N, "states"));
            let mut given: Vec<f32> = (0..settings.distributions() * LENGTH).map(|index| (index % 5) as f32).collect();
            for row in given.chunks_exact_mut(LENGTH) {
                let sum: f32 = row.iter().sum();
                row.iter_mut().for_each(|weight| *weight /= sum);
            }
            let origin = AttentionWeights::Given(&given);
            let sentence = Sentences { annotations: &annotations, lengths: &[LENGTH], states: &state };
            let [weights, contexts] = attend_cpu(&settings, &parameters, &sentence, origin);
            let expected = attend_reference(&settings, &parameters, &sentence, origin);
            assert_near(&weights[0], &expected[0], 1e-5, &settings);
            assert_near(&contexts[0], &expected[1], 1e-5, &settings);
            let mut mean = vec![0.0; LENGTH];
            for row in given.chunks_exact(LENGTH) {
                mean.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight / settings.distributions() as f32);
            }
            assert_near(&weights[0], &mean, 1e-5, &settings);
        }
    }
}
