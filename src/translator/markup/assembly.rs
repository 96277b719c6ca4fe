//! Assembly of sentences without their markers.

use std::ops::Range;

use super::events::{MarkupEvent, PointEvent};
use super::markers::{Element, MarkedSentence, Marker, PointMarker};
use super::options::Markup;
use super::punctuation::{is_closing, is_opening};

/// Assembly of a sentence from its events.
#[derive(Default)]
pub(super) struct Assembly {
    /// Text of the sentence so far.
    text: String,
    /// Open elements, outermost first.
    open: Vec<OpenElement>,
    /// Markers of the innermost open element.
    markers: Vec<Marker>,
    /// True if white space that follows is left out.
    skips_space: bool,
}

/// Element whose end tag did not come yet.
struct OpenElement {
    /// Start tag, as bytes of the text with markup.
    tag: Range<usize>,
    /// Position of its first word in the sentence.
    start: usize,
    /// Markers before it in the element around it.
    outer: Vec<Marker>,
}

impl Assembly {
    /// Returns the sentence of events that begin at this position in the text with markup.
    pub fn assemble(events: &[MarkupEvent], markup: Markup, start: usize) -> MarkedSentence {
        let mut assembly = Self::default();
        for (index, event) in events.iter().enumerate() {
            match event {
                MarkupEvent::Text(decoded) => assembly.add_text(&decoded.text, markup),
                MarkupEvent::Open(tag) => {
                    let outer = std::mem::take(&mut assembly.markers);
                    assembly.open.push(OpenElement { tag: tag.clone(), start: assembly.position(), outer });
                }
                MarkupEvent::Close(tag) => assembly.close(tag),
                MarkupEvent::Point(point) => {
                    let before =
                        events[..index].iter().rev().find_map(|event| adjacent(event, |text| text.next_back()));
                    let after = events[index + 1..].iter().find_map(|event| adjacent(event, |text| text.next()));
                    let touching = [events[..index].last(), events.get(index + 1)]
                        .map(|event| matches!(event, Some(MarkupEvent::Text(_))));
                    assembly.add_point(point, [before.flatten(), after.flatten()], touching);
                }
            }
        }
        let text = assembly.text.trim_end().to_owned();
        MarkedSentence { text, markers: assembly.markers, start }
    }

    /// Position of a marker: the end of the last word.
    fn position(&self) -> usize {
        self.text.trim_end().len()
    }

    /// Appends a text. White space at its start is left out where some is before it, or where a marker was taken out of it.
    fn add_text(&mut self, text: &str, markup: Markup) {
        let follows_space = self.text.is_empty() || self.text.ends_with(char::is_whitespace);
        let skips = self.skips_space || (follows_space && markup == Markup::Html) || self.text.is_empty();
        let rest = text.strip_prefix(char::is_whitespace).filter(|_| skips).unwrap_or(text);
        self.text.push_str(rest);
        self.skips_space = self.skips_space && text.is_empty();
    }

    /// Closes the innermost open element.
    fn close(&mut self, tag: &Range<usize>) {
        let Some(open) = self.open.pop() else { return };
        let inner = std::mem::replace(&mut self.markers, open.outer);
        let element = Element { tags: [open.tag, tag.clone()], span: open.start..self.position(), inner };
        self.markers.push(Marker::Element(element));
    }

    /// Adds a point between two characters, which touch it unless tags are between, and keeps the spacing of the text as it
    /// would be without it.
    fn add_point(&mut self, point: &PointEvent, adjacent: [Option<char>; 2], touching: [bool; 2]) {
        let [before, after] = adjacent;
        let spaced = adjacent.map(|one| one.is_some_and(char::is_whitespace));
        let glued = [0, 1].map(|side| adjacent[side].filter(|one| touching[side] && !one.is_whitespace()));
        match spaced {
            [true, true] => self.skips_space = true,
            [true, false] if after.is_some_and(is_closing) => self.text.truncate(self.position()),
            [false, true] => self.skips_space = before.is_some_and(is_opening),
            [false, false] if point.visible => {
                let joins_words = [before, after].iter().all(|one| one.is_some_and(char::is_alphanumeric));
                self.text.push_str(if joins_words { " " } else { "" });
            }
            _ => {}
        }
        let PointEvent { raw, visible, ordered, placed } = point.clone();
        let at = self.position();
        self.markers.push(Marker::Point(PointMarker { raw, at, spaced, glued, visible, ordered, placed }));
    }
}

/// Returns the character of an event next to a point: none inside for another point, none for a tag or an empty text.
fn adjacent(event: &MarkupEvent, next: impl Fn(&mut std::str::Chars) -> Option<char>) -> Option<Option<char>> {
    match event {
        MarkupEvent::Text(decoded) => next(&mut decoded.text.chars()).map(Some),
        MarkupEvent::Point(_) => Some(None),
        MarkupEvent::Open(_) | MarkupEvent::Close(_) => None,
    }
}
