//! One pair of sentences: what is believed of its links, by the words and by their order.

use super::hmm::{JumpCounts, Jumps, Lattice};
use super::lexicon::{Counts, Lexicon};
use super::words::Id;

/// p(word | a word never seen with it): what unknown words are left with.
const UNSEEN: f32 = 1e-7;
/// How strongly beliefs without an order lean to the diagonal, and how likely a word comes from nothing there.
const DIAGONAL: f32 = 2.5;
const NOTHING: f32 = 0.08;

/// Beliefs of one pair, kept between pairs for their memory.
#[derive(Default)]
pub struct Sentence {
    sources: usize,
    targets: usize,
    /// The lexicon's entries of its pairs of words: `[target, source]`
    entries: Vec<Option<usize>>,
    /// t(target | source): `[target, source]`
    forward: Vec<f32>,
    /// t(source | target): `[source, target]`
    backward: Vec<f32>,
    /// p(target | nothing), p(source | nothing)
    nothing: [Vec<f32>; 2],
    /// p(t comes from s): `[target, source]`
    pub by_source: Vec<f32>,
    /// p(s comes from t): `[source, target]`
    pub by_target: Vec<f32>,
    lattice: Lattice,
}

impl Sentence {
    /// Looks up what is believed of the pair's words. `nothing` has p(target word | nothing) and p(source word |
    /// nothing).
    pub fn meet(&mut self, lexicon: &Lexicon, nothing: &[Vec<f32>; 2], source: &[Id], target: &[Id]) {
        (self.sources, self.targets) = (source.len(), target.len());
        self.entries.clear();
        self.entries.extend(lexicon.entries.of_pair(source, target));
        let cells = source.len() * target.len();
        for values in [&mut self.forward, &mut self.backward, &mut self.by_source, &mut self.by_target] {
            values.resize(cells, 0.0);
        }
        let value = |table: &[f32], entry: Option<usize>| entry.map_or(UNSEEN, |entry| table[entry].max(UNSEEN));
        for (index, &entry) in self.entries.iter().enumerate() {
            let (t, s) = (index / self.sources, index % self.sources);
            self.forward[index] = value(&lexicon.forward, entry);
            self.backward[s * self.targets + t] = value(&lexicon.backward, entry);
        }
        for (side, words) in [target, source].into_iter().enumerate() {
            let share = |word: &Id| word.map_or(UNSEEN, |word| nothing[side][word as usize].max(UNSEEN));
            self.nothing[side].clear();
            self.nothing[side].extend(words.iter().map(share));
        }
    }

    /// Raises what is believed of two words to at least t(target | source) and t(source | target).
    pub fn raise(&mut self, source: usize, target: usize, [forward, backward]: [f32; 2]) {
        let values = [
            (&mut self.forward[target * self.sources + source], forward),
            (&mut self.backward[source * self.targets + target], backward),
        ];
        for (value, least) in values {
            *value = value.max(least);
        }
    }

    /// Beliefs by words and jumps. Returns ln p(target | source).
    pub fn believe(&mut self, jumps: &[Jumps; 2], counts: Option<&mut [JumpCounts; 2]>) -> f64 {
        let [forward_counts, backward_counts] = match counts {
            Some([forward, backward]) => [Some(forward), Some(backward)],
            None => [None, None],
        };
        let log_probability =
            self.lattice.posteriors(&self.forward, &self.nothing[0], &jumps[0], &mut self.by_source, forward_counts);
        self.lattice.posteriors(&self.backward, &self.nothing[1], &jumps[1], &mut self.by_target, backward_counts);
        log_probability
    }

    /// Beliefs by words and their distance from the diagonal.
    pub fn believe_without_order(&mut self) {
        let near = |i: usize, all: usize| (i as f32 + 0.5) / all as f32;
        let believe = |translations: &[f32], nothing: &[f32], beliefs: &mut [f32], states: usize| {
            let observations = nothing.len();
            let rows = translations.chunks_exact(states).zip(beliefs.chunks_exact_mut(states));
            for (t, ((translations, beliefs), nothing)) in rows.zip(nothing).enumerate() {
                let mut all = 0.0;
                for (s, (belief, translation)) in beliefs.iter_mut().zip(translations).enumerate() {
                    let leaning = (-DIAGONAL * (near(t, observations) - near(s, states)).abs()).exp();
                    *belief = leaning * translation;
                    all += leaning;
                }
                beliefs.iter_mut().for_each(|belief| *belief *= (1.0 - NOTHING) / all);
                let sum = beliefs.iter().sum::<f32>() + NOTHING * nothing;
                beliefs.iter_mut().for_each(|belief| *belief /= sum);
            }
        };
        believe(&self.forward, &self.nothing[0], &mut self.by_source, self.sources);
        believe(&self.backward, &self.nothing[1], &mut self.by_target, self.targets);
    }

    /// Adds the links that both directions believe in, and the words that come from nothing.
    pub fn count(&self, source: &[Id], target: &[Id], counts: &Counts, nothing: &[Counts; 2]) {
        for (index, entry) in self.entries.iter().enumerate() {
            let (t, s) = (index / self.sources, index % self.sources);
            if let Some(entry) = *entry {
                counts.add(entry, self.by_source[index] * self.by_target[s * self.targets + t]);
            }
        }
        let sides = [(&self.by_source, self.sources, target), (&self.by_target, self.targets, source)];
        for ((beliefs, states, words), counts) in sides.into_iter().zip(nothing) {
            for (beliefs, word) in beliefs.chunks_exact(states).zip(words.iter().flatten()) {
                counts.add(*word as usize, (1.0 - beliefs.iter().sum::<f32>()).max(0.0));
            }
        }
    }
}
