//! Texts of a document, whose inline markup is numbered tags.

use std::collections::HashMap;
use std::ops::Range;

use html_escape::encode_text_to_string;

/// Part of a document that is not translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// Bytes of the document, among which there may be texts of their own.
    Part(Range<usize>),
    /// Bytes of the document between other text.
    Framed { before: String, part: Range<usize>, after: String },
    /// Other text.
    Literal(String),
}

impl Code {
    /// Returns a code that is not a part of the document.
    pub fn literal(text: impl Into<String>) -> Self {
        Self::Literal(text.into())
    }
}

/// Markup that a numbered tag stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// Markup around a part of the text.
    Element { open: Code, close: Code },
    /// Markup between two characters.
    Point(Code),
}

/// Line end that means no more than a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineBreak {
    /// Number of characters of the text before it.
    pub at: usize,
    /// Line end, with what begins the next line.
    pub code: Code,
}

/// Part of a translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// Start of the element with this number.
    Open(usize),
    /// End of the element with this number.
    Close(usize),
    /// Point with this number.
    Point(usize),
    /// Line break with this number, in place of a space.
    Break(usize),
}

/// Writer of the translations of segments in the syntax of a format.
pub(super) trait Syntax: Sync {
    /// Appends text, so that it is read as such.
    fn push_text(&self, output: &mut String, text: &str);

    /// True if this text may stand at the beginning of a line; no text if markup does.
    fn may_begin_line(&self, _text: &str) -> bool {
        true
    }

    /// Returns what stands in the document for a translation that is written.
    fn finished(&self, written: String) -> String {
        written
    }

    /// Returns the pieces of a translation of a segment as text. `code` returns the text of a code.
    fn write(&self, segment: &Segment, pieces: &[Piece], code: &dyn Fn(&Code) -> String) -> String {
        let mut output = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.push_text(&mut output, text),
                Piece::Break(number) => output.push_str(&code(&segment.breaks[*number].code)),
                Piece::Open(number) | Piece::Close(number) | Piece::Point(number) => {
                    output.push_str(&code(segment.code(piece, *number)));
                }
            }
        }
        self.finished(output)
    }
}

/// Text of a document.
pub(super) struct Segment {
    /// Text as HTML, with tags by the numbers of the markers: `<x0>`, `</x0>`, `<x1/>`, `<!--2-->` for what is not visible, and
    /// `<br x3>` between sentences.
    pub text: String,
    pub markers: Vec<Marker>,
    pub breaks: Vec<LineBreak>,
    /// Number of characters of the text.
    pub characters: usize,
    /// Byte position of the text in the document.
    pub at: usize,
    /// Bytes of the document that the translation replaces.
    pub range: Range<usize>,
    /// Text that is written before and after the translation.
    pub around: [String; 2],
    /// True if the text itself is replaced, so that it may stay.
    pub in_place: bool,
    /// Formatting of the text outside of all elements, in formats that state it for each piece of text.
    pub format: String,
    pub syntax: &'static dyn Syntax,
}

impl Segment {
    /// Returns the translation as pieces, without line breaks.
    pub fn pieces(&self, translation: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut rest = translation;
        while !rest.is_empty() {
            if let Some(NumberedTag { piece, length }) = tag(rest).filter(|tag| self.has(&tag.piece)) {
                pieces.push(piece);
                rest = &rest[length..];
                continue;
            }
            let next = rest.char_indices().skip(1).find(|(_, one)| *one == '<').map_or(rest.len(), |(at, _)| at);
            push_text(&mut pieces, &rest[..next]);
            rest = &rest[next..];
        }
        pieces
    }

    /// True if a piece stands for one of the markers.
    fn has(&self, piece: &Piece) -> bool {
        match piece {
            Piece::Open(number) | Piece::Close(number) => {
                matches!(self.markers.get(*number), Some(Marker::Element { .. }))
            }
            Piece::Point(number) => matches!(self.markers.get(*number), Some(Marker::Point(_))),
            Piece::Text(_) | Piece::Break(_) => false,
        }
    }

    /// Returns the code that a piece with this number stands for.
    pub fn code(&self, piece: &Piece, number: usize) -> &Code {
        match &self.markers[number] {
            Marker::Element { close, .. } if matches!(piece, Piece::Close(_)) => close,
            Marker::Element { open, .. } => open,
            Marker::Point(code) => code,
        }
    }
}

/// Appends encoded text to the last text.
fn push_text(pieces: &mut Vec<Piece>, encoded: &str) {
    let text = encoded.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(&text),
        _ => pieces.push(Piece::Text(text)),
    }
}

