//! Subtitles: SubRip (`.srt`) and WebVTT (`.vtt`). Both have blocks between empty lines: a line of times, and the lines that are
//! shown in that time. These are one text, unless a dash begins what another person says.
//!
//! The crates for subtitles write all files anew, and lose what they do not know. Here only texts are replaced.

use std::ops::Range;

use html_escape::encode_text_to_string;

use super::file_format::FileFormat;
use super::plain_text::{document_of_lines, line_ranges, trimmed};
use super::segment::Syntax;
use super::tagged_text::{code_length, decoded, push_tagged};
use super::text_document::{TextDocument, text_document};

/// Separator of the two times of a block.
const ARROW: &str = "-->";

/// Subtitles of SubRip.
pub(super) static SUB_RIP: FileFormat = FileFormat {
    name: "SubRip",
    extensions: &["srt"],
    document: Some(|input| text_document(input, |text| Ok(parse(text, &SubRip, str::to_owned)))),
    ..FileFormat::UNKNOWN
};

/// Syntax of SubRip.
struct SubRip;

impl Syntax for SubRip {
    /// A bracket that would begin a tag is set apart: the format cannot say that it is text.
    fn push_text(&self, output: &mut String, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(['<', '{']) {
            output.push_str(&rest[..=at]);
            if code_length(&rest[at..]).is_some() {
                output.push(' ');
            }
            rest = &rest[at + 1..];
        }
        output.push_str(rest);
    }

    fn may_begin_line(&self, text: &str) -> bool {
        dash_length(text) == 0
    }
}

/// Subtitles of WebVTT.
pub(super) static WEB_VTT: FileFormat = FileFormat {
    name: "WebVTT",
    extensions: &["vtt"],
    is_start: |start| {
        start.strip_prefix("WEBVTT").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
    },
    document: Some(|input| text_document(input, |text| Ok(parse(text, &WebVtt, decoded)))),
    ..FileFormat::UNKNOWN
};

/// Syntax of WebVTT.
struct WebVtt;

impl Syntax for WebVtt {
    fn push_text(&self, output: &mut String, text: &str) {
        encode_text_to_string(text, output);
    }

    fn may_begin_line(&self, text: &str) -> bool {
        dash_length(text) == 0
    }
}

/// Returns the texts that are shown. Blocks without a line of times, such as comments, stay as they are.
fn parse(text: &str, syntax: &'static dyn Syntax, decode: fn(&str) -> String) -> TextDocument {
    let mut speeches: Vec<Vec<Range<usize>>> = Vec::new();
    let mut is_shown = false;
    for line in line_ranges(text) {
        let line = trimmed(text, line);
        let shown = &text[line.clone()];
        if !is_shown || shown.is_empty() {
            is_shown = !shown.is_empty() && shown.contains(ARROW);
            speeches.push(Vec::new());
            continue;
        }
        let dash = dash_length(shown);
        let part = line.start + dash..line.end;
        match speeches.last_mut().filter(|_| dash == 0) {
            Some(speech) => speech.push(part),
            None => speeches.push(vec![part]),
        }
    }
    document_of_lines(text, &speeches, syntax, |builder, line| push_tagged(builder, line, decode))
}

/// Length of the dash with which the words of another person begin, and of the space after it.
fn dash_length(line: &str) -> usize {
    let rest = line.trim_start_matches(['-', '–', '—', '‐']);
    if rest.len() == line.len() { 0 } else { line.len() - rest.trim_start().len() }
}

#[cfg(test)]
mod tests {
    use super::super::document::Document;
    use super::super::text_document::testing::check_round_trips;
    use super::*;

    const SRT: &str = "\u{feff}1\r\n00:00:01,000 --> 00:00:02,500\r\nThe fox\r\n<i>sleeps</i> & sings.\r\n\r\n\
        2\r\n00:00:03,000 --> 00:00:04,000 X1:0\r\n- Where is it?\r\n- {\\an8}There!\r\n\r\n3\r\n00:00:05,000 --> 00:00:06,000\r\n\
        12:30\r\n\r\n4\r\n00:00:07,000 --> 00:00:08,000\r\nThe end <3";

    const VTT: &str = "WEBVTT - a title\nKind: captions\n\nNOTE a comment\nof two lines\n\nSTYLE\n::cue { color: red }\n\n\
        intro\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hello &amp; <c.loud>good</c>\nmorning!</v>\n\n\
        00:03.000 --> 00:04.000\n<00:03.500>Where &lt;b&gt;?\n";

    fn srt(text: &str) -> TextDocument {
        parse(text, &SubRip, str::to_owned)
    }

    fn vtt(text: &str) -> TextDocument {
        parse(text, &WebVtt, decoded)
    }

    #[test]
    fn texts_are_those_that_are_shown() {
        let document = srt(SRT);
        let expected = ["The fox <x0>sleeps</x0> &amp; sings.", "Where is it?", "<!--0-->There!", "The end &lt;3"];
        assert_eq!(document.texts(), expected);
        assert_eq!(document.lines(), [3, 8, 9, 17]);
        let translations =
            ["le renard qui <x0>dort</x0> chante", "où ?", "<!--0-->là", "&lt;fin&gt;"].map(str::to_owned);
        let written = document.translated(&translations);
        assert!(written.contains("2,500\r\nle renard\r\nqui <i>dort</i> chante\r\n\r\n2\r\n"), "{written}");
        assert!(written.contains("\r\n- où ?\r\n- {\\an8}là\r\n\r\n") && written.ends_with("\r\n< fin>"), "{written}");
        let expected = ["<x0>Hello &amp; <x1>good</x1> morning!</x0>", "<!--0-->Where &lt;b&gt;?"];
        assert_eq!(vtt(VTT).texts(), expected);
    }

    /// Each of these took time in the square of its length.
    #[test]
    fn hostile_texts_take_linear_time() {
        let start = "1\n00:00:01,000 --> 00:00:02,000\n";
        for part in ["<a", "{\\", "<a>", "<a></b>", "word\n", "<i>a"] {
            let text = format!("{start}x{}{}\n", part.repeat(30_000), "</b>".repeat(30_000));
            let document = srt(&text);
            let own: Vec<String> = document.texts().into_iter().map(str::to_owned).collect();
            assert_eq!(document.translated(&own), text);
            document.rewritten(&own);
        }
    }

    #[test]
    fn comes_back_as_it_was() {
        check_round_trips(SRT, |word| !word.contains('<'), srt);
        check_round_trips(VTT, |_| true, vtt);
        assert!((WEB_VTT.is_start)(VTT) && !(WEB_VTT.is_start)("WEBVTTx"));
    }
}
