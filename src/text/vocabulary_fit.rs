//! Fit of a vocabulary to a text, which tells in which of two languages the text is.

use super::{Vocabulary, WordSplitting};

/// Minimum tokens of a text in the vocabulary of its supposed language for another language to be recognized.
const MIN_TOKENS: usize = 3;
/// Factor by which the vocabulary of another language must fit better.
const MIN_ADVANTAGE: f64 = 1.5;
/// Fit that a text in another language does not reach.
const GOOD_QUALITY: f64 = 2.4;

/// Fit of a vocabulary to a text. A vocabulary of subwords knows almost any word of its script, but needs more tokens for words
/// of another language.
pub struct VocabularyFit {
    /// Share of the text's tokens that the vocabulary knows.
    pub known: f64,
    /// Characters of the text per token, without white space.
    pub characters_per_token: f64,
    tokens: usize,
}

impl VocabularyFit {
    /// Measures a vocabulary on a text; none if it cannot split the text.
    pub fn new(text: &str, vocabulary: &Vocabulary) -> Option<Self> {
        let characters = text.chars().filter(|character| !character.is_whitespace()).count();
        let segmentation = vocabulary.segment(text, WordSplitting::default()).ok()?;
        let tokens = segmentation.ids.len();
        Some(Self {
            known: 1.0 - segmentation.unknown_share(),
            characters_per_token: characters as f64 / tokens.max(1) as f64,
            tokens,
        })
    }

    /// Known tokens, weighted by their length: the higher, the better the language fits.
    pub fn quality(&self) -> f64 {
        self.known * self.characters_per_token
    }
}

/// True if a text fits the vocabulary of another language far better than its own one. Equal vocabularies tell nothing.
pub fn is_in_other_language(text: &str, own: &Vocabulary, other: &Vocabulary) -> bool {
    let Some(fit) = VocabularyFit::new(text, own) else { return false };
    // The other vocabulary may not be prepared yet, which takes as long as a translation.
    if fit.tokens < MIN_TOKENS || fit.quality() > GOOD_QUALITY {
        return false;
    }
    VocabularyFit::new(text, other).is_some_and(|better| better.quality() > MIN_ADVANTAGE * fit.quality())
}
