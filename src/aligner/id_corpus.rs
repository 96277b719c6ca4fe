//! Sentence pairs as word ids.

use std::collections::HashMap;

use rayon::prelude::*;

use super::vocab::{AlignerVocab, normalize_word};
use crate::text::{NormalForm, Pair, WordSplitting, word_spans};

/// Maximum words on a side; longer pairs are skipped.
const MAX_WORDS: usize = 200;
/// Pairs per parallel task.
const BLOCK: usize = 1024;
/// Tasks whose results are in memory at a time.
const BLOCKS: usize = 64;

/// Sentence pairs as word ids, without those that are empty or too long on a side.
#[derive(Default)]
pub struct IdCorpus {
    source: IdSentences,
    target: IdSentences,
}

/// Sentences of one side, one after another.
#[derive(Default)]
struct IdSentences {
    words: Vec<u32>,
    /// End of each sentence.
    ends: Vec<usize>,
}

/// Numbers of the sentences that contain a word, for each word.
pub struct Concordance {
    /// End of each word's sentences.
    ends: Vec<usize>,
    sentences: Vec<u32>,
}

/// Pairs of one task, with words numbered in the order of their first occurrence in them.
#[derive(Default)]
struct IdBlock {
    words: [AlignerVocab; 2],
    pairs: IdCorpus,
}

impl IdCorpus {
    /// Converts pairs. The vocabularies are extended by new words in the order of their first occurrence.
    pub fn new(pairs: &[&Pair], form: NormalForm, words: &mut [AlignerVocab; 2]) -> Self {
        let mut corpus = Self::default();
        for pairs in pairs.chunks(BLOCK * BLOCKS) {
            let blocks: Vec<IdBlock> = pairs.par_chunks(BLOCK).map(|pairs| IdBlock::new(pairs, form)).collect();
            blocks.into_iter().for_each(|block| corpus.append(block, words));
        }
        corpus
    }

    fn append(&mut self, block: IdBlock, words: &mut [AlignerVocab; 2]) {
        let IdBlock { words: own, pairs: Self { source, target } } = block;
        let sides = [(&mut self.source, source), (&mut self.target, target)];
        for (((sentences, new), own), words) in sides.into_iter().zip(own).zip(words) {
            let ids: Vec<u32> = own.into_words().into_iter().map(|word| words.add(word)).collect();
            let start = sentences.words.len();
            sentences.words.extend(new.words.into_iter().map(|word| ids[word as usize]));
            sentences.ends.extend(new.ends.into_iter().map(|end| start + end));
        }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.source.ends.len()
    }

    /// Source and target words of a pair.
    pub fn pair(&self, index: usize) -> [&[u32]; 2] {
        [self.source.get(index), self.target.get(index)]
    }

    /// Target words of a pair.
    pub fn target(&self, index: usize) -> &[u32] {
        self.target.get(index)
    }

    /// Number of occurrences of each of `sizes` source and target words.
    pub fn counts(&self, sizes: [usize; 2]) -> [Vec<u32>; 2] {
        let mut counts = sizes.map(|size| vec![0; size]);
        for (counts, sentences) in counts.iter_mut().zip([&self.source, &self.target]) {
            sentences.words.iter().for_each(|&word| counts[word as usize] += 1);
        }
        counts
    }

    /// Concordance of the source sentences for `words` words.
    pub fn source_concordance(&self, words: usize) -> Concordance {
        let mut ends = vec![0; words + 1];
        self.source.words.iter().for_each(|&word| ends[word as usize + 1] += 1);
        for word in 0..words {
            ends[word + 1] += ends[word];
        }
        // Each start moves to the word's end while its sentences are filled in.
        let mut sentences = vec![0; self.source.words.len()];
        for index in 0..self.len() {
            for &word in self.source.get(index) {
                let next = &mut ends[word as usize];
                sentences[*next] = index as u32;
                *next += 1;
            }
        }
        ends.pop();
        Concordance { ends, sentences }
    }
}

impl IdSentences {
    fn get(&self, index: usize) -> &[u32] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[index]]
    }
}

impl Concordance {
    /// Indices of the sentences that contain a word, once for each occurrence.
    pub fn sentences(&self, word: usize) -> &[u32] {
        let start = word.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sentences[start..self.ends[word]]
    }
}

impl IdBlock {
    fn new(pairs: &[&Pair], form: NormalForm) -> Self {
        let mut block = Self::default();
        // A word is normalized once for each surface form.
        let mut known: [HashMap<&str, u32>; 2] = Default::default();
        for pair in pairs {
            let texts = [&pair.source[..], &pair.target];
            let spans = texts.map(|text| word_spans(text, WordSplitting::Punctuation));
            if spans.iter().any(|spans| !(1..=MAX_WORDS).contains(&spans.len())) {
                continue;
            }
            let sides = [&mut block.pairs.source, &mut block.pairs.target].into_iter().zip(&mut block.words);
            for (((sentences, words), known), (text, spans)) in sides.zip(&mut known).zip(texts.into_iter().zip(spans))
            {
                for word in spans.into_iter().map(|span| &text[span]) {
                    let id = known.entry(word).or_insert_with(|| words.add(normalize_word(word, form).into_owned()));
                    sentences.words.push(*id);
                }
                sentences.ends.push(sentences.words.len());
            }
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_pairs_and_skips_empty_and_long_ones() {
        let long = "x ".repeat(MAX_WORDS + 1);
        let pairs = [Pair::new("b a B", "y"), Pair::new("", "y"), Pair::new("a", long), Pair::new("c a", "z y")];
        let mut words: [AlignerVocab; 2] = Default::default();
        words[0].add("a".to_owned());
        let corpus = IdCorpus::new(&pairs.each_ref(), NormalForm::Nfc, &mut words);
        assert_eq!(words.each_ref().map(|words| words.words().join(" ")), ["a b c", "y z"]);
        assert_eq!(corpus.len(), 2);
        assert_eq!([corpus.pair(0), corpus.pair(1)], [[&[1, 0, 1][..], &[0]], [&[2, 0], &[1, 0]]]);
        assert_eq!(corpus.counts([3, 2]), [vec![2, 2, 1], vec![2, 1]]);
        let concordance = corpus.source_concordance(3);
        assert_eq!([0, 1, 2].map(|word| concordance.sentences(word)), [&[0, 1][..], &[0, 0], &[1]]);
    }
}