/// Form of a tag: what stands before and after its number, and what it means.
struct TagForm {
    start: &'static str,
    end: &'static str,
    piece: fn(usize) -> Piece,
}

const TAG_FORMS: [TagForm; 5] = [
    TagForm { start: "</x", end: ">", piece: Piece::Close },
    TagForm { start: "<x", end: "/>", piece: Piece::Point },
    TagForm { start: "<x", end: ">", piece: Piece::Open },
    TagForm { start: "<!--", end: "-->", piece: Piece::Point },
    TagForm { start: "<br x", end: ">", piece: Piece::Point },
];

/// Numbered tag in a text.
struct NumberedTag {
    piece: Piece,
    /// Number of bytes.
    length: usize,
}

/// Reads the numbered tag at the start of a text.
fn tag(text: &str) -> Option<NumberedTag> {
    for TagForm { start, end, piece } in TAG_FORMS {
        let Some(rest) = text.strip_prefix(start) else { continue };
        let digits = rest.len() - rest.trim_start_matches(|one: char| one.is_ascii_digit()).len();
        if let (Ok(number), true) = (rest[..digits].parse(), rest[digits..].starts_with(end)) {
            return Some(NumberedTag { piece: piece(number), length: start.len() + digits + end.len() });
        }
    }
    None
}

/// Part of a text before its markup is numbered.
enum Item {
    Text(String),
    Open { key: String, code: Code },
    Close { key: String, code: Code },
    Point { code: Code, is_visible: bool },
    SentenceEnd(Code),
    Break(Code),
}

/// Text that is put together of its parts.
#[derive(Default)]
pub(super) struct SegmentBuilder {
    items: Vec<Item>,
}

impl SegmentBuilder {
    /// Appends text.
    pub fn text(&mut self, text: &str) {
        match self.items.last_mut() {
            Some(Item::Text(last)) => last.push_str(text),
            _ => self.items.push(Item::Text(text.to_owned())),
        }
    }

    /// Appends the start of an element, which the same key ends. One without an end is a point.
    pub fn open(&mut self, key: impl Into<String>, code: Code) {
        self.items.push(Item::Open { key: key.into(), code });
    }

    /// Appends the end of an element. One without a start is a point.
    pub fn close(&mut self, key: impl Into<String>, code: Code) {
        self.items.push(Item::Close { key: key.into(), code });
    }

    /// Appends something that a reader sees.
    pub fn point(&mut self, code: Code) {
        self.items.push(Item::Point { code, is_visible: true });
    }

    /// Appends something that a reader does not see.
    pub fn hidden(&mut self, code: Code) {
        self.items.push(Item::Point { code, is_visible: false });
    }

    /// Appends something between two texts that are translated one by one, such as a line end that has a meaning.
    pub fn sentence_end(&mut self, code: Code) {
        self.items.push(Item::SentenceEnd(code));
    }

    /// Appends a line end that means no more than a space.
    pub fn line_break(&mut self, code: Code) {
        self.items.push(Item::Break(code));
    }

    /// Number of parts that were appended.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the segment that these bytes of the document are; none if it has no letters.
    pub fn finish(self, range: Range<usize>, syntax: &'static dyn Syntax) -> Option<Segment> {
        if !self.items.iter().any(Item::has_letters) {
            return None;
        }
        let ends = matched(&self.items);
        let mut segment = Segment {
            text: String::new(),
            markers: Vec::new(),
            breaks: Vec::new(),
            characters: 0,
            at: range.start,
            range,
            around: [String::new(), String::new()],
            in_place: true,
            format: String::new(),
            syntax,
        };
        let mut numbers = vec![0; self.items.len()];
        for (index, item) in self.items.iter().enumerate() {
            match (item, ends[index]) {
                (Item::Open { code, .. }, Some(end)) => {
                    numbers[end] = segment.markers.len();
                    let close = self.items[end].code().clone();
                    let element = Marker::Element { open: code.clone(), close };
                    segment.add(element, "<x", ">");
                }
                (Item::Close { .. }, Some(_)) => segment.text.push_str(&format!("</x{}>", numbers[index])),
                (Item::Text(text), _) => {
                    encode_text_to_string(text, &mut segment.text);
                    segment.characters += text.chars().count();
                }
                (Item::Break(code), _) => {
                    segment.breaks.push(LineBreak { at: segment.characters, code: code.clone() });
                    segment.text.push(' ');
                    segment.characters += 1;
                }
                (Item::SentenceEnd(code), _) => segment.add(Marker::Point(code.clone()), "<br x", ">"),
                (Item::Point { code, is_visible: false }, _) => segment.add(Marker::Point(code.clone()), "<!--", "-->"),
                (Item::Point { code, .. } | Item::Open { code, .. } | Item::Close { code, .. }, _) => {
                    segment.add(Marker::Point(code.clone()), "<x", "/>");
                }
            }
        }
        Some(segment)
    }
}

