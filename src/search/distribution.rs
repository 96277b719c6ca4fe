//! What comes next, as models say it: a distribution over all units for each row.

use crate::kernels::buffer_pool::Buffer;
use crate::kernels::cpu::cross_entropy::{add_softmax, log_sum_exp};
use crate::random::SeededRng;
use crate::text::{BEGIN, PADDING};

/// One way to go on from a row: a unit and its log-probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenCandidate {
    /// The unit's id.
    pub unit: u32,
    /// log p(unit | source, units so far), in nats.
    pub log_probability: f32,
}

/// What a scorer says of its rows.
pub struct Predictions {
    /// `[rows, V]`: logits, or sums of probabilities.
    values: Buffer,
    /// Of how many models' probabilities these are the sums; none of logits.
    summed: Option<usize>,
    /// α for each row: the attention weights behind what is said, one for each source unit, `</s>` the last.
    pub attention: Vec<Vec<f32>>,
}

impl Predictions {
    /// Of one model, by its logits `[rows, V]`.
    pub fn of_logits(logits: Buffer, attention: Vec<Vec<f32>>) -> Self {
        Self { values: logits, summed: None, attention }
    }

    /// Of several models: the mean of what they say of each row.
    pub fn together(models: &[Self]) -> Self {
        let rows = models[0].attention.len();
        let vocabulary = models[0].values.len() / rows.max(1);
        let mut values = Buffer::zeros(models[0].values.len());
        for model in models {
            let rows = values.chunks_exact_mut(vocabulary).zip(model.values.chunks_exact(vocabulary));
            rows.for_each(|(sums, logits)| add_softmax(sums, logits));
        }
        let mean = |row: usize| -> Vec<f32> {
            let looks: Vec<&Vec<f32>> = models.iter().map(|model| &model.attention[row]).collect();
            let mean = |place: usize| looks.iter().map(|look| look[place]).sum::<f32>() / looks.len() as f32;
            (0..looks[0].len()).map(mean).collect()
        };
        Self { values, summed: Some(models.len()), attention: (0..rows).map(mean).collect() }
    }

    /// What is said of a row.
    pub fn row(&self, row: usize) -> Distribution<'_> {
        let vocabulary = self.values.len() / self.attention.len();
        let values = &self.values[row * vocabulary..][..vocabulary];
        let scale = match self.summed {
            None => Scale::Logits { log_sum: log_sum_exp(values) },
            Some(models) => Scale::Sums { models: models as f32 },
        };
        Distribution { values, scale }
    }
}

/// What the numbers of a row mean.
#[derive(Clone, Copy, Debug)]
enum Scale {
    Logits { log_sum: f32 },
    Sums { models: f32 },
}

/// What is left to chance when a unit is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingConfig {
    /// Log-probabilities are divided by this: below 1 what is probable is drawn more often, above 1 less.
    pub temperature: f64,
    /// Only so many of the most probable units are drawn from (Fan, Lewis & Dauphin 2018).
    pub top_k: Option<usize>,
    /// Only the most probable units are drawn from that together have this probability (Holtzman et al. 2020).
    pub top_p: f64,
}

impl Default for SamplingConfig {
    /// Units are drawn as they are probable.
    fn default() -> Self {
        Self { temperature: 1.0, top_k: None, top_p: 1.0 }
    }
}

impl SamplingConfig {
    /// Leaves those of the candidates that are drawn from.
    fn cut(&self, candidates: &mut Vec<TokenCandidate>) {
        if self.top_p >= 1.0 {
            return;
        }
        candidates.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability).then(a.unit.cmp(&b.unit)));
        let weights = self.weights(candidates);
        let enough = self.top_p * weights.iter().sum::<f64>();
        let mut sum = 0.0;
        let kept = weights.iter().take_while(|&weight| {
            let is_short = sum < enough;
            sum += weight;
            is_short
        });
        let kept = kept.count();
        candidates.truncate(kept.max(1));
    }

    /// What each candidate is drawn by.
    fn weights(&self, candidates: &[TokenCandidate]) -> Vec<f64> {
        let largest = candidates.iter().map(|one| one.log_probability).fold(f32::NEG_INFINITY, f32::max);
        let weight = |one: &TokenCandidate| (f64::from(one.log_probability - largest) / self.temperature).exp();
        candidates.iter().map(weight).collect()
    }
}

/// How probable each unit is after a row. Padding and the begin mark are never said.
#[derive(Clone, Copy, Debug)]
pub struct Distribution<'a> {
    values: &'a [f32],
    scale: Scale,
}

