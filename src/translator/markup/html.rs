//! Tokens of HTML as a browser reads it (WHATWG, "HTML", section 13.2), classified for translation.

use std::borrow::Cow;
use std::ops::Range;

/// Unterminated tags after which no further `<` is taken for a tag, which bounds the time.
const MAX_UNTERMINATED: usize = 100;
/// Longest character reference, in bytes.
const MAX_REFERENCE: usize = 40;

/// Elements that begin a new sentence.
const BLOCKS: &str = "address article aside audio base basefont blockquote body br button canvas caption center col \
    colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head \
    header hgroup hr html iframe legend li link main map menu meta nav noscript object ol optgroup option p param pre \
    search section select source summary table tbody td template textarea tfoot th thead title tr track ul video";
/// Elements without an end tag.
const VOID: &str = "area base basefont br col embed frame hr img input link meta param source track wbr";
/// Elements whose content is not translated.
const OPAQUE: &str = "code kbd math pre samp script style svg textarea var";
/// Elements whose content is text up to their end tag.
const RAW_TEXT: &str = "script style textarea";

/// Part of an HTML text: a text between tags, a tag, a comment, or an element that is not translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: TokenKind,
    /// Byte range in the text.
    pub range: Range<usize>,
}

impl Token {
    /// True for the start tag of an inline element of this name.
    pub fn opens(&self, name: &str) -> bool {
        matches!(&self.kind, TokenKind::Open(opened) if opened == name)
    }
}

/// Kind of a token of HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Text with character references.
    Text,
    /// Start tag of an inline element, with its name in lowercase.
    Open(String),
    /// End tag of an inline element.
    Close(String),
    /// Void element, comment, or element that is not translated, within a sentence.
    Inline {
        /// True if a reader sees it.
        visible: bool,
    },
    /// Tag or untranslated element that ends a sentence.
    Boundary,
}

/// Splits a text into tokens. Their ranges are adjacent and cover it.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut scanner = Scanner { text, unterminated: 0 };
    let (mut start, mut position) = (0, 0);
    while let Some(offset) = text[position..].find('<') {
        let at = position + offset;
        let Some(ScannedMarkup { kind, end }) = scanner.markup(at) else {
            position = at + 1;
            continue;
        };
        if start < at {
            tokens.push(Token { kind: TokenKind::Text, range: start..at });
        }
        tokens.push(Token { kind, range: at..end });
        (start, position) = (end, end);
    }
    if start < text.len() {
        tokens.push(Token { kind: TokenKind::Text, range: start..text.len() });
    }
    tokens
}

/// Character reference, such as `&amp;`.
pub(super) struct CharacterReference<'t> {
    /// Characters that it stands for.
    pub characters: Cow<'t, str>,
    /// Length of the reference in bytes.
    pub length: usize,
}

/// Decodes the character reference at the start of a text, if there is one.
pub(super) fn character_reference(text: &str) -> Option<CharacterReference<'_>> {
    let length = text.bytes().take(MAX_REFERENCE).position(|byte| byte == b';')? + 1;
    let reference = &text[..length];
    let name = reference.strip_prefix('&')?.strip_suffix(';')?;
    if name.bytes().any(|byte| !byte.is_ascii_alphanumeric() && byte != b'#') {
        return None;
    }
    let characters = html_escape::decode_html_entities(reference);
    (characters != reference).then_some(CharacterReference { characters, length })
}

/// True if a browser takes a `<` before this text for the beginning of a tag or comment, or waits for its end.
pub(super) fn opens_markup(after: &str) -> bool {
    after.starts_with(|first: char| first.is_ascii_alphabetic() || "/!?".contains(first))
}

/// True if a name is among those of a list, which spaces separate.
fn is_listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == name)
}

/// Start or end tag.
struct Tag {
    /// Name in lowercase.
    name: String,
    /// Position after the tag.
    end: usize,
    /// True if attributes forbid translation of the content.
    untranslated: bool,
}

/// Kind and end of the markup at a `<`.
struct ScannedMarkup {
    kind: TokenKind,
    /// Position after the markup.
    end: usize,
}

/// Scanner of the markup of a text.
struct Scanner<'t> {
    text: &'t str,
    /// Number of tags that did not end.
    unterminated: usize,
}

