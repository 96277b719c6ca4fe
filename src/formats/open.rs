//! Files are opened here, for each use that the program makes of them.

use std::io::{BufReader, Cursor};
use std::path::Path;

use anyhow::{Result, bail};

use super::document::Document;
use super::file_format::FileFormat;
use super::input::{ByteReader, Input, decompressed, start_of};
use super::pair_reader::PairReader;
use super::plain_text::LINES;
use super::registry::{InputFormat, document_extensions, format_of, of_name, of_start};
use super::sgm::{SGM, SegmentLines};
use super::unreadable::check_readable;

/// True if a file is compressed, or in a format whose pairs are not lines, so that its line ends say nothing.
pub fn is_encoded(path: &Path) -> bool {
    let Some(mut input) = regular(path) else { return false };
    input.is_compressed() || format_of(path, input.start()).is_some_and(|format| format.pairs.is_some())
}

/// Opens the sentence pairs of a file whose format has them; none if the file consists of lines, or cannot be opened, which the
/// reader of lines reports. `sides` are the languages of source and target, or the keys of JSON; by default those that the file
/// says or has.
///
/// # Errors
/// The file cannot be read, or is damaged.
pub fn open_pairs(path: &Path, sides: Option<&[String; 2]>) -> Result<Option<Box<dyn PairReader>>> {
    let Some(mut input) = regular(path) else { return Ok(None) };
    let pairs = format_of(path, input.start()).and_then(|format| format.pairs);
    pairs.map(|open| open(input, sides)).transpose()
}

/// Document that was opened.
pub struct OpenedDocument {
    /// The document.
    pub document: Box<dyn Document>,
    /// Extensions of files in its format, in lowercase.
    pub extensions: &'static [&'static str],
}

/// Opens a document in the given format, or else in that of its beginning or its name; none if the file consists of lines, or
/// cannot be opened, which the reader of lines reports. Standard input is a document only in a given format.
///
/// # Errors
/// The file cannot be read, is not in the format, or is in one that has pairs alone, such as TMX.
pub fn open_document(path: &Path, given: Option<InputFormat>) -> Result<Option<OpenedDocument>> {
    let by_name = given.map_or_else(|| of_name(path), InputFormat::file_format);
    if given.is_some() && by_name.is_none() {
        return Ok(None);
    }
    let input = if by_name.is_some() { Some(Input::open(path)?) } else { regular(path) };
    let Some(mut input) = input else { return Ok(None) };
    let by_start = if given.is_none() { of_start(input.start()) } else { None };
    let Some(format) = by_start.or(by_name).filter(|format| format.name != SGM.name) else { return Ok(None) };
    let document = parsed(format, input)?;
    Ok(Some(OpenedDocument { document, extensions: format.extensions }))
}

/// Parses a document in a format.
///
/// # Errors
/// The file cannot be read, is not in the format, or is in one that has pairs alone.
fn parsed(format: &FileFormat, input: Input) -> Result<Box<dyn Document>> {
    match format.document {
        Some(open) => open(input),
        None => {
            bail!("{}: this is {}; train, align and evaluate read it, but translate cannot", input.name(), format.name)
        }
    }
}

/// Opens a document that is in memory, in the format of its beginning or its name; `.txt` is a sentence per line. Decompressed, it
/// may have `max_bytes`.
///
/// # Errors
/// As [`open_document`], or neither beginning nor name are those of a format, or the document is too large.
pub fn open_bytes(name: &str, bytes: Vec<u8>, max_bytes: u64) -> Result<Box<dyn Document>> {
    let path = Path::new(name);
    let mut input = Input::from_reader(path, Box::new(Cursor::new(bytes)))?.with_limit(max_bytes);
    match format_of(path, input.start()).or_else(|| Some(&LINES).filter(|lines| lines.is_name(path))) {
        Some(format) => parsed(format, input),
        None => bail!("{name}: this format is not supported; these are: {}", document_extensions().join(", ")),
    }
}

