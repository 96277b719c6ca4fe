//! Expectation maximization (EM) of both directions with agreement (Liang, Taskar & Klein 2006, section 3).

use rayon::prelude::*;

use super::hmm::{JumpCounts, JumpDistribution};
use super::pair_posteriors::PairPosteriors;
use super::translation_table::{LinkCounts, TranslationTable, WordPairs};
use super::vocab::{AlignerVocab, WordIds, normalize_word};
use super::word_aligner::WordAligner;
use crate::text::{self, NormalForm, Pair, word_spans};

/// Iterations of Model 1 and of the HMM.
const ITERATIONS: [usize; 2] = [5, 5];
/// EM iterations over all pairs.
pub const EM_ITERATIONS: usize = ITERATIONS[0] + ITERATIONS[1];
/// α: symmetric Dirichlet prior on a word's translations.
const DIRICHLET_PRIOR: f64 = 0.1;
/// Maximum words on a side; longer pairs are skipped.
const MAX_WORDS: usize = 200;
/// Approximate maximum number of training pairs.
const MAX_PAIRS: usize = 200_000;
/// Pairs per parallel task.
const BLOCK: usize = 256;

/// Trains an aligner on sentence pairs; large corpora are subsampled. Words are compared in the normal form `form`.
/// `on_progress` receives numbers of processed pairs, which sum to [`EM_ITERATIONS`] times all pairs.
pub fn train(pairs: &[Pair], form: NormalForm, on_progress: &(dyn Fn(usize) + Sync)) -> WordAligner {
    let step = pairs.len().div_ceil(MAX_PAIRS).max(1);
    let mut words = [AlignerVocab::default(), AlignerVocab::default()];
    let pairs = to_ids(pairs.iter().step_by(step), form, &mut words);
    let [sources, targets] = words.each_ref().map(|words| words.words().len());
    let mut table = TranslationTable::uniform(WordPairs::from_corpus(&pairs, sources));
    let mut null = [targets, sources].map(|words| vec![1.0 / words.max(1) as f32; words]);
    let mut jumps = [JumpDistribution::initial(), JumpDistribution::initial()];
    let link_counts = LinkCounts::zeros(table.pairs.len());
    let null_counts = [targets, sources].map(LinkCounts::zeros);
    for iteration in 0..EM_ITERATIONS {
        let hmm = iteration >= ITERATIONS[0];
        let expect = |pairs: &[(WordIds, WordIds)]| {
            let mut jump_counts = [JumpCounts::zeros(), JumpCounts::zeros()];
            let mut pair = PairPosteriors::default();
            for (source, target) in pairs {
                pair.load_pair(&table, &null, source, target);
                if hmm {
                    pair.hmm_posteriors(&jumps, Some(&mut jump_counts));
                } else {
                    pair.model1_posteriors();
                }
                pair.accumulate_counts(source, target, &link_counts, &null_counts);
            }
            on_progress(pairs.len() * step);
            jump_counts
        };
        let jump_counts: Vec<[JumpCounts; 2]> = pairs.par_chunks(BLOCK).map(expect).collect();
        table.estimate(&link_counts, targets, DIRICHLET_PRIOR);
        null = null_counts.each_ref().map(LinkCounts::take_frequencies);
        if hmm {
            jumps = [0, 1].map(|direction| {
                let mut sum = JumpCounts::zeros();
                jump_counts.iter().for_each(|counts| sum.add(&counts[direction]));
                JumpDistribution::from_counts(&sum)
            });
        }
    }
    let counts = [count(pairs.iter().map(|pair| &pair.0), sources), count(pairs.iter().map(|pair| &pair.1), targets)];
    WordAligner::new(form, words, table, null, jumps, counts)
}

/// Converts pairs to word ids and extends the vocabularies; drops pairs that are empty or too long on a side.
fn to_ids<'a>(
    pairs: impl Iterator<Item = &'a Pair>,
    form: NormalForm,
    [source, target]: &mut [AlignerVocab; 2],
) -> Vec<(WordIds, WordIds)> {
    let ids = |words: &mut AlignerVocab, text: &str| -> WordIds {
        let spans = word_spans(text, text::WordSplitting::Punctuation).into_iter();
        spans.take(MAX_WORDS + 1).map(|span| Some(words.add(normalize_word(&text[span], form)))).collect()
    };
    let fits = |sentence: &WordIds| (1..=MAX_WORDS).contains(&sentence.len());
    pairs
        .map(|pair| (ids(source, &pair.source), ids(target, &pair.target)))
        .filter(|(source, target)| fits(source) && fits(target))
        .collect()
}

/// Number of occurrences of each word.
fn count<'a>(sentences: impl Iterator<Item = &'a WordIds>, words: usize) -> Vec<u32> {
    let mut counts = vec![0; words];
    sentences.flatten().flatten().for_each(|&word| counts[word as usize] += 1);
    counts
}
