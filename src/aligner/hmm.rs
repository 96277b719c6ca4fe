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

use super::jump_convolution::JumpConvolution;

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

/// Expected counts of jump lengths.
#[derive(Clone, Debug)]
pub struct JumpCounts([f64; JUMP_BINS]);

/// Forward-backward sums of one sentence; buffers are reused between sentences.
#[derive(Default)]
pub struct Lattice {
    /// Transition probabilities `[states, states]`, rows by previous state; empty above [`MAX_DENSE_STATES`].
    transitions: Vec<f32>,
    /// Transitions above [`MAX_DENSE_STATES`].
    convolution: JumpConvolution,
    begin: Vec<f32>,
    end: Vec<f32>,
    /// Scaled forward sums of states and of NULL, `[observations, states]`.
    forward: Vec<f32>,
    null: Vec<f32>,
    /// Backward sums of the state after an observation, emitted by the state or by NULL: `[states]`.
    backward: Vec<f32>,
    next: Vec<f32>,
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
        let sum: f64 = counts.0.iter().sum::<f64>() + JUMP_BINS as f64 * 1e-3;
        Self(counts.0.map(|count| (count + 1e-3) / sum))
    }
}

impl JumpCounts {
    /// Zero counts.
    pub fn zeros() -> Self {
        Self([0.0; JUMP_BINS])
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, count)| *sum += count);
    }

    /// Adds the counts of `jumps` jumps that are distributed as in `distribution`.
    pub fn add_distribution(&mut self, distribution: &JumpDistribution, jumps: f64) {
        let sum: f64 = distribution.0.iter().sum();
        self.0.iter_mut().zip(&distribution.0).for_each(|(count, value)| *count += jumps * value / sum);
    }
}

impl Lattice {
    /// Computes γ `[observations, states]` from p(observation | state), of the same shape, and p(observation | NULL).
    /// Adds expected jumps to `counts`. Returns ln p(observations).
    pub fn posteriors(
        &mut self,
        emissions: &[f32],
        null_emissions: &[f32],
        jumps: &JumpDistribution,
        gamma: &mut [f32],
        counts: Option<&mut JumpCounts>,
    ) -> f64 {
        let observations = null_emissions.len();
        if observations == 0 || emissions.is_empty() {
            return 0.0;
        }
        let states = emissions.len() / observations;
        self.prepare(jumps, states);
        let log_probability = self.forward_pass(emissions, null_emissions, states);
        self.backward_pass(emissions, null_emissions, states, gamma, counts);
        log_probability
    }

    fn prepare(&mut self, jumps: &JumpDistribution, states: usize) {
        self.begin.resize(states, 0.0);
        self.end.resize(states, 0.0);
        jumps.transition_row(-1, &mut self.begin);
        for (from, value) in self.end.iter_mut().enumerate() {
            *value = jumps.0[bin(from as isize, states as isize)] as f32;
        }
        if states > MAX_DENSE_STATES {
            self.transitions.clear();
            self.convolution.prepare(&jumps.0, states, 1.0 - P_NULL);
        } else {
            self.fill_transitions(jumps, states);
        }
    }

    fn fill_transitions(&mut self, jumps: &JumpDistribution, states: usize) {
        self.transitions.resize(states * states, 0.0);
        for (from, row) in self.transitions.chunks_exact_mut(states).enumerate() {
            jumps.transition_row(from as isize, row);
        }
    }

    fn forward_pass(&mut self, emissions: &[f32], null_emissions: &[f32], states: usize) -> f64 {
        let mut log_probability = 0.0;
        self.forward.resize(emissions.len(), 0.0);
        self.null.resize(emissions.len(), 0.0);
        for (t, emission) in emissions.chunks_exact(states).enumerate() {
            let (before, now) = self.forward.split_at_mut(t * states);
            let (null_before, null) = self.null.split_at_mut(t * states);
            let (now, null) = (&mut now[..states], &mut null[..states]);
            if t == 0 {
                now.copy_from_slice(&self.begin);
                // NULL before the first word keeps any state equally.
                null.fill(P_NULL / states as f32);
            } else {
                let (before, null_before) = (&before[(t - 1) * states..], &null_before[(t - 1) * states..]);
                let mass = before.iter().zip(null_before).map(|(word, null)| word + null);
                if self.transitions.is_empty() {
                    self.convolution.sum_incoming(mass, now);
                } else {
                    now.fill(0.0);
                    for (jumps, mass) in self.transitions.chunks_exact(states).zip(mass) {
                        now.iter_mut().zip(jumps).for_each(|(sum, jump)| *sum += mass * jump);
                    }
                }
                for ((sum, word), null) in null.iter_mut().zip(before).zip(null_before) {
                    *sum = P_NULL * (word + null);
                }
            }
            now.iter_mut().zip(emission).for_each(|(sum, emission)| *sum *= emission);
            null.iter_mut().for_each(|sum| *sum *= null_emissions[t]);
            log_probability += scale(now, null);
        }
        log_probability
    }

