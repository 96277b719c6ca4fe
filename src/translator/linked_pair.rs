//! Sentence pairs with their word links.

use std::collections::BTreeSet;

use super::ForcedAlignment;
use crate::alignment::{Alignment, Link, LinkFormat, LinkScores, NoiseFeatures, QualityEstimate};

/// Sentence pair with its links.
pub struct LinkedPair {
    /// Forced alignment, if a model read the pair.
    pub aligned: Option<ForcedAlignment>,
    /// Attention between words or tokens, `[target × source]`; without a model, the aligner's p(t from s), with the
    /// probability of null in the place of `</s>`.
    pub alignment: Alignment,
    /// Score of each possible link, `[target × source]`.
    pub link_scores: LinkScores,
    /// Links between words or tokens, in order.
    pub links: Vec<Link>,
    /// Mean log-probability of a target token, or without a model of a target word, in nats.
    pub score: f64,
    /// True if a side was truncated.
    pub cut: bool,
    /// Estimated quality of the target, if the model is calibrated.
    pub estimate: Option<QualityEstimate>,
}

impl LinkedPair {
    /// Returns the links whose score reaches a threshold, without symmetrization.
    pub fn links_above(&self, threshold: f32) -> Vec<Link> {
        self.link_scores.links(threshold)
    }

    /// Returns the features by which noise filtering ranks the pair.
    pub fn noise_features(&self) -> NoiseFeatures {
        let sources: BTreeSet<usize> = self.links.iter().map(|link| link.source).collect();
        let targets: BTreeSet<usize> = self.links.iter().map(|link| link.target).collect();
        let words = [self.alignment.source().len(), self.alignment.target().len()];
        NoiseFeatures::new(self.score, words, [sources.len(), targets.len()])
    }

    /// Returns the links in the format of fast_align and Moses: `s-t` with words counted from 0, in order.
    pub fn pharaoh(&self) -> String {
        LinkFormat::default().format_line(&self.links)
    }
}
