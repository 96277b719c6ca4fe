//! Sparse translation table over the pairs of words that co-occur in the corpus.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::vocab::{WordId, WordIds};

/// Co-occurring word pairs in CSR format: for each source word its target words.
#[derive(Clone, Debug, Default)]
pub struct WordPairs {
    /// Start of each source word's entries, and the end of the last.
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl WordPairs {
    /// Collects the pairs of a corpus given as source and target ids, and the pairs `known`, given by their keys.
    pub fn from_corpus(pairs: &[(WordIds, WordIds)], known: Vec<u64>, source_words: usize) -> Self {
        // Blocks bound the memory of the keys before they are deduplicated.
        const BLOCK: usize = 1 << 14;
        let mut all = known;
        for block in pairs.chunks(BLOCK) {
            let co_occurring = |(source, target): &(WordIds, WordIds)| -> Vec<u64> {
                let by_source = |&s: &u32| target.iter().flatten().map(move |&t| u64::from(s) << 32 | u64::from(t));
                source.iter().flatten().flat_map(by_source).collect()
            };
            let mut keys: Vec<u64> = block.par_iter().flat_map_iter(co_occurring).collect();
            keys.par_sort_unstable();
            keys.dedup();
            all.extend(keys);
        }
        all.par_sort_unstable();
        all.dedup();
        Self::from_keys(&all, source_words)
    }

    /// Creates the index from sorted keys `source << 32 | target`.
    pub fn from_keys(keys: &[u64], source_words: usize) -> Self {
        let start = |word: usize| keys.partition_point(|key| (key >> 32) < word as u64);
        Self { starts: (0..=source_words).map(start).collect(), targets: keys.iter().map(|&key| key as u32).collect() }
    }

    /// Keys of the entries, sorted.
    pub fn keys(&self) -> Vec<u64> {
        let key = |source: usize| move |&target: &u32| (source as u64) << 32 | u64::from(target);
        let sources = 0..self.starts.len() - 1;
        sources.flat_map(|source| self.targets[self.entries_of_source(source)].iter().map(key(source))).collect()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Entry of a word pair.
    pub fn find(&self, source: u32, target: u32) -> Option<usize> {
        let range = self.entries_of_source(source as usize);
        let offset = self.targets[range.clone()].binary_search(&target).ok()?;
        Some(range.start + offset)
    }

    /// Entries of all word pairs of two sentences, `[target, source]`.
    pub fn entries_of_pair<'a>(
        &'a self,
        source: &'a [WordId],
        target: &'a [WordId],
    ) -> impl Iterator<Item = Option<usize>> + 'a {
        let entry = |s: &WordId, t: &WordId| self.find((*s)?, (*t)?);
        target.iter().flat_map(move |t| source.iter().map(move |s| entry(s, t)))
    }

    /// Entries of a source word.
    pub fn entries_of_source(&self, source: usize) -> std::ops::Range<usize> {
        self.starts[source]..self.starts[source + 1]
    }

    /// Target word of an entry.
    pub fn target(&self, entry: usize) -> u32 {
        self.targets[entry]
    }
}

/// Expected link counts by entry, in fixed point: sums do not depend on the order in which threads add.
pub struct LinkCounts(Vec<AtomicU64>);

impl LinkCounts {
    const ONE: f32 = (1u64 << 32) as f32;