impl Distribution<'_> {
    /// The `width` best of the units that are allowed, best first, of equals the lower one first: fewer where there are no
    /// more. No softmax of the whole row is made.
    pub fn best(&self, width: usize, allowed: &dyn Fn(u32) -> bool) -> Vec<TokenCandidate> {
        self.candidates(largest(self.values, width, f32::NEG_INFINITY, allowed))
    }

    /// The best units whose log-probability is not below `floor`, `width` at most, best first; a few that are hardly below it
    /// may be among them.
    pub fn best_above(&self, width: usize, floor: f64) -> Vec<TokenCandidate> {
        // Rounded sums and logarithms may be a little off.
        const ROUNDING: f64 = 1e-3;
        let value = match self.scale {
            Scale::Logits { log_sum } => floor + f64::from(log_sum) - ROUNDING * (1.0 + f64::from(log_sum).abs()),
            Scale::Sums { models } => (floor - ROUNDING).exp() * f64::from(models),
        };
        let limits = floor.is_finite() && value.abs() > f64::from(f32::MIN_POSITIVE);
        self.candidates(largest(self.values, width, if limits { value as f32 } else { f32::NEG_INFINITY }, &|_| true))
    }

    fn candidates(&self, units: Vec<u32>) -> Vec<TokenCandidate> {
        units.into_iter().map(|unit| self.candidate(unit)).collect()
    }

    /// A unit with its log-probability.
    pub fn candidate(&self, unit: u32) -> TokenCandidate {
        TokenCandidate { unit, log_probability: self.log_probability(self.values[unit as usize]) }
    }

    /// One of the allowed units, drawn; none where none is allowed.
    pub fn sample(
        &self,
        chance: &SamplingConfig,
        allowed: &dyn Fn(u32) -> bool,
        stream: &mut SeededRng,
    ) -> Option<TokenCandidate> {
        let mut candidates = match chance.top_k {
            Some(most) => self.best(most, allowed),
            None => {
                let units = (0..self.values.len() as u32).filter(|&unit| may_be_said(unit) && allowed(unit));
                units.map(|unit| self.candidate(unit)).collect()
            }
        };
        chance.cut(&mut candidates);
        let weights = chance.weights(&candidates);
        let mut left = stream.uniform() * weights.iter().sum::<f64>();
        let drawn = candidates.iter().zip(&weights).find(|&(_, weight)| {
            left -= weight;
            left < 0.0
        });
        // By rounding nothing may be left over at the end.
        drawn.map(|(candidate, _)| *candidate).or(candidates.last().copied())
    }

    fn log_probability(&self, value: f32) -> f32 {
        match self.scale {
            Scale::Logits { log_sum } => value - log_sum,
            Scale::Sums { models } => (value / models).ln(),
        }
    }
}

fn may_be_said(unit: u32) -> bool {
    unit != PADDING && unit != BEGIN
}