/// Opens a file whose beginning may be read twice; none if that cannot be.
fn regular(path: &Path) -> Option<Input> {
    Some(path).filter(|path| Input::is_regular(path)).and_then(|path| Input::open(path).ok())
}

/// Returns the text of a file that is read line by line: decompressed, and with the content of each `<seg>` as a line if it is in
/// the SGM format of WMT.
///
/// # Errors
/// The file cannot be read, or it is in a format that has no lines, which the message names.
pub fn text_lines(source: ByteReader, name: &str) -> Result<ByteReader> {
    let mut source = decompressed(source, name)?;
    let start = start_of(&mut source, name)?;
    check_readable(start, name)?;
    match of_start(start) {
        Some(format) if format.name == SGM.name => Ok(BufReader::new(Box::new(SegmentLines::new(source)))),
        Some(format) if format.pairs.is_some() => bail!(
            "{name}: this is {}, which has sentence pairs, not lines; name the file where a file of pairs is expected",
            format.name
        ),
        _ => Ok(source),
    }
}

/// Damaged files of every format: no panic, and documents still come back as they were.
#[cfg(test)]
mod tests {
    use super::super::archive::archive_of;
    use super::super::po::PO;
    use super::super::tmx::TMX;
    use super::super::wmt_xml::WMT_XML;
    use super::super::xliff::XLIFF;
    use super::*;
    use crate::random::SeededRng;

    const MARKDOWN: &str = "# A *b* [c](d \"e\")\n\n> f\n> **g** `h`\n\n- [ ] i ![j](k)\n1. ~~l~~ <b>m</b> <!-- n -->\\\n   o\n\n\
        | p | q |\n|---|---|\n| _r_ | [s][] [t] |\n\n[t]: u\n\n[^1]: v[^1] <http://w> &amp; é日\n\n---\n\n```\nx\n```\n";
    const SRT: &str =
        "1\n00:00:01,000 --> 00:00:02,000\n- a <i>b</i> {\\an8}\nc é日\n\n2\n00:00:03,000 --> 00:00:04,000\nd\n";
    const VTT: &str = "WEBVTT\n\nNOTE a\n\n1\n00:01.000 --> 00:02.000 x\n<v B>c &amp; <00:01.5>d é日</v>\n";
    const CATALOG: &str = "#, fuzzy\nmsgid \"\"\nmsgstr \"Language: x\\n\"\n\n#: a\nmsgctxt \"b\"\nmsgid \"c <b>é日</b> %s\\n\"\n\"d\"\nmsgid_plural \"e\"\n\
        msgstr[0] \"\"\nmsgstr[1] \"f\"\n\n#~ msgid \"g\"\n";
    const UNITS: &str = "<?xml version=\"1.0\"?><x:xliff version=\"1.2\" source-language=\"en\"><trans-unit translate=\"yes\"><x:source>a <g id=\"1\">b</g>\
        <bpt id=\"2\">c</bpt>d<ept id=\"2\">e</ept><x id=\"3\"/> é日 &lt;</x:source><seg-source><mrk mtype=\"seg\">f</mrk></seg-source>\
        <target state=\"new\">g</target><alt-trans><source>h</source></alt-trans></trans-unit><segment><source>i</source></segment></x:xliff>";
    const MEMORY: &str = "<tmx><header srclang=\"en\"/><body><tu><tuv xml:lang=\"en\"><seg>a <bpt>b<sub>c</sub></bpt> é日</seg></tuv>\
        <tuv xml:lang=\"fr\"><seg>d</seg></tuv></tu></body></tmx>";
    const TEST_SET: &str = "<dataset><doc><src lang=\"en\"><p><seg id=\"1\">a é日</seg></p></src><ref lang=\"fr\"><seg id=\"1\">b</seg></ref></doc></dataset>";
    const ODT: &str = "<o:x xmlns:text=\"t\"><text:h>a <text:span>b</text:span> é日</text:h><text:p>c<text:note><text:p>d</text:p></text:note>\
        <text:s/><text:line-break/>e <text:a>f</text:a></text:p><text:tracked-changes><text:p>g</text:p></text:tracked-changes></o:x>";
    const DOCX: &str = "<w:d xmlns:w=\"w\"><w:p><w:pPr/><w:r><w:rPr><w:b/><w:lang/></w:rPr><w:t>a é日</w:t><w:tab/><w:t>b</w:t></w:r>\
        <w:hyperlink><w:r><w:t>c</w:t></w:r></w:hyperlink><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>HYPERLINK</w:instrText></w:r>\
        <w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>d</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r>\
        <w:del><w:r><w:delText>e</w:delText></w:r></w:del><w:r><w:drawing><w:p><w:r><w:t>f</w:t></w:r></w:p></w:drawing></w:r></w:p></w:d>";

