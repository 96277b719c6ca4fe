//! Sentences without their tags and placeholders, which are markers at positions in the sentence.

use std::ops::Range;

/// Sentence with the markers taken out of it.
#[derive(Clone, Debug)]
pub(super) struct MarkedSentence {
    /// Text to translate.
    pub text: String,
    /// Outermost markers, in order.
    pub markers: Vec<Marker>,
    /// Byte position in the text with markup.
    pub start: usize,
}

/// Something taken out of a sentence.
#[derive(Clone, Debug)]
pub(super) enum Marker {
    /// Element that covers a part of the sentence.
    Element(Element),
    /// Placeholder, comment or element without text between two words.
    Point(PointMarker),
}

impl Marker {
    /// True for an element that covers a part of the sentence.
    pub fn is_element(&self) -> bool {
        matches!(self, Self::Element(_))
    }
}

/// Inline element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Byte ranges of the start and the end tag in the text with markup.
    pub tags: [Range<usize>; 2],
    /// Byte range of the sentence that it covers.
    pub span: Range<usize>,
    /// Outermost markers inside, in order.
    pub inner: Vec<Marker>,
}

impl Element {
    /// True if something in it is visible beside its words.
    pub fn has_visible_points(&self) -> bool {
        self.inner.iter().any(|marker| match marker {
            Marker::Element(element) => element.has_visible_points(),
            Marker::Point(point) => point.visible,
        })
    }
}

/// Marker without a text of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PointMarker {
    /// Byte range in the text with markup.
    pub raw: Range<usize>,
    /// Position in the sentence, in bytes.
    pub at: usize,
    /// True on each side, before and after it, on which white space is beside it.
    pub spaced: [bool; 2],
    /// Characters that touch it on each side, before and after it.
    pub glued: [Option<char>; 2],
    /// True if a reader sees it, so that it separates words.
    pub visible: bool,
    /// True if its order among others must stay.
    pub ordered: bool,
    /// Name of the placeholder, if constraints place it.
    pub placed: Option<String>,
}
