//! Expectation maximization (EM) of both directions with agreement (Liang, Taskar & Klein 2006, section 3).

use rayon::prelude::*;

use super::hmm::{JumpCounts, JumpDistribution, JumpModel};
use super::id_corpus::IdCorpus;
use super::pair_posteriors::PairPosteriors;
use super::translation_table::{LinkCounts, TranslationTable, TranslationTypes, WordPairs};
use super::word_aligner::WordAligner;
use crate::text::{NormalForm, Pair};

/// Iterations of Model 1 and of the HMM.
const ITERATIONS: [usize; 2] = [5, 5];
/// EM iterations over all pairs.
pub const EM_ITERATIONS: usize = ITERATIONS[0] + ITERATIONS[1];
/// α: symmetric Dirichlet prior on a word's translations.
const DIRICHLET_PRIOR: f64 = 0.1;
/// Approximate maximum number of training pairs.
const MAX_PAIRS: usize = 1_000_000;
/// Approximate maximum number of pairs in an iteration of Model 1, which only initializes the HMMs.
const MAX_MODEL1_PAIRS: usize = 200_000;
/// Pairs per parallel task.
const BLOCK: usize = 256;

/// Trains an aligner on sentence pairs; large corpora are subsampled. Words are compared in the normal form `form`.
/// `on_progress` receives numbers of processed pairs, which sum to about [`EM_ITERATIONS`] times all pairs,
/// less those that are too long.
pub fn train(pairs: &[Pair], form: NormalForm, on_progress: &(dyn Fn(usize) + Sync)) -> WordAligner {
    estimate(pairs, form, None, on_progress)
}

/// Trains an aligner as [`train`] does, with the links that another aligner found in its own training as a prior, in that
/// aligner's normal form. The new aligner knows the words of both.
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
    let pairs: Vec<&Pair> = pairs.iter().step_by(step).collect();
    let corpus = IdCorpus::new(&pairs, form, &mut words);
    let sizes = words.each_ref().map(|words| words.words().len());
    let mut em = Em::new(&corpus, sizes, prior);
    for iteration in 0..EM_ITERATIONS {
        // A prior has jumps, which Model 1 would ignore.
        let hmm = prior.is_some() || iteration >= ITERATIONS[0];
        let jump_counts = em.expect(&corpus, hmm, &|count| on_progress(count * step));
        em.maximize(jump_counts, hmm);
        // The HMM revives some word pairs that Model 1 gave up.
        if iteration >= ITERATIONS[0] {
            em.prune();
        }
        em.reset_counts();
    }
    let mut counts = corpus.counts(sizes);
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
    types: TranslationTypes,
    null: [Vec<f32>; 2],
    jumps: [JumpModel; 2],
    link_counts: LinkCounts,
    null_counts: [LinkCounts; 2],
}

impl<'a> Em<'a> {
    /// Returns uniform parameters, or those of the prior.
    fn new(corpus: &IdCorpus, [sources, targets]: [usize; 2], prior: Option<&'a WordAligner>) -> Self {
        let known = prior.map(|prior| &prior.table.pairs);
        let table = TranslationTable::uniform(WordPairs::from_corpus(corpus, known, [sources, targets]));
        let mut em = Self {
            prior,
            types: TranslationTypes::new(&table.pairs, targets),
            null: [targets, sources].map(|words| vec![1.0 / words.max(1) as f32; words]),
            jumps: [(); 2].map(|()| JumpModel::new(JumpDistribution::initial())),
            link_counts: LinkCounts::zeros(table.pairs.len()),
            null_counts: [targets, sources].map(LinkCounts::zeros),
            table,
        };
        if prior.is_some() {
            em.maximize([JumpCounts::zeros(), JumpCounts::zeros()], true);
            em.reset_counts();
        }
        em
    }

    /// E-step: adds expected counts of links and of NULL. Returns those of jumps.
    fn expect(&self, corpus: &IdCorpus, hmm: bool, on_progress: &(dyn Fn(usize) + Sync)) -> [JumpCounts; 2] {
        let step = if hmm { 1 } else { corpus.len().div_ceil(MAX_MODEL1_PAIRS).max(1) };
        let blocks: Vec<[JumpCounts; 2]> = (0..corpus.len().div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let pairs = block * BLOCK..corpus.len().min((block + 1) * BLOCK);
                let jump_counts = self.expect_pairs(corpus, pairs.clone().step_by(step), hmm);
                on_progress(pairs.len());
                jump_counts
            })
            .collect();
        [0, 1].map(|direction| {
            let mut sum = JumpCounts::zeros();
            blocks.iter().for_each(|counts| sum.add(&counts[direction]));
            sum
        })
    }

    /// E-step of the pairs with the given indices.
    fn expect_pairs(&self, corpus: &IdCorpus, pairs: impl Iterator<Item = usize>, hmm: bool) -> [JumpCounts; 2] {
        let mut jump_counts = [JumpCounts::zeros(), JumpCounts::zeros()];
        let mut posteriors = PairPosteriors::default();
        for pair in pairs.map(|index| corpus.pair(index)) {
            posteriors.load_pair(&self.table, &self.null, pair);
            if hmm {
                posteriors.hmm_posteriors(&self.jumps, Some(&mut jump_counts));
            } else {
                posteriors.model1_posteriors();
            }
            posteriors.accumulate_counts(pair, &self.link_counts, &self.null_counts);
        }
        jump_counts
    }

    /// M-step: estimates the parameters from the expected counts and the prior.
    fn maximize(&mut self, mut jump_counts: [JumpCounts; 2], hmm: bool) {
        if let Some(prior) = self.prior {
            prior.add_counts(&self.table.pairs, &self.link_counts, &self.null_counts, &mut jump_counts);
        }
        self.table.estimate(&self.link_counts, &self.types, DIRICHLET_PRIOR);
        self.null = self.null_counts.each_ref().map(LinkCounts::frequencies);
        if hmm {
            self.jumps = jump_counts.each_ref().map(|counts| JumpModel::new(JumpDistribution::from_counts(counts)));
        }
    }

    /// Drops word pairs that have hardly been linked.
    fn prune(&mut self) {
        self.table.prune(&self.link_counts);
    }

    fn reset_counts(&mut self) {
        self.link_counts = LinkCounts::zeros(self.table.pairs.len());
        self.null_counts = self.null.each_ref().map(|null| LinkCounts::zeros(null.len()));
    }
}