impl Segment {
    /// Appends a tag for a further marker.
    fn add(&mut self, marker: Marker, start: &str, end: &str) {
        let number = self.markers.len();
        self.text.push_str(&format!("{start}{number}{end}"));
        self.markers.push(marker);
    }
}

impl Item {
    fn has_letters(&self) -> bool {
        matches!(self, Self::Text(text) if text.contains(char::is_alphabetic))
    }

    fn code(&self) -> &Code {
        static NONE: Code = Code::Literal(String::new());
        match self {
            Self::Text(_) => &NONE,
            Self::Open { code, .. }
            | Self::Close { code, .. }
            | Self::Point { code, .. }
            | Self::SentenceEnd(code)
            | Self::Break(code) => code,
        }
    }
}

/// Returns for each start and end of an element the index of its partner. An element that overlaps another has none.
fn matched(items: &[Item]) -> Vec<Option<usize>> {
    let mut partners = vec![None; items.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    // Number of open elements by their key, so that an end without a start takes no time.
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        match item {
            Item::Open { key, .. } => {
                open.push((index, key));
                *counts.entry(key).or_default() += 1;
            }
            Item::Close { key, .. } if counts.get(&**key).is_some_and(|&count| count > 0) => {
                while let Some((start, other)) = open.pop() {
                    *counts.entry(other).or_default() -= 1;
                    if other == key {
                        (partners[start], partners[index]) = (Some(index), Some(start));
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    partners
}

/// Returns for each start of an element the index of its end, for other parts their own index. `starts` is true for a start,
/// and false for an end.
pub(super) fn end_indices<T>(parts: &[T], starts: impl Fn(&T) -> Option<bool>) -> Vec<usize> {
    let mut ends: Vec<usize> = (0..parts.len()).collect();
    let mut open = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match starts(part) {
            Some(true) => open.push(index),
            Some(false) => open.pop().into_iter().for_each(|start: usize| ends[start] = index),
            None => {}
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::super::line_breaks::placed_breaks;
    use super::super::plain_text::PlainText;
    use super::*;

    fn example() -> Segment {
        let mut builder = SegmentBuilder::default();
        builder.text("a ");
        builder.open("b", Code::literal("<b>"));
        builder.text("1 < 2 &amp;");
        builder.open("i", Code::literal("<i>"));
        builder.close("b", Code::literal("</b>"));
        builder.line_break(Code::literal("\n"));
        builder.text("c");
        builder.close("i", Code::literal("</i>"));
        builder.hidden(Code::literal("{h}"));
        builder.sentence_end(Code::literal("|"));
        builder.point(Code::literal("{p}"));
        builder.text("d");
        builder.finish(3..9, &PlainText).unwrap()
    }

    fn written(segment: &Segment, translation: &str) -> String {
        let pieces = placed_breaks(segment.pieces(translation), segment);
        segment.syntax.write(segment, &pieces, &|code| match code {
            Code::Literal(text) => text.clone(),
            Code::Part(_) | Code::Framed { .. } => String::new(),
        })
    }

    #[test]
    fn markup_is_numbered_tags() {
        let segment = example();
        assert_eq!(segment.text, "a <x0>1 &lt; 2 &amp;amp;<x1/></x0> c<x2/><!--3--><br x4><x5/>d");
        assert_eq!(written(&segment, &segment.text), "a <b>1 < 2 &amp;<i></b>\nc</i>{h}|{p}d");
        assert_eq!((segment.at, segment.range.clone()), (3, 3..9));
    }

    #[test]
    fn translations_are_written_with_their_markup() {
        let segment = example();
        assert_eq!(written(&segment, "<x5/>e <x0>&lt;x0&gt;</x0>"), "{p}e\n<b><x0></b>");
        assert_eq!(written(&segment, "<x9> <x <x1> <!-- 3 --> é<"), "<x9> <x <x1> <!-- 3\n--> é<", "no tags of ours");
        assert_eq!(written(&segment, ""), "");
    }

    #[test]
    fn text_without_letters_is_no_segment() {
        let mut builder = SegmentBuilder::default();
        builder.text("12 %");
        builder.point(Code::literal("abc"));
        assert!(builder.finish(0..1, &PlainText).is_none());
    }
}