    /// Zero counts.
    pub fn zeros(entries: usize) -> Self {
        Self((0..entries).map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds a link's posterior.
    pub fn add(&self, entry: usize, posterior: f32) {
        self.0[entry].fetch_add((posterior * Self::ONE) as u64, Ordering::Relaxed);
    }

    /// Returns relative frequencies and resets all counts.
    pub fn take_frequencies(&self) -> Vec<f32> {
        let counts: Vec<f64> = (0..self.0.len()).map(|entry| self.take(entry)).collect();
        let sum = counts.iter().sum::<f64>().max(1.0);
        counts.iter().map(|count| (count / sum) as f32).collect()
    }

    /// Returns an entry's count and resets it.
    fn take(&self, entry: usize) -> f64 {
        self.0[entry].swap(0, Ordering::Relaxed) as f64 / f64::from(Self::ONE)
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
}

impl TranslationTable {
    /// Uniform table.
    pub fn uniform(pairs: WordPairs) -> Self {
        let uniform = vec![1.0; pairs.len()];
        Self { forward: uniform.clone(), backward: uniform, pairs }
    }

    /// Entries with a probability of at least `min` in either direction: source word, target word, t(target | source)
    /// and t(source | target).
    pub fn likely(&self, min: f32) -> impl Iterator<Item = (u32, u32, [f32; 2])> {
        let entries = (0..self.pairs.starts.len() - 1)
            .flat_map(|source| self.pairs.entries_of_source(source).map(move |entry| (source as u32, entry)));
        entries
            .map(|(source, entry)| (source, self.pairs.target(entry), [self.forward[entry], self.backward[entry]]))
            .filter(move |(.., values)| values.iter().any(|&value| value >= min))
    }

    /// M-step: re-estimates the probabilities from expected link counts, which are reset, by variational Bayes with a
    /// sparse Dirichlet prior (Riley & Gildea 2012): exp ψ(c + α) / exp ψ(Σ c + α n).
    pub fn estimate(&mut self, counts: &LinkCounts, target_words: usize, prior: f64) {
        let counts: Vec<f64> = (0..self.pairs.len()).into_par_iter().map(|entry| counts.take(entry)).collect();
        let mut sums = vec![(0.0, 0.0); target_words];
        for (entry, count) in counts.iter().enumerate() {
            let (sum, types) = &mut sums[self.pairs.target(entry) as usize];
            *sum += count;
            *types += 1.0;
        }
        let probability =
            |count: f64, (sum, types): (f64, f64)| (digamma(count + prior) - digamma(sum + prior * types)).exp();
        for source in 0..self.pairs.starts.len() - 1 {
            let range = self.pairs.entries_of_source(source);
            let total = (counts[range.clone()].iter().sum(), range.len() as f64);
            for entry in range {
                self.forward[entry] = probability(counts[entry], total) as f32;
            }
        }
        let Self { pairs, backward, .. } = self;
        backward.par_iter_mut().enumerate().for_each(|(entry, value)| {
            *value = probability(counts[entry], sums[pairs.target(entry) as usize]) as f32;
        });
    }
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
    use super::*;

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
        let pairs = [(vec![Some(0), Some(2)], vec![Some(1), Some(1)]), (vec![Some(2)], vec![Some(0)])];
        let entries = WordPairs::from_corpus(&pairs, vec![2], 3);
        assert_eq!(entries.keys(), [1, 2, 2 << 32, 2 << 32 | 1]);
        let found = |source, target| entries.find(source, target);
        assert_eq!([found(0, 1), found(0, 2), found(2, 0), found(2, 1)], [0, 1, 2, 3].map(Some));
        assert_eq!([found(0, 0), found(1, 1)], [None, None]);
    }

    #[test]
    fn estimates_probabilities_from_counts() {
        let entries = WordPairs::from_keys(&[0, 1, 1 << 32], 2);
        let counts = LinkCounts::zeros(3);
        for (entry, count) in [(0, 0.5), (0, 1.0), (1, 0.25), (2, 3.0)] {
            counts.add(entry, count);
        }
        let mut table = TranslationTable::uniform(entries);
        table.estimate(&counts, 2, 1e-9);
        // Source word 0 has counts 1.5 and 0.25 with targets 0 and 1; source word 1 has count 3 with target 0.
        assert!(table.forward[0] > 0.5 && table.forward[0] > table.forward[1]);
        assert!(table.backward[2] > table.backward[0]);
        assert!(table.forward[2] > 0.99, "the only translation");
        table.estimate(&counts, 2, 1e-9);
        assert!(table.forward.iter().all(|value| value.is_finite()), "counts were reset");
    }
}
