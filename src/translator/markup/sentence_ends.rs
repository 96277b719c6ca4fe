//! Ends of sentences within a text, beside those that its markup gives.

use std::ops::Range;

use super::events::Decoded;
use super::html::{Token, TokenKind};
use super::options::Markup;
use crate::text::SentenceSplitter;

/// Splits the texts among tokens at the ends of sentences. The white space between two sentences becomes a boundary, which stays
/// as it is.
pub(super) fn split_sentences(
    text: &str,
    tokens: Vec<Token>,
    markup: Markup,
    splitter: &SentenceSplitter,
) -> Vec<Token> {
    let mut split = Vec::with_capacity(tokens.len());
    for run in tokens.chunk_by(|one, next| one.kind != TokenKind::Boundary && next.kind != TokenKind::Boundary) {
        let gaps = gaps(text, run, markup, splitter);
        for token in run {
            if token.kind == TokenKind::Text {
                split_text(&mut split, token.range.clone(), &gaps);
            } else {
                split.push(token.clone());
            }
        }
    }
    split
}

/// Returns the bytes between the sentences of tokens without a boundary, in order; possibly none between two sentences.
fn gaps(text: &str, run: &[Token], markup: Markup, splitter: &SentenceSplitter) -> Vec<Range<usize>> {
    let (mut read, mut raw) = (String::new(), Vec::new());
    for token in run.iter().filter(|token| token.kind == TokenKind::Text) {
        let decoded = Decoded::new(text, token.range.clone(), markup);
        raw.extend_from_slice(&decoded.raw[..decoded.text.len()]);
        read.push_str(&decoded.text);
    }
    let sentences = splitter.sentences(&read);
    let mut gaps = Vec::new();
    for two in sentences.windows(2) {
        gaps.push(raw[two[0].end]..raw[two[1].start]);
    }
    gaps
}

/// Appends a text, divided at the gaps in it.
fn split_text(split: &mut Vec<Token>, range: Range<usize>, gaps: &[Range<usize>]) {
    let mut start = range.start;
    for gap in gaps.iter().filter(|gap| range.start <= gap.end && gap.start < range.end) {
        let gap = gap.start.max(start)..gap.end.min(range.end);
        push_text(split, start..gap.start);
        split.push(Token { kind: TokenKind::Boundary, range: gap.clone() });
        start = gap.end;
    }
    push_text(split, start..range.end);
}

fn push_text(split: &mut Vec<Token>, range: Range<usize>) {
    if !range.is_empty() {
        split.push(Token { kind: TokenKind::Text, range });
    }
}

#[cfg(test)]
mod tests {
    use super::super::html::tokens;
    use super::*;

    /// The parts of a text, with boundaries in brackets.
    fn parts(text: &str) -> String {
        let splitter = SentenceSplitter::default();
        let split = split_sentences(text, tokens(text), Markup::Html, &splitter);
        assert_eq!(split.iter().map(|token| &text[token.range.clone()]).collect::<String>(), text);
        let mut shown = Vec::new();
        for Token { kind, range } in split {
            let part = &text[range];
            shown.push(if kind == TokenKind::Boundary { format!("[{part}]") } else { part.to_owned() });
        }
        shown.join("|")
    }

    #[test]
    fn white_space_between_sentences_is_a_boundary() {
        for (text, expected) in [
            ("One. Two.", "One.|[ ]|Two."),
            ("<p>One.\n  Two.</p>", "[<p>]|One.|[\n  ]|Two.|[</p>]"),
            ("One <b>two</b>. Three.", "One |<b>|two|</b>|.|[ ]|Three."),
            ("<i>One.</i> Two.", "<i>|One.|</i>|[ ]|Two."),
            ("<i>One. Two</i> three.", "<i>|One.|[ ]|Two|</i>| three."),
            ("&quot;One.&quot; Two.", "&quot;One.&quot;|[ ]|Two."),
            ("一。二。", "一。|[]|二。"),
            ("One.<br>Two.", "One.|[<br>]|Two."),
            ("One two", "One two"),
        ] {
            assert_eq!(parts(text), expected);
        }
    }
}
