//! PO and POT, the messages of gettext. The polib crate writes a file anew; here only the translations change.

use std::ops::Range;

use anyhow::{Result, anyhow};

use super::file_format::FileFormat;
use super::input::Input;
use super::languages::is_reversed;
use super::pair_reader::{FormatError, PairReader, on_one_line};
use super::plain_text::line_ranges;
use super::segment::{Code, Segment, SegmentBuilder, Syntax};
use super::tagged_text::{decoded, push_tagged};
use super::text_document::{TextDocument, text_document};

/// Longest line that a translation is written in.
const MAX_COLUMNS: usize = 79;

/// PO.
pub(super) static PO: FileFormat = FileFormat {
    name: "PO",
    extensions: &["po", "pot"],
    pairs: Some(open_pairs),
    document: Some(|input| text_document(input, |text| Ok(document(text, &messages(text)?)))),
    ..FileFormat::UNKNOWN
};

fn open_pairs(input: Input, sides: Option<&[String; 2]>) -> Result<Box<dyn PairReader>> {
    let name = input.name().to_owned();
    let pairs = PoPairs::new(&input.into_text()?, sides).map_err(|error| anyhow!("{name}:{error}"))?;
    Ok(Box::new(pairs))
}

/// Text in quotes, with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Quoted {
    text: String,
    /// Bytes of all its quoted parts, from the first quote to the last.
    range: Range<usize>,
}

/// Message with its translations.
#[derive(Clone, Debug, Default)]
struct Message {
    is_fuzzy: bool,
    id: Quoted,
    plural: Option<Quoted>,
    /// Translations, by the index of the plural.
    translations: Vec<Quoted>,
}

impl Message {
    /// Returns the text whose translation has this index.
    fn original(&self, index: usize) -> &Quoted {
        self.plural.as_ref().filter(|_| index > 0).unwrap_or(&self.id)
    }
}

/// Field of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Context,
    Id,
    Plural,
    Translation,
}

impl Field {
    fn of_keyword(keyword: &str) -> Option<Self> {
        match keyword {
            "msgctxt" => Some(Self::Context),
            "msgid" => Some(Self::Id),
            "msgid_plural" => Some(Self::Plural),
            _ => is_translation(keyword).then_some(Self::Translation),
        }
    }
}

/// Returns the messages of a file, those that are commented out left out.
fn messages(text: &str) -> Result<Vec<Message>, FormatError> {
    let mut messages: Vec<Message> = Vec::new();
    let mut message = Message::default();
    let mut field = None;
    for (line, range) in (1..).zip(line_ranges(text)) {
        let content = text[range.clone()].trim_start_matches('\u{feff}');
        let start = range.end - content.trim_start().len();
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            // Comments begin a message.
            if field == Some(Field::Translation) {
                messages.push(std::mem::take(&mut message));
                field = None;
            }
            let is_flags = content.starts_with("#,");
            message.is_fuzzy |= is_flags && content[2..].split(',').any(|flag| flag.trim() == "fuzzy");
            continue;
        }
        let (keyword, quoted) = content.split_at(content.find('"').unwrap_or(content.len()));
        let next = if keyword.is_empty() { field } else { Field::of_keyword(keyword.trim_end()) };
        let (Some(next), Some(part)) = (next, unquoted(quoted)) else {
            return Err(FormatError::last(
                line,
                "no line of a PO file: expected a keyword such as msgid and a text in quotes",
            ));
        };
        if !keyword.is_empty() && matches!(next, Field::Context | Field::Id) && field == Some(Field::Translation) {
            messages.push(std::mem::take(&mut message));
        }
        field = Some(next);
        let target = match next {
            Field::Context => continue,
            Field::Id => &mut message.id,
            Field::Plural => message.plural.get_or_insert_default(),
            Field::Translation => {
                if !keyword.is_empty() {
                    message.translations.push(Quoted::default());
                }
                let Some(last) = message.translations.last_mut() else { continue };
                last
            }
        };
        let end = start + content.len();
        if !keyword.is_empty() {
            target.range.start = start + keyword.len();
        }
        target.range.end = end;
        target.text.push_str(&part);
    }
    if field == Some(Field::Translation) {
        messages.push(message);
    }
    Ok(messages)
}

/// True for `msgstr` and `msgstr[1]`.
fn is_translation(keyword: &str) -> bool {
    let Some(index) = keyword.strip_prefix("msgstr") else { return false };
    let inner = index.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    index.is_empty() || inner.is_some_and(|number| number.parse::<u8>().is_ok())
}

