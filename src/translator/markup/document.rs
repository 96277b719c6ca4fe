//! Documents, into which text is written only in encoded form.

use std::ops::Range;

use html_escape::encode_text_to_string;

use super::html::{Token, TokenKind, opens_markup};
use super::options::Markup;

/// Text with markup, as it was given.
#[derive(Clone, Debug)]
pub(super) struct SourceDocument {
    text: String,
    markup: Markup,
    /// Byte position of each `<` in the texts between its tags, in order; none without markup.
    brackets: Vec<usize>,
}

impl SourceDocument {
    /// Returns the document of a text that consists of these tokens.
    pub fn new(text: &str, tokens: &[Token], markup: Markup) -> Self {
        let mut brackets = Vec::new();
        for Token { range, .. } in tokens.iter().filter(|token| token.kind == TokenKind::Text) {
            if markup == Markup::Html {
                let found = text[range.clone()].match_indices('<');
                brackets.extend(found.map(|(offset, _)| range.start + offset));
            }
        }
        Self { text: text.to_owned(), markup, brackets }
    }

    /// The whole text as it was given, with markup.
    pub fn given(&self) -> &str {
        &self.text
    }

    /// Markup of the text.
    pub fn markup(&self) -> Markup {
        self.markup
    }
}

/// Document that is written from another one and from texts. Text gets into it by [`Self::push_text`] alone, which encodes
/// it.
pub(super) struct Document<'s> {
    source: &'s SourceDocument,
    written: String,
}

impl<'s> Document<'s> {
    pub fn new(source: &'s SourceDocument) -> Self {
        Self { source, written: String::with_capacity(source.text.len()) }
    }

    /// Appends a text, which has no markup whatever its characters are.
    pub fn push_text(&mut self, text: &str) {
        match self.source.markup {
            Markup::Html => {
                encode_text_to_string(text, &mut self.written);
            }
            Markup::None => self.written.push_str(text),
        }
    }

    /// Appends a part of the source between two of its sentences.
    pub fn push_verbatim(&mut self, range: Range<usize>) {
        self.written.push_str(&self.source.text[range]);
    }

    /// Appends a part of the source that may have had other neighbors there: whole tags, comments and parts of texts. In
    /// texts, `<` and `&` are encoded where they could begin something with what follows.
    pub fn push_moved(&mut self, range: Range<usize>) {
        let Range { mut start, end } = range;
        let brackets = &self.source.brackets;
        let first = brackets.partition_point(|&position| position < start);
        for &position in brackets[first..].iter().take_while(|&&position| position < end) {
            let rest = &self.source.text[position + 1..end];
            if rest.is_empty() || opens_markup(rest) {
                self.push_verbatim(start..position);
                self.push_text("<");
                start = position + 1;
            }
        }
        match self.source.text[start..end].strip_suffix('&') {
            Some(before) => {
                self.push_verbatim(start..start + before.len());
                self.push_text("&");
            }
            None => self.push_verbatim(start..end),
        }
    }

    /// Returns the text of the document.
    pub fn into_text(self) -> String {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::super::html::tokens;
    use super::*;

    fn moved(text: &str, range: Range<usize>) -> String {
        let source = SourceDocument::new(text, &tokens(text), Markup::Html);
        let mut document = Document::new(&source);
        document.push_moved(range);
        document.push_text("b>;");
        document.into_text()
    }

    #[test]
    fn moved_parts_begin_nothing_with_their_new_neighbors() {
        assert_eq!(moved("<i>1 <", 3..6), "1 &lt;b&gt;;");
        assert_eq!(moved("1 &", 0..3), "1 &amp;b&gt;;");
        assert_eq!(moved("a@b.org <a x=\"", 0..10), "a@b.org &lt;ab&gt;;");
        for part in ["<i class=x>", "<!-- <b -->", "<{x}>", "&lt;{x}&gt;", "http://x/?a&b", "1 < 2"] {
            assert_eq!(moved(part, 0..part.len()), format!("{part}b&gt;;"));
        }
    }
}