    fn backward_pass(
        &mut self,
        emissions: &[f32],
        null_emissions: &[f32],
        states: usize,
        gamma: &mut [f32],
        mut counts: Option<&mut JumpCounts>,
    ) {
        self.backward.clear();
        self.backward.extend_from_slice(&self.end);
        self.next.resize(states, 0.0);
        for t in (0..null_emissions.len()).rev() {
            let (word, null) = (&self.forward[t * states..][..states], &self.null[t * states..][..states]);
            let gamma = &mut gamma[t * states..][..states];
            let mut sum = 0.0;
            for (((gamma, word), null), after) in gamma.iter_mut().zip(word).zip(null).zip(&self.backward) {
                *gamma = word * after;
                sum += *gamma + null * after;
            }
            // Rounding can exceed 1.
            gamma.iter_mut().for_each(|gamma| *gamma = (*gamma / sum).clamp(0.0, 1.0));
            if let Some(counts) = counts.as_deref_mut().filter(|_| t == 0) {
                gamma.iter().enumerate().for_each(|(to, gamma)| counts.0[bin(-1, to as isize)] += f64::from(*gamma));
            }
            if t + 1 == null_emissions.len()
                && let Some(counts) = counts.as_deref_mut()
            {
                let last = gamma.iter().enumerate();
                last.for_each(|(from, gamma)| counts.0[bin(from as isize, states as isize)] += f64::from(*gamma));
            }
            if t > 0 {
                let emission = &emissions[t * states..][..states];
                self.backward_step(t, emission, null_emissions[t], states, counts.as_deref_mut());
            }
        }
    }

    /// Moves the backward sums before observation `t` and counts the jumps to it.
    fn backward_step(
        &mut self,
        t: usize,
        emission: &[f32],
        null_emission: f32,
        states: usize,
        counts: Option<&mut JumpCounts>,
    ) {
        // Weight of each state as the target of a jump.
        let arriving: Vec<f32> =
            emission.iter().zip(&self.backward).map(|(emission, after)| emission * after).collect();
        if self.transitions.is_empty() {
            self.convolution.sum_outgoing(&arriving, &mut self.next);
        } else {
            for (next, jumps) in self.next.iter_mut().zip(self.transitions.chunks_exact(states)) {
                *next = jumps.iter().zip(&arriving).map(|(jump, arriving)| jump * arriving).sum();
            }
        }
        for (next, after) in self.next.iter_mut().zip(&self.backward) {
            *next += P_NULL * null_emission * after;
        }
        let (word, null) = (&self.forward[(t - 1) * states..][..states], &self.null[(t - 1) * states..][..states]);
        let mass = word.iter().zip(null).map(|(word, null)| word + null);
        let sum: f32 = mass.clone().zip(&self.next).map(|(mass, next)| mass * next).sum();
        if let Some(counts) = counts {
            for (from, (jumps, mass)) in self.transitions.chunks_exact(states).zip(mass).enumerate() {
                for (to, (jump, arriving)) in jumps.iter().zip(&arriving).enumerate() {
                    counts.0[bin(from as isize, to as isize)] += f64::from(mass * jump * arriving / sum);
                }
            }
        }
        let largest = self.next.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        for (backward, next) in self.backward.iter_mut().zip(&self.next) {
            *backward = next / largest;
        }
    }
}

