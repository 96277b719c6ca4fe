//! The XML of WMT's test sets since 2021: documents with the segments of the source, of references and of systems' translations.

use std::collections::HashMap;

use super::file_format::FileFormat;
use super::input::ByteReader;
use super::languages::is_reversed;
use super::pair_reader::{FormatError, PairReader};
use super::xml::{Tag, XmlEvent, XmlReader};

/// XML of WMT.
pub(super) static WMT_XML: FileFormat = FileFormat {
    name: "XML of WMT",
    is_start: |start| start.starts_with('<') && start.contains("<dataset"),
    pairs: Some(|input, sides| Ok(Box::new(WmtPairs::new(input.into_reader(), sides)))),
    ..FileFormat::UNKNOWN
};

/// Numbered sentence of a document.
struct Segment {
    id: String,
    text: String,
}

/// Segments of one side of a document.
struct Side {
    language: Option<String>,
    segments: Vec<Segment>,
}

/// Pairs of source and first reference.
struct WmtPairs {
    xml: XmlReader<ByteReader>,
    sides: Option<[String; 2]>,
    languages: Option<[String; 2]>,
    /// Pairs of the last document that was read, in reverse.
    pending: Vec<[String; 2]>,
}

impl WmtPairs {
    fn new(reader: ByteReader, sides: Option<&[String; 2]>) -> Self {
        Self { xml: XmlReader::new(reader), sides: sides.cloned(), languages: None, pending: Vec::new() }
    }

    /// Reads a document after its start tag.
    fn read_document(&mut self) -> Result<(), FormatError> {
        let (mut source, mut reference) = (None, None);
        while let Some(placed) = self.xml.next_event()? {
            match placed.event {
                XmlEvent::Start(tag) if tag.name == "src" => source = Some(self.read_side(&tag)?),
                XmlEvent::Start(tag) if tag.name == "ref" => {
                    let side = self.read_side(&tag)?;
                    reference.get_or_insert(side);
                }
                XmlEvent::Start(tag) if tag.name == "hyp" => {
                    self.read_side(&tag)?;
                }
                XmlEvent::End(name) if name == "doc" => break,
                _ => {}
            }
        }
        if let (Some(source), Some(reference)) = (source, reference) {
            self.add_pairs(source, &reference)?;
        }
        Ok(())
    }

    /// Reads the segments of a side after its start tag.
    fn read_side(&mut self, tag: &Tag) -> Result<Side, FormatError> {
        let mut side = Side { language: tag.attribute("lang").map(str::to_owned), segments: Vec::new() };
        while let Some(placed) = self.xml.next_event()? {
            match placed.event {
                XmlEvent::Start(segment) if segment.name == "seg" => {
                    let id = segment.attribute("id").unwrap_or_default().to_owned();
                    side.segments.push(Segment { id, text: self.xml.read_text(&[])? });
                }
                XmlEvent::End(name) if name == tag.name => break,
                _ => {}
            }
        }
        Ok(side)
    }

    /// Adds the pairs of segments with the same number.
    fn add_pairs(&mut self, source: Side, reference: &Side) -> Result<(), FormatError> {
        let reversed = is_reversed(self.sides.as_ref(), [source.language.as_deref(), reference.language.as_deref()])?;
        if let (Some(one), Some(other)) = (source.language, &reference.language) {
            self.languages = Some(if reversed { [other.clone(), one] } else { [one, other.clone()] });
        }
        let others: HashMap<&str, &str> = reference.segments.iter().map(|other| (&*other.id, &*other.text)).collect();
        for Segment { id, text } in source.segments {
            if let Some(other) = others.get(&*id) {
                let other = (*other).to_owned();
                self.pending.push(if reversed { [other, text] } else { [text, other] });
            }
        }
        self.pending.reverse();
        Ok(())
    }
}

impl PairReader for WmtPairs {
    fn next_pair(&mut self) -> Result<Option<[String; 2]>, FormatError> {
        while self.pending.is_empty() {
            let Some(placed) = self.xml.next_event()? else { return Ok(None) };
            if let XmlEvent::Start(Tag { name, .. }) = placed.event
                && name == "doc"
            {
                self.read_document()?;
            }
        }
        Ok(self.pending.pop())
    }

    fn languages(&self) -> Option<[String; 2]> {
        self.languages.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::reader_of;
    use super::super::pair_reader::all_pairs;
    use super::*;

    const SET: &str = "<?xml version='1.0' encoding='utf-8'?>\n<dataset id=\"t\">\n\
        <doc id=\"a\" origlang=\"en\"><src lang=\"en\"><p>\n<seg id=\"1\"> the cat </seg><seg id=\"2\">a</seg>\
        <seg id=\"3\">the dog</seg></p></src>\n\
        <ref lang=\"fr\" translator=\"A\"><p><seg id=\"1\">le chat</seg><seg id=\"3\">le chien</seg></p></ref>\
        <ref lang=\"fr\" translator=\"B\"><p><seg id=\"1\">x</seg></p></ref>\
        <hyp lang=\"fr\" system=\"s\"><p><seg id=\"1\">y</seg></p></hyp></doc>\n\
        <doc id=\"b\"><src lang=\"en\"><seg id=\"1\">Q &amp; A</seg></src></doc>\n\
        <doc id=\"c\"><src lang=\"en\"><seg id=\"1\">owl</seg></src><ref lang=\"fr\"><seg id=\"1\">hibou</seg></ref></doc></dataset>\n";

    fn reader(sides: Option<[&str; 2]>) -> WmtPairs {
        let sides = sides.map(|sides| sides.map(str::to_owned));
        WmtPairs::new(reader_of(SET), sides.as_ref())
    }

    #[test]
    fn pairs_are_the_source_and_the_first_reference() {
        let mut pairs = reader(None);
        let expected = [["the cat", "le chat"], ["the dog", "le chien"], ["owl", "hibou"]];
        assert_eq!(all_pairs(&mut pairs).unwrap(), expected);
        assert_eq!(pairs.languages(), Some(["en", "fr"].map(str::to_owned)));
        let reversed = all_pairs(&mut reader(Some(["fr", "en"]))).unwrap();
        assert_eq!(reversed[2], ["hibou", "owl"]);
        assert!(all_pairs(&mut reader(Some(["en", "de"]))).is_err());
    }
}
