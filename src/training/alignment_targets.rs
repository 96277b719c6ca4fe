//! Alignment targets of guided alignment training (Chen et al. 2016, "Guided Alignment Training for Topic-Aware Neural
//! Machine Translation").

use rayon::prelude::*;

use crate::aligner::WordAligner;
use crate::alignment::{Link, LinkScores};
use crate::text::{GuideWeight, Pair, WordSplitting, word_spans};

/// Word splitting for the statistical aligner.
const ALIGNER_WORDS: WordSplitting = WordSplitting::Punctuation;
/// Minimum score of a link; low because both directions have to agree.
const MIN_SCORE: f32 = 0.1;

/// Attention targets of the training pairs, by word.
///
/// The target attention of a token is spread over the source tokens of the words that its word is linked to, in proportion
/// to the link scores. The end of the target is aligned to the end of the source. Tokens of unlinked words have no target.
pub struct AlignmentTargets {
    pairs: Vec<Vec<WordLink>>,
    words: WordSplitting,
    /// Weight of a token's attention loss relative to its cross-entropy.
    weight: f32,
}

struct WordLink {
    source: u32,
    target: u32,
    score: f32,
}

impl AlignmentTargets {
    /// Returns targets from the links of a statistical aligner.
    pub fn new(pairs: &[Pair], aligner: &WordAligner, weight: f32) -> Self {
        let words = |text: &str| -> Vec<String> {
            word_spans(text, ALIGNER_WORDS).into_iter().map(|span| text[span].to_owned()).collect()
        };
        let links = |pair: &Pair| -> Vec<WordLink> {
            let (source, target) = (words(&pair.source), words(&pair.target));
            let found = aligner.posteriors(&source, &target);
            let link_scores = LinkScores::from_directions(source.len(), &found.forward, &found.backward);
            let links = link_scores.links(MIN_SCORE).into_iter();
            links
                .map(|link| WordLink {
                    source: link.source as u32,
                    target: link.target as u32,
                    score: link_scores.score(link),
                })
                .collect()
        };
        Self { pairs: pairs.par_iter().map(links).collect(), words: ALIGNER_WORDS, weight }
    }

    /// Returns targets from given links between words as split by `words`. All links have the same score.
    pub fn from_links<'l>(links: impl Iterator<Item = &'l [Link]>, words: WordSplitting, weight: f32) -> Self {
        let link = |link: &Link| WordLink { source: link.source as u32, target: link.target as u32, score: 1.0 };
        Self { pairs: links.map(|links| links.iter().map(link).collect()).collect(), words, weight }
    }

    /// Returns the word splitting of the links.
    pub fn words(&self) -> WordSplitting {
        self.words
    }

    /// Returns the attention targets of a pair, given the word of each source and target token.
    pub fn guide(&self, pair: usize, [source, target]: [&[usize]; 2]) -> Vec<GuideWeight> {
        let mut guide = Vec::new();
        for (token, &word) in target.iter().enumerate() {
            let links = self.pairs[pair].iter().filter(|link| link.target as usize == word);
            let score = |word: usize| links.clone().find(|link| link.source as usize == word).map(|link| link.score);
            let linked: Vec<(usize, f32)> =
                source.iter().enumerate().filter_map(|(s, &word)| Some((s, score(word)?))).collect();
            let sum: f32 = linked.iter().map(|(_, score)| score).sum();
            guide.extend(linked.into_iter().map(|(s, score)| guide_weight(token, s, self.weight * score / sum)));
        }
        guide.push(guide_weight(target.len(), source.len(), self.weight));
        guide
    }
}

fn guide_weight(target: usize, source: usize, weight: f32) -> GuideWeight {
    GuideWeight { target: target as u32, source: source as u32, weight }
}
