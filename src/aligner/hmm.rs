//! HMM alignment model of one direction (Vogel, Ney & Tillmann 1996) with a NULL word (Och & Ney 2003, section 2.1):
//! each observed word is emitted by a state, a word of the other side, or by NULL, and states follow one another by
//! jumps.
//!
//! ```text
//! p(a_t = s | a_{t−1} = s') = (1 − p₀) J(s − s') / Σ_i J(i − s')       p(NULL) = p₀, which keeps s'
//! γ_t(s) = p(a_t = s | all words)       by the forward-backward algorithm
//! ```
//!
//! The sentence starts at position −1 and ends at position S, so that its boundaries are jumps as well.

use std::sync::OnceLock;

use super::jump_convolution::JumpConvolution;
use super::padded_rows::{Lanes, PaddedRows, largest, sum_of, update};
use crate::kernels::simd::vectorized;

/// Maximum jump length; longer jumps count as this long.
const MAX_JUMP: usize = 12;
const JUMP_BINS: usize = 2 * MAX_JUMP + 1;

/// Maximum number of states with a dense transition matrix. Above, where its cubic time would be too long, a
/// [`JumpConvolution`] gives the same sums up to rounding. Training sentences are never that long.
const MAX_DENSE_STATES: usize = 200;

/// p₀: probability that a word is emitted by NULL.
const P_NULL: f32 = 0.02;

/// J: probability of each jump length, before truncation at the sentence boundaries.
#[derive(Clone, Debug, PartialEq)]
pub struct JumpDistribution([f64; JUMP_BINS]);

/// Expected counts of jumps by their exact length, from −[`LONGEST`] to [`LONGEST`].
#[derive(Clone, Debug)]
pub struct JumpCounts(Vec<f64>);

/// Longest jump between [`MAX_DENSE_STATES`] states and their boundaries.
const LONGEST: usize = MAX_DENSE_STATES + 1;

/// Jump distribution with the transitions that it implies, which are computed when a sentence first needs them.
#[derive(Clone, Debug)]
pub struct JumpModel {
    distribution: JumpDistribution,
    /// By the number of states.
    transitions: Vec<OnceLock<Transitions>>,
}

/// Transition probabilities of a sentence.
#[derive(Clone, Debug, Default)]
struct Transitions {
    /// p(first state), and J to the end of the sentence from each state: `[2 × states]`.
    boundaries: PaddedRows,
    /// `[previous state × next state]`; empty above [`MAX_DENSE_STATES`].
    by_previous: PaddedRows,
    /// `[next state × previous state]`
    by_next: PaddedRows,
}

/// Forward-backward sums of one sentence; buffers are reused between sentences.
#[derive(Default)]
pub struct Lattice {
    /// Transitions above [`MAX_DENSE_STATES`].
    convolution: JumpConvolution,
    /// Scaled forward sums of states that emit the observation: `[observations × states]`.
    forward: PaddedRows,
    /// Scaled forward sums where NULL emits the observation and the state is kept: `[observations × states]`.
    null: PaddedRows,
    /// Sum of `forward` and `null`: `[observations × states]`.
    mass: PaddedRows,
    /// Backward sums after an observation, which the state or NULL emitted: `[states]`.
    after: Vec<Lanes>,
    /// Backward sums before that observation: `[states]`.
    before: Vec<Lanes>,
    /// Weight of each state as the target of a jump: `[states]`.
    arriving: Vec<Lanes>,
    /// Expected jumps divided by J: `[previous state × next state]`.
    jumps: PaddedRows,
}

fn bin(from: isize, to: isize) -> usize {
    (to - from + MAX_JUMP as isize).clamp(0, JUMP_BINS as isize - 1) as usize
}

impl JumpDistribution {
    /// Initial distribution, which favors the next word and its neighborhood.
    pub fn initial() -> Self {
        Self(std::array::from_fn(|bin| (-0.5 * (bin as f64 - MAX_JUMP as f64 - 1.0).abs()).exp()))
    }