impl Scanner<'_> {
    /// Scans the markup at a `<`; none if it is text.
    fn markup(&mut self, at: usize) -> Option<ScannedMarkup> {
        let rest = &self.text[at + 1..];
        if rest.starts_with("!--") {
            return Some(self.whole(TokenKind::Inline { visible: false }, self.end_after(at + 2, "-->")));
        }
        if rest.starts_with("![CDATA[") {
            return Some(self.whole(TokenKind::Inline { visible: false }, self.end_after(at, "]]>")));
        }
        if rest.starts_with(['!', '?']) {
            return Some(self.whole(TokenKind::Boundary, self.end_after(at, ">")));
        }
        let is_end = rest.starts_with('/');
        let name_start = at + 1 + usize::from(is_end);
        if !self.text[name_start..].starts_with(|first: char| first.is_ascii_alphabetic()) {
            return None;
        }
        let tag = self.tag(name_start)?;
        Some(if is_end { ScannedMarkup { kind: end_tag(tag.name), end: tag.end } } else { self.element(tag) })
    }

    /// Returns the position after the next `mark`.
    fn end_after(&self, from: usize, mark: &str) -> Option<usize> {
        self.text[from..].find(mark).map(|offset| from + offset + mark.len())
    }

    /// Returns the markup that ends here; without an end, it takes the rest of the text, which must stay at its place.
    fn whole(&self, kind: TokenKind, end: Option<usize>) -> ScannedMarkup {
        match end {
            Some(end) => ScannedMarkup { kind, end },
            None => ScannedMarkup { kind: TokenKind::Boundary, end: self.text.len() },
        }
    }

    /// Parses a tag from its name on; none if it does not end.
    fn tag(&mut self, name_start: usize) -> Option<Tag> {
        if self.unterminated >= MAX_UNTERMINATED {
            return None;
        }
        let tag = parse_tag(self.text, name_start);
        self.unterminated += usize::from(tag.is_none());
        tag
    }

    /// Returns the markup that a start tag begins: the tag, or the whole element if it is not translated.
    fn element(&self, Tag { name, end, untranslated }: Tag) -> ScannedMarkup {
        let is_block = is_listed(BLOCKS, &name);
        let is_void = is_listed(VOID, &name) || self.text[..end].ends_with("/>");
        let kind = if is_block { TokenKind::Boundary } else { TokenKind::Inline { visible: name != "wbr" } };
        if is_void {
            ScannedMarkup { kind, end }
        } else if untranslated || is_listed(OPAQUE, &name) {
            self.whole(kind, self.element_end(&name, end))
        } else if is_block {
            ScannedMarkup { kind: TokenKind::Boundary, end }
        } else {
            ScannedMarkup { kind: TokenKind::Open(name), end }
        }
    }

    /// Returns the end of the end tag of an element whose content begins at `from`.
    fn element_end(&self, name: &str, from: usize) -> Option<usize> {
        let (mut depth, mut position) = (1, from);
        while let Some(offset) = self.text[position..].find('<') {
            position += offset + 1;
            let is_end = self.text[position..].starts_with('/');
            if starts_with_name(&self.text[position + usize::from(is_end)..], name) {
                if !is_end {
                    depth += usize::from(!is_listed(RAW_TEXT, name));
                    continue;
                }
                depth -= 1;
                if depth == 0 {
                    return self.end_after(position, ">");
                }
            }
        }
        None
    }
}

/// True if a text begins with the name of a tag, in any case.
fn starts_with_name(text: &str, name: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        && bytes.get(name.len()).is_none_or(|&next| next.is_ascii_whitespace() || matches!(next, b'/' | b'>'))
}

/// Returns the kind of an end tag.
fn end_tag(name: String) -> TokenKind {
    if is_listed(BLOCKS, &name) { TokenKind::Boundary } else { TokenKind::Close(name) }
}

/// Parses name and attributes of a tag. All delimiters are ASCII, so that positions are those of characters.
fn parse_tag(text: &str, name_start: usize) -> Option<Tag> {
    let bytes = text.as_bytes();
    let mut position = find_byte(text, name_start, ends_name)?;
    let name = text[name_start..position].to_ascii_lowercase();
    let mut untranslated = false;
    loop {
        position = find_byte(text, position, |byte| !byte.is_ascii_whitespace() && byte != b'/')?;
        if bytes[position] == b'>' {
            return Some(Tag { name, end: position + 1, untranslated });
        }
        // An equals sign before a name belongs to it.
        let key_start = position;
        position = find_byte(text, position + 1, |byte| ends_name(byte) || byte == b'=')?;
        let key = &text[key_start..position];
        let after = find_byte(text, position, |byte| !byte.is_ascii_whitespace())?;
        if bytes[after] != b'=' {
            continue;
        }
        position = find_byte(text, after + 1, |byte| !byte.is_ascii_whitespace())?;
        let value = match bytes[position] {
            quote @ (b'"' | b'\'') => {
                let start = position + 1;
                let end = find_byte(text, start, |byte| byte == quote)?;
                position = end + 1;
                start..end
            }
            b'>' => position..position,
            _ => {
                let start = position;
                position = find_byte(text, position, |byte| byte.is_ascii_whitespace() || byte == b'>')?;
                start..position
            }
        };
        untranslated |= forbids_translation(key, &text[value]);
    }
}

