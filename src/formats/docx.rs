//! Word documents: the paragraphs of the body, of headers, footers and notes. A paragraph consists of runs of text, each with its
//! formatting. The formatting of most of the text is that of the translation; runs with another one are elements.

use std::collections::BTreeMap;
use std::ops::Range;

use super::file_format::FileFormat;
use super::package::open_package;
use super::pair_reader::FormatError;
use super::segment::{Code, Marker, Piece, Segment, SegmentBuilder, Syntax};
use super::text_document::TextDocument;
use super::xml::{PlacedEvent, Tag, XmlEvent, end_tags, events_of, push_escaped};

/// Prefix of the elements of a text.
const PREFIX: &str = "w:";

/// Word document.
pub(super) static DOCX: FileFormat = FileFormat {
    name: "a Word document (.docx)",
    extensions: &["docx", "docm", "dotx"],
    document: Some(|input| open_package(input, DOCX.name, has_texts, parse)),
    ..FileFormat::UNKNOWN
};

fn has_texts(name: &str) -> bool {
    let part = name.strip_prefix("word/").and_then(|name| name.strip_suffix(".xml"));
    part.is_some_and(|part| {
        matches!(part, "document" | "footnotes" | "endnotes")
            || part.starts_with("header")
            || part.starts_with("footer")
    })
}

/// Syntax of the runs of a paragraph.
struct Runs;

impl Syntax for Runs {
    fn push_text(&self, output: &mut String, text: &str) {
        push_escaped(output, text);
    }

    /// Writes a run for each piece of text. Elements that are formatting are literals, others are parts of the document.
    fn write(&self, segment: &Segment, pieces: &[Piece], code: &dyn Fn(&Code) -> String) -> String {
        let mut output = String::new();
        let mut formats: Vec<&str> = vec![&segment.format];
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    let format = formats.last().copied().unwrap_or_default();
                    output.push_str(&format!("<w:r>{format}<w:t xml:space=\"preserve\">"));
                    self.push_text(&mut output, text);
                    output.push_str("</w:t></w:r>");
                }
                Piece::Open(number) | Piece::Close(number) => match (&segment.markers[*number], piece) {
                    (Marker::Element { open: Code::Literal(format), .. }, Piece::Open(_)) => formats.push(format),
                    (Marker::Element { open: Code::Literal(_), .. }, _) => {
                        formats.pop();
                    }
                    _ => output.push_str(&code(segment.code(piece, *number))),
                },
                Piece::Point(number) => output.push_str(&code(segment.code(piece, *number))),
                Piece::Break(number) => output.push_str(&code(&segment.breaks[*number].code)),
            }
        }
        output
    }
}

/// Returns the paragraphs of an XML file as segments.
fn parse(text: &str) -> Result<TextDocument, FormatError> {
    let events = events_of(text)?;
    let ends = end_tags(&events);
    let file = XmlFile { text, events: &events, ends: &ends };
    let mut segments = Vec::new();
    for (index, placed) in events.iter().enumerate() {
        if let XmlEvent::Start(tag) = &placed.event
            && is_named(tag, "p")
        {
            segments.extend(file.paragraph(index));
        }
    }
    Ok(TextDocument::new(text.to_owned(), segments))
}

fn is_named(tag: &Tag, name: &str) -> bool {
    tag.prefix == PREFIX && tag.name == name
}

/// XML file with the places of its elements.
#[derive(Clone, Copy)]
struct XmlFile<'d> {
    text: &'d str,
    events: &'d [PlacedEvent],
    /// Index of the end tag of each start tag.
    ends: &'d [usize],
}

