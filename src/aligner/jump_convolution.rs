//! Jumps between many states without a matrix of all of them. What lies as far off as the longest jump that is told
//! apart, or further, is all equally likely, and so summed up once for all states:
//!
//! ```text
//! Σ_from m(from) J(to − from) = Σ_{|d| < L} m(to − d) J(d) + J(L) Σ_{from ≤ to − L} m(from) + J(−L) Σ_{from ≥ to + L} m(from)
//! ```

/// Jumps of one sentence, kept between sentences for their memory.
#[derive(Default)]
pub struct Band {
    /// J by length, from −L to L; the first and the last are those of all that lie further off.
    jumps: Vec<f32>,
    /// The same from L to −L.
    turned: Vec<f32>,
    /// What makes the jumps from each state shares.
    scales: Vec<f32>,
    mass: Vec<f32>,
    far: Far,
}

/// Sums of a row's numbers up to each place, and from each place on: two, since a difference would lose what is small.
#[derive(Default)]
struct Far {
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Band {
    /// Takes J by length, from −L to L; the jumps from each of so many states are to sum to `whole`.
    pub fn prepare(&mut self, jumps: &[f64], states: usize, whole: f32) {
        self.jumps.clear();
        self.jumps.extend(jumps.iter().map(|&jump| jump as f32));
        self.turned.clear();
        self.turned.extend(self.jumps.iter().rev());
        self.scales.clear();
        self.scales.resize(states, 0.0);
        self.mass.clear();
        self.mass.resize(states, 1.0);
        sum(&self.turned, &self.mass, &mut self.far, &mut self.scales);
        self.scales.iter_mut().for_each(|sum| *sum = whole / *sum);
    }

    /// Σ_from m(from) J(from → to) for each state `to`.
    pub fn arrive(&mut self, mass: impl Iterator<Item = f32>, sums: &mut [f32]) {
        self.mass.clear();
        self.mass.extend(mass.zip(&self.scales).map(|(mass, scale)| mass * scale));
        sum(&self.jumps, &self.mass, &mut self.far, sums);
    }

    /// Σ_to J(from → to) v(to) for each state `from`.
    pub fn leave(&mut self, values: &[f32], sums: &mut [f32]) {
        sum(&self.turned, values, &mut self.far, sums);
        sums.iter_mut().zip(&self.scales).for_each(|(sum, scale)| *sum *= scale);
    }
}

/// Σ_i values(i) J(place − i) for each place, by the equation above.
fn sum(jumps: &[f32], values: &[f32], far: &mut Far, sums: &mut [f32]) {
    let (longest, count) = (jumps.len() / 2, values.len());
    far.of(values);
    for (place, sum) in sums.iter_mut().enumerate() {
        let before = far.before[(place + 1).saturating_sub(longest)];
        let after = far.after[(place + longest).min(count)];
        *sum = (before * f64::from(jumps[2 * longest]) + after * f64::from(jumps[0])) as f32;
    }
    for (index, &jump) in jumps.iter().enumerate().take(2 * longest).skip(1) {
        // From i to i + index − longest.
        let (from, to) = (longest.saturating_sub(index), index.saturating_sub(longest));
        let pairs = sums.iter_mut().skip(to).zip(values.iter().skip(from));
        pairs.for_each(|(sum, value)| *sum += jump * value);
    }
}

impl Far {
    fn of(&mut self, values: &[f32]) {
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
    fn sums_are_those_of_the_matrix() {
        let jumps: Vec<f64> = (0..7).map(|bin| 1.0 / f64::from(2 + (bin * 5) % 7)).collect();
        let jump = |from: usize, to: usize| jumps[(to as isize - from as isize + 3).clamp(0, 6) as usize];
        for states in [1, 2, 3, 4, 9, 30] {
            let norm = |from: usize| 0.98 / (0..states).map(|to| jump(from, to)).sum::<f64>();
            let values: Vec<f32> = (0..states).map(|state| 0.1 + ((state * 7) % 5) as f32).collect();
            let mut band = Band::default();
            band.prepare(&jumps, states, 0.98);
            let (mut arriving, mut leaving) = (vec![7.0; states], vec![7.0; states]);
            band.arrive(values.iter().copied(), &mut arriving);
            band.leave(&values, &mut leaving);
            for state in 0..states {
                let value = |other: usize| f64::from(values[other]);
                let arrive: f64 = (0..states).map(|from| value(from) * jump(from, state) * norm(from)).sum();
                let leave: f64 = (0..states).map(|to| value(to) * jump(state, to) * norm(state)).sum();
                for (found, expected) in [(arriving[state], arrive), (leaving[state], leave)] {
                    assert!((f64::from(found) - expected).abs() < 1e-5 * expected, "{states}: {found} {expected}");
                }
            }
        }
    }
}