/// Returns the text in quotes; none if it is not quoted.
fn unquoted(quoted: &str) -> Option<String> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next()? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            escaped @ ('"' | '\\') => text.push(escaped),
            other => text.extend(['\\', other]),
        }
    }
    Some(text)
}

/// Appends a text in quotes, on several lines if it has line ends or is long.
fn push_quoted(output: &mut String, text: &str, indent: usize) {
    let mut lines: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        lines.extend(wrapped(line));
    }
    let is_short = lines.len() <= 1 && lines.first().is_none_or(|line| indent + line.len() + 2 <= MAX_COLUMNS);
    if !is_short {
        output.push_str("\"\"\n");
    }
    output.push_str(&lines.iter().map(|line| format!("\"{line}\"")).collect::<Vec<_>>().join("\n"));
    if lines.is_empty() {
        output.push_str("\"\"");
    }
}

/// Returns a line in escaped form, broken after spaces where it is long.
fn wrapped(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let mut escaped = String::new();
        push_escaped(&mut escaped, word);
        match parts.last_mut() {
            Some(last) if last.is_empty() || last.chars().count() + escaped.chars().count() + 2 <= MAX_COLUMNS => {
                last.push_str(&escaped);
            }
            _ => parts.push(escaped),
        }
    }
    parts
}

fn push_escaped(output: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '\n' => output.push_str("\\n"),
            '\t' => output.push_str("\\t"),
            '\r' => output.push_str("\\r"),
            '"' => output.push_str("\\\""),
            '\\' => output.push_str("\\\\"),
            other => output.push(other),
        }
    }
}

/// Syntax of messages. `references` are those of messages that are HTML, as an `&amp;` shows.
struct PoText {
    references: bool,
}

impl Syntax for PoText {
    fn push_text(&self, output: &mut String, text: &str) {
        let text = if self.references { html_escape::encode_text(text) } else { text.into() };
        output.push_str(&text);
    }

    fn finished(&self, written: String) -> String {
        let mut quoted = String::new();
        push_quoted(&mut quoted, &written, "msgstr[0] ".len());
        quoted
    }
}

static PLAIN: PoText = PoText { references: false };
static WITH_REFERENCES: PoText = PoText { references: true };

/// Returns the document whose texts are the messages without a translation.
fn document(text: &str, messages: &[Message]) -> TextDocument {
    let mut segments = Vec::new();
    for message in messages.iter().filter(|message| !message.id.text.is_empty()) {
        for (index, translation) in message.translations.iter().enumerate() {
            if translation.text.is_empty() {
                segments.extend(segment(message.original(index), translation.range.clone()));
            }
        }
    }
    TextDocument::new(text.to_owned(), segments)
}

/// Returns the segment of a message, whose translation has its place in this range.
fn segment(original: &Quoted, range: Range<usize>) -> Option<Segment> {
    let text = &original.text;
    let references = html_escape::decode_html_entities(text) != *text;
    let mut builder = SegmentBuilder::default();
    for line in text.split_inclusive('\n') {
        let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
        push_tagged(&mut builder, content, if references { decoded } else { str::to_owned });
        if !end.is_empty() {
            builder.sentence_end(Code::literal(end));
        }
    }
    let segment = builder.finish(range, if references { &WITH_REFERENCES } else { &PLAIN })?;
    Some(Segment { at: original.range.start, in_place: false, ..segment })
}

/// Pairs of the messages that have a translation.
struct PoPairs {
    pairs: std::vec::IntoIter<[String; 2]>,
}

impl PoPairs {
    fn new(text: &str, sides: Option<&[String; 2]>) -> Result<Self, FormatError> {
        let messages = messages(text)?;
        let header = messages.iter().find(|message| message.id.text.is_empty());
        let language = header.and_then(|header| field_of(&header.translations.first()?.text, "Language"));
        let reversed = is_reversed(sides, [None, language])?;
        let mut pairs = Vec::new();
        for message in messages.iter().filter(|message| !message.id.text.is_empty() && !message.is_fuzzy) {
            // Further plurals of a language translate the same text.
            for (index, translation) in message.translations.iter().enumerate().take(2) {
                let pair = [on_one_line(&message.original(index).text), on_one_line(&translation.text)];
                if !translation.text.is_empty() {
                    let [source, target] = pair;
                    pairs.push(if reversed { [target, source] } else { [source, target] });
                }
            }
        }
        Ok(Self { pairs: pairs.into_iter() })
    }
}

