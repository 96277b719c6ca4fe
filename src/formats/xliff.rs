//! XLIFF 1.2 and 2, the exchange format of localization: units with a source and, once translated, a target.

use std::ops::Range;

use super::file_format::FileFormat;
use super::input::ByteReader;
use super::languages::is_reversed;
use super::pair_reader::{FormatError, PairReader};
use super::segment::{Code, Segment, SegmentBuilder};
use super::text_document::{TextDocument, text_document};
use super::xml::{PlacedEvent, Tag, XmlEvent, XmlReader, XmlText, end_tags};

/// Elements inside of a text whose content is the code of another format.
const CODES: [&str; 4] = ["bpt", "ept", "it", "ph"];

/// States of a target that is not a translation yet.
const UNTRANSLATED: [&str; 3] = ["new", "needs-translation", "initial"];

/// XLIFF.
pub(super) static XLIFF: FileFormat = FileFormat {
    name: "XLIFF",
    extensions: &["xlf", "xliff", "sdlxliff", "mqxliff", "mxliff"],
    is_start: |start| start.starts_with('<') && start.contains("<xliff"),
    pairs: Some(|input, sides| Ok(Box::new(XliffPairs::new(input.into_reader(), sides)))),
    document: Some(|input| text_document(input, parse)),
};

/// True for an element with a source and a target: in version 2, a unit consists of segments.
fn is_unit(name: &str) -> bool {
    name == "trans-unit" || name == "segment"
}

/// Pairs of the units that have a target.
struct XliffPairs {
    xml: XmlReader<ByteReader>,
    sides: Option<[String; 2]>,
    /// Languages of the file, as far as they are known.
    languages: [Option<String>; 2],
}

impl XliffPairs {
    fn new(reader: ByteReader, sides: Option<&[String; 2]>) -> Self {
        Self { xml: XmlReader::new(reader), sides: sides.cloned(), languages: [None, None] }
    }

    /// Reads a unit after its start tag. Returns its texts if it has both.
    fn read_unit(&mut self, unit: &str) -> Result<Option<[String; 2]>, FormatError> {
        let (mut source, mut target) = (None, None);
        let mut alternatives = 0;
        while let Some(placed) = self.xml.next_event()? {
            match placed.event {
                XmlEvent::Start(tag) if tag.name == "alt-trans" => alternatives += 1,
                XmlEvent::End(name) if name == "alt-trans" => alternatives -= 1,
                XmlEvent::Start(tag) if alternatives == 0 && tag.name == "source" => {
                    source = Some(self.xml.read_text(&CODES)?)
                }
                XmlEvent::Start(tag) if alternatives == 0 && tag.name == "target" => {
                    let text = self.xml.read_text(&CODES)?;
                    target = Some(text).filter(|text| !text.is_empty() && !is_untranslated(&tag));
                }
                XmlEvent::End(name) if name == unit => break,
                _ => {}
            }
        }
        Ok(source.zip(target).map(|(source, target)| [source, target]))
    }
}

/// True if the state of a target says that it is not translated.
fn is_untranslated(target: &Tag) -> bool {
    target.attribute("state").is_some_and(|state| UNTRANSLATED.contains(&state))
}

impl PairReader for XliffPairs {
    fn next_pair(&mut self) -> Result<Option<[String; 2]>, FormatError> {
        while let Some(placed) = self.xml.next_event()? {
            let XmlEvent::Start(tag) = placed.event else { continue };
            for (side, names) in [["source-language", "srcLang"], ["target-language", "trgLang"]].iter().enumerate() {
                let language = names.iter().find_map(|name| tag.attribute(name));
                self.languages[side] = language.map(str::to_owned).or(self.languages[side].take());
            }
            if is_unit(&tag.name)
                && let Some([source, target]) = self.read_unit(&tag.name)?
            {
                let languages = [self.languages[0].as_deref(), self.languages[1].as_deref()];
                let reversed = is_reversed(self.sides.as_ref(), languages)?;
                return Ok(Some(if reversed { [target, source] } else { [source, target] }));
            }
        }
        Ok(None)
    }