    /// Creates a distribution from values by jump length, from −L to L; `None` unless all are positive.
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let valid = values.iter().all(|value| value.is_finite() && *value > 0.0);
        Some(Self(<[f64; JUMP_BINS]>::try_from(values).ok().filter(|_| valid)?))
    }

    /// Values by jump length, from −L to L.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Writes the normalized transition probabilities from `from` to each of the states.
    fn transition_row(&self, from: isize, row: &mut [f32]) {
        let sum: f64 = (0..row.len()).map(|to| self.0[bin(from, to as isize)]).sum();
        for (to, value) in row.iter_mut().enumerate() {
            *value = (self.0[bin(from, to as isize)] / sum) as f32 * (1.0 - P_NULL);
        }
    }

    /// Relative frequencies of the counts, smoothed.
    pub fn from_counts(counts: &JumpCounts) -> Self {
        let mut bins = [1e-3; JUMP_BINS];
        for (jump, count) in counts.0.iter().enumerate() {
            bins[bin(LONGEST as isize, jump as isize)] += count;
        }
        let sum: f64 = bins.iter().sum();
        Self(bins.map(|count| count / sum))
    }
}

impl JumpCounts {
    /// Counts of 0 for all jumps.
    pub fn zeros() -> Self {
        Self(vec![0.0; 2 * LONGEST + 1])
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, count)| *sum += count);
    }

    /// Adds the counts of `jumps` jumps that are distributed as in `distribution`.
    pub fn add_distribution(&mut self, distribution: &JumpDistribution, jumps: f64) {
        let sum: f64 = distribution.0.iter().sum();
        let counts = self.0[LONGEST - MAX_JUMP..].iter_mut();
        counts.zip(&distribution.0).for_each(|(count, value)| *count += jumps * value / sum);
    }

    /// Counts of the jumps from a state, −1 for the start of the sentence, to the states from 0 on.
    #[inline(always)]
    fn jumps_of(&mut self, from: isize) -> &mut [f64] {
        &mut self.0[(LONGEST as isize - from) as usize..]
    }
}

impl JumpModel {
    /// Model with a distribution.
    pub fn new(distribution: JumpDistribution) -> Self {
        Self { distribution, transitions: vec![OnceLock::new(); MAX_DENSE_STATES + 1] }
    }

    /// J: probability of each jump length.
    pub fn distribution(&self) -> &JumpDistribution {
        &self.distribution
    }
}

impl Transitions {
    /// Transitions at the boundaries of a sentence of `states` states, without those between its states.
    fn at_boundaries(jumps: &JumpDistribution, states: usize) -> Self {
        let mut boundaries = PaddedRows::zeros(2, states);
        jumps.transition_row(-1, boundaries.values_mut(0));
        for (from, value) in boundaries.values_mut(1).iter_mut().enumerate() {
            *value = jumps.0[bin(from as isize, states as isize)] as f32;
        }
        Self { boundaries, ..Self::default() }
    }

    /// All transitions of a sentence of `states` states.
    fn dense(jumps: &JumpDistribution, states: usize) -> Self {
        let mut by_previous = PaddedRows::zeros(states, states);
        let mut by_next = PaddedRows::zeros(states, states);
        for from in 0..states {
            jumps.transition_row(from as isize, by_previous.values_mut(from));
            for (to, &value) in by_previous.values(from).iter().enumerate() {
                by_next.values_mut(to)[from] = value;
            }
        }
        Self { by_previous, by_next, ..Self::at_boundaries(jumps, states) }
    }

    fn is_dense(&self) -> bool {
        self.by_previous.columns() > 0
    }
}

impl Lattice {
    /// Computes γ `[observations × states]` from p(observation | state), of the same shape, and p(observation | NULL).
    /// Adds expected jumps to `counts`, for up to [`MAX_DENSE_STATES`] states. Returns ln p(observations).
    pub fn posteriors(
        &mut self,
        emissions: &PaddedRows,
        null_emissions: &[f32],
        jumps: &JumpModel,
        gamma: &mut PaddedRows,
        counts: Option<&mut JumpCounts>,
    ) -> f64 {
        let states = emissions.columns();
        gamma.reset(null_emissions.len(), states);
        if null_emissions.is_empty() || states == 0 {
            return 0.0;
        }
        match jumps.transitions.get(states) {
            Some(transitions) => {
                let transitions = transitions.get_or_init(|| Transitions::dense(&jumps.distribution, states));
                self.run(emissions, null_emissions, transitions, gamma, counts)
            }
            None => {
                self.convolution.prepare(&jumps.distribution.0, states, 1.0 - P_NULL);
                let transitions = Transitions::at_boundaries(&jumps.distribution, states);
                self.run(emissions, null_emissions, &transitions, gamma, None)
            }
        }
    }

