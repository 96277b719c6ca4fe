//! Division of a text with markup into sentences, and into what stays between them.

use std::ops::Range;

use super::assembly::Assembly;
use super::events::{MarkupEvent, events, take_out_empty_elements, take_out_wrappers, trim_end, trim_start};
use super::html::{Token, TokenKind, tokens};
use super::markers::MarkedSentence;
use super::options::{Markup, MarkupOptions};

/// Deepest nesting of inline elements; deeper tags end sentences.
const MAX_DEPTH: usize = 64;

/// Part of a text with markup.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Bytes of the text that stay as they are, between boundaries.
    Verbatim(Range<usize>),
    /// Bytes at the edge of a sentence that stay.
    Moved(Range<usize>),
    /// Sentence to translate.
    Sentence(MarkedSentence),
}

/// Returns the tokens of a text with this markup.
pub(super) fn tokenized(text: &str, markup: Markup) -> Vec<Token> {
    match markup {
        Markup::Html => tokens(text),
        Markup::None => vec![Token { kind: TokenKind::Text, range: 0..text.len() }],
    }
}

/// Splits a text of these tokens into pieces, which cover it in order.
pub(super) fn pieces(text: &str, tokens: &[Token], options: &MarkupOptions) -> Vec<Piece> {
    let is_boundary = boundaries(tokens);
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < tokens.len() {
        let length = is_boundary[start..].iter().take_while(|boundary| !**boundary).count();
        let run = &tokens[start..start + length];
        if !run.is_empty() {
            add_run(&mut pieces, text, run, options);
        }
        if let Some(boundary) = tokens.get(start + length) {
            push_verbatim(&mut pieces, boundary.range.clone());
        }
        start += length + 1;
    }
    pieces
}

/// Tells which tokens end sentences: boundaries, and tags whose element does not begin and end in the same sentence.
fn boundaries(tokens: &[Token]) -> Vec<bool> {
    let mut partner = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Open(_) if open.len() < MAX_DEPTH => open.push(index),
            TokenKind::Close(name) => {
                let Some(depth) = open.iter().rposition(|&start| tokens[start].opens(name)) else { continue };
                let start = open[depth];
                (partner[index], partner[start]) = (Some(start), Some(index));
                open.truncate(depth);
            }
            _ => {}
        }
    }
    let mut ends = Vec::with_capacity(tokens.len());
    for (token, partner) in tokens.iter().zip(&partner) {
        ends.push(match token.kind {
            TokenKind::Boundary => true,
            TokenKind::Open(_) | TokenKind::Close(_) => partner.is_none(),
            TokenKind::Text | TokenKind::Inline { .. } => false,
        });
    }
    let mut before = vec![0];
    ends.iter().for_each(|&end| before.push(before[before.len() - 1] + usize::from(end)));
    for (index, partner) in partner.iter().enumerate() {
        ends[index] |= partner.is_some_and(|partner| before[index] != before[partner]);
    }
    ends
}

/// Appends bytes that stay, merged with those before them.
fn push_verbatim(pieces: &mut Vec<Piece>, range: Range<usize>) {
    match pieces.last_mut() {
        _ if range.is_empty() => {}
        Some(Piece::Verbatim(last)) => last.end = range.end,
        _ => pieces.push(Piece::Verbatim(range)),
    }
}

/// Appends the sentence of tokens without a boundary, with what stays at its edges.
fn add_run(pieces: &mut Vec<Piece>, text: &str, tokens: &[Token], options: &MarkupOptions) {
    let (start, end) = (tokens[0].range.start, tokens[tokens.len() - 1].range.end);
    let mut events = events(text, tokens, options);
    if options.markup == Markup::None && matches!(events[..], [MarkupEvent::Text(_)]) {
        pieces.push(Piece::Sentence(MarkedSentence { text: text[start..end].to_owned(), markers: Vec::new(), start }));
        return;
    }
    events = take_out_empty_elements(events);
    take_out_wrappers(&mut events);
    let first = trim_start(&mut events).unwrap_or(end);
    let last = trim_end(&mut events).unwrap_or(first);
    let sentence = Assembly::assemble(&events, options.markup, first);
    if !sentence.text.contains(char::is_alphabetic) {
        push_verbatim(pieces, start..end);
        return;
    }
    pieces.extend([Piece::Moved(start..first), Piece::Sentence(sentence), Piece::Moved(last..end)]);
}
