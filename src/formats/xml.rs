//! Events of XML, with their places in the file.

use std::borrow::Cow;
use std::io::{BufRead, Read, Result as IoResult};
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::pair_reader::{FormatError, on_one_line};
use super::segment::{Syntax, end_indices};

/// Deepest nesting of elements.
const MAX_DEPTH: usize = 1000;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Maximum bytes of a text, a tag or a comment in a stream.
const MAX_EVENT_BYTES: usize = 64 << 20;

/// Start tag of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    /// Name without the prefix of its namespace.
    pub name: String,
    /// Prefix of its namespace with the colon, or nothing.
    pub prefix: String,
    /// Attributes with their prefixes and decoded values.
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// Returns the value of an attribute, which is named with its prefix.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }

    /// True if an attribute has this value.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.attribute(name) == Some(value)
    }
}

/// Part of an XML file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum XmlEvent {
    /// Start tag.
    Start(Tag),
    /// Start tag of an element that ends at once.
    Empty(Tag),
    /// End tag, with its name without prefix.
    End(String),
    /// Text, decoded.
    Text(String),
    /// Comment, processing instruction, declaration or document type.
    Other,
}

/// Event with its bytes in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlacedEvent {
    pub event: XmlEvent,
    pub range: Range<usize>,
}

/// Reader of the events of a file. Entities that a document type defines stay as they are written.
pub(super) struct XmlReader<R> {
    reader: Reader<LineCounter<R>>,
    buffer: Vec<u8>,
    /// Bytes before the first event: those of a byte order mark.
    skipped: usize,
    depth: usize,
    ended: bool,
}

impl<R: BufRead> XmlReader<R> {
    /// Reads a file in UTF-8.
    pub fn new(mut reader: R) -> Self {
        let has_mark = reader.fill_buf().is_ok_and(|start| start.starts_with(BYTE_ORDER_MARK));
        let skipped = if has_mark { BYTE_ORDER_MARK.len() } else { 0 };
        reader.consume(skipped);
        let mut reader = Reader::from_reader(LineCounter { reader, lines: 0 });
        // Translators' programs write lone ampersands at times.
        reader.config_mut().allow_dangling_amp = true;
        Self { reader, buffer: Vec::new(), skipped, depth: 0, ended: false }
    }

    /// Number of the line that is read, from 1.
    pub fn line(&self) -> usize {
        self.reader.get_ref().lines + 1
    }

    /// Returns an error at the line that is read, after which nothing can be read.
    pub fn error(&self, reason: impl Into<String>) -> FormatError {
        FormatError::last(self.line(), reason)
    }

    /// Returns the next event; none at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, or is not well-formed.
    pub fn next_event(&mut self) -> Result<Option<PlacedEvent>, FormatError> {
        if self.ended {
            return Ok(None);
        }
        let start = self.position();
        self.buffer.clear();
        let event = match self.reader.read_event_into(&mut self.buffer) {
            Ok(Event::Eof) if self.depth > 0 => return Err(self.error("the file ends within an element; it was cut")),
            Ok(Event::Eof) => {
                self.ended = true;
                return Ok(None);
            }
            Ok(event) => converted(&event),
            Err(error) => return Err(self.error(format!("not well-formed XML: {error}"))),
        };
        match &event {
            XmlEvent::Start(_) => self.depth += 1,
            XmlEvent::End(_) => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("elements are nested more than {MAX_DEPTH} deep")));
        }
        if self.buffer.len() > MAX_EVENT_BYTES {
            return Err(self.error(format!("text of more than {} MiB", MAX_EVENT_BYTES >> 20)));
        }
        Ok(Some(PlacedEvent { event, range: start..self.position() }))
    }

    /// Reads the text of an element after its start tag, on one line, as a reader sees it: elements with these names hold the code
    /// of another format.
    ///
    /// # Errors
    /// As [`Self::next_event`].
    pub fn read_text(&mut self, codes: &[&str]) -> Result<String, FormatError> {
        let mut text = String::new();
        let mut depth = 0;
        // Depth at which code began.
        let mut code = None;
        while let Some(placed) = self.next_event()? {
            match placed.event {
                XmlEvent::Start(tag) => {
                    if codes.contains(&&*tag.name) {
                        code.get_or_insert(depth);
                    }
                    depth += 1;
                }
                XmlEvent::End(_) if depth == 0 => break,
                XmlEvent::End(_) => {
                    depth -= 1;
                    code.take_if(|start| *start == depth);
                }
                XmlEvent::Text(part) if code.is_none() => text.push_str(&part),
                _ => {}
            }
        }
        Ok(on_one_line(&text))
    }

    fn position(&self) -> usize {
        self.skipped + usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX - self.skipped)
    }
}

/// Returns all events of a file that is in memory.
///
/// # Errors
/// It is not well-formed.
pub(super) fn events_of(text: &str) -> Result<Vec<PlacedEvent>, FormatError> {
    let mut reader = XmlReader::new(text.as_bytes());
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    Ok(events)
}

/// Returns for each start tag the index of its end tag, for other events their own index.
pub(super) fn end_tags(events: &[PlacedEvent]) -> Vec<usize> {
    end_indices(events, |placed| match placed.event {
        XmlEvent::Start(_) => Some(true),
        XmlEvent::End(_) => Some(false),
        _ => None,
    })
}