    fn run(
        &mut self,
        emissions: &PaddedRows,
        null_emissions: &[f32],
        transitions: &Transitions,
        gamma: &mut PaddedRows,
        counts: Option<&mut JumpCounts>,
    ) -> f64 {
        vectorized(
            #[inline(always)]
            || {
                let log_probability = self.forward_pass(emissions, null_emissions, transitions);
                self.backward_pass(emissions, null_emissions, transitions, gamma, counts.is_some());
                if let Some(counts) = counts {
                    self.count_jumps(transitions, gamma, null_emissions.len(), counts);
                }
                log_probability
            },
        )
    }

    #[inline(always)]
    fn forward_pass(&mut self, emissions: &PaddedRows, null_emissions: &[f32], transitions: &Transitions) -> f64 {
        let (observations, states) = (null_emissions.len(), emissions.columns());
        let Self { forward, null, mass, convolution, .. } = self;
        for rows in [&mut *forward, null, mass] {
            rows.reset(observations, states);
        }
        let mut log_probability = 0.0;
        for (t, &null_emission) in null_emissions.iter().enumerate() {
            let (word, null) = (forward.row_mut(t), null.row_mut(t));
            if t == 0 {
                word.copy_from_slice(transitions.boundaries.row(0));
                // NULL before the first word keeps any state equally.
                null.as_flattened_mut()[..states].fill(P_NULL * null_emission / states as f32);
            } else {
                let before = mass.values(t - 1);
                if transitions.is_dense() {
                    transitions.by_previous.weighted_sum(before, word);
                } else {
                    convolution.sum_incoming(before.iter().copied(), &mut word.as_flattened_mut()[..states]);
                }
                update(null, mass.row(t - 1), |null, mass| *null = P_NULL * null_emission * mass);
            }
            update(word, emissions.row(t), |sum, emission| *sum *= emission);
            // Scaled to sum to 1, against underflow.
            let scale = inverse(sum_of(word, null, |word, null| word + null));
            word.as_flattened_mut().iter_mut().for_each(|value| *value *= scale);
            null.as_flattened_mut().iter_mut().for_each(|value| *value *= scale);
            let together = mass.row_mut(t);
            together.copy_from_slice(word);
            update(together, null, |mass, null| *mass += null);
            log_probability -= f64::from(scale).ln();
        }
        log_probability
    }

    #[inline(always)]
    fn backward_pass(
        &mut self,
        emissions: &PaddedRows,
        null_emissions: &[f32],
        transitions: &Transitions,
        gamma: &mut PaddedRows,
        with_jumps: bool,
    ) {
        let states = emissions.columns();
        self.after.clear();
        self.after.extend_from_slice(transitions.boundaries.row(1));
        if with_jumps {
            self.jumps.reset(states, states);
        }
        for t in (0..null_emissions.len()).rev() {
            let gamma = gamma.row_mut(t);
            let scale = inverse(sum_of(self.mass.row(t), &self.after, |mass, after| mass * after));
            gamma.copy_from_slice(self.forward.row(t));
            // Rounding can exceed 1.
            update(gamma, &self.after, |gamma, after| *gamma = (*gamma * after * scale).clamp(0.0, 1.0));
            if t > 0 {
                self.backward_step(t, emissions, null_emissions[t], transitions, with_jumps);
            }
        }
    }

