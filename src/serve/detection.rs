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

/// Returns the languages in the order of their confidence; equal ones keep their order.
///
/// A vocabulary of subwords knows almost any word of its script, but needs more tokens for words of another language. So
/// the share of known tokens is multiplied by the characters per token, relative to the best language.
pub fn detect<'v>(text: &str, languages: impl Iterator<Item = (&'v str, &'v Vocabulary)>) -> Vec<Detection> {
    let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(end, _)| end);
    let text = &text[..end];
    let characters = text.chars().filter(|character| !character.is_whitespace()).count() as f64;
    let measured = languages.filter_map(|(language, vocabulary)| {
        let segmentation = vocabulary.segment(text, WordSplitting::default()).ok()?;
        let per_token = characters / segmentation.ids.len().max(1) as f64;
        Some((language, 1.0 - segmentation.unknown_share(), per_token))
    });
    let measured: Vec<(&str, f64, f64)> = measured.collect();
    let best = measured.iter().map(|(_, known, per_token)| known * per_token).fold(0.0, f64::max);
    let best =
        measured.iter().filter(|(_, known, per_token)| known * per_token >= best).map(|one| one.2).fold(0.0, f64::max);
    let mut found: Vec<Detection> = Vec::new();
    for (language, known, per_token) in measured {
        let scale = if best > 0.0 { (per_token / best).min(1.0) } else { 1.0 };
        let confidence = 100.0 * known * scale;
        match found.iter_mut().find(|other| other.language == language) {
            Some(other) => other.confidence = other.confidence.max(confidence),
            None => found.push(Detection { confidence, language: language.to_owned() }),
        }
    }
    found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    found
}
