//! Which words translate which, and how likely: a sparse table over the pairs of words that were seen together.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::words::{Id, Ids};

/// The entries of the table: for each source word the target words that it was seen with.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// Where each source word's entries begin, and the end of the last.
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl Entries {
    /// From the pairs of a corpus, source words before target words.
    pub fn of(pairs: &[(Ids, Ids)], source_words: usize) -> Self {
        // Pairs are gone through some thousand at a time, since all their words together could be too many.
        const BLOCK: usize = 1 << 14;
        let mut all: Vec<u64> = Vec::new();
        for block in pairs.chunks(BLOCK) {
            let met = |(source, target): &(Ids, Ids)| -> Vec<u64> {
                let by_source = |&s: &u32| target.iter().flatten().map(move |&t| u64::from(s) << 32 | u64::from(t));
                source.iter().flatten().flat_map(by_source).collect()
            };
            let mut keys: Vec<u64> = block.par_iter().flat_map_iter(met).collect();
            keys.par_sort_unstable();
            keys.dedup();
            all.extend(keys);
        }
        all.par_sort_unstable();
        all.dedup();
        Self::from_keys(&all, source_words)
    }

    /// From sorted keys, `source << 32 | target`.
    pub fn from_keys(keys: &[u64], source_words: usize) -> Self {
        let start = |word: usize| keys.partition_point(|key| (key >> 32) < word as u64);
        Self { starts: (0..=source_words).map(start).collect(), targets: keys.iter().map(|&key| key as u32).collect() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// The place of a pair of words among the entries.
    pub fn find(&self, source: u32, target: u32) -> Option<usize> {
        let range = self.of_source(source as usize);
        let place = self.targets[range.clone()].binary_search(&target).ok()?;
        Some(range.start + place)
    }

    /// The places of all pairs of words of two sentences, `[target, source]`.
    pub fn of_pair<'a>(&'a self, source: &'a [Id], target: &'a [Id]) -> impl Iterator<Item = Option<usize>> + 'a {
        let place = |s: &Id, t: &Id| self.find((*s)?, (*t)?);
        target.iter().flat_map(move |t| source.iter().map(move |s| place(s, t)))
    }

    /// The places of a source word's entries.
    pub fn of_source(&self, source: usize) -> std::ops::Range<usize> {
        self.starts[source]..self.starts[source + 1]
    }

    /// The target word of an entry.
    pub fn target(&self, entry: usize) -> u32 {
        self.targets[entry]
    }
}

/// Expected links of each entry. Whole numbers, so that their sum does not depend on the order in which threads add.
pub struct Counts(Vec<AtomicU64>);

impl Counts {
    const ONE: f32 = (1u64 << 32) as f32;

