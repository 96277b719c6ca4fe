//! How much is believed in each link between two sentences.

use super::{Alignment, Link};

/// The least attention, summed over all target words, that a source word is taken to have: of less nothing is inferred.
const LEAST_SHARE: f32 = 0.25;

/// A number from 0 to 1 for each pair of words.
#[derive(Clone, Debug, PartialEq)]
pub struct Beliefs {
    sources: usize,
    /// `[target × source]`, row by row.
    values: Vec<f32>,
}

impl Beliefs {
    /// Belief in a link as the geometric mean of both directions' shares, each `[target × source]` over so many source
    /// words: p(t comes from s) and p(s comes from t). A link that one direction rules out is not believed in.
    pub fn of_both(sources: usize, forward: &[f32], backward: &[f32]) -> Self {
        debug_assert_eq!(forward.len(), backward.len());
        // Shares may be above 1 by rounding; a belief is not.
        let belief = |(forward, backward): (&f32, &f32)| (forward * backward).sqrt().clamp(0.0, 1.0);
        let values = forward.iter().zip(backward).map(belief).collect();
        Self { sources, values }
    }

    /// Belief by attention alone, which only knows where each target word comes from. The other direction is inferred: a
    /// source word's attention is shared among the target words that pay it. Before that, one step is made towards the
    /// same attention for all source words, since some draw more than their translation calls for (coverage: Tu et al.
    /// 2016, "Modeling Coverage for Neural Machine Translation").
    pub fn of_attention(alignment: &Alignment) -> Self {
        let sources = alignment.source().len();
        let mut forward = alignment.weights().to_vec();
        let shares = shares_of_sources(&forward, sources);
        for (row, end) in forward.chunks_exact_mut(sources.max(1)).zip(alignment.end_weights()) {
            row.iter_mut().zip(&shares).for_each(|(weight, share)| *weight /= share);
            let sum = row.iter().sum::<f32>() + end;
            row.iter_mut().for_each(|weight| *weight /= sum.max(f32::MIN_POSITIVE));
        }
        let shares = shares_of_sources(&forward, sources);
        let backward = |(cell, weight): (usize, &f32)| (weight / shares[cell % sources]).min(1.0);
        let backward: Vec<f32> = forward.iter().enumerate().map(backward).collect();
        Self::of_both(sources, &forward, &backward)
    }

    /// Belief in the link of two words.
    pub fn get(&self, source: usize, target: usize) -> f32 {
        self.values[target * self.sources + source]
    }

    /// Belief in a link.
    pub fn of(&self, link: Link) -> f32 {
        self.get(link.source, link.target)
    }

    /// All of them: `[target × source]`, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The links that are believed in at least so much, sorted by source, then target.
    pub fn links(&self, threshold: f32) -> Vec<Link> {
        let believed = self.values.iter().enumerate().filter(|&(_, &value)| value > 0.0 && value >= threshold);
        let link = |(cell, _): (usize, &f32)| Link { source: cell % self.sources, target: cell / self.sources };
        let mut links: Vec<Link> = believed.map(link).collect();
        links.sort_unstable();
        links
    }
}

/// What each source word gets of attention `[target × source]`; where the target is longer, in words that it may fairly
/// have.
fn shares_of_sources(attention: &[f32], sources: usize) -> Vec<f32> {
    let mut sums = vec![0.0; sources];
    for row in attention.chunks_exact(sources.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
    }
    let targets = attention.len() / sources.max(1);
    let fair = (targets as f32 / sources.max(1) as f32).max(1.0);
    sums.iter().map(|sum| (sum / fair).max(LEAST_SHARE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_have_to_agree() {
        let beliefs = Beliefs::of_both(2, &[0.9, 0.1, 0.5, 0.5], &[0.4, 0.0, 0.5, 1.0]);
        assert!((beliefs.get(0, 0) - 0.6).abs() < 1e-6);
        let links = |threshold| beliefs.links(threshold).iter().map(|l| (l.source, l.target)).collect::<Vec<_>>();
        assert_eq!(links(0.55), [(0, 0), (1, 1)]);
        assert_eq!(links(0.0), [(0, 0), (0, 1), (1, 1)], "no belief, no link");
        assert!(Beliefs::of_both(0, &[], &[]).links(0.0).is_empty());
        assert_eq!(Beliefs::of_both(1, &[1.0001], &[1.00003]).values(), [1.0], "rounding makes no belief above 1");
    }

    fn by_attention(rows: &[Vec<f32>]) -> Vec<(usize, usize)> {
        let words = |count: usize| (0..count).map(|word| word.to_string()).collect();
        let alignment = Alignment::from_rows(words(rows[0].len() - 1), words(rows.len()), rows);
        Beliefs::of_attention(&alignment).links(0.35).iter().map(|link| (link.source, link.target)).collect()
    }

    #[test]
    fn a_source_word_that_draws_too_much_attention_is_held_back() {
        let rows = [vec![0.9, 0.1, 0.0], vec![0.5, 0.45, 0.05]];
        assert_eq!(by_attention(&rows), [(0, 0), (1, 1)]);
        // What leans on the end is linked to nothing.
        assert_eq!(by_attention(&[vec![0.9, 0.05, 0.05], vec![0.15, 0.05, 0.8]]), [(0, 0)]);
    }

    #[test]
    fn one_word_may_stand_for_many() {
        assert_eq!(by_attention(&vec![vec![0.95, 0.05]; 10]).len(), 10);
        assert_eq!(by_attention(&[vec![0.9, 0.03, 0.03, 0.03, 0.01]]), [(0, 0)]);
        assert_eq!(by_attention(&[vec![1.0]]), []);
    }
}