    fn languages(&self) -> Option<[String; 2]> {
        let [source, target] = &self.languages;
        Some([source.clone()?, target.clone()?])
    }
}

/// Element with its place.
struct Element {
    tag: Tag,
    /// Bytes of its start tag.
    start: Range<usize>,
    /// Events of its content.
    content: Vec<PlacedEvent>,
    /// Bytes of its content; none of an element without an end tag.
    inner: Option<Range<usize>>,
    /// Position after it.
    end: usize,
}

/// Unit as it is parsed.
#[derive(Default)]
struct Unit {
    source: Option<Element>,
    /// Source in sentences, if a program has segmented it.
    segmented: Option<Element>,
    target: Option<Element>,
}

/// Returns the units that have no translation as segments.
fn parse(text: &str) -> Result<TextDocument, FormatError> {
    let mut reader = XmlReader::new(text.as_bytes());
    let mut segments = Vec::new();
    let mut unit = Unit::default();
    // Whether the content of each element is translated.
    let mut translated: Vec<bool> = Vec::new();
    let mut alternatives = 0;
    while let Some(PlacedEvent { event, range }) = reader.next_event()? {
        match event {
            XmlEvent::Start(tag) | XmlEvent::Empty(tag)
                if alternatives == 0 && matches!(&*tag.name, "source" | "target" | "seg-source") =>
            {
                let name = tag.name.clone();
                let mut element = Element { tag, end: range.end, start: range, content: Vec::new(), inner: None };
                if !text[element.start.clone()].ends_with("/>") {
                    element.read_content(&mut reader)?;
                }
                match &*name {
                    "source" => unit.source = Some(element),
                    "target" => unit.target = Some(element),
                    _ => unit.segmented = Some(element),
                }
            }
            XmlEvent::Start(tag) => {
                alternatives += usize::from(tag.name == "alt-trans");
                if is_unit(&tag.name) {
                    unit = Unit::default();
                }
                let inherited = translated.last().copied().unwrap_or(true);
                translated.push(tag.attribute("translate").map_or(inherited, |value| value != "no"));
            }
            XmlEvent::End(name) => {
                alternatives -= usize::from(name == "alt-trans" && alternatives > 0);
                if translated.pop() == Some(true) && is_unit(&name) {
                    segments.extend(segment(text, std::mem::take(&mut unit)));
                }
            }
            _ => {}
        }
    }
    Ok(TextDocument::new(text.to_owned(), segments))
}

impl Element {
    /// Reads the content and the end tag of an element whose start tag was read.
    fn read_content(&mut self, reader: &mut XmlReader<&[u8]>) -> Result<(), FormatError> {
        let mut depth = 0;
        while let Some(placed) = reader.next_event()? {
            match placed.event {
                XmlEvent::Start(_) => depth += 1,
                XmlEvent::End(_) if depth == 0 => {
                    self.inner = Some(self.start.end..placed.range.start);
                    self.end = placed.range.end;
                    break;
                }
                XmlEvent::End(_) => depth -= 1,
                _ => {}
            }
            self.content.push(placed);
        }
        Ok(())
    }
}

/// Returns the segment of a unit, unless it has a translation.
fn segment(text: &str, unit: Unit) -> Option<Segment> {
    let source = unit.source?;
    let from = unit.segmented.as_ref().unwrap_or(&source);
    let builder = inline_content(text, &from.content);
    let (range, around) = match unit.target {
        Some(target) => {
            let inner = target.inner.clone().unwrap_or_default();
            let given = text[inner.clone()].trim();
            let is_copy = source.inner.as_ref().is_some_and(|source| text[source.clone()].trim() == given);
            if !given.is_empty() && !is_copy && !is_untranslated(&target.tag) {
                return None;
            }
            match target.inner {
                Some(inner) => (inner, [String::new(), String::new()]),
                None => {
                    let start = text[target.start.clone()].strip_suffix("/>").unwrap_or_default().trim_end();
                    (target.start, [format!("{start}>"), format!("</{}target>", target.tag.prefix)])
                }
            }
        }
        None => {
            let before = &text[..source.start.start];
            let indent = &before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..];
            let prefix = &source.tag.prefix;
            (from.end..from.end, [format!("{indent}<{prefix}target>"), format!("</{prefix}target>")])
        }
    };
    let segment = builder.finish(range, &XmlText)?;
    Some(Segment { at: source.start.start, around, in_place: false, ..segment })
}