fn converted(event: &Event) -> XmlEvent {
    match event {
        Event::Start(tag) => XmlEvent::Start(start_tag(tag)),
        Event::Empty(tag) => XmlEvent::Empty(start_tag(tag)),
        Event::End(tag) => XmlEvent::End(split_name(tag.name().0).1.to_owned()),
        Event::Text(text) => XmlEvent::Text((**text).to_owned()),
        Event::CData(text) => XmlEvent::Text((**text).to_owned()),
        Event::GeneralRef(name) => XmlEvent::Text(decoded(&format!("&{};", &**name)).into_owned()),
        _ => XmlEvent::Other,
    }
}

fn start_tag(tag: &BytesStart) -> Tag {
    let (prefix, local) = split_name(tag.name().0);
    let mut attributes = Vec::new();
    for attribute in tag.attributes().with_checks(false).flatten() {
        attributes.push((attribute.key.0.to_owned(), decoded(&attribute.value).into_owned()));
    }
    Tag { name: local.to_owned(), prefix: prefix.to_owned(), attributes }
}

/// Splits a name after the prefix of its namespace.
fn split_name(name: &str) -> (&str, &str) {
    name.split_at(name.find(':').map_or(0, |colon| colon + 1))
}

/// Decodes character references, those of HTML too.
fn decoded(text: &str) -> Cow<'_, str> {
    html_escape::decode_html_entities(text)
}

/// Appends a text of XML, with the characters that end a text as references.
pub(super) fn push_escaped(output: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => output.push_str("&amp;"),
            '<' => output.push_str("&lt;"),
            '>' => output.push_str("&gt;"),
            // These would be lost or are no characters of XML.
            '\r' => output.push_str("&#13;"),
            '\u{fffe}' | '\u{ffff}' => {}
            control if control < ' ' && control != '\t' && control != '\n' => {}
            other => output.push(other),
        }
    }
}

/// Syntax of text in XML.
pub(super) struct XmlText;

impl Syntax for XmlText {
    fn push_text(&self, output: &mut String, text: &str) {
        push_escaped(output, text);
    }
}

/// Reader that counts line ends.
struct LineCounter<R> {
    reader: R,
    lines: usize,
}

impl<R: BufRead> Read for LineCounter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let read = self.reader.read(buffer)?;
        self.lines += line_ends(&buffer[..read]);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for LineCounter<R> {
    fn fill_buf(&mut self) -> IoResult<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if let Ok(bytes) = self.reader.fill_buf() {
            self.lines += line_ends(&bytes[..amount.min(bytes.len())]);
        }
        self.reader.consume(amount);
    }
}

fn line_ends(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_cover_the_file() {
        let text = "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY e 'x'>]>\n<p:a b='1 &amp; 2' x:c=\"é\">t &lt; &e;<!-- c -->\
                    <b/> & &eacute;<![CDATA[<&]]></p:a >\n";
        let events = events_of(text).unwrap();
        let covered: String = events.iter().map(|placed| &text[placed.range.clone()]).collect();
        assert_eq!(covered, text);
        let start = events.iter().find_map(|placed| match &placed.event {
            XmlEvent::Start(tag) => Some(tag.clone()),
            _ => None,
        });
        let start = start.unwrap();
        assert_eq!((&*start.name, &*start.prefix, start.attribute("b")), ("a", "p:", Some("1 & 2")));
        assert!(start.has("x:c", "é") && !start.has("c", "é"));
        let texts: String =
            events.iter().map(|placed| if let XmlEvent::Text(text) = &placed.event { text } else { "" }).collect();
        assert_eq!(texts, "\nt < &e; & é<&\n", "nothing that a document type defines is read");
        assert!(events.iter().any(|placed| placed.event == XmlEvent::End("a".to_owned())));
    }

    #[test]
    fn finds_end_tags() {
        let events = events_of("<a><b/>x<c></c></a>").unwrap();
        assert_eq!(end_tags(&events), [5, 1, 2, 4, 4, 5]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line) in [("<a>\n<b>\n</a>", 3), ("<a>\n\n", 3), ("<a>\n<b", 2)] {
            assert_eq!(events_of(text).unwrap_err().line, line, "{text}");
        }
        let deep = "<a>".repeat(2000);
        assert!(events_of(&deep).unwrap_err().reason.contains("nested"));
    }

    #[test]
    fn escapes_what_is_no_text() {
        let mut escaped = String::new();
        push_escaped(&mut escaped, "a<b>&\u{1}\r\"é");
        assert_eq!(escaped, "a&lt;b&gt;&amp;&#13;\"é");
    }

    #[test]
    fn texts_have_no_code() {
        let mut reader = XmlReader::new("<a>a <ph>&lt;b><sub>sub</sub></ph><g>b\n  c</g><x/></a>d".as_bytes());
        reader.next_event().unwrap();
        assert_eq!(reader.read_text(&["ph"]).unwrap(), "a b c");
        assert_eq!(reader.next_event().unwrap().unwrap().event, XmlEvent::Text("d".to_owned()));
    }
}
