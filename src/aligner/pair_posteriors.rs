//! Link posteriors of one sentence pair under Model 1 and the HMM.

use super::hmm::{JumpCounts, JumpDistribution, Lattice};
use super::translation_table::{LinkCounts, TranslationTable};
use super::vocab::WordId;

/// Floor of translation probabilities, which unseen word pairs and unknown words get.
const FLOOR: f32 = 1e-7;
/// λ and p₀ of the diagonal prior (Dyer, Chahuneau & Smith 2013, section 2).
const DIAGONAL_TENSION: f32 = 2.5;
const P_NULL: f32 = 0.08;

/// Posteriors of one pair; buffers are reused between pairs.
#[derive(Default)]
pub struct PairPosteriors {
    sources: usize,
    targets: usize,
    /// Table entries: `[target, source]`.
    entries: Vec<Option<usize>>,
    /// t(target | source): `[target, source]`.
    forward: Vec<f32>,
    /// t(source | target): `[source, target]`.
    backward: Vec<f32>,
    /// p(target word | NULL), p(source word | NULL).
    null: [Vec<f32>; 2],
    /// p(t is aligned to s): `[target, source]`.
    pub by_source: Vec<f32>,
    /// p(s is aligned to t): `[source, target]`.
    pub by_target: Vec<f32>,
    lattice: Lattice,
}

impl PairPosteriors {
    /// Looks up the translation probabilities of a pair. `null` holds p(target word | NULL) and p(source word | NULL).
    pub fn load_pair(&mut self, table: &TranslationTable, null: &[Vec<f32>; 2], source: &[WordId], target: &[WordId]) {
        (self.sources, self.targets) = (source.len(), target.len());
        self.entries.clear();
        self.entries.extend(table.pairs.entries_of_pair(source, target));
        let cells = source.len() * target.len();
        for values in [&mut self.forward, &mut self.backward, &mut self.by_source, &mut self.by_target] {
            values.resize(cells, 0.0);
        }
        let value = |table: &[f32], entry: Option<usize>| entry.map_or(FLOOR, |entry| table[entry].max(FLOOR));
        for (index, &entry) in self.entries.iter().enumerate() {
            let (t, s) = (index / self.sources, index % self.sources);
            self.forward[index] = value(&table.forward, entry);
            self.backward[s * self.targets + t] = value(&table.backward, entry);
        }
        for (side, words) in [target, source].into_iter().enumerate() {
            let probability = |word: &WordId| word.map_or(FLOOR, |word| null[side][word as usize].max(FLOOR));
            self.null[side].clear();
            self.null[side].extend(words.iter().map(probability));
        }
    }

    /// Raises t(target | source) and t(source | target) of two words to at least the given values.
    pub fn raise(&mut self, source: usize, target: usize, [forward, backward]: [f32; 2]) {
        let values = [
            (&mut self.forward[target * self.sources + source], forward),
            (&mut self.backward[source * self.targets + target], backward),
        ];
        for (value, min) in values {
            *value = value.max(min);
        }
    }

    /// Computes posteriors under the HMM. Returns ln p(target | source).
    pub fn hmm_posteriors(&mut self, jumps: &[JumpDistribution; 2], counts: Option<&mut [JumpCounts; 2]>) -> f64 {
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
        let relative = |i: usize, length: usize| (i as f32 + 0.5) / length as f32;
        let compute = |translations: &[f32], null: &[f32], posteriors: &mut [f32], states: usize| {
            let observations = null.len();
            let rows = translations.chunks_exact(states).zip(posteriors.chunks_exact_mut(states));
            for (t, ((translations, posteriors), null)) in rows.zip(null).enumerate() {
                let mut prior_sum = 0.0;
                for (s, (posterior, translation)) in posteriors.iter_mut().zip(translations).enumerate() {
                    let prior = (-DIAGONAL_TENSION * (relative(t, observations) - relative(s, states)).abs()).exp();
                    *posterior = prior * translation;
                    prior_sum += prior;
                }
                posteriors.iter_mut().for_each(|posterior| *posterior *= (1.0 - P_NULL) / prior_sum);
                let sum = posteriors.iter().sum::<f32>() + P_NULL * null;
                posteriors.iter_mut().for_each(|posterior| *posterior /= sum);
            }
        };
        compute(&self.forward, &self.null[0], &mut self.by_source, self.sources);
        compute(&self.backward, &self.null[1], &mut self.by_target, self.targets);
    }

    /// Adds the agreement counts of all links, the product of both posteriors, and the NULL counts of both sides.
    pub fn accumulate_counts(&self, source: &[WordId], target: &[WordId], counts: &LinkCounts, null: &[LinkCounts; 2]) {
        for (index, entry) in self.entries.iter().enumerate() {
            let (t, s) = (index / self.sources, index % self.sources);
            if let Some(entry) = *entry {
                counts.add(entry, self.by_source[index] * self.by_target[s * self.targets + t]);
            }
        }
        let sides = [(&self.by_source, self.sources, target), (&self.by_target, self.targets, source)];
        for ((posteriors, states, words), counts) in sides.into_iter().zip(null) {
            for (posteriors, word) in posteriors.chunks_exact(states).zip(words.iter().flatten()) {
                counts.add(*word as usize, (1.0 - posteriors.iter().sum::<f32>()).max(0.0));
            }
        }
    }
}