/// Returns a field of the header.
fn field_of<'t>(header: &'t str, name: &str) -> Option<&'t str> {
    let mut fields = header.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(other, _)| *other == name)?;
    Some(value.trim()).filter(|value| !value.is_empty())
}

impl PairReader for PoPairs {
    fn next_pair(&mut self) -> Result<Option<[String; 2]>, FormatError> {
        Ok(self.pairs.next())
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Document;
    use super::super::pair_reader::all_pairs;
    use super::*;

    const CATALOG: &str = "\u{feff}# A title\n#, fuzzy\nmsgid \"\"\nmsgstr \"\"\n\"Language: fr\\n\"\n\"Plural-Forms: nplurals=2\\n\"\n\n\
        #. a comment\n#: main.c:1\nmsgid \"the cat\"\nmsgstr \"le chat\"\n\n\
        #, c-format\nmsgid \"%d <b>dog</b>\"\nmsgid_plural \"\"\n\"%d \"\n\"dogs\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n\n\
        msgctxt \"menu \\\"x\\\"\"\nmsgid \"Say \\\"Q &amp; A\\\"\\n\"\n\"at \\\\ home\"\nmsgstr \"\"\n\"\"\n\
        #, fuzzy\n#| msgid \"owls\"\nmsgid \"owl\"\nmsgstr \"hiboux\"\n\n#~ msgid \"old\"\n#~ msgstr \"vieux\"\n";

    fn parsed(text: &str) -> TextDocument {
        document(text, &messages(text).unwrap())
    }

    #[test]
    fn pairs_are_those_that_are_translated() {
        let mut pairs = PoPairs::new(CATALOG, None).unwrap();
        assert_eq!(all_pairs(&mut pairs).unwrap(), [["the cat", "le chat"]]);
        let sides = ["fr", "en"].map(str::to_owned);
        let mut pairs = PoPairs::new(CATALOG, Some(&sides)).unwrap();
        assert_eq!(all_pairs(&mut pairs).unwrap(), [["le chat", "the cat"]]);
        let sides = ["en", "de"].map(str::to_owned);
        assert!(PoPairs::new(CATALOG, Some(&sides)).is_err());
    }

    #[test]
    fn only_missing_translations_are_written() {
        let document = parsed(CATALOG);
        let texts = ["%d <x0>dog</x0>", "%d dogs", "Say \"Q &amp; A\"<br x0>at \\ home"];
        assert_eq!(document.texts(), texts);
        assert_eq!(document.lines(), [14, 15, 22]);
        let translations = ["%d <x0>chien</x0>", "%d &lt;chiens&gt;", "Dites \"R &amp; D\"<br x0>chez \\ moi"];
        let written = document.translated(&translations.map(str::to_owned));
        let expected = CATALOG
            .replace("msgstr[0] \"\"\nmsgstr[1] \"\"", "msgstr[0] \"%d <b>chien</b>\"\nmsgstr[1] \"%d <chiens>\"")
            .replace(
                "msgstr \"\"\n\"\"\n#, fuzzy\n#|",
                "msgstr \"\"\n\"Dites \\\"R &amp; D\\\"\\n\"\n\"chez \\\\ moi\"\n#, fuzzy\n#|",
            );
        assert_eq!(written, expected);
        assert_eq!(parsed(&written).texts(), Vec::<&str>::new(), "all are translated");
    }

    #[test]
    fn quotes_what_it_reads() {
        let long = "word ".repeat(40);
        for text in ["", "a", "a\n", "\n", "a\n\nb\tc\r\\\"", &long, &"x".repeat(100), "a \\d b"] {
            let mut quoted = String::new();
            push_quoted(&mut quoted, text, 7);
            assert!(quoted.lines().all(|line| line.len() <= 102), "{quoted}");
            let catalog = format!("msgid \"id\"\nmsgstr {quoted}\n");
            assert_eq!(messages(&catalog).unwrap()[0].translations[0].text, text, "{catalog}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line) in [("msgid \"a\"\nmsgstr 1\n", 2), ("\n\nhello\n", 3), ("msgid \"a\nmsgstr \"b\"\n", 1)] {
            assert_eq!(messages(text).unwrap_err().line, line, "{text}");
        }
    }
}
