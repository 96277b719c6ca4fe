//! Sparse translation table over the pairs of words that co-occur in the corpus.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::id_corpus::IdCorpus;

/// Entry of a word pair that the table lacks.
pub const ABSENT: u32 = u32::MAX;

/// Minimum expected count of an entry that [`TranslationTable::prune`] keeps.
const MIN_COUNT: f64 = 1e-4;

/// Source words per parallel task.
const SOURCES: usize = 16;

/// Target words per [`TargetBlock`].
const BLOCK: usize = u64::BITS as usize;

/// Co-occurring word pairs in CSR format: for each source word its target words.
#[derive(Clone, Debug, Default)]
pub struct WordPairs {
    /// Start of each source word's entries, and the end of the last.
    starts: Vec<usize>,
    targets: Vec<u32>,
    /// Index of frequent source words, whose binary search would take the most time.
    blocks: Vec<TargetBlock>,
    /// Blocks of each source word; empty without an index.
    block_ranges: Vec<Range<usize>>,
}

/// [`BLOCK`] consecutive target words: those with an entry, as bits, and the first entry.
#[derive(Clone, Copy, Debug, Default)]
struct TargetBlock {
    bits: u64,
    start: u32,
}

impl TargetBlock {
    /// Entry of a target word of this block.
    fn entry(self, target: usize) -> u32 {
        let bit = 1 << (target % BLOCK);
        if self.bits & bit == 0 { ABSENT } else { self.start + (self.bits & (bit - 1)).count_ones() }
    }
}

