//! Parts of a sentence with markup: texts, tags and points.

use std::ops::Range;

use super::html::{CharacterReference, Token, TokenKind, character_reference};
use super::options::{Markup, MarkupOptions};
use super::placeholders::{Placeholders, is_unnumbered};
use super::punctuation::{CLAUSE_MARKS, WRAPPERS};

/// Decoded part of a text with markup.
#[derive(Clone, Debug)]
pub(super) struct Decoded {
    pub text: String,
    /// Position of each of its bytes in the text with markup, and the position after them: `[bytes + 1]`.
    pub raw: Vec<usize>,
}

impl Decoded {
    /// Decodes a part of a text; in HTML, white space is collapsed and character references are replaced.
    pub fn new(text: &str, range: Range<usize>, markup: Markup) -> Self {
        let mut decoded = Self { text: String::new(), raw: Vec::new() };
        let mut position = range.start;
        while let Some(character) = text[position..range.end].chars().next() {
            let reference = character_reference(&text[position..range.end]).filter(|_| markup == Markup::Html);
            let collapsed = markup == Markup::Html && character.is_ascii_whitespace();
            let length = match &reference {
                Some(CharacterReference { characters, length }) => {
                    decoded.text.push_str(characters);
                    *length
                }
                None if collapsed && decoded.text.ends_with(' ') => character.len_utf8(),
                None => {
                    decoded.text.push(if collapsed { ' ' } else { character });
                    character.len_utf8()
                }
            };
            decoded.raw.resize(decoded.text.len(), position);
            position += length;
        }
        decoded.raw.push(range.end);
        decoded
    }

    /// Returns its byte range in the text with markup.
    fn range(&self) -> Range<usize> {
        self.raw[0]..self.raw[self.text.len()]
    }

    /// Returns the part with this byte range.
    fn part(&self, range: Range<usize>) -> Self {
        Self { text: self.text[range.clone()].to_owned(), raw: self.raw[range.start..=range.end].to_vec() }
    }
}

/// Part of a sentence before its markers are taken out. Ranges are bytes of the text with markup.
#[derive(Clone, Debug)]
pub(super) enum MarkupEvent {
    /// Text between tags and placeholders.
    Text(Decoded),
    /// Start tag of an inline element.
    Open(Range<usize>),
    /// End tag of an inline element.
    Close(Range<usize>),
    /// Placeholder, comment, or element without text.
    Point(PointEvent),
}

/// Placeholder, comment, or element without text. Its fields are those of [`PointMarker`](super::markers::PointMarker).
#[derive(Clone, Debug)]
pub(super) struct PointEvent {
    pub raw: Range<usize>,
    pub visible: bool,
    pub ordered: bool,
    pub placed: Option<String>,
}

impl MarkupEvent {
    /// True if it can be part of an element without text: blank text, or a point.
    fn is_blank(&self) -> bool {
        match self {
            Self::Text(decoded) => decoded.text.trim().is_empty(),
            Self::Point(_) => true,
            Self::Open(_) | Self::Close(_) => false,
        }
    }

    /// True if a reader sees it.
    fn is_visible(&self) -> bool {
        match self {
            Self::Point(point) => point.visible,
            // White space separates words.
            Self::Text(_) | Self::Open(_) | Self::Close(_) => true,
        }
    }

    /// True for a point whose order among others must stay.
    fn is_ordered(&self) -> bool {
        matches!(self, Self::Point(point) if point.ordered)
    }

    /// Returns its byte range in the text with markup.
    fn raw_range(&self) -> Range<usize> {
        match self {
            Self::Text(decoded) => decoded.range(),
            Self::Open(raw) | Self::Close(raw) | Self::Point(PointEvent { raw, .. }) => raw.clone(),
        }
    }
}

/// Returns the events of a text of these tokens, of which none ends a sentence.
pub(super) fn events(text: &str, tokens: &[Token], options: &MarkupOptions) -> Vec<MarkupEvent> {
    let mut events = Vec::new();
    for Token { kind, range } in tokens {
        match kind {
            TokenKind::Text => {
                add_text(&mut events, Decoded::new(text, range.clone(), options.markup), &options.placeholders);
            }
            TokenKind::Open(_) => events.push(MarkupEvent::Open(range.clone())),
            TokenKind::Close(_) => events.push(MarkupEvent::Close(range.clone())),
            TokenKind::Inline { visible } => {
                let raw = range.clone();
                push_point(&mut events, PointEvent { raw, visible: *visible, ordered: false, placed: None });
            }
            TokenKind::Boundary => {}
        }
    }
    events
}

/// Appends a text, its placeholders as points.
fn add_text(events: &mut Vec<MarkupEvent>, decoded: Decoded, placeholders: &Placeholders) {
    let mut start = 0;
    for found in placeholders.find(&decoded.text) {
        if start < found.start {
            events.push(MarkupEvent::Text(decoded.part(start..found.start)));
        }
        let raw = decoded.raw[found.start]..decoded.raw[found.end];
        let placeholder = &decoded.text[found.clone()];
        let (ordered, placed) = (is_unnumbered(placeholder), placeholders.placed_name(placeholder));
        push_point(events, PointEvent { raw, visible: true, ordered, placed });
        start = found.end;
    }
    if start < decoded.text.len() || start == 0 {
        events.push(MarkupEvent::Text(decoded.part(start..decoded.text.len())));
    }
}

