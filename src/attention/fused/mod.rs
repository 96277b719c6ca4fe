//! The translator's attention on plain slices: forward step by step, guided, and back, with derivatives by hand.
//!
//! Three types stand for how far it has come, each made from the one before: a [`Trace`] grows while steps go forward,
//! [`Guided`] knows what the guides say, and a [`WayBack`] collects derivatives while the same steps are taken back.

mod trace;
mod way_back;
mod weights;

pub use trace::{Guided, Trace, TraceStep};
pub use way_back::{Passed, WayBack};
pub use weights::{Memory, Weights};

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::super::layer;
    use super::super::scores::ScoreName;
    use super::super::settings::{Choice, Dimensions, Settings};
    use super::*;
    use crate::kernels::buffer::Buffer;
    use crate::parameters::{Parameters, Plan, Slices};
    use crate::random::SeededRng;

    const N: usize = 24;
    const DIMENSIONS: Dimensions = Dimensions { hidden: N, compared: 20 };
    const LENGTHS: [usize; 3] = [500, 7, 1];

    fn numbers(count: usize, purpose: &str) -> Vec<f32> {
        let mut stream = SeededRng::new(1, purpose, 0);
        (0..count).map(|_| stream.normal() as f32).collect()
    }

    fn all_settings() -> Vec<Settings> {
        let mut all = Vec::new();
        for &score in ScoreName::ALL {
            let heads = if score.is_fixed() { &[1][..] } else { &[1, 4] };
            for (&heads, choice) in heads.iter().flat_map(|heads| [(heads, Choice::Soft), (heads, Choice::Hardest)]) {
                // At a temperature of a ten-thousandth energies of a few are some ten thousands.
                let temperatures = if score.is_fixed() { &[1.0][..] } else { &[1.0, 1e-4, 1e4] };
                let with = |&temperature: &f64| Settings { score, heads, temperature, choice, ..Settings::default() };
                all.extend(temperatures.iter().map(with));
            }
        }
        all
    }

    /// Weights and contexts for one state of each sentence, by slices.
    fn fused(settings: &Settings, parameters: &Parameters, annotations: &[f32], states: &[f32]) -> [Vec<Vec<f32>>; 2] {
        let attend = |slices: &Slices| {
            let weights = Weights::new(settings, DIMENSIONS, slices, false);
            let starts: Vec<usize> = (0..=LENGTHS.len()).map(|end| LENGTHS[..end].iter().sum()).collect();
            let memory = weights.remember(Buffer::copy_of(annotations), &starts);
            let mut trace = Trace::new(&weights, &memory, LENGTHS.len(), 1);
            let mut contexts = vec![0.0; LENGTHS.len() * N];
            let into = TraceStep { trace: &mut trace, step: 0, contexts: &mut contexts };
            weights.attend(&memory, 0..LENGTHS.len(), states, None, into);
            let shown = |(row, &length)| trace.shown(&weights, 0, row, length);
            Ok([LENGTHS.iter().enumerate().map(shown).collect(), contexts.chunks(N).map(<[f32]>::to_vec).collect()])
        };
        Parameters::lend(&[parameters], |slices| attend(&slices[0])).unwrap()
    }

    /// The same for one sentence, by candle's operations.
    fn plain(settings: &Settings, parameters: &Parameters, annotations: &[f32], state: &[f32]) -> [Vec<f32>; 2] {
        let attention = layer::Attention::new(settings, DIMENSIONS, parameters).unwrap();
        let length = annotations.len() / N;
        let annotations = Tensor::from_slice(annotations, (1, length, N), &Device::Cpu).unwrap();
        let mask = Tensor::ones((1, length), candle_core::DType::F32, &Device::Cpu).unwrap();
        let memory = attention.remember(annotations, mask).unwrap();
        let state = Tensor::from_slice(state, (1, N), &Device::Cpu).unwrap();
        let attended = attention.attend(&memory, &state, None).unwrap();
        [attended.shown, attended.context].map(|tensor| tensor.flatten_all().unwrap().to_vec1().unwrap())
    }

    #[test]
    fn weights_sum_to_one_in_every_score_at_every_length_and_heat() {
        for settings in all_settings() {
            let mut plan = Plan::default();
            settings.plan(&mut plan, DIMENSIONS);
            let parameters = Parameters::initialise(&plan, 3, &Device::Cpu).unwrap();
            let cells: usize = LENGTHS.iter().sum();
            let (annotations, states) = (numbers(cells * N, "annotations"), numbers(LENGTHS.len() * N, "states"));
            let [weights, contexts] = fused(&settings, &parameters, &annotations, &states);
            let mut first = 0;
            for (row, length) in LENGTHS.into_iter().enumerate() {
                let sum: f32 = weights[row].iter().sum();
                assert!((sum - 1.0).abs() < 1e-4, "{settings:?} {length}: {sum}");
                assert!(
                    weights[row].iter().all(|&weight| weight >= 0.0) && contexts[row].iter().all(|c| c.is_finite())
                );
                let sentence = &annotations[first * N..(first + length) * N];
                let [weights_too, context_too] = plain(&settings, &parameters, sentence, &states[row * N..][..N]);
                let near = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-3);
                // What is nearly cold tells hardly any energies apart; rounding may.
                assert!(
                    near(&weights[row], &weights_too) && near(&contexts[row], &context_too),
                    "{settings:?} {length}"
                );
                first += length;
            }
        }
    }
}
