//! TMX 1.1 to 1.4, the exchange format of translation memories: units with a variant for each language.

use std::io::{Result as IoResult, Write};

use super::file_format::FileFormat;
use super::input::ByteReader;
use super::languages::is_same;
use super::pair_reader::{FormatError, PairReader};
use super::xml::{Tag, XmlEvent, XmlReader, push_escaped};

/// Elements inside of a segment whose content is the code of another format.
const CODES: [&str; 5] = ["bpt", "ept", "it", "ph", "ut"];

/// Maximum number of languages in a message.
const MAX_NAMED: usize = 20;

/// TMX.
pub(super) static TMX: FileFormat = FileFormat {
    name: "TMX",
    extensions: &["tmx"],
    is_start: |start| start.starts_with('<') && start.contains("<tmx"),
    pairs: Some(|input, sides| Ok(Box::new(TmxPairs::new(input.into_reader(), sides)))),
    ..FileFormat::UNKNOWN
};

/// Variant of a unit.
struct Variant {
    language: String,
    text: String,
}

/// Pairs of a TMX file.
struct TmxPairs {
    xml: XmlReader<ByteReader>,
    /// Source language that the header names.
    header_language: Option<String>,
    /// Languages of source and target, once they are known.
    sides: Option<[String; 2]>,
    /// Languages of the units that lack a side.
    other_languages: Vec<String>,
    /// True once a pair was found.
    has_pairs: bool,
}

impl TmxPairs {
    fn new(reader: ByteReader, sides: Option<&[String; 2]>) -> Self {
        Self {
            xml: XmlReader::new(reader),
            header_language: None,
            sides: sides.cloned(),
            other_languages: Vec::new(),
            has_pairs: false,
        }
    }

    /// Reads a unit after its start tag. Returns its pair, unless it lacks a side.
    fn read_unit(&mut self, unit: &Tag) -> Result<Option<[String; 2]>, FormatError> {
        let source_language = unit.attribute("srclang").map(str::to_owned).or_else(|| self.header_language.clone());
        let mut variants = Vec::new();
        let mut language = String::new();
        while let Some(placed) = self.xml.next_event()? {
            match placed.event {
                XmlEvent::Start(tag) if tag.name == "tuv" => {
                    language = tag.attribute("xml:lang").or(tag.attribute("lang")).unwrap_or_default().to_owned();
                }
                XmlEvent::Start(tag) if tag.name == "seg" => {
                    variants.push(Variant { language: language.clone(), text: self.xml.read_text(&CODES)? });
                }
                XmlEvent::End(name) if name == "tu" => break,
                _ => {}
            }
        }
        self.pair(&variants, source_language.as_deref())
    }

    /// Returns the texts of both sides, unless one is missing. The first unit with two languages decides which they are.
    fn pair(&mut self, variants: &[Variant], source: Option<&str>) -> Result<Option<[String; 2]>, FormatError> {
        if self.sides.is_none() {
            self.sides = self.choose_sides(variants, source)?;
        }
        let Some(sides) = &self.sides else { return Ok(None) };
        let found = [0, 1].map(|side| variants.iter().find(|variant| is_same(&variant.language, &sides[side])));
        if let [Some(source), Some(target)] = found {
            return Ok(Some([source.text.clone(), target.text.clone()]));
        }
        if !self.has_pairs {
            for Variant { language, .. } in variants {
                if self.other_languages.len() < MAX_NAMED && !self.other_languages.contains(language) {
                    self.other_languages.push(language.clone());
                }
            }
        }
        Ok(None)
    }

    /// Returns the languages of a unit, the source language first; none if there is only one.
    ///
    /// # Errors
    /// There are more than two.
    fn choose_sides(&self, variants: &[Variant], source: Option<&str>) -> Result<Option<[String; 2]>, FormatError> {
        let mut languages: Vec<&str> = Vec::new();
        for Variant { language, .. } in variants {
            if languages.len() < MAX_NAMED && !languages.iter().any(|other| is_same(other, language)) {
                languages.push(language);
            }
        }
        match languages[..] {
            [one, other] if source.is_some_and(|source| is_same(other, source)) => {
                Ok(Some([other, one].map(str::to_owned)))
            }
            [one, other] => Ok(Some([one, other].map(str::to_owned))),
            [first, second, ..] => {
                let all = languages.join(", ");
                Err(self.xml.error(format!("languages {all}: choose two, such as --columns {first},{second}")))
            }
            _ => Ok(None),
        }
    }
}

impl PairReader for TmxPairs {
    fn next_pair(&mut self) -> Result<Option<[String; 2]>, FormatError> {
        while let Some(placed) = self.xml.next_event()? {
            match placed.event {
                XmlEvent::Start(tag) | XmlEvent::Empty(tag) if tag.name == "header" => {
                    self.header_language = tag.attribute("srclang").filter(|code| *code != "*all*").map(str::to_owned);
                }
                XmlEvent::Start(tag) if tag.name == "tu" => {
                    if let Some(pair) = self.read_unit(&tag)? {
                        self.has_pairs = true;
                        return Ok(Some(pair));
                    }
                }
                _ => {}
            }
        }
        match &self.sides {
            Some([source, target]) if !self.has_pairs && !self.other_languages.is_empty() => {
                let others = self.other_languages.join(", ");
                Err(self.xml.error(format!("no unit has both {source} and {target}; the languages are {others}")))
            }
            _ => Ok(None),
        }
    }

    fn languages(&self) -> Option<[String; 2]> {
        self.sides.clone()
    }
}

/// Writer of a translation memory.
pub struct TmxWriter {
    languages: [String; 2],
    begun: bool,
}

