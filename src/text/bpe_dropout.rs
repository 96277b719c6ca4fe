//! BPE-dropout (Provilkov, Emelianenko & Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization").
//!
//! Each round applies the merge of highest priority, but skips each possible merge with probability `rate`. A word is
//! finished when no merge is left or all were skipped. A word of more than [`LONGEST_WORD`] characters keeps its tokens,
//! since the rounds take quadratic time.

use std::collections::HashMap;

use super::LONGEST_WORD;
use crate::random::SeededRng;

/// Merges of a vocabulary, by priority.
#[derive(Debug, Default)]
pub struct Merges {
    /// Merge of each pair.
    by_pair: HashMap<[u32; 2], Merge>,
    /// The two parts of each merged token.
    parts: HashMap<u32, [u32; 2]>,
}

/// Merge of two tokens.
#[derive(Clone, Copy, Debug)]
struct Merge {
    /// Rank by priority, from 0.
    rank: u32,
    /// Merged token.
    whole: u32,
}

impl Merges {
    /// Returns the merges of pairs, given with their merged tokens by priority.
    pub fn new(merges: impl Iterator<Item = ([u32; 2], u32)>) -> Self {
        let mut table = Self::default();
        for (rank, (pair, whole)) in (0..).zip(merges) {
            table.by_pair.insert(pair, Merge { rank, whole });
            // If several pairs spell the same token, the first one produces it.
            table.parts.entry(whole).or_insert(pair);
        }
        table
    }

    /// Splits a token into tokens that no merge produces.
    fn split(&self, token: u32, base: &mut Vec<u32>) {
        match self.parts.get(&token) {
            Some(parts) => parts.iter().for_each(|&part| self.split(part, base)),
            None => base.push(token),
        }
    }

    /// Returns the tokens of a word that no merge produces; its own tokens if the word is overlong.
    fn base(&self, word: &[u32]) -> Vec<u32> {
        let mut base = Vec::new();
        word.iter().for_each(|&token| self.split(token, &mut base));
        if base.len() > LONGEST_WORD { word.to_vec() } else { base }
    }

    /// Merges the tokens of one word; skips each possible merge with probability `rate`.
    fn merge(&self, word: &mut Vec<u32>, rate: f64, rng: &mut SeededRng) {
        loop {
            let candidates = word.windows(2).enumerate().filter_map(|(index, pair)| {
                let &Merge { rank, whole } = self.by_pair.get(&[pair[0], pair[1]])?;
                (rng.uniform() >= rate).then_some((rank, index, whole))
            });
            let Some((_, index, whole)) = candidates.min() else { return };
            word[index] = whole;
            word.remove(index + 1);
        }
    }
}

/// Texts to resegment with random merges left out. Equal words are stored once.
pub struct Resegmenter {
    merges: Merges,
    /// Base tokens of each word; the tokens of the vocabulary for overlong words.
    words: Vec<Vec<u32>>,
    /// Word indices of each text.
    texts: Vec<Vec<u32>>,
}

impl Resegmenter {
    /// Returns a resegmenter of texts, given as the tokens of their words.
    pub fn new(merges: Merges, texts: impl Iterator<Item = Vec<Vec<u32>>>) -> Self {
        let mut words: Vec<Vec<u32>> = Vec::new();
        let mut indices: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut indices_of_texts = Vec::new();
        for text in texts {
            let mut indices_of_words = Vec::with_capacity(text.len());
            for word in text {
                indices_of_words.push(*indices.entry(word).or_insert_with_key(|word| {
                    words.push(merges.base(word));
                    words.len() as u32 - 1
                }));
            }
            indices_of_texts.push(indices_of_words);
        }
        Self { merges, words, texts: indices_of_texts }
    }

    /// Samples a segmentation of a text.
    pub fn cut(&self, text: usize, rate: f64, rng: &mut SeededRng) -> Vec<u32> {
        let mut tokens = Vec::new();
        for &word in &self.texts[text] {
            let mut word = self.words[word as usize].clone();
            self.merges.merge(&mut word, rate, rng);
            tokens.append(&mut word);
        }
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges to ab, abc and cd, over the tokens a to d as 0 to 3.
    fn merges() -> Merges {
        Merges::new([([0, 1], 4), ([4, 2], 5), ([2, 3], 6)].into_iter())
    }

    fn samples(word: &[u32], rate: f64) -> Vec<Vec<u32>> {
        let resegmenter = Resegmenter::new(merges(), [vec![word.to_vec()]].into_iter());
        (0..200).map(|index| resegmenter.cut(0, rate, &mut SeededRng::new(1, "cuts", index))).collect()
    }

    #[test]
    fn zero_rate_keeps_segmentation() {
        assert!(samples(&[5, 3], 0.0).iter().all(|tokens| tokens == &[5, 3]), "ab and abc come before cd");
        assert!(samples(&[0, 1, 2, 3], 0.0).iter().all(|tokens| tokens == &[5, 3]));
    }

    #[test]
    fn dropout_samples_every_segmentation_of_a_word() {
        let mut found = samples(&[5, 3], 0.3);
        for tokens in &found {
            let mut base = Vec::new();
            tokens.iter().for_each(|&token| merges().split(token, &mut base));
            assert_eq!(base, [0, 1, 2, 3]);
        }
        found.sort();
        found.dedup();
        assert_eq!(found, [&[0, 1, 2, 3][..], &[0, 1, 6], &[4, 2, 3], &[4, 6], &[5, 3]]);
    }

    #[test]
    fn overlong_word_keeps_its_tokens() {
        let [kept, split] = [LONGEST_WORD / 3 + 1, LONGEST_WORD / 3].map(|repeated| vec![5; repeated]);
        assert!(samples(&kept, 0.5).iter().all(|tokens| *tokens == kept));
        assert!(samples(&split, 0.5).iter().any(|tokens| *tokens != split));
    }

    #[test]
    fn accepts_empty_texts_and_unknown_tokens() {
        let resegmenter = Resegmenter::new(merges(), [Vec::new(), vec![vec![9]]].into_iter());
        assert!(resegmenter.cut(0, 0.5, &mut SeededRng::new(1, "cuts", 0)).is_empty());
        assert_eq!(resegmenter.cut(1, 0.5, &mut SeededRng::new(1, "cuts", 0)), [9], "a token without merges stays");
    }
}
