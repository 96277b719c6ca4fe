//! Transition sums over many states without the S × S matrix. All jumps of at least the maximum length L are equally
//! likely, so that one sum serves them all:
//!
//! ```text
//! Σ_from m(from) J(to − from) = Σ_{|d| < L} m(to − d) J(d) + J(L) Σ_{from ≤ to − L} m(from) + J(−L) Σ_{from ≥ to + L} m(from)
//! ```

/// Jump probabilities of one sentence; buffers are reused between sentences.
#[derive(Default)]
pub struct JumpConvolution {
    /// J by length, from −L to L; the first and the last stand for all longer jumps.
    jumps: Vec<f32>,
    /// J from L to −L.
    reversed: Vec<f32>,
    /// Normalizer of the jumps from each state.
    scales: Vec<f32>,
    mass: Vec<f32>,
    tails: TailSums,
}

/// Prefix and suffix sums; both are kept, since a difference of prefix sums would cancel small values.
#[derive(Default)]
struct TailSums {
    before: Vec<f64>,
    after: Vec<f64>,
}

impl JumpConvolution {
    /// Sets J by length, from −L to L, normalized so that the jumps from each state sum to `total`.
    pub fn prepare(&mut self, jumps: &[f64], states: usize, total: f32) {
        self.jumps.clear();
        self.jumps.extend(jumps.iter().map(|&jump| jump as f32));
        self.reversed.clear();
        self.reversed.extend(self.jumps.iter().rev());
        self.scales.clear();
        self.scales.resize(states, 0.0);
        self.mass.clear();
        self.mass.resize(states, 1.0);
        convolve(&self.reversed, &self.mass, &mut self.tails, &mut self.scales);
        self.scales.iter_mut().for_each(|sum| *sum = total / *sum);
    }

    /// Computes Σ_from m(from) J(from → to) for each state `to`.
    pub fn sum_incoming(&mut self, mass: impl Iterator<Item = f32>, sums: &mut [f32]) {
        self.mass.clear();
        self.mass.extend(mass.zip(&self.scales).map(|(mass, scale)| mass * scale));
        convolve(&self.jumps, &self.mass, &mut self.tails, sums);
    }

    /// Computes Σ_to J(from → to) v(to) for each state `from`.
    pub fn sum_outgoing(&mut self, values: &[f32], sums: &mut [f32]) {
        convolve(&self.reversed, values, &mut self.tails, sums);
        sums.iter_mut().zip(&self.scales).for_each(|(sum, scale)| *sum *= scale);
    }
}

/// Computes Σ_i values(i) J(to − i) for each state `to` by the equation above.
fn convolve(jumps: &[f32], values: &[f32], tails: &mut TailSums, sums: &mut [f32]) {
    let (longest, count) = (jumps.len() / 2, values.len());
    tails.compute(values);
    for (to, sum) in sums.iter_mut().enumerate() {
        let before = tails.before[(to + 1).saturating_sub(longest)];
        let after = tails.after[(to + longest).min(count)];
        *sum = (before * f64::from(jumps[2 * longest]) + after * f64::from(jumps[0])) as f32;
    }
    for (index, &jump) in jumps.iter().enumerate().take(2 * longest).skip(1) {
        // Jumps from i to i + index − longest.
        let (from, to) = (longest.saturating_sub(index), index.saturating_sub(longest));
        let pairs = sums.iter_mut().skip(to).zip(values.iter().skip(from));
        pairs.for_each(|(sum, value)| *sum += jump * value);
    }
}

impl TailSums {
    fn compute(&mut self, values: &[f32]) {
        let count = values.len();
        self.before.resize(count + 1, 0.0);
        self.after.resize(count + 1, 0.0);
        self.before[0] = 0.0;
        self.after[count] = 0.0;
        for (index, value) in values.iter().enumerate() {
            self.before[index + 1] = self.before[index] + f64::from(*value);
        }
        for (index, value) in values.iter().enumerate().rev() {
            self.after[index] = self.after[index + 1] + f64::from(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_transition_matrix() {
        let jumps: Vec<f64> = (0..7).map(|bin| 1.0 / f64::from(2 + (bin * 5) % 7)).collect();
        for states in [1, 2, 3, 4, 9, 30] {
            let mut transitions = vec![vec![0.0; states]; states];
            for (from, row) in transitions.iter_mut().enumerate() {
                for (to, value) in row.iter_mut().enumerate() {
                    *value = jumps[(to as isize - from as isize + 3).clamp(0, 6) as usize];
                }
                let norm = 0.98 / row.iter().sum::<f64>();
                row.iter_mut().for_each(|value| *value *= norm);
            }
            let values: Vec<f32> = (0..states).map(|state| 0.1 + ((state * 7) % 5) as f32).collect();
            let mut convolution = JumpConvolution::default();
            convolution.prepare(&jumps, states, 0.98);
            let (mut arriving, mut leaving) = (vec![7.0; states], vec![7.0; states]);
            convolution.sum_incoming(values.iter().copied(), &mut arriving);
            convolution.sum_outgoing(&values, &mut leaving);
            for state in 0..states {
                let arrive: f64 = (0..states).map(|from| f64::from(values[from]) * transitions[from][state]).sum();
                let leave: f64 = (0..states).map(|to| f64::from(values[to]) * transitions[state][to]).sum();
                for (found, expected) in [(arriving[state], arrive), (leaving[state], leave)] {
                    assert!((f64::from(found) - expected).abs() < 1e-5 * expected, "{states}: {found} {expected}");
                }
            }
        }
    }
}