    /// Moves the backward sums before observation `t`, and adds the jumps to it.
    #[inline(always)]
    fn backward_step(
        &mut self,
        t: usize,
        emissions: &PaddedRows,
        null_emission: f32,
        transitions: &Transitions,
        with_jumps: bool,
    ) {
        let states = emissions.columns();
        let Self { convolution, mass, after, before, arriving, jumps, .. } = self;
        arriving.clear();
        arriving.extend_from_slice(emissions.row(t));
        update(arriving, after, |arriving, after| *arriving *= after);
        before.resize(after.len(), Lanes::default());
        if transitions.is_dense() {
            transitions.by_next.weighted_sum(&arriving.as_flattened()[..states], before);
        } else {
            convolution.sum_outgoing(&arriving.as_flattened()[..states], &mut before.as_flattened_mut()[..states]);
        }
        update(before, after, |before, after| *before += P_NULL * null_emission * after);
        if with_jumps {
            let scale = inverse(sum_of(mass.row(t - 1), before, |mass, before| mass * before));
            for (from, &mass) in mass.values(t - 1).iter().enumerate() {
                update(jumps.row_mut(from), arriving, |jumps, arriving| *jumps += mass * scale * arriving);
            }
        }
        let scale = inverse(largest(before));
        before.as_flattened_mut().iter_mut().for_each(|value| *value *= scale);
        std::mem::swap(before, after);
    }

    /// Adds the expected jumps of the sentence to `counts`.
    #[inline(always)]
    fn count_jumps(&self, transitions: &Transitions, gamma: &PaddedRows, observations: usize, counts: &mut JumpCounts) {
        let states = gamma.columns();
        let first = counts.jumps_of(-1).iter_mut().zip(gamma.values(0));
        first.for_each(|(count, gamma)| *count += f64::from(*gamma));
        for (from, gamma) in gamma.values(observations - 1).iter().enumerate() {
            counts.jumps_of(from as isize)[states] += f64::from(*gamma);
        }
        for from in 0..states {
            let jumps = self.jumps.values(from).iter().zip(transitions.by_previous.values(from));
            let counts = counts.jumps_of(from as isize).iter_mut();
            counts.zip(jumps).for_each(|(count, (weight, jump))| *count += f64::from(weight * jump));
        }
    }
}

