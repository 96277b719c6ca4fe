//! Translations of sentences with what their markers depend on.

use std::ops::Range;

use super::placed_phrase::PlaceholderPlace;
use crate::alignment::Link;

/// Translation of a sentence with its word links.
#[derive(Clone, Debug)]
pub struct LinkedText<'a> {
    /// Text of the translation.
    pub text: &'a str,
    /// Byte ranges of the words of the sentence, in order.
    pub source_words: Vec<Range<usize>>,
    /// Byte ranges of the words of the translation, in order.
    pub target_words: Vec<Range<usize>>,
    /// Links between the words.
    pub links: &'a [Link],
}

/// Translation of a sentence with what else its markers depend on.
#[derive(Clone, Copy)]
pub(super) struct ProjectedText<'a> {
    pub linked: &'a LinkedText<'a>,
    /// True if the sentence was too long, so that the translation or its links lack the end.
    pub is_cut: bool,
    /// Places of placeholders in the translation that constraints know.
    pub places: &'a [PlaceholderPlace],
}
