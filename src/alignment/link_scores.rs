//! Link scores: a score from 0 to 1 for each pair of words.

use super::{Alignment, Link};

/// Floor of a source word's attention summed over the target words, below which nothing is inferred.
const MIN_SOURCE_MASS: f32 = 0.25;
/// Steps that even out the attention of source words.
const BALANCING_STEPS: usize = 2;

/// Score from 0 to 1 of each pair of words.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkScores {
    sources: usize,
    /// `[target × source]`, row-major.
    values: Vec<f32>,
}

impl LinkScores {
    /// Geometric means of both directions' posteriors, p(t is aligned to s) and p(s is aligned to t), each
    /// `[target × sources]`. A link excluded by one direction scores 0.
    pub fn from_directions(sources: usize, forward: &[f32], backward: &[f32]) -> Self {
        debug_assert_eq!(forward.len(), backward.len());
        // Posteriors may exceed 1 by rounding.
        let values =
            forward.iter().zip(backward).map(|(forward, backward)| (forward * backward).sqrt().clamp(0.0, 1.0));
        Self { sources, values: values.collect() }
    }

    /// Scores from attention alone, in [both directions](attention_directions).
    pub fn from_attention(alignment: &Alignment) -> Self {
        let [forward, backward] = attention_directions(alignment);
        Self::from_directions(alignment.source().len(), &forward, &backward)
    }

    /// Score of two words.
    pub fn get(&self, source: usize, target: usize) -> f32 {
        self.values[target * self.sources + source]
    }

    /// Score of a link.
    pub fn score(&self, link: Link) -> f32 {
        self.get(link.source, link.target)
    }

    /// All scores, `[target × source]`, row-major.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Links with a positive score of at least `threshold`, sorted by source, then target.
    pub fn links(&self, threshold: f32) -> Vec<Link> {
        let mut links = Vec::new();
        for (position, &score) in self.values.iter().enumerate() {
            if score > 0.0 && score >= threshold {
                links.push(Link { source: position % self.sources, target: position / self.sources });
            }
        }
        links.sort_unstable();
        links
    }
}

/// Both directions of attention, p(t is aligned to s) and p(s is aligned to t), each `[target × source]`. The second is inferred
/// by normalizing each source word's attention over the target words. Before, balancing steps even out the attention of source
/// words, some of which attract too much (coverage: Tu et al. 2016, "Modeling Coverage for Neural Machine Translation").
pub fn attention_directions(alignment: &Alignment) -> [Vec<f32>; 2] {
    let sources = alignment.source().len();
    let mut forward = alignment.weights().to_vec();
    for _ in 0..BALANCING_STEPS {
        let mass = source_mass(&forward, sources);
        for (row, end) in forward.chunks_exact_mut(sources.max(1)).zip(alignment.end_weights()) {
            row.iter_mut().zip(&mass).for_each(|(weight, mass)| *weight /= mass);
            let sum = row.iter().sum::<f32>() + end;
            row.iter_mut().for_each(|weight| *weight /= sum.max(f32::MIN_POSITIVE));
        }
    }
    let mass = source_mass(&forward, sources);
    let backward = forward.iter().enumerate().map(|(position, weight)| (weight / mass[position % sources]).min(1.0));
    let backward = backward.collect();
    [forward, backward]
}

/// Attention `[target × source]` summed over target words; for longer targets, relative to the uniform number of target
/// words per source word.
fn source_mass(attention: &[f32], sources: usize) -> Vec<f32> {
    let mut sums = vec![0.0; sources];
    for row in attention.chunks_exact(sources.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
    }
    let targets = attention.len() / sources.max(1);
    let expected = (targets as f32 / sources.max(1) as f32).max(1.0);
    sums.iter().map(|sum| (sum / expected).max(MIN_SOURCE_MASS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source and target positions of links.
    fn positions(links: &[Link]) -> Vec<(usize, usize)> {
        links.iter().map(|link| (link.source, link.target)).collect()
    }

    #[test]
    fn requires_agreement_of_both_directions() {
        let scores = LinkScores::from_directions(2, &[0.9, 0.1, 0.5, 0.5], &[0.4, 0.0, 0.5, 1.0]);
        assert!((scores.get(0, 0) - 0.6).abs() < 1e-6);
        assert_eq!(positions(&scores.links(0.55)), [(0, 0), (1, 1)]);
        assert_eq!(positions(&scores.links(0.0)), [(0, 0), (0, 1), (1, 1)], "a score of 0 is not a link");
        assert!(LinkScores::from_directions(0, &[], &[]).links(0.0).is_empty());
        assert_eq!(LinkScores::from_directions(1, &[1.0001], &[1.00003]).values(), [1.0], "rounding does not exceed 1");
    }

    fn links_from_attention(rows: &[Vec<f32>]) -> Vec<(usize, usize)> {
        let [source, target] = [rows[0].len() - 1, rows.len()].map(|words| vec!["a".to_owned(); words]);
        let alignment = Alignment::from_rows(source, target, rows);
        positions(&LinkScores::from_attention(&alignment).links(0.35))
    }

    #[test]
    fn balances_source_words_with_too_much_attention() {
        let rows = [vec![0.9, 0.1, 0.0], vec![0.5, 0.45, 0.05]];
        assert_eq!(links_from_attention(&rows), [(0, 0), (1, 1)]);
        // Words that attend to the end of sentence stay unlinked if no source word is left.
        let rows = [vec![0.9, 0.05, 0.05], vec![0.05, 0.9, 0.05], vec![0.1, 0.1, 0.8]];
        assert_eq!(links_from_attention(&rows), [(0, 0), (1, 1)]);
    }

    #[test]
    fn links_one_word_to_many() {
        assert_eq!(links_from_attention(&vec![vec![0.95, 0.05]; 10]).len(), 10);
        assert_eq!(links_from_attention(&[vec![0.9, 0.03, 0.03, 0.03, 0.01]]), [(0, 0)]);
        assert_eq!(links_from_attention(&[vec![1.0]]), []);
    }
}