impl XmlFile<'_> {
    /// Returns the start tag or the empty element at an index.
    fn tag(&self, index: usize) -> Option<&Tag> {
        match &self.events[index].event {
            XmlEvent::Start(tag) | XmlEvent::Empty(tag) if tag.prefix == PREFIX => Some(tag),
            _ => None,
        }
    }

    /// True if an element with this name begins at an index.
    fn begins(&self, index: usize, name: &str) -> bool {
        self.tag(index).is_some_and(|tag| tag.name == name)
    }

    /// Bytes of the element that begins at an index.
    fn range(&self, index: usize) -> Range<usize> {
        self.events[index].range.start..self.events[self.ends[index]].range.end
    }

    /// Indices of the children of the element that begins at an index.
    fn children(&self, index: usize) -> Vec<usize> {
        let mut children = Vec::new();
        let mut child = index + 1;
        while child < self.ends[index] {
            if matches!(self.events[child].event, XmlEvent::Start(_) | XmlEvent::Empty(_)) {
                children.push(child);
            }
            child = self.ends[child] + 1;
        }
        children
    }

    /// Formatting of a run: without the language, which is another in the translation.
    fn format(&self, run: usize) -> String {
        let Some(&properties) = self.children(run).first().filter(|&&child| self.begins(child, "rPr")) else {
            return String::new();
        };
        let mut format = String::new();
        for child in self.children(properties) {
            if !self.begins(child, "lang") && !self.begins(child, "noProof") {
                format.push_str(&self.text[self.range(child)]);
            }
        }
        if format.is_empty() { format } else { format!("<w:rPr>{format}</w:rPr>") }
    }

    /// Text of the element that begins at an index.
    fn text_of(&self, index: usize) -> String {
        let mut text = String::new();
        for placed in &self.events[index..=self.ends[index]] {
            if let XmlEvent::Text(part) = &placed.event {
                text.push_str(part);
            }
        }
        text
    }

    /// Returns the segment of the paragraph that begins at an index.
    fn paragraph(self, index: usize) -> Option<Segment> {
        let children = self.children(index);
        let properties = children.first().filter(|&&child| self.begins(child, "pPr"));
        let first = properties.map_or(index + 1, |&properties| self.ends[properties] + 1);
        let end = self.ends[index];
        let base = self.base_format(&children);
        let mut paragraph = Paragraph {
            file: self,
            base,
            open: None,
            fields: Vec::new(),
            has_open_field: false,
            builder: SegmentBuilder::default(),
        };
        paragraph.read(first..end);
        let Paragraph { base, builder, .. } = paragraph;
        let start = self.events[first].range.start;
        let segment = builder.finish(start..self.events[end].range.start, &Runs)?;
        Some(Segment { format: base, ..segment })
    }

    /// Returns the formatting of most of the text of a paragraph with these children.
    fn base_format(&self, children: &[usize]) -> String {
        let mut lengths: BTreeMap<String, usize> = BTreeMap::new();
        for &run in children.iter().filter(|&&child| self.begins(child, "r")) {
            let texts = self.children(run).into_iter().filter(|&child| self.begins(child, "t"));
            let length: usize = texts.map(|text| self.text_of(text).chars().count()).sum();
            *lengths.entry(self.format(run)).or_default() += length;
        }
        let longest = lengths.into_iter().rev().max_by_key(|(_, length)| *length);
        longest.map(|(format, _)| format).unwrap_or_default()
    }

    /// Returns the places of the field that begins in a run, if it ends before `end`.
    fn field(&self, run: usize, end: usize) -> Option<Field> {
        let mut field = Field { separator: None, last: 0, instruction: String::new() };
        let mut depth = 0;
        for index in run..end {
            if self.begins(index, "instrText") && depth == 1 && field.separator.is_none() {
                field.instruction.push_str(&self.text_of(index));
            }
            if self.begins(index, "r") {
                field.last = index;
            }
            if !self.begins(index, "fldChar") {
                continue;
            }
            match self.tag(index).and_then(|tag| tag.attribute("w:fldCharType")) {
                Some("begin") => depth += 1,
                Some("separate") if depth == 1 => field.separator = Some(field.last),
                Some("end") => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(field);
            }
        }
        None
    }

    /// True if a field begins in a run.
    fn begins_field(&self, run: usize) -> bool {
        self.children(run).into_iter().any(|child| {
            self.begins(child, "fldChar") && self.tag(child).is_some_and(|tag| tag.has("w:fldCharType", "begin"))
        })
    }
}

/// Field, such as the number of a page or a link.
struct Field {
    /// Run after which its result begins.
    separator: Option<usize>,
    /// Run that ends it.
    last: usize,
    instruction: String,
}

/// Element of runs with the same formatting.
struct OpenRuns {
    format: String,
    /// Name of the element in the segment.
    key: String,
}

/// Paragraph that is read.
struct Paragraph<'d> {
    file: XmlFile<'d>,
    /// Formatting of text outside of elements.
    base: String,
    /// Element of runs that is open.
    open: Option<OpenRuns>,
    /// Last runs of the links that are open.
    fields: Vec<usize>,
    /// True once a field was found that ends in another paragraph.
    has_open_field: bool,
    builder: SegmentBuilder,
}