/// Scales both to sum to 1, against underflow; returns the logarithm of their sum.
fn scale(word: &mut [f32], null: &mut [f32]) -> f64 {
    let sum = word.iter().sum::<f32>() + null.iter().sum::<f32>();
    let factor = 1.0 / sum.max(f32::MIN_POSITIVE);
    word.iter_mut().chain(null).for_each(|value| *value *= factor);
    -f64::from(factor).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// γ by enumerating all state sequences.
    fn enumerated(emissions: &[f32], null_emissions: &[f32], jumps: &JumpDistribution) -> Vec<f32> {
        let (observations, states) = (null_emissions.len(), emissions.len() / null_emissions.len());
        let transition = |from: isize, to: usize| {
            let all: f64 = (0..states).map(|to| jumps.0[bin(from, to as isize)]).sum();
            jumps.0[bin(from, to as isize)] / all * f64::from(1.0 - P_NULL)
        };
        let (mut gamma, mut total) = (vec![0.0; emissions.len()], 0.0);
        // A choice is a state or, from `states` on, NULL with the kept state.
        for number in 0..(2 * states).pow(observations as u32) {
            let choice = |t: usize| number / (2 * states).pow(t as u32) % (2 * states);
            let mut weight = 1.0;
            for t in 0..observations {
                let (state, null) = (choice(t) % states, choice(t) >= states);
                let before = (t > 0).then(|| choice(t - 1) % states);
                weight *= match (null, before) {
                    (false, None) => transition(-1, state),
                    (false, Some(before)) => transition(before as isize, state),
                    (true, None) => f64::from(P_NULL) / states as f64,
                    (true, Some(before)) => {
                        if before == state {
                            f64::from(P_NULL)
                        } else {
                            0.0
                        }
                    }
                };
                weight *= f64::from(if null { null_emissions[t] } else { emissions[t * states + state] });
            }
            weight *= jumps.0[bin((choice(observations - 1) % states) as isize, states as isize)];
            total += weight;
            for t in (0..observations).filter(|&t| choice(t) < states) {
                gamma[t * states + choice(t)] += weight;
            }
        }
        gamma.iter().map(|weight| (weight / total) as f32).collect()
    }

    #[test]
    fn posteriors_match_enumeration() {
        let mut lattice = Lattice::default();
        for (observations, states) in [(1, 1), (1, 3), (3, 1), (3, 3), (4, 2)] {
            let emissions: Vec<f32> = (0..observations * states).map(|i| 0.1 + ((i * 7) % 5) as f32 * 0.2).collect();
            let null_emissions: Vec<f32> = (0..observations).map(|t| 0.05 + 0.1 * t as f32).collect();
            let jumps = JumpDistribution::initial();
            let mut gamma = vec![0.0; emissions.len()];
            let mut counts = JumpCounts::zeros();
            lattice.posteriors(&emissions, &null_emissions, &jumps, &mut gamma, Some(&mut counts));
            for (found, expected) in gamma.iter().zip(enumerated(&emissions, &null_emissions, &jumps)) {
                assert!((found - expected).abs() < 1e-5, "{observations} × {states}: {found} {expected}");
            }
            assert!(counts.0.iter().all(|count| count.is_finite()));
        }
    }

    #[test]
    fn does_not_underflow_on_long_sentences() {
        let (observations, states) = (300, 280);
        let emissions = vec![1e-7; observations * states];
        let mut gamma = vec![0.0; emissions.len()];
        Lattice::default().posteriors(
            &emissions,
            &vec![1e-6; observations],
            &JumpDistribution::initial(),
            &mut gamma,
            None,
        );
        assert!(gamma.iter().all(|value| value.is_finite() && (0.0..=1.0).contains(value)));
    }

    #[test]
    fn convolution_matches_dense_transitions() {
        let (observations, states) = (230, MAX_DENSE_STATES + 7);
        let emission = |t: usize, s: usize| {
            let likely = (t * 7 + s * 3).is_multiple_of(31) || t * states / observations == s;
            if likely { 0.2 } else { 1e-6 }
        };
        let emissions: Vec<f32> = (0..observations * states).map(|i| emission(i / states, i % states)).collect();
        let null_emissions = vec![1e-4; observations];
        let mut lattice = Lattice::default();
        let mut found = [vec![0.0; emissions.len()], vec![0.0; emissions.len()]];
        let mut totals = [0.0; 2];
        for (dense, (gamma, total)) in found.iter_mut().zip(&mut totals).enumerate() {
            lattice.prepare(&JumpDistribution::initial(), states);
            assert!(lattice.transitions.is_empty());
            if dense == 1 {
                lattice.fill_transitions(&JumpDistribution::initial(), states);
            }
            *total = lattice.forward_pass(&emissions, &null_emissions, states);
            lattice.backward_pass(&emissions, &null_emissions, states, gamma, None);
        }
        assert!((totals[0] - totals[1]).abs() < 1e-3, "{totals:?}");
        for (a, b) in found[0].iter().zip(&found[1]) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn estimates_sum_to_one() {
        let mut counts = JumpCounts::zeros();
        counts.0[bin(2, 3)] += 3.0;
        counts.0[bin(0, 40)] += 1.0;
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