/// Returns the content of a source, its markup as codes.
fn inline_content(text: &str, content: &[PlacedEvent]) -> SegmentBuilder {
    let ends = end_tags(content);
    let mut builder = SegmentBuilder::default();
    // Indices of the start tags, none for those of sentences.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut index = 0;
    while let Some(PlacedEvent { event, range }) = content.get(index) {
        let code = Code::literal(&text[range.clone()]);
        match event {
            XmlEvent::Text(part) => builder.text(part),
            XmlEvent::Empty(tag) => add_empty(&mut builder, tag, code),
            XmlEvent::Start(tag) if CODES.contains(&&*tag.name) || tag.has("translate", "no") => {
                let end = ends[index];
                add_empty(&mut builder, tag, Code::literal(&text[range.start..content[end].range.end]));
                index = end;
            }
            XmlEvent::Start(tag) if tag.name == "mrk" && tag.has("mtype", "seg") => {
                open.push(None);
                builder.sentence_end(code);
            }
            XmlEvent::Start(_) => {
                open.push(Some(index));
                builder.open(index.to_string(), code);
            }
            XmlEvent::End(_) => match open.pop().flatten() {
                Some(start) => builder.close(start.to_string(), code),
                None => builder.sentence_end(code),
            },
            XmlEvent::Other => builder.hidden(code),
        }
        index += 1;
    }
    builder
}

