//! Sentences of a text without their tags and placeholders, which become markers at positions in the sentence.

use std::ops::Range;

use super::html::{Token, TokenKind, character_reference, tokens};
use super::options::{Markup, MarkupOptions};
use super::placeholders::{Placeholders, is_unnumbered};

/// Deepest nesting of inline elements; deeper tags end sentences.
const MAX_DEPTH: usize = 64;

/// Brackets and quotation marks around a placeholder, which are taken out with it.
const WRAPPERS: [(char, char); 14] = [
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('<', '>'),
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('«', '»'),
    ('“', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('‹', '›'),
    ('「', '」'),
    ('（', '）'),
];

/// Punctuation that ends a clause. After a placeholder at the start of a sentence, it is taken out with it.
const CLAUSE_MARKS: &str = ".,;:!?…、。，；：！？";

/// Part of a text.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Bytes of the text that stay as they are, between boundaries.
    Verbatim(Range<usize>),
    /// Bytes at the edge of a sentence that stay.
    Moved(Range<usize>),
    /// Sentence to translate.
    Sentence(MarkedSentence),
}

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

/// Inline element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Bytes of the start and the end tag in the text with markup.
    pub tags: [Range<usize>; 2],
    /// Bytes of the sentence that it covers.
    pub span: Range<usize>,
    /// Markers inside.
    pub inner: Vec<Marker>,
}

/// Marker without a text of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PointMarker {
    /// Bytes in the text with markup.
    pub raw: Range<usize>,
    /// Position in the sentence, in bytes.
    pub at: usize,
    /// True if white space is before and after it.
    pub spaced: [bool; 2],
    /// Characters that touch it from before and after.
    pub glued: [Option<char>; 2],
    /// True if a reader sees it, so that it separates words.
    pub visible: bool,
    /// True if its order among others must stay.
    pub ordered: bool,
    /// Name of the placeholder, if constraints place it.
    pub placed: Option<String>,
}

/// Returns the tokens of a text with this markup.
pub(super) fn tokenized(text: &str, markup: Markup) -> Vec<Token> {
    match markup {
        Markup::Html => tokens(text),
        Markup::None => vec![Token { kind: TokenKind::Text, range: 0..text.len() }],
    }
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

/// Splits a text of these tokens into pieces, which cover it in order.
pub(super) fn pieces(text: &str, tokens: &[Token], options: &MarkupOptions) -> Vec<Piece> {
    let is_boundary = boundaries(tokens);
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < tokens.len() {
        let length = is_boundary[start..].iter().take_while(|boundary| !**boundary).count();
        let run = &tokens[start..start + length];
        if !run.is_empty() {
            add_run(&mut pieces, text, run, options);
        }
        if let Some(boundary) = tokens.get(start + length) {
            push_verbatim(&mut pieces, boundary.range.clone());
        }
        start += length + 1;
    }
    pieces
}

/// Tells which tokens end sentences: boundaries, and tags whose element does not begin and end in the same sentence.
fn boundaries(tokens: &[Token]) -> Vec<bool> {
    let mut partner = vec![None; tokens.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Open(name) if open.len() < MAX_DEPTH => open.push((index, name)),
            TokenKind::Close(name) => {
                let Some(depth) = open.iter().rposition(|(_, other)| other == name) else { continue };
                (partner[index], partner[open[depth].0]) = (Some(open[depth].0), Some(index));
                open.truncate(depth);
            }
            _ => {}
        }
    }
    let is_tag = |token: &Token| matches!(token.kind, TokenKind::Open(_) | TokenKind::Close(_));
    let mut ends: Vec<bool> = tokens.iter().map(|token| token.kind == TokenKind::Boundary).collect();
    for (index, token) in tokens.iter().enumerate() {
        ends[index] |= is_tag(token) && partner[index].is_none();
    }
    let mut before = vec![0];
    ends.iter().for_each(|&end| before.push(before[before.len() - 1] + usize::from(end)));
    for (index, partner) in partner.iter().enumerate() {
        ends[index] |= partner.is_some_and(|partner| before[index] != before[partner]);
    }
    ends
}

/// Appends bytes that stay, merged with those before them.
fn push_verbatim(pieces: &mut Vec<Piece>, range: Range<usize>) {
    match pieces.last_mut() {
        _ if range.is_empty() => {}
        Some(Piece::Verbatim(last)) => last.end = range.end,
        _ => pieces.push(Piece::Verbatim(range)),
    }
}

