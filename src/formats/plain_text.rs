//! Plain text whose paragraphs are between empty lines, as people write e-mail and books. The lines of a paragraph are one text,
//! which is broken into as many lines again.

use std::ops::Range;

use super::file_format::FileFormat;
use super::segment::{Code, SegmentBuilder, Syntax};
use super::text_document::{TextDocument, text_document};

/// Plain text in paragraphs. It is never recognized, since lines of sentences look alike.
pub(super) static TEXT: FileFormat = FileFormat {
    name: "text",
    document: Some(|input| text_document(input, |text| Ok(parse(text)))),
    ..FileFormat::UNKNOWN
};

/// Plain text with a sentence per line.
pub(super) static LINES: FileFormat = FileFormat {
    name: "text",
    extensions: &["txt"],
    document: Some(|input| text_document(input, |text| Ok(lines(text)))),
    ..FileFormat::UNKNOWN
};

/// Syntax of plain text.
pub(super) struct PlainText;

impl Syntax for PlainText {
    fn push_text(&self, output: &mut String, text: &str) {
        output.push_str(text);
    }

    fn may_begin_line(&self, text: &str) -> bool {
        marker_length(text) == 0
    }
}

/// Returns the range of each line of a text without its end.
pub(super) fn line_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let without_end = line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        ranges.push(start..start + without_end.len());
        start += line.len();
    }
    ranges
}

/// Returns a range of a text without white space at its ends.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + part.len() - part.trim_start().len();
    start..(start + part.trim().len())
}

/// Length of the bullet or the number with which a line begins an item of a list, and of the space after it; 0 if there is none.
pub(super) fn marker_length(line: &str) -> usize {
    let digits = line.len() - line.trim_start_matches(|one: char| one.is_ascii_digit()).len();
    let marker = match line[digits..].chars().next() {
        Some('.' | ')') if (1..=3).contains(&digits) => digits + 1,
        Some(bullet @ ('-' | '*' | '+' | '•' | '‣' | '–' | '—')) if digits == 0 => bullet.len_utf8(),
        _ => return 0,
    };
    let space = line[marker..].len() - line[marker..].trim_start().len();
    if space == 0 { 0 } else { marker + space }
}

/// Returns the paragraphs of a text as segments.
fn parse(text: &str) -> TextDocument {
    let mut paragraphs: Vec<Vec<Range<usize>>> = Vec::new();
    let mut is_within = false;
    for line in line_ranges(text) {
        let mut line = trimmed(text, line);
        if !is_within && text[line.clone()].starts_with('\u{feff}') {
            line.start += '\u{feff}'.len_utf8();
        }
        let marker = marker_length(&text[line.clone()]);
        let part = line.start + marker..line.end;
        match paragraphs.last_mut().filter(|_| is_within && marker == 0) {
            Some(paragraph) if !line.is_empty() => paragraph.push(part),
            _ => paragraphs.push(vec![part]),
        }
        is_within = !line.is_empty();
    }
    document_of_lines(text, &paragraphs, &PlainText, SegmentBuilder::text)
}

/// Returns the lines of a text as segments.
fn lines(text: &str) -> TextDocument {
    let groups: Vec<Vec<Range<usize>>> = line_ranges(text).into_iter().map(|line| vec![trimmed(text, line)]).collect();
    document_of_lines(text, &groups, &PlainText, SegmentBuilder::text)
}

/// Returns the document of a text in which each group of lines is a segment. `push` appends the text of a line.
pub(super) fn document_of_lines(
    text: &str,
    groups: &[Vec<Range<usize>>],
    syntax: &'static dyn Syntax,
    push: impl Fn(&mut SegmentBuilder, &str),
) -> TextDocument {
    let mut segments = Vec::new();
    for lines in groups {
        let mut builder = SegmentBuilder::default();
        for (index, line) in lines.iter().enumerate() {
            if index > 0 {
                builder.line_break(Code::literal(&text[lines[index - 1].end..line.start]));
            }
            push(&mut builder, &text[line.clone()]);
        }
        if let (Some(first), Some(last)) = (lines.first(), lines.last()) {
            segments.extend(builder.finish(first.start..last.end, syntax));
        }
    }
    TextDocument::new(text.to_owned(), segments)
}

#[cfg(test)]
mod tests {
    use super::super::document::Document;
    use super::super::text_document::testing::check_round_trips;
    use super::*;

    const LETTER: &str = "\u{feff}Dear Ann,\r\n\r\nthe fox <sleeps> & the\r\n  owl sings in\r\nthe old house.\r\n\r\n- one\r\n  two\r\n- three\r\n1) four\r\n\r\n--\r\n42";

    #[test]
    fn paragraphs_are_texts() {
        let document = parse(LETTER);
        let expected =
            ["Dear Ann,", "the fox &lt;sleeps&gt; &amp; the owl sings in the old house.", "one two", "three", "four"];
        assert_eq!(document.texts(), expected);
        assert_eq!(document.lines(), [1, 3, 7, 9, 10]);
        let mut translations = expected.map(str::to_owned);
        translations[1] = "le renard &lt;dort&gt; et le hibou chante dans la vieille maison.".to_owned();
        let written = document.translated(&translations);
        assert!(
            written.contains("le renard <dort> et le\r\n  hibou chante dans\r\nla vieille maison.\r\n"),
            "{written}"
        );
    }

    #[test]
    fn comes_back_as_it_was() {
        check_round_trips(LETTER, |_| true, parse);
        check_round_trips("", |_| true, parse);
    }
}