impl Paragraph<'_> {
    /// Reads the events with these indices.
    fn read(&mut self, indices: Range<usize>) {
        let mut index = indices.start;
        while index < indices.end {
            let range = self.file.events[index].range.clone();
            match &self.file.events[index].event {
                XmlEvent::Start(tag) if is_named(tag, "r") => index = self.read_run(index, indices.end),
                XmlEvent::Start(tag) if matches!(&*tag.name, "hyperlink" | "ins" | "smartTag") => {
                    self.close_format();
                    self.builder.open(self.file.ends[index].to_string(), Code::Part(range));
                }
                XmlEvent::End(_) => {
                    self.close_format();
                    self.builder.close(index.to_string(), Code::Part(range));
                }
                XmlEvent::Start(tag) => {
                    let is_visible = !matches!(&*tag.name, "del" | "moveFrom");
                    self.add_point(Code::Part(self.file.range(index)), is_visible);
                    index = self.file.ends[index];
                }
                // Where the spelling of the source was wrong.
                XmlEvent::Empty(tag) if tag.name == "proofErr" => {}
                XmlEvent::Empty(_) => self.add_point(Code::Part(range), false),
                XmlEvent::Text(_) | XmlEvent::Other => {}
            }
            index += 1;
        }
        self.close_format();
    }

    fn add_point(&mut self, code: Code, is_visible: bool) {
        if is_visible { self.builder.point(code) } else { self.builder.hidden(code) }
    }

    /// Reads a run, or the whole field that begins in it. Returns the index of its last event.
    fn read_run(&mut self, run: usize, end: usize) -> usize {
        if self.fields.pop_if(|last| *last == run).is_some() {
            self.close_format();
            self.builder.close(format!("field {run}"), Code::Part(self.file.range(run)));
            return self.file.ends[run];
        }
        if self.file.begins_field(run) {
            // Fields of several paragraphs are rare, and their search takes long.
            let field = if self.has_open_field { None } else { self.file.field(run, end) };
            let Some(Field { separator, last, instruction }) = field else {
                self.has_open_field = true;
                self.add_point(Code::Part(self.file.range(run)), false);
                return self.file.ends[run];
            };
            let start = self.file.range(run).start;
            if let Some(separator) = separator.filter(|_| instruction.contains("HYPERLINK")) {
                self.close_format();
                self.builder.open(format!("field {last}"), Code::Part(start..self.file.range(separator).end));
                self.fields.push(last);
                return self.file.ends[separator];
            }
            self.builder.point(Code::Part(start..self.file.range(last).end));
            return self.file.ends[last];
        }
        let format = self.file.format(run);
        let children = self.file.children(run);
        let contents = children.iter().filter(|&&child| !self.file.begins(child, "rPr")).count();
        for child in children {
            let code = if contents == 1 { Code::Part(self.file.range(run)) } else { self.framed(child, &format) };
            self.read_child(child, &format, code);
        }
        self.file.ends[run]
    }

    /// Reads an element of a run. `code` is the run with this element alone.
    fn read_child(&mut self, child: usize, format: &str, code: Code) {
        let name = self.file.tag(child).map(|tag| tag.name.clone()).unwrap_or_default();
        match &*name {
            "rPr" | "lastRenderedPageBreak" => {}
            "t" => {
                let text = self.file.text_of(child);
                self.push_text(&text, format);
            }
            "noBreakHyphen" => self.push_text("\u{2011}", format),
            "tab" | "ptab" | "br" | "cr" => self.builder.sentence_end(code),
            _ => self.add_point(code, name != "instrText" && name != "fldChar"),
        }
    }

    /// Returns an element of a run as a run of its own.
    fn framed(&self, child: usize, format: &str) -> Code {
        Code::Framed { before: format!("<w:r>{format}"), part: self.file.range(child), after: "</w:r>".to_owned() }
    }

    /// Appends text with this formatting.
    fn push_text(&mut self, text: &str, format: &str) {
        if text.is_empty() {
            return;
        }
        let is_open = self.open.as_ref().is_some_and(|open| open.format == format);
        if !is_open {
            self.close_format();
            if format != self.base {
                let key = format!("format {}", self.builder.len());
                self.builder.open(key.clone(), Code::literal(format));
                self.open = Some(OpenRuns { format: format.to_owned(), key });
            }
        }
        self.builder.text(text);
    }

    fn close_format(&mut self) {
        if let Some(OpenRuns { key, .. }) = self.open.take() {
            self.builder.close(key, Code::literal(""));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::archive::archive_of;
    use super::super::document::Document;
    use super::super::input::Input;
    use super::*;

    const BODY: &str = "<?xml version=\"1.0\"?>\n<w:document xmlns:w=\"w\" xmlns:r=\"r\"><w:body>\
        <w:p w:rsidR=\"1\"><w:pPr><w:jc w:val=\"left\"/><w:rPr><w:b/></w:rPr></w:pPr>\
        <w:r w:rsidR=\"2\"><w:rPr><w:lang w:val=\"en\"/></w:rPr><w:t xml:space=\"preserve\">The </w:t></w:r>\
        <w:r><w:rPr><w:b/><w:lang w:val=\"en\"/></w:rPr><w:t>re</w:t></w:r><w:proofErr w:type=\"spellStart\"/>\
        <w:r><w:rPr><w:b/></w:rPr><w:t>d</w:t></w:r><w:r><w:t xml:space=\"preserve\"> fox &amp; I </w:t></w:r>\
        <w:hyperlink r:id=\"r1\"><w:r><w:rPr><w:u/></w:rPr><w:t>here</w:t></w:r></w:hyperlink>\
        <w:bookmarkStart w:id=\"0\"/><w:r><w:footnoteReference w:id=\"2\"/></w:r></w:p>\
        <w:p><w:r><w:t>Name:</w:t><w:tab/><w:t>Ann</w:t><w:drawing><w:txbxContent><w:p><w:r><w:t>A box</w:t></w:r></w:p></w:txbxContent></w:drawing></w:r></w:p>\
        <w:p><w:r><w:t xml:space=\"preserve\">Page </w:t></w:r><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>\
        <w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>3</w:t></w:r>\
        <w:r><w:fldChar w:fldCharType=\"end\"/></w:r><w:r><w:t xml:space=\"preserve\"> of </w:t></w:r>\
        <w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText> HYPERLINK \"u\"</w:instrText></w:r>\
        <w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>this</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r></w:p>\
        <w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p><w:p/></w:body></w:document>";

    fn parsed(text: &str) -> TextDocument {
        parse(text).unwrap()
    }

    #[test]
    fn paragraphs_are_texts() {
        let texts = [
            "The <x0>red</x0> fox &amp; I <x1><x2>here</x2></x1><!--3--><x4/>",
            "Name:<br x0>Ann<x1/>",
            "A box",
            "Page <x0/> of <x1>this</x1>",
        ];
        assert_eq!(parsed(BODY).texts(), texts);
    }

    #[test]
    fn translations_have_the_formatting() {
        let translations = [
            "<x1><x2>Ici</x2></x1> le renard <x0>roux</x0><!--3--><x4/> &lt;",
            "Nom :<br x0>Anne<x1/>",
            "Une boîte",
            "Page <x0/> de <x1>ceci</x1>",
        ];
        let written = parsed(BODY).translated(&translations.map(str::to_owned));
        let first = "</w:pPr><w:hyperlink r:id=\"r1\"><w:r><w:rPr><w:u/></w:rPr><w:t xml:space=\"preserve\">Ici</w:t></w:r></w:hyperlink>\
            <w:r><w:t xml:space=\"preserve\"> le renard </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t xml:space=\"preserve\">roux</w:t></w:r>\
            <w:bookmarkStart w:id=\"0\"/><w:r><w:footnoteReference w:id=\"2\"/></w:r><w:r><w:t xml:space=\"preserve\"> &lt;</w:t></w:r></w:p>";
        assert!(written.contains(first), "{written}");
        let second = "Nom :</w:t></w:r><w:r><w:tab/></w:r><w:r><w:t xml:space=\"preserve\">Anne</w:t></w:r><w:r><w:drawing>\
            <w:txbxContent><w:p><w:r><w:t xml:space=\"preserve\">Une boîte</w:t></w:r></w:p></w:txbxContent></w:drawing></w:r></w:p>";
        assert!(written.contains(second), "{written}");
        assert!(written.contains("<w:instrText> HYPERLINK \"u\"</w:instrText>"), "{written}");
        assert_eq!(parsed(&written).texts().len(), 4);
    }

    #[test]
    fn comes_back_as_it_was() {
        let document = parsed(BODY);
        let own: Vec<String> = document.texts().into_iter().map(str::to_owned).collect();
        assert_eq!(document.translated(&own), BODY);
        let rewritten = document.rewritten(&own);
        assert_eq!(parsed(&rewritten).texts(), own, "{rewritten}");
        assert_eq!(parsed(&rewritten).rewritten(&own), rewritten);
    }

    #[test]
    fn files_are_archives() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.docx");
        let header = BODY.replace("The ", "This ");
        let files = [("[Content_Types].xml", "<Types/>"), ("word/document.xml", BODY), ("word/header1.xml", &header)];
        std::fs::write(&path, archive_of(&files)).unwrap();
        let document = DOCX.document.unwrap()(Input::open(&path).unwrap()).unwrap();
        assert_eq!(document.texts().len(), 8);
        let own: Vec<String> = document.texts().into_iter().map(|text| text.replace("fox", "owl")).collect();
        std::fs::write(&path, document.with_translations(&own).unwrap()).unwrap();
        let again = DOCX.document.unwrap()(Input::open(&path).unwrap()).unwrap();
        assert_eq!(again.texts(), own);
    }
}
