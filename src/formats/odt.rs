//! OpenDocument texts: the paragraphs and headings of the body, of headers and of footers, with their formatting as tags.

use std::ops::Range;

use super::file_format::FileFormat;
use super::package::open_package;
use super::pair_reader::FormatError;
use super::segment::{Code, Segment, SegmentBuilder};
use super::text_document::TextDocument;
use super::xml::{PlacedEvent, XmlEvent, XmlText, end_tags, events_of};

/// OpenDocument text.
pub(super) static ODT: FileFormat = FileFormat {
    name: "an OpenDocument text",
    extensions: &["odt", "ott"],
    document: Some(|input| open_package(input, ODT.name, has_texts, parse)),
    ..FileFormat::UNKNOWN
};

fn has_texts(name: &str) -> bool {
    name == "content.xml" || name == "styles.xml"
}

/// Returns the paragraphs of an XML file as segments.
fn parse(text: &str) -> Result<TextDocument, FormatError> {
    let events = events_of(text)?;
    let ends = end_tags(&events);
    let mut segments: Vec<Segment> = Vec::new();
    let mut index = 0;
    while let Some(PlacedEvent { event, range }) = events.get(index) {
        match event {
            // What was deleted stays, in case someone wants it back.
            XmlEvent::Start(tag) if tag.name == "tracked-changes" => index = ends[index],
            XmlEvent::Start(tag) if tag.prefix == "text:" && matches!(&*tag.name, "p" | "h") => {
                let end = ends[index];
                let inner = range.end..events[end].range.start;
                segments.extend(paragraph(&events, &ends, index + 1..end).finish(inner, &XmlText));
            }
            _ => {}
        }
        index += 1;
    }
    Ok(TextDocument::new(text.to_owned(), segments))
}

/// Returns the content of a paragraph. Notes, pictures and the like are points, in which there may be paragraphs of their own.
fn paragraph(events: &[PlacedEvent], ends: &[usize], content: Range<usize>) -> SegmentBuilder {
    let mut builder = SegmentBuilder::default();
    let mut index = content.start;
    while index < content.end {
        let PlacedEvent { event, range } = &events[index];
        let code = Code::Part(range.clone());
        match event {
            XmlEvent::Text(part) => builder.text(part),
            XmlEvent::Empty(tag) => match &*tag.name {
                "tab" | "line-break" => builder.sentence_end(code),
                _ => builder.hidden(code),
            },
            XmlEvent::Start(tag) if matches!(&*tag.name, "span" | "a" | "meta") => {
                builder.open(ends[index].to_string(), code);
            }
            XmlEvent::Start(_) => {
                let end = ends[index];
                builder.point(Code::Part(range.start..events[end].range.end));
                index = end;
            }
            XmlEvent::End(_) => builder.close(index.to_string(), code),
            XmlEvent::Other => builder.hidden(code),
        }
        index += 1;
    }
    builder
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use anyhow::Result;

    use super::super::archive::{Package, archive_of};
    use super::super::document::Document;
    use super::super::input::Input;
    use super::super::text_document::testing::check_round_trips;
    use super::*;

    const CONTENT: &str = "<?xml version=\"1.0\"?>\n<office:document-content xmlns:office=\"o\" xmlns:text=\"t\"><office:body><office:text>\
        <text:tracked-changes><text:p>gone</text:p></text:tracked-changes>\
        <text:h text:outline-level=\"1\">The <text:span text:style-name=\"T1\">red</text:span> fox</text:h>\n\
        <text:p>It sleeps<text:note text:id=\"n\"><text:note-citation>1</text:note-citation><text:note-body>\
        <text:p>A <text:a xlink:href=\"u\">note</text:a></text:p></text:note-body></text:note> &amp; sings.\
        <text:line-break/>Here<text:s text:c=\"2\"/><text:bookmark text:name=\"b\"/> <text:span>now</text:span></text:p>\
        <text:p/><text:p>12</text:p></office:text></office:body></office:document-content>\n";

    fn open(path: &Path) -> Result<Box<dyn Document>> {
        ODT.document.unwrap()(Input::open(path)?)
    }

    fn parsed(text: &str) -> TextDocument {
        parse(text).unwrap()
    }

    #[test]
    fn paragraphs_are_texts() {
        let texts = [
            "The <x0>red</x0> fox",
            "It sleeps<x0/> &amp; sings.<br x1>Here<!--2--><!--3--> <x4>now</x4>",
            "A <x0>note</x0>",
        ];
        assert_eq!(parsed(CONTENT).texts(), texts);
        let translations = [
            "Le renard <x0>roux</x0>",
            "&lt;Il&gt; dort<x0/>.<br x1>Ici<!--2--><!--3--> <x4>même</x4>",
            "Une <x0>note</x0>",
        ];
        let written = parsed(CONTENT).translated(&translations.map(str::to_owned));
        assert!(
            written.contains("1\">Le renard <text:span text:style-name=\"T1\">roux</text:span></text:h>"),
            "{written}"
        );
        assert!(written.contains("<text:p>&lt;Il&gt; dort<text:note text:id=\"n\">"), "{written}");
        assert!(written.contains("<text:p>Une <text:a xlink:href=\"u\">note</text:a></text:p>"), "{written}");
        assert!(written.contains("<text:p>gone</text:p>"), "{written}");
    }

    #[test]
    fn comes_back_as_it_was() {
        check_round_trips(CONTENT, |_| true, parsed);
    }

    #[test]
    fn files_are_archives() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.odt");
        let files = [("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", CONTENT), ("x.bin", "x")];
        std::fs::write(&path, archive_of(&files)).unwrap();
        let document = open(&path).unwrap();
        assert!(document.is_binary() && document.lines() == [1, 2, 3]);
        let own: Vec<String> = document.texts().into_iter().map(str::to_owned).collect();
        let written = Package::new(document.with_translations(&own).unwrap(), "a.odt", 1 << 20);
        let texts: Vec<String> = written.texts(|_| true).unwrap().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, files.map(|(_, text)| text));
        std::fs::write(&path, "text").unwrap();
        let error = open(&path).err().unwrap().to_string();
        assert!(error.contains("not an OpenDocument text"), "{error}");
    }
}