/// Returns the position of the first byte of this kind from a position on.
fn find_byte(text: &str, from: usize, is_of_kind: impl Fn(u8) -> bool) -> Option<usize> {
    text.as_bytes()[from..].iter().position(|&byte| is_of_kind(byte)).map(|offset| from + offset)
}

/// True for a byte that ends the name of a tag.
fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>')
}

/// True for `translate="no"` and `class="notranslate"`.
fn forbids_translation(key: &str, value: &str) -> bool {
    (key.eq_ignore_ascii_case("translate") && value.eq_ignore_ascii_case("no"))
        || (key.eq_ignore_ascii_case("class") && is_listed(value, "notranslate"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kinds in short, with the bytes of each token.
    fn kinds(text: &str) -> Vec<(char, &str)> {
        let mut kinds = Vec::new();
        for Token { kind, range } in tokens(text) {
            let letter = match kind {
                TokenKind::Text => 't',
                TokenKind::Open(_) => 'o',
                TokenKind::Close(_) => 'c',
                TokenKind::Inline { .. } => 'i',
                TokenKind::Boundary => 'b',
            };
            kinds.push((letter, &text[range]));
        }
        assert_eq!(kinds.iter().map(|(_, part)| *part).collect::<String>(), text, "nothing is lost");
        kinds
    }

    #[test]
    fn classifies_tags() {
        assert_eq!(
            kinds("<p class=x>a <B>b</B><br/><img src='>'>c<x1 id=\"1\"/></p>"),
            [
                ('b', "<p class=x>"),
                ('t', "a "),
                ('o', "<B>"),
                ('t', "b"),
                ('c', "</B>"),
                ('b', "<br/>"),
                ('i', "<img src='>'>"),
                ('t', "c"),
                ('i', "<x1 id=\"1\"/>"),
                ('b', "</p>"),
            ]
        );
    }

    #[test]
    fn passes_untranslated_content() {
        for text in [
            "<!-- <b> -->",
            "<!-->",
            "<!DOCTYPE html>",
            "<?xml version='1'?>",
            "<script>if (a<b) '<p>'</script>",
            "<STYLE>b{}</Style >",
            "<code>a <code>b</code></code>",
            "<span translate=no>a<span>b</span></span>",
            "<div class='x notranslate'>a<p>b</div>",
            "<pre>a\n b</pre>",
            "<script>",
            "<!-- a",
            "<svg><g/></svg>",
            "<i translate = 'NO'>a</i>",
            "<textarea><p></textarea>",
        ] {
            assert_eq!(kinds(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn takes_unfinished_tags_for_text() {
        for text in ["a < b", "a <", "<b", "<b x='>", "</", "</>", "<1>", "<é>", "a<b c"] {
            assert_eq!(kinds(text), [('t', text)], "{text}");
        }
        assert_eq!(kinds("a <b c<d>e"), [('t', "a "), ('o', "<b c<d>"), ('t', "e")], "as in a browser");
    }

    #[test]
    fn unfinished_tags_take_linear_time() {
        for unfinished in ["<a x=\"", "<a x='<a x=\"", "<a ", "<!--", "<code><", "</a "] {
            let text = unfinished.repeat(100_000);
            assert_eq!(tokens(&text).iter().map(|token| token.range.len()).sum::<usize>(), text.len());
        }
    }

    #[test]
    fn decodes_character_references() {
        for (text, expected) in [("&amp;b", "&"), ("&eacute;", "é"), ("&#233;", "é"), ("&#xE9;x", "é"), ("&lt;", "<")]
        {
            let found = character_reference(text).unwrap();
            assert_eq!((&*found.characters, found.length), (expected, text.find(';').unwrap() + 1));
        }
        for text in ["&", "&;", "& b;", "&nosuch;", "a&amp;", "&&amp;", "&#xD800;", "&é;", ""] {
            assert!(character_reference(text).is_none(), "{text}");
        }
    }
}
