//! Translations of sentences.

use anyhow::Result;

use super::request::GivenTokens;
use super::{ForcedAlignment, Sentence};
use crate::alignment::{Doubt, Doubts};
use crate::text::{Pair, Segmentation, Vocabulary, WordSplitting};

/// Translation of a sentence.
#[derive(Clone, Debug)]
pub struct Translation {
    /// Text of the translation.
    pub text: String,
    /// Log-probability of the translation given the source, in nats, with `</s>`.
    pub log_probability: f64,
    /// Score by which translations are ranked.
    pub score: f64,
    /// Number of required phrases that it lacks.
    pub unmet_constraints: usize,
    /// Reasons to doubt it.
    pub doubts: Doubts,
    /// Attention between the source and the translation, by tokens and by words.
    pub alignment: ForcedAlignment,
    /// The texts that are aligned, if tags or placeholders were taken out of the source.
    pub without_markup: Option<Pair>,
    /// Sentences of the text, if it was read as one with tags or placeholders.
    pub sentences: Vec<SentenceQuality>,
}

/// Reasons to doubt the translation of a sentence of a text.
#[derive(Clone, Debug)]
pub struct SentenceQuality {
    /// Number of line ends before the sentence in the text.
    pub line: usize,
    /// True if the sentence was truncated to [`MAX_SENTENCE_TOKENS`](super::MAX_SENTENCE_TOKENS).
    pub cut: bool,
    /// True if more than half of its tokens are unknown to the model.
    pub is_mostly_unknown: bool,
    /// Number of required phrases that its translation lacks.
    pub unmet_constraints: usize,
    /// Reasons to doubt its translation.
    pub doubts: Vec<Doubt>,
}

impl Translation {
    /// Returns the reasons to doubt the translation, for each sentence of its text.
    pub(super) fn qualities(&self) -> Vec<SentenceQuality> {
        if self.sentences.is_empty() { vec![self.quality()] } else { self.sentences.clone() }
    }

    /// Returns the reasons to doubt it as the translation of one sentence.
    pub(super) fn quality(&self) -> SentenceQuality {
        SentenceQuality {
            line: 0,
            cut: self.alignment.cut,
            is_mostly_unknown: self.alignment.is_mostly_unknown(),
            unmet_constraints: self.unmet_constraints,
            doubts: self.doubts.reasons.clone(),
        }
    }

    /// True if the model did not translate the text.
    pub(super) fn is_copy(&self) -> bool {
        self.alignment.token_log_probabilities.is_empty()
    }

    /// Returns the given text as its own translation, each token aligned with itself.
    pub(super) fn copied(
        sentence: &Sentence,
        source: Segmentation,
        vocabulary: &Vocabulary,
        words: WordSplitting,
    ) -> Result<Self> {
        let tokens = source.ids.len();
        let GivenTokens { segmentation: given, tokens_before } = sentence.segment_given(vocabulary, words)?;
        let first = tokens_before.min(tokens);
        let mut rows = vec![vec![0.0; tokens + 1]; tokens + 1 - first];
        for (row, token) in rows.iter_mut().zip(first..) {
            row[token] = 1.0;
        }
        let alignment = ForcedAlignment::new(source, given.cut_to(rows.len() - 1), &rows, 0.0, Vec::new());
        Ok(Self {
            text: sentence.given().to_owned(),
            log_probability: 0.0,
            score: 0.0,
            unmet_constraints: 0,
            doubts: Doubts::default(),
            alignment,
            without_markup: None,
            sentences: Vec::new(),
        })
    }
}
