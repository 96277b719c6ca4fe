//! Text with tags like those of HTML in a format that is not HTML: subtitles and messages of programs.

use super::segment::{Code, SegmentBuilder};

/// Part of a text with tags.
enum Part<'t> {
    Text(&'t str),
    /// Start tag with the name of the element.
    Open {
        name: &'t str,
        tag: &'t str,
    },
    /// End tag.
    Close {
        name: &'t str,
        tag: &'t str,
    },
    /// Tag of `<br>`.
    LineEnd(&'t str),
    /// Tag without an element, or what braces enclose after a backslash.
    Hidden(&'t str),
}

/// Appends a text. Its tags become codes, and `decode` returns the characters of the text between them.
pub(super) fn push_tagged(builder: &mut SegmentBuilder, text: &str, decode: fn(&str) -> String) {
    let mut rest = text;
    while !rest.is_empty() {
        let (part, length) = first_part(rest);
        match part {
            Part::Text(text) => builder.text(&decode(text)),
            Part::Open { name, tag } => builder.open(name.to_ascii_lowercase(), Code::literal(tag)),
            Part::Close { name, tag } => builder.close(name.to_ascii_lowercase(), Code::literal(tag)),
            Part::LineEnd(tag) => builder.sentence_end(Code::literal(tag)),
            Part::Hidden(tag) => builder.hidden(Code::literal(tag)),
        }
        rest = &rest[length..];
    }
}

/// Returns a text without character references.
pub(super) fn decoded(text: &str) -> String {
    html_escape::decode_html_entities(text).into_owned()
}

/// Returns the first part of a text that is not empty, with its length.
fn first_part(text: &str) -> (Part<'_>, usize) {
    if let Some(length) = code_length(text) {
        return (tag(&text[..length]), length);
    }
    let mut end = text.len();
    for (at, _) in text.char_indices().skip(1).filter(|(_, one)| matches!(one, '<' | '{')) {
        if code_length(&text[at..]).is_some() {
            end = at;
            break;
        }
    }
    (Part::Text(&text[..end]), end)
}

/// Length of the tag at the start of a text; none if there is none. Tags have no line ends, and no other tags.
pub(super) fn code_length(text: &str) -> Option<usize> {
    let end = if text.starts_with("{\\") {
        '}'
    } else if text.strip_prefix('<')?.starts_with(|one: char| one.is_ascii_alphanumeric() || one == '/') {
        '>'
    } else {
        return None;
    };
    let length = 1 + text[1..].find(['<', '{', '\n', end])?;
    text[length..].starts_with(end).then_some(length + 1)
}

fn tag(text: &str) -> Part<'_> {
    let Some(inner) = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) else { return Part::Hidden(text) };
    let (is_end, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
    let name = &inner[..inner.find(|one: char| !one.is_ascii_alphanumeric() && one != '-').unwrap_or(inner.len())];
    match name {
        _ if name.eq_ignore_ascii_case("br") => Part::LineEnd(text),
        _ if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || inner.ends_with('/') => Part::Hidden(text),
        name if is_end => Part::Close { name, tag: text },
        name => Part::Open { name, tag: text },
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain_text::PlainText;
    use super::*;

    #[test]
    fn tags_become_codes() {
        let mut builder = SegmentBuilder::default();
        push_tagged(&mut builder, "{\\an8}<i>a</I> <3 {x} <c.red>b<br/>c</c> <00:01.0><img/> d < e<", str::to_owned);
        let text = builder.finish(0..1, &PlainText).unwrap().text;
        let expected = "<!--0--><x1>a</x1> &lt;3 {x} <x2>b<br x3>c</x2> <!--4--><!--5--> d &lt; e&lt;";
        assert_eq!(text, expected);
    }
}
