//! Alignment targets of guided alignment training (Chen et al. 2016, "Guided Alignment Training for Topic-Aware Neural
//! Machine Translation").

use std::ops::Range;

use rayon::prelude::*;

use crate::aligner::WordAligner;
use crate::alignment::{Link, LinkScores};
use crate::text::{GuideWeight, Pair, Segmentation, WordSplitting, word_spans};

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

impl WordLink {
    fn new(link: Link, score: f32) -> Self {
        Self { source: link.source as u32, target: link.target as u32, score }
    }
}

impl AlignmentTargets {
    /// Returns targets from the links of a statistical aligner.
    pub fn new(pairs: &[Pair], aligner: &WordAligner, weight: f32) -> Self {
        let pairs = pairs.par_iter().map(|pair| learned_links(pair, aligner)).collect();
        Self { pairs, words: ALIGNER_WORDS, weight }
    }

    /// Returns targets from given links between words as split by `words`. All links have the same score.
    pub fn from_links<'l>(links: impl Iterator<Item = &'l [Link]>, words: WordSplitting, weight: f32) -> Self {
        let pairs = links.map(|links| links.iter().map(|&link| WordLink::new(link, 1.0)).collect()).collect();
        Self { pairs, words, weight }
    }

    /// Returns the word splitting of the links.
    pub fn words(&self) -> WordSplitting {
        self.words
    }

    /// Returns the attention targets of a pair, given the tokens of the source and of the target.
    pub fn guide(&self, pair: usize, [source, target]: [&Segmentation; 2]) -> Vec<GuideWeight> {
        let mut guide = Vec::new();
        for (token, words) in target.words_of_tokens().enumerate() {
            let first = guide.len();
            let mut sum = 0.0;
            for (source_token, source_words) in source.words_of_tokens().enumerate() {
                let score = self.link_score(pair, &source_words, &words);
                if score > 0.0 {
                    sum += score;
                    guide.push(guide_weight(token, source_token, score));
                }
            }
            for linked in &mut guide[first..] {
                linked.weight = self.weight * linked.weight / sum;
            }
        }
        guide.push(guide_weight(target.ids.len(), source.ids.len(), self.weight));
        guide
    }

    /// Returns the sum of the scores of the links between some words of a pair.
    fn link_score(&self, pair: usize, source: &Range<usize>, target: &Range<usize>) -> f32 {
        let links = self.pairs[pair].iter();
        let between =
            links.filter(|link| source.contains(&(link.source as usize)) && target.contains(&(link.target as usize)));
        between.map(|link| link.score).sum()
    }
}

/// Returns the links that a statistical aligner finds in a pair.
fn learned_links(pair: &Pair, aligner: &WordAligner) -> Vec<WordLink> {
    let (source, target) = (aligner_words(&pair.source), aligner_words(&pair.target));
    let found = aligner.posteriors(&source, &target);
    let scores = LinkScores::from_directions(source.len(), &found.forward, &found.backward);
    scores.links(MIN_SCORE).into_iter().map(|link| WordLink::new(link, scores.score(link))).collect()
}

/// Returns the words of a text for the statistical aligner.
fn aligner_words(text: &str) -> Vec<String> {
    word_spans(text, ALIGNER_WORDS).into_iter().map(|span| text[span].to_owned()).collect()
}

fn guide_weight(target: usize, source: usize, weight: f32) -> GuideWeight {
    GuideWeight { target: target as u32, source: source as u32, weight }
}