    /// None yet.
    pub fn none(entries: usize) -> Self {
        Self((0..entries).map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds the share of a link.
    pub fn add(&self, entry: usize, share: f32) {
        self.0[entry].fetch_add((share * Self::ONE) as u64, Ordering::Relaxed);
    }

    /// Takes all, as shares of their sum.
    pub fn shares(&self) -> Vec<f32> {
        let counts: Vec<f64> = (0..self.0.len()).map(|entry| self.take(entry)).collect();
        let sum = counts.iter().sum::<f64>().max(1.0);
        counts.iter().map(|count| (count / sum) as f32).collect()
    }

    /// Takes an entry's count and leaves none.
    fn take(&self, entry: usize) -> f64 {
        self.0[entry].swap(0, Ordering::Relaxed) as f64 / f64::from(Self::ONE)
    }
}

/// Both directions' probabilities of the entries.
#[derive(Clone, Debug)]
pub struct Lexicon {
    /// Which pairs of words there are.
    pub entries: Entries,
    /// t(target | source) of each entry
    pub forward: Vec<f32>,
    /// t(source | target) of each entry
    pub backward: Vec<f32>,
}

impl Lexicon {
    /// Every pair of words equally likely.
    pub fn even(entries: Entries) -> Self {
        let even = vec![1.0; entries.len()];
        Self { forward: even.clone(), backward: even, entries }
    }

    /// The entries that are at least so likely in a direction, by source and target word: with t(target | source) and
    /// t(source | target).
    pub fn likely(&self, least: f32) -> impl Iterator<Item = (u32, u32, [f32; 2])> {
        let entries = (0..self.entries.starts.len() - 1)
            .flat_map(|source| self.entries.of_source(source).map(move |entry| (source as u32, entry)));
        entries
            .map(|(source, entry)| (source, self.entries.target(entry), [self.forward[entry], self.backward[entry]]))
            .filter(move |(.., shares)| shares.iter().any(|&share| share >= least))
    }

    /// New probabilities from expected links, which are taken, by variational Bayes with a sparse Dirichlet prior
    /// (Riley & Gildea 2012): exp ψ(c + α) / exp ψ(Σ c + α n).
    pub fn estimate(&mut self, counts: &Counts, target_words: usize, prior: f64) {
        let counts: Vec<f64> = (0..self.entries.len()).into_par_iter().map(|entry| counts.take(entry)).collect();
        let mut sums = vec![(0.0, 0.0); target_words];
        for (entry, count) in counts.iter().enumerate() {
            let (sum, kinds) = &mut sums[self.entries.target(entry) as usize];
            *sum += count;
            *kinds += 1.0;
        }
        let share =
            |count: f64, (sum, kinds): (f64, f64)| (digamma(count + prior) - digamma(sum + prior * kinds)).exp();
        for source in 0..self.entries.starts.len() - 1 {
            let range = self.entries.of_source(source);
            let total = (counts[range.clone()].iter().sum(), range.len() as f64);
            for entry in range {
                self.forward[entry] = share(counts[entry], total) as f32;
            }
        }
        let Self { entries, backward, .. } = self;
        backward.par_iter_mut().enumerate().for_each(|(entry, value)| {
            *value = share(counts[entry], sums[entries.target(entry) as usize]) as f32;
        });
    }
}

/// ψ: the derivative of ln Γ, by its recurrence and its asymptotic series.
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
    fn digamma_is_the_known_function() {
        // ψ(1) = −γ, ψ(1/2) = −γ − 2 ln 2, ψ(10) = H₉ − γ
        const EULER: f64 = 0.577_215_664_901_532_9;
        let harmonic: f64 = (1..10).map(|i| 1.0 / f64::from(i)).sum();
        for (x, expected) in [(1.0, -EULER), (0.5, -EULER - 2.0 * 2f64.ln()), (10.0, harmonic - EULER)] {
            assert!((digamma(x) - expected).abs() < 1e-9, "{x}: {}", digamma(x));
        }
    }

    #[test]
    fn entries_are_found() {
        let pairs = [(vec![Some(0), Some(2)], vec![Some(1), Some(1)]), (vec![Some(2)], vec![Some(0)])];
        let entries = Entries::of(&pairs, 3);
        assert_eq!(entries.len(), 3);
        let found = |source, target| entries.find(source, target);
        assert_eq!([found(0, 1), found(2, 0), found(2, 1)], [Some(0), Some(1), Some(2)]);
        assert_eq!([found(0, 0), found(1, 1)], [None, None]);
    }

    #[test]
    fn probabilities_follow_the_counts() {
        let entries = Entries::from_keys(&[0, 1, 1 << 32], 2);
        let counts = Counts::none(3);
        for (entry, share) in [(0, 0.5), (0, 1.0), (1, 0.25), (2, 3.0)] {
            counts.add(entry, share);
        }
        let mut lexicon = Lexicon::even(entries);
        lexicon.estimate(&counts, 2, 1e-9);
        // Source word 0 went 1.5 times to target 0 and 0.25 times to 1; target 0 came from 0 and, 3 times, from 1.
        assert!(lexicon.forward[0] > 0.5 && lexicon.forward[0] > lexicon.forward[1]);
        assert!(lexicon.backward[2] > lexicon.backward[0]);
        assert!(lexicon.forward[2] > 0.99, "its only translation");
        lexicon.estimate(&counts, 2, 1e-9);
        assert!(lexicon.forward.iter().all(|share| share.is_finite()), "counts were taken, none are left");
    }
}