impl WordPairs {
    /// Collects the pairs of a corpus with `sources` source words and `targets` target words, and the pairs `known`.
    pub fn from_corpus(corpus: &IdCorpus, known: Option<&WordPairs>, [sources, targets]: [usize; 2]) -> Self {
        let concordance = corpus.source_concordance(sources);
        let sources = (0..sources).into_par_iter().with_min_len(SOURCES);
        // `last_sources` has the last source word that each target word occurred with.
        let rows = sources.map_init(
            || vec![ABSENT; targets],
            |last_sources, source| {
                let pairs = concordance.sentences(source).iter();
                let together = pairs.flat_map(|&pair| corpus.target(pair as usize));
                let known = known.map_or(&[][..], |known| known.targets_of(source as u32));
                let mut found = Vec::new();
                for &target in together.chain(known) {
                    if std::mem::replace(&mut last_sources[target as usize], source as u32) != source as u32 {
                        found.push(target);
                    }
                }
                found.sort_unstable();
                found
            },
        );
        let rows: Vec<Vec<u32>> = rows.collect();
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        });
        Self::new([0].into_iter().chain(ends).collect(), rows.concat())
    }

    /// Creates the index from sorted keys `source << 32 | target`.
    pub fn from_keys(keys: &[u64], source_words: usize) -> Self {
        let starts = (0..=source_words).map(|word| keys.partition_point(|key| (key >> 32) < word as u64));
        Self::new(starts.collect(), keys.iter().map(|&key| key as u32).collect())
    }

    fn new(starts: Vec<usize>, targets: Vec<u32>) -> Self {
        let mut pairs = Self { starts, targets, ..Self::default() };
        pairs.index();
        pairs
    }

    /// Indexes the source words with at least one entry per block.
    fn index(&mut self) {
        let count = self.targets.iter().max().map_or(0, |&last| last as usize / BLOCK + 1);
        self.blocks.clear();
        self.block_ranges.clear();
        for entries in self.starts.windows(2).map(|ends| ends[0]..ends[1]) {
            let first = self.blocks.len();
            if entries.len() >= count {
                self.blocks.resize(first + count, TargetBlock::default());
                for &target in &self.targets[entries.clone()] {
                    self.blocks[first + target as usize / BLOCK].bits |= 1 << (target as usize % BLOCK);
                }
                let mut start = entries.start as u32;
                for block in &mut self.blocks[first..] {
                    block.start = start;
                    start += block.bits.count_ones();
                }
            }
            self.block_ranges.push(first..self.blocks.len());
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Entry of a word pair.
    pub fn find(&self, source: u32, target: u32) -> Option<usize> {
        let offset = self.targets_of(source).binary_search(&target).ok()?;
        Some(self.starts[source as usize] + offset)
    }

    /// Writes the entries of all word pairs of two sentences, `[source × target]`; [`ABSENT`] where there is none.
    pub fn load_entries(&self, source: &[u32], target: &[u32], entries: &mut Vec<u32>) {
        entries.clear();
        for &s in source {
            let blocks = self.block_ranges.get(s as usize).map_or(&[][..], |range| &self.blocks[range.clone()]);
            if !blocks.is_empty() {
                entries.extend(target.iter().map(|&t| {
                    let block = blocks.get(t as usize / BLOCK).copied().unwrap_or_default();
                    block.entry(t as usize)
                }));
                continue;
            }
            let known = self.targets_of(s);
            let start = self.starts.get(s as usize).map_or(0, |&start| start as u32);
            entries
                .extend(target.iter().map(|t| known.binary_search(t).map_or(ABSENT, |offset| start + offset as u32)));
        }
    }

    /// Target words of a source word's entries, in order; none for an unknown word.
    fn targets_of(&self, source: u32) -> &[u32] {
        let source = source as usize;
        if source + 1 < self.starts.len() { &self.targets[self.entries_of_source(source)] } else { &[] }
    }

    /// Entries of a source word.
    fn entries_of_source(&self, source: usize) -> Range<usize> {
        self.starts[source]..self.starts[source + 1]
    }

    /// Number of source words.
    fn sources(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

/// Expected link counts by entry, in fixed point: sums do not depend on the order in which threads add.
pub struct LinkCounts(Vec<AtomicU64>);

impl LinkCounts {
    const ONE: f32 = (1u64 << 32) as f32;

    /// Counts of 0 for `entries` entries.
    pub fn zeros(entries: usize) -> Self {
        Self((0..entries).map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds a link's posterior.
    pub fn add(&self, entry: usize, posterior: f32) {
        self.0[entry].fetch_add((posterior * Self::ONE) as u64, Ordering::Relaxed);
    }

    /// Expected count of an entry.
    fn get(&self, entry: usize) -> f64 {
        self.0[entry].load(Ordering::Relaxed) as f64 / f64::from(Self::ONE)
    }

    /// Returns the relative frequencies of all counts.
    pub fn frequencies(&self) -> Vec<f32> {
        let sum = (0..self.0.len()).map(|entry| self.get(entry)).sum::<f64>().max(1.0);
        (0..self.0.len()).map(|entry| (self.get(entry) / sum) as f32).collect()
    }
}

/// Translation probabilities of both directions.
#[derive(Clone, Debug)]
pub struct TranslationTable {
    /// Word pairs of the entries.
    pub pairs: WordPairs,
    /// t(target | source) by entry.
    pub forward: Vec<f32>,
    /// t(source | target) by entry.
    pub backward: Vec<f32>,
    /// t(target | source) of a source word and t(source | target) of a target word without an entry, by word. Empty if unknown.
    pub absent: [Vec<f32>; 2],
}

/// Entry of a [`TranslationTable`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableEntry {
    /// Id of the source word.
    pub source: u32,
    /// Id of the target word.
    pub target: u32,
    /// t(target | source), t(source | target).
    pub probabilities: [f32; 2],
}

/// Number of translations that each source word and each target word may have, for the Dirichlet prior.
pub struct TranslationTypes([Vec<u32>; 2]);

impl TranslationTypes {
    /// Counts the word pairs, of which `targets` words are targets.
    pub fn new(pairs: &WordPairs, targets: usize) -> Self {
        let of_sources = (0..pairs.sources()).map(|source| pairs.entries_of_source(source).len() as u32).collect();
        let mut of_targets = vec![0; targets];
        pairs.targets.iter().for_each(|&target| of_targets[target as usize] += 1);
        Self([of_sources, of_targets])
    }
}

impl TranslationTable {
    /// Uniform table.
    pub fn uniform(pairs: WordPairs) -> Self {
        let uniform = vec![1.0; pairs.len()];
        Self { forward: uniform.clone(), backward: uniform, absent: Default::default(), pairs }
    }

    /// Entries with a probability of at least `min` in either direction, by source and target.
    pub fn likely(&self, min: f32) -> impl Iterator<Item = TableEntry> {
        let entries = (0..self.pairs.sources()).flat_map(move |source| {
            self.pairs.entries_of_source(source).map(move |entry| TableEntry {
                source: source as u32,
                target: self.pairs.targets[entry],
                probabilities: [self.forward[entry], self.backward[entry]],
            })
        });
        entries.filter(move |entry| entry.probabilities.iter().any(|&probability| probability >= min))
    }

    /// M-step: re-estimates the probabilities from expected link counts by variational Bayes with a sparse Dirichlet
    /// prior (Riley & Gildea 2012): exp ψ(c + α) / exp ψ(Σ c + α n) for a word with n translations in `types`.
    pub fn estimate(&mut self, counts: &LinkCounts, types: &TranslationTypes, prior: f64) {
        let Self { pairs, forward, backward, absent } = self;
        let TranslationTypes([source_types, target_types]) = types;
        let mut target_sums = vec![0.0; target_types.len()];
        for (entry, &target) in pairs.targets.iter().enumerate() {
            target_sums[target as usize] += counts.get(entry);
        }
        let target_scales: Vec<f64> =
            target_sums.into_iter().zip(target_types).map(|(sum, &types)| dirichlet_scale(sum, prior, types)).collect();
        let values = forward.par_iter_mut().zip(backward).zip(&pairs.targets).enumerate();
        values.for_each(|(entry, ((forward, backward), &target))| {
            let value = digamma(counts.get(entry) + prior).exp();
            (*forward, *backward) = (value as f32, (value * target_scales[target as usize]) as f32);
        });
        let uncounted = digamma(prior).exp();
        absent[0].clear();
        for (source, &types) in source_types.iter().enumerate() {
            let range = pairs.entries_of_source(source);
            let scale = dirichlet_scale(range.clone().map(|entry| counts.get(entry)).sum(), prior, types);
            // Rounding can exceed 1.
            forward[range].iter_mut().for_each(|value| *value = (*value * scale as f32).min(1.0));
            absent[0].push((uncounted * scale) as f32);
        }
        absent[1] = target_scales.iter().map(|scale| (uncounted * scale) as f32).collect();
    }

    /// Drops entries whose expected count is negligible. They have the probability of no count at all from then on.
    pub fn prune(&mut self, counts: &LinkCounts) {
        let Self { pairs, forward, backward, .. } = self;
        let WordPairs { starts, targets, .. } = pairs;
        let mut kept = 0;
        let mut start = 0;
        for end in starts.iter_mut().skip(1) {
            for entry in start..*end {
                if counts.get(entry) >= MIN_COUNT {
                    (targets[kept], forward[kept], backward[kept]) = (targets[entry], forward[entry], backward[entry]);
                    kept += 1;
                }
            }
            start = std::mem::replace(end, kept);
        }
        targets.truncate(kept);
        forward.truncate(kept);
        backward.truncate(kept);
        targets.shrink_to_fit();
        forward.shrink_to_fit();
        backward.shrink_to_fit();
        pairs.index();
    }
}

/// 1 / exp ψ(Σ c + α n) for the sum of a word's counts c, the prior α and the number of its translations n.
fn dirichlet_scale(sum: f64, prior: f64, types: u32) -> f64 {
    (-digamma(sum + prior * f64::from(types))).exp()
}

/// Digamma function ψ = (ln Γ)′, by its recurrence and asymptotic series.
fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 8.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    result + x.ln() - 0.5 / x - inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse / 252.0))
}

#[cfg(test)]
mod tests {
    use super::super::vocab::UNKNOWN;
    use super::*;
    use crate::text::{NormalForm, Pair};

    #[test]
    fn digamma_matches_known_values() {
        // ψ(1) = −γ, ψ(1/2) = −γ − 2 ln 2, ψ(10) = H₉ − γ
        const EULER: f64 = 0.577_215_664_901_532_9;
        let harmonic: f64 = (1..10).map(|i| 1.0 / f64::from(i)).sum();
        for (x, expected) in [(1.0, -EULER), (0.5, -EULER - 2.0 * 2f64.ln()), (10.0, harmonic - EULER)] {
            assert!((digamma(x) - expected).abs() < 1e-9, "{x}: {}", digamma(x));
        }
    }

    #[test]
    fn finds_entries_of_co_occurring_words() {
        let pairs = [Pair::new("a b", "y y z"), Pair::new("b", "x")];
        let mut words = Default::default();
        let corpus = IdCorpus::new(&pairs.each_ref(), NormalForm::Nfc, &mut words);
        let known = WordPairs::from_keys(&[2, 1 << 32], 2);
        let entries = WordPairs::from_corpus(&corpus, Some(&known), [3, 3]);
        // a: y, z, x (known); b: y, z, x
        assert_eq!((entries.len(), entries.sources()), (6, 3));
        let mut found = Vec::new();
        entries.load_entries(&[1, 2, UNKNOWN, 0], &[0, 2, UNKNOWN], &mut found);
        assert_eq!(found, [3, 5, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, 0, 2, ABSENT]);
        assert_eq!([entries.find(1, 2), entries.find(2, 0), entries.find(UNKNOWN, 0)], [Some(5), None, None]);
    }

    #[test]
    fn index_of_frequent_words_finds_what_binary_search_finds() {
        let targets = [&[0, 63, 64, 127, 199][..], &[5, 199], &[], &[1, 2, 3, 4, 190]];
        let keys =
            (0..).zip(targets).flat_map(|(source, targets)| targets.iter().map(move |target| source << 32 | target));
        let pairs = WordPairs::from_keys(&keys.collect::<Vec<u64>>(), targets.len());
        assert_eq!([0, 1, 2, 3].map(|source| pairs.block_ranges[source].len()), [4, 0, 0, 4]);
        let sources = [0, 1, 2, 3, 4, UNKNOWN];
        let targets: Vec<u32> = (0..260).chain([UNKNOWN]).collect();
        let mut entries = Vec::new();
        pairs.load_entries(&sources, &targets, &mut entries);
        for (&source, entries) in sources.iter().zip(entries.chunks_exact(targets.len())) {
            for (&target, &entry) in targets.iter().zip(entries) {
                assert_eq!(
                    (entry != ABSENT).then_some(entry as usize),
                    pairs.find(source, target),
                    "{source} {target}"
                );
            }
        }
    }

    #[test]
    fn estimates_probabilities_from_counts() {
        let entries = WordPairs::from_keys(&[0, 1, 1 << 32], 2);
        let types = TranslationTypes::new(&entries, 2);
        let counts = LinkCounts::zeros(3);
        for (entry, count) in [(0, 0.5), (0, 1.0), (1, 0.25), (2, 3.0)] {
            counts.add(entry, count);
        }
        let mut table = TranslationTable::uniform(entries);
        table.estimate(&counts, &types, 1e-9);
        // Source word 0 has counts 1.5 and 0.25 with targets 0 and 1; source word 1 has count 3 with target 0.
        for (found, count, sum) in
            [(table.forward[0], 1.5, 1.75), (table.forward[1], 0.25, 1.75), (table.backward[2], 3.0, 4.5)]
        {
            let expected = (digamma(count) - digamma(sum)).exp() as f32;
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        assert!(table.forward[2] > 0.99, "the only translation");
        let uncounted = digamma(1e-9).exp() as f32;
        assert!(uncounted == 0.0 && table.absent == [vec![uncounted; 2], vec![uncounted; 2]]);
        assert_eq!(counts.frequencies(), [1.5 / 4.75, 0.25 / 4.75, 3.0 / 4.75]);
    }

    #[test]
    fn only_translations_have_probabilities_up_to_one() {
        let words = 1000;
        let keys: Vec<u64> = (0..words).map(|word| word << 32 | word).collect();
        let mut table = TranslationTable::uniform(WordPairs::from_keys(&keys, words as usize));
        let counts = LinkCounts::zeros(words as usize);
        (0..words).for_each(|word| counts.add(word as usize, 0.37 * word as f32));
        let types = TranslationTypes::new(&table.pairs, words as usize);
        table.estimate(&counts, &types, 0.1);
        let mut values = table.forward.iter().chain(&table.backward);
        assert!(values.all(|value| (0.999..=1.0).contains(value)));
    }

    #[test]
    fn pruning_keeps_the_other_entries_in_place() {
        let mut table = TranslationTable::uniform(WordPairs::from_keys(&[0, 1, 2 << 32, 2 << 32 | 1, 3 << 32], 4));
        let counts = LinkCounts::zeros(5);
        [1, 3].into_iter().for_each(|entry| counts.add(entry, 0.5));
        table.forward[3] = 0.25;
        table.prune(&counts);
        let kept: Vec<_> = table.likely(0.0).collect();
        let expected = [
            TableEntry { source: 0, target: 1, probabilities: [1.0, 1.0] },
            TableEntry { source: 2, target: 1, probabilities: [0.25, 1.0] },
        ];
        assert_eq!(kept, expected);
        assert_eq!(table.pairs.sources(), 4);
    }
}
