//! Counts of a trained aligner, as a prior for training on other pairs.
//!
//! An aligner keeps probabilities and the counts of words. The counts of its links and jumps follow from them:
//!
//! ```text
//! c(s, t) = min(n_s t(t|s), n_t t(s|t))     c(NULL, t) = p₀ N_t p(t|NULL)     c(jump) = N_t J(jump)
//! ```
//!
//! with the counts n of words and their sum N over a side. The minimum is that both directions have to agree.

use super::hmm::JumpCounts;
use super::translation_table::{LinkCounts, TableEntry, WordPairs};
use super::word_aligner::WordAligner;

/// p₀: share of words that are emitted by NULL.
const P_NULL: f32 = 0.08;

impl WordAligner {
    /// Adds the counts of this aligner's training. `pairs` contains its word pairs with the same ids.
    pub(super) fn add_counts(
        &self,
        pairs: &WordPairs,
        links: &LinkCounts,
        null: &[LinkCounts; 2],
        jumps: &mut [JumpCounts; 2],
    ) {
        let [sources, targets] = &self.counts;
        for TableEntry { source, target, probabilities: [forward, backward] } in self.table.likely(0.0) {
            let count = (sources[source as usize] as f32 * forward).min(targets[target as usize] as f32 * backward);
            if let Some(entry) = pairs.find(source, target) {
                links.add(entry, count);
            }
        }
        // Emitted words are the target words in the forward direction, the source words in the other.
        for (direction, counts) in [targets, sources].into_iter().enumerate() {
            let words: f64 = counts.iter().map(|&count| f64::from(count)).sum();
            for (word, probability) in self.null[direction].iter().enumerate() {
                null[direction].add(word, P_NULL * words as f32 * probability);
            }
            jumps[direction].add_distribution(self.jumps[direction].distribution(), words);
        }
    }
}
