//! Text that is read in place of another one.

use std::ops::Range;

/// Text with the place in another text that each of its bytes comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappedText {
    text: String,
    places: Vec<Range<usize>>,
}

impl MappedText {
    /// Appends a text that comes from a range of bytes of the other one.
    pub fn push(&mut self, text: &str, place: &Range<usize>) {
        self.text.push_str(text);
        self.places.extend(std::iter::repeat_n(place.clone(), text.len()));
    }

    /// Appends a range of bytes of the other text as it is.
    pub fn push_same(&mut self, other: &str, range: Range<usize>) {
        for (start, character) in other[range.clone()].char_indices() {
            let start = range.start + start;
            self.push(character.encode_utf8(&mut [0; 4]), &(start..start + character.len_utf8()));
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the range of bytes of the other text that a range of this one comes from.
    pub fn other_range(&self, range: Range<usize>) -> Range<usize> {
        let end = self.places[..range.end].last().map_or(0, |place| place.end);
        let start = self.places.get(range.start).map_or(end, |place| place.start);
        start.min(end)..end
    }
}