/// Appends a point. It is joined with the point before it, and with punctuation between both, unless constraints place one
/// of them.
fn push_point(events: &mut Vec<MarkupEvent>, mut point: PointEvent) {
    if let [.., MarkupEvent::Point(before), MarkupEvent::Text(between)] = &events[..]
        && before.visible
        && point.visible
        && before.placed.is_none()
        && point.placed.is_none()
        && !between.text.contains(|one: char| one.is_alphanumeric() || one.is_whitespace())
    {
        events.pop();
    }
    if let Some(MarkupEvent::Point(before)) = events.last()
        && before.placed.is_none()
        && point.placed.is_none()
    {
        point = PointEvent {
            raw: before.raw.start..point.raw.end,
            visible: before.visible || point.visible,
            ordered: before.ordered || point.ordered,
            placed: None,
        };
        events.pop();
    }
    events.push(MarkupEvent::Point(point));
}

/// Replaces elements without text by points.
pub(super) fn take_out_empty_elements(events: Vec<MarkupEvent>) -> Vec<MarkupEvent> {
    let mut kept: Vec<MarkupEvent> = Vec::with_capacity(events.len());
    for event in events {
        let MarkupEvent::Close(close) = &event else {
            match event {
                MarkupEvent::Point(point) => push_point(&mut kept, point),
                other => kept.push(other),
            }
            continue;
        };
        let content = kept.iter().rev().take_while(|event| event.is_blank()).count();
        let start = kept.len() - content;
        let Some(MarkupEvent::Open(open)) = start.checked_sub(1).and_then(|index| kept.get(index)) else {
            kept.push(event);
            continue;
        };
        let raw = open.start..close.end;
        let visible = kept[start..].iter().any(MarkupEvent::is_visible);
        let ordered = kept[start..].iter().any(MarkupEvent::is_ordered);
        let placed = kept.drain(start - 1..).find_map(|event| match event {
            MarkupEvent::Point(point) => point.placed,
            _ => None,
        });
        push_point(&mut kept, PointEvent { raw, visible, ordered, placed });
    }
    kept
}

/// Moves brackets and quotation marks around a placeholder into it, since they would remain empty.
pub(super) fn take_out_wrappers(events: &mut [MarkupEvent]) {
    for index in 1..events.len().saturating_sub(1) {
        let [before, event, after] = &mut events[index - 1..=index + 1] else { continue };
        let (MarkupEvent::Text(before), MarkupEvent::Point(point), MarkupEvent::Text(after)) = (before, event, after)
        else {
            continue;
        };
        let around = before.text.chars().rev().zip(after.text.chars());
        let wrappers = around.take_while(|pair| point.visible && point.placed.is_none() && WRAPPERS.contains(pair));
        let lengths = wrappers.map(|(left, right)| [left.len_utf8(), right.len_utf8()]);
        let [left, right] = lengths.fold([0, 0], |sum, length| [sum[0] + length[0], sum[1] + length[1]]);
        if left > 0 {
            *before = before.part(0..before.text.len() - left);
            *after = after.part(right..after.text.len());
            point.raw = before.range().end..after.range().start;
        }
    }
}

/// Removes points and white space from the start of a sentence, with the punctuation that follows a point. A point that
/// touches a word or a tag stays, and so does one that constraints place. Returns where the rest begins in the text with
/// markup.
pub(super) fn trim_start(events: &mut Vec<MarkupEvent>) -> Option<usize> {
    let mut removed = 0;
    let mut touches = false;
    for event in events.iter_mut() {
        match event {
            MarkupEvent::Point(point) if point.placed.is_some() => break,
            MarkupEvent::Point(_) => touches = true,
            MarkupEvent::Text(decoded) => {
                let rest = decoded
                    .text
                    .trim_start_matches(|one: char| one.is_whitespace() || (touches && CLAUSE_MARKS.contains(one)));
                let length = decoded.text.len() - rest.len();
                *decoded = decoded.part(length..decoded.text.len());
                touches &= length == 0;
                if !decoded.text.is_empty() {
                    break;
                }
            }
            MarkupEvent::Open(_) | MarkupEvent::Close(_) => break,
        }
        removed += 1;
    }
    events.drain(..removed - usize::from(touches && removed < events.len()));
    Some(events.first()?.raw_range().start)
}

/// Removes points and white space from the end of a sentence as [`trim_start`] does. Returns where the rest ends in the text
/// with markup.
pub(super) fn trim_end(events: &mut Vec<MarkupEvent>) -> Option<usize> {
    while let Some(last) = events.last_mut() {
        if let MarkupEvent::Text(decoded) = last {
            *decoded = decoded.part(0..decoded.text.trim_end().len());
        }
        match &events[..] {
            [.., MarkupEvent::Point(point)] if point.placed.is_some() => break,
            [.., MarkupEvent::Text(decoded)] if decoded.text.is_empty() => {}
            [.., MarkupEvent::Text(before), MarkupEvent::Point(_)] if before.text.ends_with(char::is_whitespace) => {}
            [MarkupEvent::Point(_)] => {}
            _ => break,
        }
        events.pop();
    }
    Some(events.last()?.raw_range().end)
}