impl TmxWriter {
    /// Returns a writer of units in these languages, source and target; without them, codes for private use tell the sides apart.
    pub fn new(languages: Option<[String; 2]>) -> Self {
        Self { languages: languages.unwrap_or(["x-source", "x-target"].map(str::to_owned)), begun: false }
    }

    /// Writes a unit with a source and a target, unless one of them is blank.
    ///
    /// # Errors
    /// Writing fails.
    pub fn unit(&mut self, out: &mut dyn Write, texts: [&str; 2]) -> IoResult<()> {
        self.begin(out)?;
        if texts.iter().any(|text| text.trim().is_empty()) {
            return Ok(());
        }
        let mut unit = String::from("<tu>");
        for (language, text) in self.languages.iter().zip(texts) {
            unit.push_str(&format!("<tuv xml:lang=\"{language}\"><seg>"));
            push_escaped(&mut unit, text);
            unit.push_str("</seg></tuv>");
        }
        writeln!(out, "{unit}</tu>")
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(&mut self, out: &mut dyn Write) -> IoResult<()> {
        self.begin(out)?;
        writeln!(out, "</body>\n</tmx>")
    }

    fn begin(&mut self, out: &mut dyn Write) -> IoResult<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let (source, version) = (&self.languages[0], env!("CARGO_PKG_VERSION"));
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tmx version=\"1.4\">")?;
        writeln!(
            out,
            "<header creationtool=\"softalign\" creationtoolversion=\"{version}\" segtype=\"sentence\" o-tmf=\"softalign\" \
             adminlang=\"en\" srclang=\"{source}\" datatype=\"plaintext\"/>\n<body>"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::reader_of;
    use super::super::pair_reader::all_pairs;
    use super::*;

    fn reader(text: &str, sides: Option<[&str; 2]>) -> TmxPairs {
        let sides = sides.map(|sides| sides.map(str::to_owned));
        TmxPairs::new(reader_of(text), sides.as_ref())
    }

    fn memory(header: &str, units: &str) -> String {
        format!("<?xml version=\"1.0\"?>\n<tmx version=\"1.4\"><header {header}/><body>{units}</body></tmx>\n")
    }

    const UNITS: &str = "<tu tuid='1'><note>n</note><tuv xml:lang='fr-FR'><seg>le  <bpt i='1'>&lt;b></bpt>chat<ept i='1'/>\n noir</seg></tuv>\
        <tuv xml:lang='EN'><prop type='x'>p</prop><seg>the <hi>black</hi> <ph>&lt;br/><sub>s</sub></ph>cat &amp; I</seg></tuv></tu>\
        <tu><tuv xml:lang='en'><seg>alone</seg></tuv></tu>\
        <tu><tuv xml:lang='en-GB'><seg>dog</seg></tuv><tuv xml:lang='fr'><seg>chien</seg></tuv></tu>";

    #[test]
    fn pairs_have_the_languages_of_the_header() {
        let mut pairs = reader(&memory("srclang='en'", UNITS), None);
        assert_eq!(all_pairs(&mut pairs).unwrap(), [["the black cat & I", "le chat noir"], ["dog", "chien"]]);
        assert_eq!(pairs.languages(), Some(["EN", "fr-FR"].map(str::to_owned)));
        let any = all_pairs(&mut reader(&memory("srclang='*all*'", UNITS), None)).unwrap();
        assert_eq!(any[1], ["chien", "dog"], "the first variant is the source");
        let given = all_pairs(&mut reader(&memory("srclang='en'", UNITS), Some(["fr", "en"]))).unwrap();
        assert_eq!(given[1], ["chien", "dog"]);
    }

    #[test]
    fn old_files_name_languages_otherwise() {
        let unit = "<tu srclang='de'><tuv lang='en'><seg>a</seg></tuv><tuv lang='de'><seg>b</seg></tuv></tu>";
        assert_eq!(all_pairs(&mut reader(&memory("", unit), None)).unwrap(), [["b", "a"]]);
    }

    #[test]
    fn reads_what_it_writes() {
        let mut written = Vec::new();
        let mut writer = TmxWriter::new(Some(["en", "fr"].map(str::to_owned)));
        for texts in [["a < b & c", "\"é\""], ["", "x"], ["d", "e"]] {
            writer.unit(&mut written, texts).unwrap();
        }
        writer.finish(&mut written).unwrap();
        let text = String::from_utf8(written).unwrap();
        assert_eq!(all_pairs(&mut reader(&text, None)).unwrap(), [["a < b & c", "\"é\""], ["d", "e"]]);
    }

    #[test]
    fn asks_for_two_of_several_languages() {
        let unit = "<tu><tuv xml:lang='en'><seg>a</seg></tuv><tuv xml:lang='de'><seg>b</seg></tuv>\
            <tuv xml:lang='fr'><seg>c</seg></tuv></tu>";
        let error = all_pairs(&mut reader(&memory("", unit), None)).unwrap_err();
        assert_eq!(error.reason, "languages en, de, fr: choose two, such as --columns en,de");
        assert_eq!(all_pairs(&mut reader(&memory("", unit), Some(["fr", "de"]))).unwrap(), [["c", "b"]]);
        let error = all_pairs(&mut reader(&memory("", unit), Some(["fr", "it"]))).unwrap_err();
        assert_eq!(error.reason, "no unit has both fr and it; the languages are en, de, fr");
    }

    #[test]
    fn reports_a_file_that_is_cut() {
        let text = memory("", UNITS);
        let mut pairs = reader(&text[..text.find("alone").unwrap()], None);
        assert!(pairs.next_pair().unwrap().is_some());
        let error = pairs.next_pair().unwrap_err();
        assert!(error.is_last && error.line == 3, "{error}");
        assert!(all_pairs(&mut reader(&memory("", ""), None)).unwrap().is_empty());
    }
}
