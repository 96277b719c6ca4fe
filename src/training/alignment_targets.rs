//! Guides for attention from word alignments (Chen, Matusov, Khadivi & Peter 2016, "Guided Alignment Training for
//! Topic-Aware Neural Machine Translation").

use rayon::prelude::*;

use crate::aligner::WordAligner;
use crate::alignment::{Link, LinkScores};
use crate::text::{GuideWeight, Pair, WordSplitting, word_spans};

/// What a word is for guides that an aligner makes.
const WORDS: WordSplitting = WordSplitting::Punctuation;
/// Belief that makes a link. It is low because both directions have to agree.
const ENOUGH: f32 = 0.1;

/// Where attention should look, pair by pair and word by word. A target unit should look at the units of the source words
/// that its own word is linked to, as much at each word as the link is believed in; the target's end at the source's end.
/// A unit whose word has no link is left alone.
pub struct AlignmentTargets {
    pairs: Vec<Vec<WordLink>>,
    /// What a word is for these links.
    words: WordSplitting,
    /// What a unit's guide counts beside its prediction.
    weight: f32,
}

/// Two words that belong together, and how much that is believed.
struct WordLink {
    source: u32,
    target: u32,
    score: f32,
}

impl AlignmentTargets {
    /// By the links that an aligner finds.
    pub fn new(pairs: &[Pair], aligner: &WordAligner, weight: f32) -> Self {
        let words = |text: &str| -> Vec<String> {
            word_spans(text, WORDS).into_iter().map(|span| text[span].to_owned()).collect()
        };
        let links = |pair: &Pair| -> Vec<WordLink> {
            let (source, target) = (words(&pair.source), words(&pair.target));
            let found = aligner.posteriors(&source, &target);
            let link_scores = LinkScores::from_directions(source.len(), &found.forward, &found.backward);
            let links = link_scores.links(ENOUGH).into_iter();
            links
                .map(|link| WordLink {
                    source: link.source as u32,
                    target: link.target as u32,
                    score: link_scores.score(link),
                })
                .collect()
        };
        Self { pairs: pairs.par_iter().map(links).collect(), words: WORDS, weight }
    }

    /// By links that are given, of what `words` says are words; each is believed in alike.
    pub fn given<'l>(links: impl Iterator<Item = &'l [Link]>, words: WordSplitting, weight: f32) -> Self {
        let link = |link: &Link| WordLink { source: link.source as u32, target: link.target as u32, score: 1.0 };
        Self { pairs: links.map(|links| links.iter().map(link).collect()).collect(), words, weight }
    }

    /// What a word is for these guides.
    pub fn words(&self) -> WordSplitting {
        self.words
    }

    /// The guide of a pair, given the word of each of its source and target units.
    pub fn guide(&self, pair: usize, [source, target]: [&[usize]; 2]) -> Vec<GuideWeight> {
        let mut guide = Vec::new();
        for (unit, &word) in target.iter().enumerate() {
            let links = self.pairs[pair].iter().filter(|link| link.target as usize == word);
            let score = |word: usize| links.clone().find(|link| link.source as usize == word).map(|link| link.score);
            let looks: Vec<(usize, f32)> =
                source.iter().enumerate().filter_map(|(s, &word)| Some((s, score(word)?))).collect();
            let sum: f32 = looks.iter().map(|(_, score)| score).sum();
            guide.extend(looks.into_iter().map(|(s, score)| look(unit, s, self.weight * score / sum)));
        }
        guide.push(look(target.len(), source.len(), self.weight));
        guide
    }
}

fn look(target: usize, source: usize, weight: f32) -> GuideWeight {
    GuideWeight { target: target as u32, source: source as u32, weight }
}