    /// Returns a text some parts of which are deleted, repeated or put elsewhere.
    fn mutated(random: &mut SeededRng, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..=random.below(4) {
            let start = random.below(characters.len());
            let end = (start + 1 + random.below(12)).min(characters.len());
            let part: Vec<char> = characters[start..end].to_vec();
            if random.below(2) == 0 {
                characters.drain(start..end);
            }
            if random.below(2) == 0 {
                let at = random.below(characters.len() + 1);
                characters.splice(at..at, part);
            }
            if characters.is_empty() {
                characters.push('x');
            }
        }
        characters.into_iter().collect()
    }

    fn input(bytes: Vec<u8>) -> Input {
        Input::from_reader(Path::new("file"), Box::new(Cursor::new(bytes))).unwrap()
    }

    /// Parses a file and writes it with translations. With `keeps_all`, its texts as their own translations leave it as it is.
    fn check(format: &FileFormat, file: &[u8], keeps_all: bool) {
        let Ok(document) = format.document.unwrap()(input(file.to_vec())) else { return };
        let own: Vec<String> = document.texts().into_iter().map(str::to_owned).collect();
        assert_eq!(document.lines().len(), own.len());
        let written = document.with_translations(&own).unwrap();
        assert!(!keeps_all || written == file, "{}", String::from_utf8_lossy(file));
        for text in ["", "a <x0>b</x0> <x1/>", "<x1>"] {
            document.with_translations(&vec![text.to_owned(); own.len()]).unwrap();
        }
    }

    #[test]
    fn damaged_documents_come_back_or_are_refused() {
        for (name, format, text, keeps_all) in [
            ("Markdown", InputFormat::Markdown, MARKDOWN, true),
            ("SubRip", InputFormat::Srt, SRT, true),
            ("WebVTT", InputFormat::Vtt, VTT, true),
            ("text", InputFormat::Text, SRT, true),
            ("HTML", InputFormat::Html, MARKDOWN, true),
            ("PO", InputFormat::Po, CATALOG, false),
            ("XLIFF", InputFormat::Xliff, UNITS, false),
            ("OpenDocument", InputFormat::Odt, ODT, true),
            ("Word", InputFormat::Docx, DOCX, true),
        ] {
            let format = format.file_format().unwrap();
            for index in 0..1000 {
                let text = mutated(&mut SeededRng::new(41, name, index), text);
                match name {
                    "OpenDocument" => check(format, &archive_of(&[("content.xml", &text)]), false),
                    "Word" => check(format, &archive_of(&[("word/document.xml", &text)]), false),
                    _ => check(format, text.as_bytes(), keeps_all),
                }
            }
        }
    }

    #[test]
    fn damaged_pairs_end() {
        for (format, text) in [(&TMX, MEMORY), (&WMT_XML, TEST_SET), (&XLIFF, UNITS), (&PO, CATALOG)] {
            for index in 0..1000 {
                let text = mutated(&mut SeededRng::new(42, format.name, index), text);
                let Ok(mut pairs) = format.pairs.unwrap()(input(text.clone().into_bytes()), None) else { continue };
                let count = (0..1000).take_while(|_| matches!(pairs.next_pair(), Ok(Some(_)))).count();
                assert!(count < 1000, "{text}");
            }
        }
    }
}
