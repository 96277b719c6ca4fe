//! Segmentation of a text into tokens, and the word of each token.

use std::ops::Range;

use super::tokenization::SPACE;
use super::word_of_span;

/// `<unk>`: text that the vocabulary does not cover.
pub const UNKNOWN: u32 = 3;

/// Tokens of a text, with the user's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segmentation {
    /// Ids of the tokens.
    pub ids: Vec<u32>,
    /// Tokens as the vocabulary writes them; unknown ones as in the text.
    pub tokens: Vec<String>,
    /// Words of the text.
    pub words: Vec<String>,
    /// Index of the word of each token.
    pub word_of_token: Vec<usize>,
    /// True if tokens beyond a limit were cut off.
    pub cut: bool,
}

/// Iterates over the range of words that each token writes: its word, and the words after it in which no token begins, such as
/// characters of a script without spaces. There are so many `words`.
pub fn words_of_tokens(word_of_token: &[usize], words: usize) -> impl Iterator<Item = Range<usize>> {
    let next = word_of_token.iter().skip(1).copied().chain([words]);
    word_of_token.iter().zip(next).map(|(&word, next)| word..next.max(word + 1))
}

impl Segmentation {
    /// Share of tokens that the vocabulary does not cover; 0 without tokens. A space alone does not count.
    pub fn unknown_share(&self) -> f64 {
        let unknown = self.ids.iter().filter(|&&id| id == UNKNOWN).count();
        let all = self.tokens.iter().filter(|token| *token != SPACE).count();
        unknown as f64 / all.max(1) as f64
    }

    /// True if the vocabulary does not cover more than half of the tokens.
    pub fn is_mostly_unknown(&self) -> bool {
        self.unknown_share() > 0.5
    }

    /// Iterates over the range of words that each token writes.
    pub fn words_of_tokens(&self) -> impl Iterator<Item = Range<usize>> {
        words_of_tokens(&self.word_of_token, self.words.len())
    }

    /// Keeps at most the first `max_tokens` tokens, with their words.
    pub fn cut_to(mut self, max_tokens: usize) -> Self {
        if self.ids.len() > max_tokens {
            self.ids.truncate(max_tokens);
            self.tokens.truncate(max_tokens);
            self.word_of_token.truncate(max_tokens);
            self.words.truncate(self.word_of_token.last().map_or(0, |word| word + 1));
            self.cut = true;
        }
        self
    }

    /// Joins the segmentations of consecutive texts.
    pub fn concat(parts: &[&Self]) -> Self {
        let mut joined = Self { ids: vec![], tokens: vec![], words: vec![], word_of_token: vec![], cut: false };
        for part in parts {
            let words_before = joined.words.len();
            joined.ids.extend(&part.ids);
            joined.tokens.extend_from_slice(&part.tokens);
            joined.words.extend_from_slice(&part.words);
            joined.word_of_token.extend(part.word_of_token.iter().map(|word| words_before + word));
            joined.cut |= part.cut;
        }
        joined
    }

    /// Returns a segmentation from the byte ranges of tokens and words in the text.
    pub(super) fn new(
        text: &str,
        ids: Vec<u32>,
        tokens: Vec<String>,
        spans: &[Range<usize>],
        word_spans: &[Range<usize>],
    ) -> Self {
        let mut words: Vec<String> = word_spans.iter().map(|span| text[span.clone()].to_owned()).collect();
        let word_of_token = spans.iter().map(|span| word_of_span(word_spans, span)).collect();
        if words.is_empty() && !ids.is_empty() {
            // White space alone is one word, so that every token has a word.
            words.push(text.to_owned());
        }
        Self { ids, tokens, words, word_of_token, cut: false }
    }
}
