//! Learning by expectation and maximisation, both directions at once.

use rayon::prelude::*;

use super::hmm::{JumpCounts, Jumps};
use super::lexicon::{Counts, Entries, Lexicon};
use super::sentence::Sentence;
use super::word_aligner::WordAligner;
use super::words::{Ids, Words, normalised};
use crate::text::{self, NormalForm, Pair, word_spans};

/// Rounds without an order of words, and with jumps.
const ROUNDS: [usize; 2] = [5, 5];
/// How often learning goes through all pairs.
pub const PASSES: usize = ROUNDS[0] + ROUNDS[1];
/// α of the Dirichlet prior on a word's translations.
const PRIOR: f64 = 0.1;
/// Pairs with more words on a side teach nothing.
const LONGEST: usize = 200;
/// Pairs that are learnt from, about.
const MOST: usize = 200_000;
/// Pairs whose expected jumps are added up by one thread.
const BLOCK: usize = 256;

/// Learns from pairs of sentences; of very many, from as many as suffice. Words are the same that are so in a `form`.
/// `on_progress` is told how many pairs have been gone through, [`PASSES`] times in all.
pub fn learn(pairs: &[Pair], form: NormalForm, on_progress: &(dyn Fn(usize) + Sync)) -> WordAligner {
    let step = pairs.len().div_ceil(MOST).max(1);
    let mut words = [Words::default(), Words::default()];
    let pairs = numbered(pairs.iter().step_by(step), form, &mut words);
    let [sources, targets] = words.each_ref().map(|words| words.all().len());
    let mut lexicon = Lexicon::even(Entries::of(&pairs, sources));
    let mut nothing = [targets, sources].map(|words| vec![1.0 / words.max(1) as f32; words]);
    let mut jumps = [Jumps::initial(), Jumps::initial()];
    let link_counts = Counts::none(lexicon.entries.len());
    let nothing_counts = [targets, sources].map(Counts::none);
    for round in 0..PASSES {
        let ordered = round >= ROUNDS[0];
        let expect = |pairs: &[(Ids, Ids)]| {
            let mut jump_counts = [JumpCounts::none(), JumpCounts::none()];
            let mut sentence = Sentence::default();
            for (source, target) in pairs {
                sentence.meet(&lexicon, &nothing, source, target);
                if ordered {
                    sentence.believe(&jumps, Some(&mut jump_counts));
                } else {
                    sentence.believe_without_order();
                }
                sentence.count(source, target, &link_counts, &nothing_counts);
            }
            on_progress(pairs.len() * step);
            jump_counts
        };
        let jump_counts: Vec<[JumpCounts; 2]> = pairs.par_chunks(BLOCK).map(expect).collect();
        lexicon.estimate(&link_counts, targets, PRIOR);
        nothing = nothing_counts.each_ref().map(Counts::shares);
        if ordered {
            jumps = [0, 1].map(|direction| {
                let mut sum = JumpCounts::none();
                jump_counts.iter().for_each(|counts| sum.add(&counts[direction]));
                Jumps::estimate(&sum)
            });
        }
    }
    let seen = [seen(pairs.iter().map(|pair| &pair.0), sources), seen(pairs.iter().map(|pair| &pair.1), targets)];
    WordAligner::new(form, words, lexicon, nothing, jumps, seen)
}

/// Pairs as numbers of words, which are added to `words`; without those that teach nothing.
fn numbered<'a>(
    pairs: impl Iterator<Item = &'a Pair>,
    form: NormalForm,
    [source, target]: &mut [Words; 2],
) -> Vec<(Ids, Ids)> {
    let number = |words: &mut Words, text: &str| -> Ids {
        let spans = word_spans(text, text::Words::Punctuation).into_iter();
        spans.take(LONGEST + 1).map(|span| Some(words.add(normalised(&text[span], form)))).collect()
    };
    let fits = |sentence: &Ids| (1..=LONGEST).contains(&sentence.len());
    pairs
        .map(|pair| (number(source, &pair.source), number(target, &pair.target)))
        .filter(|(source, target)| fits(source) && fits(target))
        .collect()
}

/// How often each of so many words occurs.
fn seen<'a>(sentences: impl Iterator<Item = &'a Ids>, words: usize) -> Vec<u32> {
    let mut seen = vec![0; words];
    sentences.flatten().flatten().for_each(|&word| seen[word as usize] += 1);
    seen
}
