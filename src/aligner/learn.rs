//! Learning by expectation and maximisation, both directions at once.

use rayon::prelude::*;

use super::hmm::{JumpCounts, Jumps, Lattice};
use super::kinship::Translations;
use super::lexicon::{Counts, Entries, Lexicon, Words};
use super::{Id, Ids, UNSEEN, WordAligner, normalised};
use crate::text::{self, Pair, word_spans};

/// Rounds without an order of words, and with jumps.
const ROUNDS: [usize; 2] = [5, 5];
/// How often learning goes through all pairs.
pub const PASSES: usize = ROUNDS[0] + ROUNDS[1];
/// α of the Dirichlet prior on a word's translations.
const PRIOR: f64 = 0.1;
/// How strongly the first rounds lean to the diagonal, and how likely a word comes from nothing there.
const DIAGONAL: f32 = 2.5;
const NOTHING: f32 = 0.08;
/// Pairs with more words on a side teach nothing.
const LONGEST: usize = 200;
/// Pairs that are learnt from, about.
const MOST: usize = 200_000;
/// Pairs whose expected jumps are added up by one thread.
const BLOCK: usize = 256;

/// Learns from pairs of sentences; of very many, from as many as suffice. `on_progress` is told how many pairs have
/// been gone through, [`PASSES`] times in all.
pub fn learn(pairs: &[Pair], on_progress: &(dyn Fn(usize) + Sync)) -> WordAligner {
    let (mut source, mut target) = (Words::default(), Words::default());
    let numbered = |words: &mut Words, text: &str| -> Ids {
        let spans = word_spans(text, text::Words::Punctuation).into_iter();
        spans.take(LONGEST + 1).map(|span| Some(words.add(normalised(&text[span])))).collect()
    };
    let fit = |sentence: &Ids| (1..=LONGEST).contains(&sentence.len());
    let step = pairs.len().div_ceil(MOST).max(1);
    let pairs: Vec<(Ids, Ids)> = pairs
        .iter()
        .step_by(step)
        .map(|pair| (numbered(&mut source, &pair.source), numbered(&mut target, &pair.target)))
        .filter(|(source, target)| fit(source) && fit(target))
        .collect();
    let entries = Entries::of(&pairs, source.all().len());
    let counts = Counts::none(entries.len());
    let nothing = [target.all().len(), source.all().len()];
    let nothing_counts = nothing.map(Counts::none);
    let mut aligner = WordAligner {
        lexicon: Lexicon::even(entries),
        nothing: nothing.map(|words| vec![1.0 / words.max(1) as f32; words]),
        jumps: [Jumps::initial(), Jumps::initial()],
        seen: [seen(pairs.iter().map(|pair| &pair.0), nothing[1]), seen(pairs.iter().map(|pair| &pair.1), nothing[0])],
        translations: Translations::default(),
        source,
        target,
    };
    for round in 0..PASSES {
        let ordered = round >= ROUNDS[0];
        let expect = |pairs: &[(Ids, Ids)]| {
            let mut jumps = [JumpCounts::none(), JumpCounts::none()];
            let mut sentence = Sentence::default();
            for (source, target) in pairs {
                let entries = aligner.entries(source, target);
                sentence.meet(&aligner, &entries, source, target);
                if ordered {
                    sentence.believe(&aligner.jumps, Some(&mut jumps));
                } else {
                    sentence.believe_without_order();
                }
                sentence.count(&entries, source, target, &counts, &nothing_counts);
            }
            on_progress(pairs.len() * step);
            jumps
        };
        let jumps: Vec<[JumpCounts; 2]> = pairs.par_chunks(BLOCK).map(expect).collect();
        aligner.lexicon.estimate(&counts, nothing[0], PRIOR);
        for (nothing, counts) in aligner.nothing.iter_mut().zip(&nothing_counts) {
            *nothing = counts.shares();
        }
        if ordered {
            for direction in 0..2 {
                let mut sum = JumpCounts::none();
                jumps.iter().for_each(|jumps| sum.add(&jumps[direction]));
                aligner.jumps[direction] = Jumps::estimate(&sum);
            }
        }
    }
    aligner.likely_translations();
    aligner
}

/// How often each of so many words occurs.
fn seen<'a>(sentences: impl Iterator<Item = &'a Ids>, words: usize) -> Vec<u32> {
    let mut seen = vec![0; words];
    sentences.flatten().flatten().for_each(|&word| seen[word as usize] += 1);
    seen
}

/// Beliefs of one pair, kept between pairs for their memory.
#[derive(Default)]
pub struct Sentence {
    sources: usize,
    targets: usize,
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
    /// Looks up what is believed of the pair's words. `entries` are `[target, source]`.
    pub fn meet(&mut self, aligner: &WordAligner, entries: &[Option<usize>], source: &[Id], target: &[Id]) {
        (self.sources, self.targets) = (source.len(), target.len());
        let cells = source.len() * target.len();
        for values in [&mut self.forward, &mut self.backward, &mut self.by_source, &mut self.by_target] {
            values.resize(cells, 0.0);
        }
        let value = |table: &[f32], entry: Option<usize>| entry.map_or(UNSEEN, |entry| table[entry].max(UNSEEN));
        for (index, &entry) in entries.iter().enumerate() {
            let (t, s) = (index / self.sources, index % self.sources);
            self.forward[index] = value(&aligner.lexicon.forward, entry);
            self.backward[s * self.targets + t] = value(&aligner.lexicon.backward, entry);
        }
        for (side, words) in [target, source].into_iter().enumerate() {
            let share = |word: &Id| word.map_or(UNSEEN, |word| aligner.nothing[side][word as usize].max(UNSEEN));
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

    /// Beliefs by words and jumps.
    /// Returns ln p(target | source).
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
    fn believe_without_order(&mut self) {
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
    fn count(&self, entries: &[Option<usize>], source: &[Id], target: &[Id], counts: &Counts, nothing: &[Counts; 2]) {
        for (index, entry) in entries.iter().enumerate() {
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