/// Adds an element without text: the start or the end of markup that a pair of them encloses, or a point.
fn add_empty(builder: &mut SegmentBuilder, tag: &Tag, code: Code) {
    let key = tag.attribute("rid").or(tag.attribute("startRef")).or(tag.attribute("id")).unwrap_or_default();
    match &*tag.name {
        "bpt" | "bx" | "sc" => builder.open(format!("pair {key}"), code),
        "ept" | "ex" | "ec" => builder.close(format!("pair {key}"), code),
        _ => builder.point(code),
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Document;
    use super::super::input::reader_of;
    use super::super::pair_reader::all_pairs;
    use super::*;

    const V1: &str = "<?xml version=\"1.0\"?>\n<xliff version=\"1.2\"><file source-language=\"en\" target-language=\"fr\"><body>\n\
        <trans-unit id=\"1\">\n  <source>The <g id=\"1\">red</g> fox<x id=\"2\"/> &amp; I</source>\n</trans-unit>\n\
        <trans-unit id=\"2\"><source>the <bpt id=\"1\">&lt;b></bpt>owl<ept id=\"1\">&lt;/b></ept></source><target>le hibou</target>\
        <alt-trans><source>x</source><target>y</target></alt-trans></trans-unit>\n\
        <trans-unit id=\"3\" translate=\"no\"><source>Name</source></trans-unit>\n\
        <trans-unit id=\"4\"><source>a <bpt id=\"1\">{</bpt>cat<ept id=\"1\">}</ept></source><target state=\"new\"/></trans-unit>\n\
        <trans-unit id=\"5\"><source>One. Two.</source><seg-source><mrk mtype=\"seg\" mid=\"1\">One.</mrk> \
        <mrk mtype=\"seg\" mid=\"2\">Two.</mrk></seg-source></trans-unit>\n\
        <trans-unit id=\"6\"><source>copy</source><target>copy</target></trans-unit>\n</body></file></xliff>\n";

    const V2: &str = "<x:xliff xmlns:x=\"u\" version=\"2.0\" srcLang=\"en\" trgLang=\"fr\"><x:file id=\"f\"><x:unit id=\"1\">\
        <x:segment><x:source>The <x:pc id=\"1\">fox</x:pc> <x:sc id=\"2\"/>runs<x:ec startRef=\"2\"/>.<x:ph id=\"3\"/></x:source></x:segment>\
        <x:ignorable><x:source> </x:source></x:ignorable>\
        <x:segment state=\"final\"><x:source>It is <x:mrk id=\"m\" translate=\"no\">Bob</x:mrk>.</x:source>\
        <x:target>C'est <x:mrk id=\"m\" translate=\"no\">Bob</x:mrk>.</x:target></x:segment></x:unit></x:file></x:xliff>";

    fn pairs(text: &str, sides: Option<[&str; 2]>) -> Result<Vec<[String; 2]>, FormatError> {
        let sides = sides.map(|sides| sides.map(str::to_owned));
        all_pairs(&mut XliffPairs::new(reader_of(text), sides.as_ref()))
    }

    #[test]
    fn pairs_are_the_units_that_are_translated() {
        assert_eq!(pairs(V1, None).unwrap(), [["the owl", "le hibou"], ["copy", "copy"]]);
        assert_eq!(pairs(V1, Some(["fr", "en"])).unwrap()[0], ["le hibou", "the owl"]);
        assert_eq!(pairs(V2, None).unwrap(), [["It is Bob.", "C'est Bob."]]);
        assert!(pairs(V2, Some(["en", "de"])).is_err());
    }

    #[test]
    fn targets_are_written_where_they_are_missing() {
        let document = parse(V1).unwrap();
        let texts =
            ["The <x0>red</x0> fox<x1/> &amp; I", "a <x0>cat</x0>", "<br x0>One.<br x1> <br x2>Two.<br x3>", "copy"];
        assert_eq!(document.texts(), texts);
        assert_eq!(document.lines(), [4, 8, 9, 10]);
        let translations = [
            "Le renard <x0>roux</x0><x1/> &amp; moi",
            "un <x0>chat</x0>",
            "<br x0>Un.<br x1> <br x2>Deux.<br x3>",
            "copie",
        ];
        let written = document.translated(&translations.map(str::to_owned));
        let expected = V1
            .replace(
                "I</source>\n",
                "I</source>\n  <target>Le renard <g id=\"1\">roux</g><x id=\"2\"/> &amp; moi</target>\n",
            )
            .replace(
                "<target state=\"new\"/>",
                "<target state=\"new\">un <bpt id=\"1\">{</bpt>chat<ept id=\"1\">}</ept></target>",
            )
            .replace(
                "</seg-source>",
                "</seg-source><target><mrk mtype=\"seg\" mid=\"1\">Un.</mrk> <mrk mtype=\"seg\" mid=\"2\">Deux.</mrk></target>",
            )
            .replace("<target>copy</target>", "<target>copie</target>");
        assert_eq!(written, expected);
        assert_eq!(pairs(&written, None).unwrap()[0], ["The red fox & I", "Le renard roux & moi"]);
    }

    #[test]
    fn version_2_has_segments_in_units() {
        let document = parse(V2).unwrap();
        assert_eq!(document.texts(), ["The <x0>fox</x0> <x1>runs</x1>.<x2/>"]);
        let written = document.translated(&["<x1>Court</x1> le <x0>renard</x0>.<x2/>".to_owned()]);
        let expected = "</x:source><x:target><x:sc id=\"2\"/>Court<x:ec startRef=\"2\"/> le <x:pc id=\"1\">renard</x:pc>.\
            <x:ph id=\"3\"/></x:target></x:segment>";
        assert!(written.contains(expected), "{written}");
    }

    #[test]
    fn reports_the_line_of_a_damaged_file() {
        assert_eq!(parse("<xliff>\n<file>\n</xliff>").err().unwrap().line, 3);
    }
}
