//! Requests to a translator.

use std::collections::HashSet;

use anyhow::Result;

use super::mbr::rank_by_utility;
use crate::search::{Cancellation, SamplingOptions, Search};
use crate::text::{Segmentation, Vocabulary, WordSplitting};

/// Maximum tokens of a sentence; longer ones are truncated. The time of attention is quadratic in the length.
pub const MAX_SENTENCE_TOKENS: usize = 500;

/// Sentence to translate.
#[derive(Clone, Debug, Default)]
pub struct Sentence {
    /// Text that the model reads: tag, features and the given text.
    pub text: String,
    /// Length of tag and features in bytes.
    pub prefix_len: usize,
    /// Prefix of the translation, in place of that of all translations.
    pub target_prefix: Option<String>,
    /// Cancels the translation.
    pub cancellation: Cancellation,
    /// Index of the sentence in the seed of sampling, by default that among the sentences that are translated together.
    pub seed_index: Option<u64>,
}

impl<T: Into<String>> From<T> for Sentence {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Sentence {
    /// Returns a sentence after a prefix, such as a tag and features. Blank text stays alone.
    pub fn after(prefix: &str, text: &str) -> Self {
        let prefix = if text.trim().is_empty() { "" } else { prefix };
        Self { text: format!("{prefix}{text}"), prefix_len: prefix.len(), ..Self::default() }
    }

    /// Returns a sentence after a tag, if there is one.
    pub fn tagged(tag: Option<&str>, text: &str) -> Self {
        Self::after(&tag.map(|tag| format!("{tag} ")).unwrap_or_default(), text)
    }

    /// Text without tag and features.
    pub fn given(&self) -> &str {
        &self.text[self.prefix_len..]
    }

    /// Returns a sentence with another text after the same tag and features.
    pub fn with_text(&self, text: &str) -> Self {
        let prefix = &self.text[..self.prefix_len];
        Self { text: format!("{prefix}{text}"), ..self.clone() }
    }

    /// Segments the given text.
    ///
    /// # Errors
    /// The vocabulary cannot encode it.
    pub(super) fn segment_given(&self, source: &Vocabulary, words: WordSplitting) -> Result<GivenTokens> {
        let segmentation = source.segment(self.given(), words)?;
        let mut tokens_before = 0;
        if self.prefix_len > 0 {
            tokens_before = source.encode(&self.text)?.len().saturating_sub(segmentation.ids.len());
        }
        Ok(GivenTokens { segmentation, tokens_before })
    }
}

/// Tokens of a sentence without its tag and features.
pub(super) struct GivenTokens {
    /// Segmentation of the given text.
    pub segmentation: Segmentation,
    /// Number of tokens of tag and features.
    pub tokens_before: usize,
}

/// Search, and selection among its results.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Search algorithm.
    pub search: Search,
    /// Selection of the results to return.
    pub selection: ResultSelection,
}

/// Selection among the translations of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultSelection {
    /// All translations in their order.
    All,
    /// The best translations with distinct texts, at most so many.
    Best(usize),
    /// The distinct texts of minimum Bayes risk, at most so many.
    Mbr(usize),
}

impl Request {
    /// Sets the index of the first sentence, which seeds sampling.
    #[must_use]
    pub fn from_sentence(self, first: usize) -> Self {
        match self.search {
            Search::Sample(settings) => Self { search: Search::Sample(SamplingOptions { first, ..settings }), ..self },
            Search::Beam(_) => self,
        }
    }
}

impl ResultSelection {
    /// Returns the selected ones of the texts of the translations of a sentence, best first.
    pub(super) fn select(self, texts: &[&str]) -> Vec<SelectedText> {
        match self {
            Self::All => (0..texts.len()).map(|index| SelectedText { index, utility: None }).collect(),
            Self::Best(n_best) => {
                let mut seen = HashSet::new();
                let distinct = (0..texts.len()).filter(|&index| seen.insert(texts[index]));
                distinct.take(n_best.max(1)).map(|index| SelectedText { index, utility: None }).collect()
            }
            Self::Mbr(n_best) => {
                let ranked = rank_by_utility(texts, n_best).into_iter();
                ranked.map(|one| SelectedText { index: one.index, utility: Some(one.utility) }).collect()
            }
        }
    }
}

/// Selected one among the texts of the translations of a sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SelectedText {
    /// Index of the text.
    pub index: usize,
    /// Expected utility under [`ResultSelection::Mbr`]: mean chrF, from 0 to 100.
    pub utility: Option<f64>,
}
