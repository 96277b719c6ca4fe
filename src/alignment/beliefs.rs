//! How much is believed in each link between two sentences.

use super::Link;

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
        let values = forward.iter().zip(backward).map(|(forward, backward)| (forward * backward).sqrt()).collect();
        Self { sources, values }
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
    }
}