/// 1 / sum; finite for all sums.
#[inline(always)]
fn inverse(sum: f32) -> f32 {
    1.0 / sum.max(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(observations: usize, states: usize, value: impl Fn(usize, usize) -> f32) -> PaddedRows {
        let mut rows = PaddedRows::zeros(observations, states);
        for t in 0..observations {
            rows.values_mut(t).iter_mut().enumerate().for_each(|(s, cell)| *cell = value(t, s));
        }
        rows
    }

    fn jump_model() -> JumpModel {
        JumpModel::new(JumpDistribution::initial())
    }

    /// p(to | from) for a sentence of `states` states.
    fn transition(jumps: &JumpDistribution, states: usize, from: isize, to: isize) -> f64 {
        let all: f64 = (0..states).map(|to| jumps.0[bin(from, to as isize)]).sum();
        jumps.0[bin(from, to)] / all * f64::from(1.0 - P_NULL)
    }

    /// γ and the expected jumps by enumerating all state sequences.
    fn enumerated(emissions: &PaddedRows, null_emissions: &[f32]) -> (PaddedRows, Vec<f64>) {
        let (observations, states, jumps) = (null_emissions.len(), emissions.columns(), JumpDistribution::initial());
        let (mut gamma, mut counts, mut total) = (vec![0.0; observations * states], JumpCounts::zeros().0, 0.0);
        for number in 0..(2 * states).pow(observations as u32) {
            let mut weight = 1.0;
            let mut from = -1;
            let mut emitting = Vec::new();
            let mut jumped = Vec::new();
            for t in 0..observations {
                // A choice is a state or, from `states` on, NULL with the kept state.
                let choice = number / (2 * states).pow(t as u32) % (2 * states);
                let to = (choice % states) as isize;
                if choice < states {
                    weight *= transition(&jumps, states, from, to) * f64::from(emissions.get(t, choice));
                    emitting.push(t * states + choice);
                    jumped.push(to - from);
                    if t + 1 == observations {
                        jumped.push(states as isize - to);
                    }
                } else if t == 0 {
                    weight *= f64::from(P_NULL * null_emissions[0]) / states as f64;
                } else {
                    weight *= if from == to { f64::from(P_NULL * null_emissions[t]) } else { 0.0 };
                }
                from = to;
            }
            weight *= jumps.0[bin(from, states as isize)];
            total += weight;
            emitting.into_iter().for_each(|position| gamma[position] += weight);
            jumped.into_iter().for_each(|jump| counts[(LONGEST as isize + jump) as usize] += weight);
        }
        counts.iter_mut().for_each(|count| *count /= total);
        (rows(observations, states, |t, s| (gamma[t * states + s] / total) as f32), counts)
    }

    #[test]
    fn posteriors_and_jumps_match_enumeration() {
        let mut lattice = Lattice::default();
        for (observations, states) in [(1, 1), (1, 3), (3, 1), (3, 3), (4, 2), (2, 9)] {
            let emissions = rows(observations, states, |t, s| 0.1 + (((t * states + s) * 7) % 5) as f32 * 0.2);
            let null_emissions: Vec<f32> = (0..observations).map(|t| 0.05 + 0.1 * t as f32).collect();
            let mut gamma = PaddedRows::default();
            let mut counts = JumpCounts::zeros();
            lattice.posteriors(&emissions, &null_emissions, &jump_model(), &mut gamma, Some(&mut counts));
            let (expected, expected_counts) = enumerated(&emissions, &null_emissions);
            for (found, expected) in (0..observations).flat_map(|t| gamma.values(t).iter().zip(expected.values(t))) {
                assert!((found - expected).abs() < 1e-5, "{observations} × {states}: {found} {expected}");
            }
            for (found, expected) in counts.0.iter().zip(expected_counts) {
                assert!((found - expected).abs() < 1e-5, "{observations} × {states}: {found} {expected}");
            }
        }
    }

    #[test]
    fn does_not_underflow_on_long_sentences() {
        let (observations, states) = (300, 280);
        let emissions = rows(observations, states, |_, _| 1e-7);
        let mut gamma = PaddedRows::default();
        let null_emissions = vec![1e-6; observations];
        Lattice::default().posteriors(&emissions, &null_emissions, &jump_model(), &mut gamma, None);
        let mut values = (0..observations).flat_map(|t| gamma.values(t));
        assert!(values.all(|value| value.is_finite() && (0.0..=1.0).contains(value)));
    }

    #[test]
    fn convolution_matches_dense_transitions() {
        let (observations, states) = (230, MAX_DENSE_STATES + 7);
        let emissions = rows(observations, states, |t, s| {
            let likely = (t * 7 + s * 3).is_multiple_of(31) || t * states / observations == s;
            if likely { 0.2 } else { 1e-6 }
        });
        let null_emissions = vec![1e-4; observations];
        let jumps = JumpDistribution::initial();
        let mut lattice = Lattice::default();
        let mut found = [PaddedRows::zeros(observations, states), PaddedRows::zeros(observations, states)];
        lattice.convolution.prepare(&jumps.0, states, 1.0 - P_NULL);
        let transitions = [Transitions::at_boundaries(&jumps, states), Transitions::dense(&jumps, states)];
        let totals =
            [0, 1].map(|index| lattice.run(&emissions, &null_emissions, &transitions[index], &mut found[index], None));
        assert!((totals[0] - totals[1]).abs() < 1e-3, "{totals:?}");
        for (a, b) in (0..observations).flat_map(|t| found[0].values(t).iter().zip(found[1].values(t))) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn estimates_sum_to_one() {
        let mut counts = JumpCounts::zeros();
        counts.jumps_of(2)[3] += 3.0;
        counts.jumps_of(0)[40] += 1.0;
        let jumps = JumpDistribution::from_counts(&counts);
        assert!((jumps.values().iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(jumps.0[MAX_JUMP + 1] > 0.7 && jumps.0[JUMP_BINS - 1] > 0.2);
        assert_eq!(JumpDistribution::from_values(jumps.values()), Some(jumps));
        assert!(
            JumpDistribution::from_values(&[1.0]).is_none()
                && JumpDistribution::from_values(&[f64::NAN; JUMP_BINS]).is_none()
        );
    }
}
