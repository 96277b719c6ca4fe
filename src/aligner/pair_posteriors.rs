//! Link posteriors of one sentence pair under Model 1 and the HMM.

use super::hmm::{JumpCounts, JumpModel, Lattice};
use super::padded_rows::{PaddedRows, sum_of, update};
use super::translation_table::{ABSENT, LinkCounts, TranslationTable};
use super::vocab::UNKNOWN;
use crate::kernels::simd::vectorized;

/// Floor of translation probabilities, which pairs with an unknown word get.
const FLOOR: f32 = 1e-7;
/// λ and p₀ of the diagonal prior (Dyer, Chahuneau & Smith 2013, section 2).
const DIAGONAL_TENSION: f32 = 2.5;
const P_NULL: f32 = 0.08;

/// Minimum expected count of a link that is added. Most links of a pair have less.
const MIN_COUNT: f32 = 1e-6;

/// Posteriors of one pair; buffers are reused between pairs.
#[derive(Default)]
pub struct PairPosteriors {
    /// Table entries: `[source × target]`.
    entries: Vec<u32>,
    /// t(target | source): `[target × source]`.
    forward: PaddedRows,
    /// t(source | target): `[source × target]`.
    backward: PaddedRows,
    /// p(target word | NULL), p(source word | NULL).
    null: [Vec<f32>; 2],
    /// p(t is aligned to s): `[target × source]`.
    pub by_source: PaddedRows,
    /// p(s is aligned to t): `[source × target]`.
    pub by_target: PaddedRows,
    lattice: Lattice,
}

impl PairPosteriors {
    /// Looks up the translation probabilities of a pair. `null` holds p(target word | NULL) and p(source word | NULL).
    pub fn load_pair(&mut self, table: &TranslationTable, null: &[Vec<f32>; 2], [source, target]: [&[u32]; 2]) {
        let Self { entries, forward, backward, .. } = self;
        table.pairs.load_entries(source, target, entries);
        forward.reset(target.len(), source.len());
        backward.reset(source.len(), target.len());
        let absent_forward = values_of(source, &table.absent[0]);
        let absent_backward = values_of(target, &table.absent[1]);
        for (s, entries) in entries.chunks_exact(target.len().max(1)).enumerate() {
            for (t, (&entry, backward)) in entries.iter().zip(backward.values_mut(s)).enumerate() {
                let values = match entry {
                    ABSENT if source[s] == UNKNOWN || target[t] == UNKNOWN => [FLOOR; 2],
                    ABSENT => [absent_forward[s], absent_backward[t]],
                    entry => [&table.forward, &table.backward].map(|values| values[entry as usize]),
                };
                [forward.values_mut(t)[s], *backward] = values.map(|value| value.max(FLOOR));
            }
        }
        for ((own, null), words) in self.null.iter_mut().zip(null).zip([target, source]) {
            own.clear();
            own.extend(words.iter().map(|&word| null.get(word as usize).map_or(FLOOR, |value| value.max(FLOOR))));
        }
    }

    /// Raises t(target | source) and t(source | target) of two words to at least the given values.
    pub fn raise(&mut self, source: usize, target: usize, [forward, backward]: [f32; 2]) {
        let values = [
            (&mut self.forward.values_mut(target)[source], forward),
            (&mut self.backward.values_mut(source)[target], backward),
        ];
        for (value, min) in values {
            *value = value.max(min);
        }
    }

    /// Computes posteriors under the HMM. Returns ln p(target | source).
    pub fn hmm_posteriors(&mut self, jumps: &[JumpModel; 2], counts: Option<&mut [JumpCounts; 2]>) -> f64 {
        let [forward_counts, backward_counts] = match counts {
            Some([forward, backward]) => [Some(forward), Some(backward)],
            None => [None, None],
        };
        let log_probability =
            self.lattice.posteriors(&self.forward, &self.null[0], &jumps[0], &mut self.by_source, forward_counts);
        self.lattice.posteriors(&self.backward, &self.null[1], &jumps[1], &mut self.by_target, backward_counts);
        log_probability
    }

    /// Computes posteriors under Model 1 (Brown et al. 1993) with a diagonal prior (Dyer, Chahuneau & Smith 2013).
    pub fn model1_posteriors(&mut self) {
        model1_rows(&self.forward, &self.null[0], &mut self.by_source);
        model1_rows(&self.backward, &self.null[1], &mut self.by_target);
    }

    /// Adds the agreement counts of all links, the product of both posteriors, and the NULL counts of both sides.
    pub fn accumulate_counts(&self, [source, target]: [&[u32]; 2], counts: &LinkCounts, null: &[LinkCounts; 2]) {
        for (s, entries) in self.entries.chunks_exact(target.len()).enumerate() {
            let present = entries.iter().zip(self.by_target.values(s)).enumerate();
            for (t, (&entry, by_target)) in present.filter(|(_, (entry, _))| **entry != ABSENT) {
                let count = by_target * self.by_source.get(t, s);
                if count >= MIN_COUNT {
                    counts.add(entry as usize, count);
                }
            }
        }
        let sides = [(&self.by_source, target), (&self.by_target, source)];
        for ((posteriors, words), counts) in sides.into_iter().zip(null) {
            for (index, &word) in words.iter().enumerate() {
                let linked: f32 = posteriors.values(index).iter().sum();
                counts.add(word as usize, (1.0 - linked).max(0.0));
            }
        }
    }
}

/// Looks up the value of each word by its id; [`FLOOR`] where there is none.
fn values_of(words: &[u32], by_id: &[f32]) -> Vec<f32> {
    words.iter().map(|&word| by_id.get(word as usize).copied().unwrap_or(FLOOR)).collect()
}

/// λ r of a position, with the relative position r of its middle.
#[inline(always)]
fn diagonal_exponent(position: usize, length: usize) -> f32 {
    DIAGONAL_TENSION * (position as f32 + 0.5) / length as f32
}

/// Writes p(a_t = s) under Model 1 from t(observation | state), `[observations × states]`, and p(observation | NULL). The
/// prior is e^(−λ |r_t − r_s|) of the relative positions, the smaller one of the products e^(λ r_t) e^(−λ r_s) and
/// e^(−λ r_t) e^(λ r_s).
fn model1_rows(translations: &PaddedRows, null: &[f32], posteriors: &mut PaddedRows) {
    let states = translations.columns();
    let mut powers = PaddedRows::zeros(2, states);
    for s in 0..states {
        let exponent = diagonal_exponent(s, states);
        powers.values_mut(0)[s] = exponent.exp();
        powers.values_mut(1)[s] = (-exponent).exp();
    }
    posteriors.reset(null.len(), states);
    vectorized(
        #[inline(always)]
        || {
            for (t, &p_null) in null.iter().enumerate() {
                let exponent = diagonal_exponent(t, null.len());
                let (rising, falling, row) = (exponent.exp(), (-exponent).exp(), posteriors.row_mut(t));
                row.copy_from_slice(powers.row(0));
                update(row, powers.row(1), |prior, other| *prior = (*prior * falling).min(other * rising));
                let prior = (1.0 - P_NULL) / sum_of(row, row, |prior, _| prior);
                update(row, translations.row(t), |posterior, translation| *posterior *= translation * prior);
                let scale = 1.0 / (sum_of(row, row, |posterior, _| posterior) + P_NULL * p_null);
                row.as_flattened_mut().iter_mut().for_each(|posterior| *posterior *= scale);
            }
        },
    );
}