/// Appends the sentence of tokens without a boundary, with what stays at its edges.
fn add_run(pieces: &mut Vec<Piece>, text: &str, tokens: &[Token], options: &MarkupOptions) {
    let (start, end) = (tokens[0].range.start, tokens[tokens.len() - 1].range.end);
    let mut events = events(text, tokens, options);
    if options.markup == Markup::None && matches!(events[..], [MarkupEvent::Text(_)]) {
        pieces.push(Piece::Sentence(MarkedSentence { text: text[start..end].to_owned(), markers: Vec::new(), start }));
        return;
    }
    events = take_out_empty_elements(events);
    take_out_wrappers(&mut events);
    let first = trim_start(&mut events).unwrap_or(end);
    let last = trim_end(&mut events).unwrap_or(first);
    let sentence = Assembly::assemble(&events, options.markup, first);
    if !sentence.text.contains(char::is_alphabetic) {
        push_verbatim(pieces, start..end);
        return;
    }
    pieces.extend([Piece::Moved(start..first), Piece::Sentence(sentence), Piece::Moved(last..end)]);
}

/// Decoded text with the position of each byte in the text with markup, and the position after it.
#[derive(Clone, Debug)]
struct Decoded {
    text: String,
    raw: Vec<usize>,
}

impl Decoded {
    /// Decodes a part of a text; in HTML, white space is collapsed and character references are replaced.
    fn new(text: &str, range: Range<usize>, markup: Markup) -> Self {
        let mut decoded = Self { text: String::new(), raw: Vec::new() };
        let mut position = range.start;
        while let Some(character) = text[position..range.end].chars().next() {
            let reference = character_reference(&text[position..range.end]).filter(|_| markup == Markup::Html);
            let collapsed = markup == Markup::Html && character.is_ascii_whitespace();
            let length = match &reference {
                Some((characters, length)) => {
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

    fn range(&self) -> Range<usize> {
        self.raw[0]..self.raw[self.text.len()]
    }

    fn part(&self, range: Range<usize>) -> Self {
        Self { text: self.text[range.clone()].to_owned(), raw: self.raw[range.start..=range.end].to_vec() }
    }
}

/// Part of a sentence before its markers are taken out.
#[derive(Clone, Debug)]
enum MarkupEvent {
    Text(Decoded),
    Open(Range<usize>),
    Close(Range<usize>),
    Point(PointEvent),
}

#[derive(Clone, Debug)]
struct PointEvent {
    raw: Range<usize>,
    visible: bool,
    ordered: bool,
    placed: Option<String>,
}

fn events(text: &str, tokens: &[Token], options: &MarkupOptions) -> Vec<MarkupEvent> {
    let mut events = Vec::new();
    for Token { kind, range } in tokens {
        match kind {
            TokenKind::Text => {
                add_text(&mut events, Decoded::new(text, range.clone(), options.markup), &options.placeholders);
            }
            TokenKind::Open(_) => events.push(MarkupEvent::Open(range.clone())),
            TokenKind::Close(_) => events.push(MarkupEvent::Close(range.clone())),
            TokenKind::Inline { visible } => {
                push_point(
                    &mut events,
                    PointEvent { raw: range.clone(), visible: *visible, ordered: false, placed: None },
                );
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

/// Appends a point. It is joined with the point before it, and with punctuation between both, unless constraints place one of
/// them.
fn push_point(events: &mut Vec<MarkupEvent>, mut point: PointEvent) {
    let joins = |between: &str| !between.contains(|one: char| one.is_alphanumeric() || one.is_whitespace());
    if let [.., MarkupEvent::Point(before), MarkupEvent::Text(between)] = &events[..]
        && before.visible
        && point.visible
        && before.placed.is_none()
        && point.placed.is_none()
        && joins(&between.text)
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
fn take_out_empty_elements(events: Vec<MarkupEvent>) -> Vec<MarkupEvent> {
    let mut kept: Vec<MarkupEvent> = Vec::with_capacity(events.len());
    for event in events {
        let MarkupEvent::Close(close) = &event else {
            match event {
                MarkupEvent::Point(point) => push_point(&mut kept, point),
                other => kept.push(other),
            }
            continue;
        };
        let is_empty = |event: &MarkupEvent| match event {
            MarkupEvent::Text(decoded) => decoded.text.trim().is_empty(),
            event => matches!(event, MarkupEvent::Point(_)),
        };
        let content = kept.iter().rev().take_while(|event| is_empty(event)).count();
        let start = kept.len() - content;
        let Some(MarkupEvent::Open(open)) = start.checked_sub(1).and_then(|index| kept.get(index)) else {
            kept.push(event);
            continue;
        };
        let raw = open.start..close.end;
        // White space inside separates words.
        let visible = |event: &MarkupEvent| match event {
            MarkupEvent::Point(point) => point.visible,
            _ => true,
        };
        let ordered = |event: &MarkupEvent| matches!(event, MarkupEvent::Point(PointEvent { ordered: true, .. }));
        let (visible, ordered) = (kept[start..].iter().any(visible), kept[start..].iter().any(ordered));
        let placed = kept.drain(start - 1..).find_map(|event| match event {
            MarkupEvent::Point(point) => point.placed,
            _ => None,
        });
        push_point(&mut kept, PointEvent { raw, visible, ordered, placed });
    }
    kept
}

/// Moves brackets and quotation marks around a placeholder into it, since they would remain empty.
fn take_out_wrappers(events: &mut [MarkupEvent]) {
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

/// Removes points and white space from the start of a sentence, with the punctuation that follows a point. A point that touches
/// a word or a tag stays, and so does one that constraints place. Returns where the rest begins in the text with markup.
fn trim_start(events: &mut Vec<MarkupEvent>) -> Option<usize> {
    let mut removed = 0;
    let mut touches = false;
    for event in events.iter_mut() {
        match event {
            MarkupEvent::Point(point) if point.placed.is_some() => break,
            MarkupEvent::Point(_) => touches = true,
            MarkupEvent::Text(decoded) => {
                let is_removed = |one: char| one.is_whitespace() || (touches && CLAUSE_MARKS.contains(one));
                let rest = decoded.text.trim_start_matches(is_removed).len();
                let length = decoded.text.len() - rest;
                *decoded = decoded.part(length..length + rest);
                touches &= length == 0;
                if rest > 0 {
                    break;
                }
            }
            MarkupEvent::Open(_) | MarkupEvent::Close(_) => break,
        }
        removed += 1;
    }
    events.drain(..removed - usize::from(touches && removed < events.len()));
    Some(raw_range(events.first()?).start)
}

/// Removes points and white space from the end of a sentence as [`trim_start`] does. Returns where the rest ends in the text with
/// markup.
fn trim_end(events: &mut Vec<MarkupEvent>) -> Option<usize> {
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
    Some(raw_range(events.last()?).end)
}

fn raw_range(event: &MarkupEvent) -> Range<usize> {
    match event {
        MarkupEvent::Text(decoded) => decoded.range(),
        MarkupEvent::Open(range) | MarkupEvent::Close(range) | MarkupEvent::Point(PointEvent { raw: range, .. }) => {
            range.clone()
        }
    }
}

/// True for punctuation that stands directly after a word.
pub(super) fn is_closing(character: char) -> bool {
    !character.is_alphanumeric() && !character.is_whitespace() && !is_opening(character)
}

/// True for punctuation and symbols that stand directly before a word.
pub(super) fn is_opening(character: char) -> bool {
    "#$&*+-/<=@\\^_~£¥€–—¿¡§".contains(character)
        || WRAPPERS.iter().any(|&(left, right)| character == left && left != right)
}

/// Assembly of a sentence from its events.
#[derive(Default)]
struct Assembly {
    text: String,
    /// Open elements, outermost first: start tag, start in the sentence, and markers before it.
    open: Vec<(Range<usize>, usize, Vec<Marker>)>,
    /// Markers of the innermost open element.
    markers: Vec<Marker>,
    /// True if white space that follows is left out.
    skips_space: bool,
}

impl Assembly {
    /// Returns the sentence of events that begin at this position in the text with markup.
    fn assemble(events: &[MarkupEvent], markup: Markup, start: usize) -> MarkedSentence {
        let mut assembly = Self::default();
        for (index, event) in events.iter().enumerate() {
            match event {
                MarkupEvent::Text(decoded) => assembly.add_text(&decoded.text, markup),
                MarkupEvent::Open(tag) => {
                    let outer = std::mem::take(&mut assembly.markers);
                    assembly.open.push((tag.clone(), assembly.position(), outer));
                }
                MarkupEvent::Close(tag) => assembly.close(tag),
                MarkupEvent::Point(point) => {
                    let before =
                        events[..index].iter().rev().find_map(|event| adjacent(event, |text| text.next_back()));
                    let after = events[index + 1..].iter().find_map(|event| adjacent(event, |text| text.next()));
                    let is_text = |event: Option<&MarkupEvent>| matches!(event, Some(MarkupEvent::Text(_)));
                    let touching = [is_text(events[..index].last()), is_text(events.get(index + 1))];
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

    fn add_text(&mut self, text: &str, markup: Markup) {
        let follows_space = self.text.is_empty() || self.text.ends_with(char::is_whitespace);
        let skips = self.skips_space || (follows_space && markup == Markup::Html) || self.text.is_empty();
        let rest = text.strip_prefix(char::is_whitespace).filter(|_| skips).unwrap_or(text);
        self.text.push_str(rest);
        self.skips_space = self.skips_space && text.is_empty();
    }

    fn close(&mut self, tag: &Range<usize>) {
        let Some((open, start, outer)) = self.open.pop() else { return };
        let inner = std::mem::replace(&mut self.markers, outer);
        let element = Element { tags: [open, tag.clone()], span: start..self.position(), inner };
        self.markers.push(Marker::Element(element));
    }

    /// Adds a point between two characters, which touch it unless tags are between, and keeps the spacing of the text as it would be
    /// without it.
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
