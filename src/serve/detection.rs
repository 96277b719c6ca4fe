//! Detection of a text's language by the vocabularies of the models.

use serde::Serialize;
use utoipa::ToSchema;

use crate::text::{Vocabulary, VocabularyFit};

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

/// Returns the languages that a text may be in, in the order of their confidence; equal ones keep their order.
///
/// A vocabulary of subwords knows almost any word of its script, but needs more tokens for words of another language. So
/// the share of known tokens is multiplied by the characters per token, relative to the best language.
pub fn detect<'v>(text: &str, languages: impl Iterator<Item = LanguageVocabulary<'v>>) -> Vec<Detection> {
    let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(end, _)| end);
    let text = &text[..end];
    let mut fits = Vec::new();
    for LanguageVocabulary { language, vocabulary } in languages {
        fits.extend(VocabularyFit::new(text, vocabulary).map(|fit| (language, fit)));
    }
    let quality = fits.iter().map(|(_, fit)| fit.quality()).fold(0.0, f64::max);
    let best = fits.iter().filter(|(_, fit)| fit.quality() >= quality);
    let most_characters = best.map(|(_, fit)| fit.characters_per_token).fold(0.0, f64::max);
    let mut found: Vec<Detection> = Vec::new();
    for (language, VocabularyFit { known, characters_per_token, .. }) in fits {
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