/// The `width` allowed units of the largest values in a row, largest first; of equals the lower unit first.
fn largest(row: &[f32], width: usize, floor: f32, allowed: &dyn Fn(u32) -> bool) -> Vec<u32> {
    const BLOCK: usize = 64;
    let mut best: Vec<(f32, u32)> = Vec::with_capacity(width.min(row.len()) + 1);
    for (first, block) in (0u32..).step_by(BLOCK).zip(row.chunks(BLOCK)) {
        let worst = if best.len() == width { best[width - 1].0 } else { floor };
        // Most blocks hold nothing of interest; this comparison vectorises.
        if block.iter().fold(false, |any, &value| any | (value > worst)) {
            for (unit, &value) in (first..).zip(block) {
                if may_be_said(unit) && value > floor {
                    let place = best.partition_point(|&(other, _)| other >= value);
                    if place < width && allowed(unit) {
                        best.insert(place, (value, unit));
                        best.truncate(width);
                    }
                }
            }
        }
    }
    best.into_iter().map(|(_, unit)| unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::END;

    const ANY: &dyn Fn(u32) -> bool = &|_| true;

    fn of_logits(row: &[f32]) -> Predictions {
        Predictions::of_logits(Buffer::from_slice(row), vec![vec![1.0]])
    }

    fn units(candidates: &[TokenCandidate]) -> Vec<u32> {
        candidates.iter().map(|candidate| candidate.unit).collect()
    }

    #[test]
    fn the_best_units_are_found_in_order() {
        let said = of_logits(&[9.0, 9.0, -1.0, -3.0, -0.5, -1.0, -9.0]);
        let row = said.row(0);
        assert_eq!(units(&row.best(1, ANY)), [4]);
        assert_eq!(units(&row.best(3, ANY)), [4, 2, 5]);
        assert_eq!(units(&row.best(99, ANY)), [4, 2, 5, 3, 6]);
        assert_eq!(units(&row.best(2, &|unit| unit != 4 && unit != 2)), [5, 3]);
        let total: f32 = row.best(99, ANY).iter().map(|candidate| candidate.log_probability.exp()).sum();
        assert!(total < 0.01, "padding and the begin mark have the rest");
        for said in [
            of_logits(&[9.0, 9.0, -1.0, -3.0, -0.5, -1.0, -9.0]),
            Predictions::together(&[of_logits(&[0.0, 0.5, 1.0, 3.0, -2.0])]),
        ] {
            let row = said.row(0);
            let best = row.best(99, ANY);
            assert_eq!(row.best_above(99, f64::NEG_INFINITY), best);
            for (place, candidate) in best.iter().enumerate() {
                let above = row.best_above(99, f64::from(candidate.log_probability));
                assert!(above.len() > place && above.len() <= place + 2 && above[..] == best[..above.len()]);
            }
        }
        let long: Vec<f32> = (0..1000).map(|unit| ((unit * 37) % 1000) as f32 * 0.01).collect();
        assert_eq!(units(&of_logits(&long).row(0).best(4, ANY)), [27, 54, 81, 108]);
    }

    #[test]
    fn several_models_say_the_mean_of_their_probabilities() {
        let rows: [[f32; 7]; 2] = [[0.0, 0.0, 1.0, 3.0, 2.0, -1.0, 0.5], [1.0, 0.0, 4.0, 0.0, 2.5, 0.0, 0.5]];
        let probability =
            |row: &[f32; 7], unit: usize| row[unit].exp() / row.iter().map(|logit| logit.exp()).sum::<f32>();
        let together = Predictions::together(&rows.map(|row| of_logits(&row)));
        let found = together.row(0).best(3, ANY);
        assert_eq!(units(&found), [2, 3, 4]);
        for TokenCandidate { unit, log_probability } in found {
            let mean = f32::midpoint(probability(&rows[0], unit as usize), probability(&rows[1], unit as usize));
            assert!((log_probability - mean.ln()).abs() < 1e-6, "{unit}");
        }
        let alone = of_logits(&rows[0]);
        let of_one = Predictions::together(&[of_logits(&rows[0])]);
        for (a, b) in alone.row(0).best(4, ANY).iter().zip(of_one.row(0).best(4, ANY)) {
            assert!(a.unit == b.unit && (a.log_probability - b.log_probability).abs() < 1e-6);
        }
    }

    /// How often each unit is drawn.
    fn shares(row: &[f32], chance: SamplingConfig, allowed: &dyn Fn(u32) -> bool) -> Vec<f64> {
        const DRAWS: usize = 20_000;
        let (said, mut stream) = (of_logits(row), SeededRng::new(5, "draws", 0));
        let mut shares = vec![0.0; row.len()];
        for _ in 0..DRAWS {
            shares[said.row(0).sample(&chance, allowed, &mut stream).unwrap().unit as usize] += 1.0 / DRAWS as f64;
        }
        shares
    }

    #[test]
    fn units_are_drawn_by_their_probabilities() {
        // Of what may be said, `</s>` has 0.1, the others 0.2, 0.3 and 0.4.
        let row: Vec<f32> = [9.0, 9.0, 0.1f32.ln(), 0.2f32.ln(), 0.3f32.ln(), 0.4f32.ln()].into();
        let plain = SamplingConfig::default();
        let close = |found: Vec<f64>, expected: [f64; 4]| {
            for (found, expected) in found[2..].iter().zip(expected) {
                assert!((found - expected).abs() < 0.015, "{found} {expected}");
            }
        };
        close(shares(&row, plain, ANY), [0.1, 0.2, 0.3, 0.4]);
        close(shares(&row, SamplingConfig { top_k: Some(2), ..plain }, ANY), [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0]);
        close(shares(&row, SamplingConfig { top_p: 0.69, ..plain }, ANY), [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0]);
        close(shares(&row, SamplingConfig { top_p: 0.71, ..plain }, ANY), [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]);
        close(shares(&row, SamplingConfig { temperature: 0.5, ..plain }, ANY), [1.0, 4.0, 9.0, 16.0].map(|x| x / 30.0));
        close(shares(&row, plain, &|unit| unit != 5), [1.0 / 6.0, 2.0 / 6.0, 3.0 / 6.0, 0.0]);
        close(shares(&row, SamplingConfig { temperature: 1e-3, ..plain }, ANY), [0.0, 0.0, 0.0, 1.0]);
        let nothing = of_logits(&row).row(0).sample(&plain, &|_| false, &mut SeededRng::new(1, "draws", 0));
        assert!(nothing.is_none() && of_logits(&row).row(0).best(3, &|unit| unit == END).len() == 1);
    }
}
