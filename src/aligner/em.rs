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
    estimate(pairs, form, None, on_progress)
}

/// As [`train`], with the links that another aligner found in its own training as a prior, in that aligner's normal
/// form. The new aligner knows the words of both.
pub fn train_with_prior(pairs: &[Pair], prior: &WordAligner, on_progress: &(dyn Fn(usize) + Sync)) -> WordAligner {
    estimate(pairs, prior.form, Some(prior), on_progress)
}

fn estimate(
    pairs: &[Pair],
    form: NormalForm,
    prior: Option<&WordAligner>,
    on_progress: &(dyn Fn(usize) + Sync),
) -> WordAligner {
    let step = pairs.len().div_ceil(MAX_PAIRS).max(1);
    // The prior's words keep their ids.
    let mut words = prior.map_or_else(Default::default, |prior| prior.words.clone());
    let pairs = to_ids(pairs.iter().step_by(step), form, &mut words);
    let sizes = words.each_ref().map(|words| words.words().len());
    let mut em = Em::new(&pairs, sizes, prior);
    for iteration in 0..EM_ITERATIONS {
        // A prior has jumps, which Model 1 would ignore.
        let hmm = prior.is_some() || iteration >= ITERATIONS[0];
        let jump_counts = em.expect(&pairs, hmm, &|count| on_progress(count * step));
        em.maximize(jump_counts, hmm);
    }
    let mut counts =
        [count(pairs.iter().map(|pair| &pair.0), sizes[0]), count(pairs.iter().map(|pair| &pair.1), sizes[1])];
    for (counts, prior) in counts.iter_mut().zip(prior.iter().flat_map(|prior| &prior.counts)) {
        counts.iter_mut().zip(prior).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
    }
    let Em { table, null, jumps, .. } = em;
    WordAligner::new(form, words, table, null, jumps, counts)
}

/// Parameters and expected counts of both directions.
struct Em<'a> {
    prior: Option<&'a WordAligner>,
    table: TranslationTable,
    null: [Vec<f32>; 2],
    jumps: [JumpDistribution; 2],
    link_counts: LinkCounts,
    null_counts: [LinkCounts; 2],
}

impl<'a> Em<'a> {
    /// Returns uniform parameters, or those of the prior.
    fn new(pairs: &[(WordIds, WordIds)], [sources, targets]: [usize; 2], prior: Option<&'a WordAligner>) -> Self {
        let known = prior.map_or_else(Vec::new, |prior| prior.table.pairs.keys());
        let table = TranslationTable::uniform(WordPairs::from_corpus(pairs, known, sources));
        let mut em = Self {
            prior,
            null: [targets, sources].map(|words| vec![1.0 / words.max(1) as f32; words]),
            jumps: [JumpDistribution::initial(), JumpDistribution::initial()],
            link_counts: LinkCounts::zeros(table.pairs.len()),
            null_counts: [targets, sources].map(LinkCounts::zeros),
            table,
        };
        if prior.is_some() {
            em.maximize([JumpCounts::zeros(), JumpCounts::zeros()], true);
        }
        em
    }

    /// E-step: adds expected counts of links and of NULL. Returns those of jumps.
    fn expect(&self, pairs: &[(WordIds, WordIds)], hmm: bool, on_progress: &(dyn Fn(usize) + Sync)) -> [JumpCounts; 2] {
        let expect = |pairs: &[(WordIds, WordIds)]| {
            let mut jump_counts = [JumpCounts::zeros(), JumpCounts::zeros()];
            let mut pair = PairPosteriors::default();
            for (source, target) in pairs {
                pair.load_pair(&self.table, &self.null, source, target);
                if hmm {
                    pair.hmm_posteriors(&self.jumps, Some(&mut jump_counts));
                } else {
                    pair.model1_posteriors();
                }
                pair.accumulate_counts(source, target, &self.link_counts, &self.null_counts);
            }
            on_progress(pairs.len());
            jump_counts
        };
        let blocks: Vec<[JumpCounts; 2]> = pairs.par_chunks(BLOCK).map(expect).collect();
        [0, 1].map(|direction| {
            let mut sum = JumpCounts::zeros();
            blocks.iter().for_each(|counts| sum.add(&counts[direction]));
            sum
        })
    }

    /// M-step: estimates the parameters from the expected counts and the prior, and resets the counts.
    fn maximize(&mut self, mut jump_counts: [JumpCounts; 2], hmm: bool) {
        if let Some(prior) = self.prior {
            prior.add_counts(&self.table.pairs, &self.link_counts, &self.null_counts, &mut jump_counts);
        }
        let targets = self.null[0].len();
        self.table.estimate(&self.link_counts, targets, DIRICHLET_PRIOR);
        self.null = self.null_counts.each_ref().map(LinkCounts::take_frequencies);
        if hmm {
            self.jumps = jump_counts.each_ref().map(JumpDistribution::from_counts);
        }
    }
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
