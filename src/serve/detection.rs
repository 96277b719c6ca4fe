//! Detection of a text's language by the vocabularies of the models.

use serde::Serialize;
use utoipa::ToSchema;

use crate::text::{Vocabulary, WordSplitting};

/// Maximum characters of a text that are looked at.
const MAX_CHARACTERS: usize = 2_000;

/// Language that a text may be in.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Detection {
    /// Percentage of the text's tokens that the language's vocabulary knows, scaled by how few it needs.
    pub confidence: f64,
    /// Code of the language.
    pub language: String,
}

/// Vocabulary of a language, by which texts in it are recognized.
pub struct LanguageVocabulary<'v> {
    /// Code of the language.
    pub language: &'v str,
    /// Vocabulary of the side of a model that has this language.
    pub vocabulary: &'v Vocabulary,
}

/// Fit of the vocabulary of a language to a text.
struct VocabularyFit<'v> {
    language: &'v str,
    /// Share of the text's tokens that the vocabulary knows.
    known: f64,
    /// Characters of the text per token, without white space.
    characters_per_token: f64,
}

impl<'v> VocabularyFit<'v> {
    /// Measures a vocabulary on a text with so many characters beside white space; none if it cannot split the text.
    fn new(text: &str, characters: f64, of_language: &LanguageVocabulary<'v>) -> Option<Self> {
        let LanguageVocabulary { language, vocabulary } = *of_language;
        let segmentation = vocabulary.segment(text, WordSplitting::default()).ok()?;
        let characters_per_token = characters / segmentation.ids.len().max(1) as f64;
        Some(Self { language, known: 1.0 - segmentation.unknown_share(), characters_per_token })
    }

    /// Known tokens, weighted by their length: the higher, the better the language fits.
    fn quality(&self) -> f64 {
        self.known * self.characters_per_token
    }
}

/// Returns the languages that a text may be in, in the order of their confidence; equal ones keep their order.
///
/// A vocabulary of subwords knows almost any word of its script, but needs more tokens for words of another language. So
/// the share of known tokens is multiplied by the characters per token, relative to the best language.
pub fn detect<'v>(text: &str, languages: impl Iterator<Item = LanguageVocabulary<'v>>) -> Vec<Detection> {
    let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(end, _)| end);
    let text = &text[..end];
    let characters = text.chars().filter(|character| !character.is_whitespace()).count() as f64;
    let fits: Vec<VocabularyFit> = languages.filter_map(|one| VocabularyFit::new(text, characters, &one)).collect();
    let quality = fits.iter().map(VocabularyFit::quality).fold(0.0, f64::max);
    let best = fits.iter().filter(|fit| fit.quality() >= quality);
    let most_characters = best.map(|fit| fit.characters_per_token).fold(0.0, f64::max);
    let mut found: Vec<Detection> = Vec::new();
    for VocabularyFit { language, known, characters_per_token } in fits {
        let scale = if most_characters > 0.0 { (characters_per_token / most_characters).min(1.0) } else { 1.0 };
        let confidence = 100.0 * known * scale;
        match found.iter_mut().find(|other| other.language == language) {
            Some(other) => other.confidence = other.confidence.max(confidence),
            None => found.push(Detection { confidence, language: language.to_owned() }),
        }
    }
    found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    found
}
