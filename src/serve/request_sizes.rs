//! Limits on the constraints, placeholders and tag of a request.

use super::error::ApiError;
use crate::translator::{DecodeOptions, MAX_PHRASE};

/// Maximum number of avoided phrases. Each step of the search looks for all of them.
const MAX_AVOIDED: usize = 256;
/// Maximum number of terms.
const MAX_TERMS: usize = 2_000;
/// Maximum characters of the prefix of translations.
const MAX_PREFIX: usize = 5_000;
/// Maximum characters of the regular expression of placeholders, which takes time to compile.
const MAX_PLACEHOLDERS: usize = 1_000;

/// Refuses constraints, a regular expression of placeholders and a tag that would take too much time or memory.
///
/// # Errors
/// One of these is too large.
pub fn check_sizes(
    decoding: &DecodeOptions,
    placeholders: Option<&str>,
    tag_source: Option<&str>,
) -> Result<(), ApiError> {
    for (name, size, most, unit) in [
        ("avoid", decoding.avoid.len(), MAX_AVOIDED, "phrases"),
        ("terms", decoding.terms.len(), MAX_TERMS, "terms"),
        ("prefix", characters(decoding.prefix.as_deref()), MAX_PREFIX, "characters"),
        ("placeholders", characters(placeholders), MAX_PLACEHOLDERS, "characters"),
        ("tag_source", characters(tag_source), MAX_PHRASE, "characters"),
    ] {
        if size > most {
            return Err(ApiError::invalid(format!("{name} can have {most} {unit} in a request, not {size}")));
        }
    }
    Ok(())
}

/// Number of characters of a text, if there is one.
fn characters(text: Option<&str>) -> usize {
    text.map_or(0, |text| text.chars().count())
}
