//! Tokens of Rust source, without comments and literals.

/// An identifier or number, `::`, or another single character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Counted from 1.
    pub line: usize,
}

impl Token<'_> {
    pub fn is_name(&self) -> bool {
        self.text.starts_with(|first: char| first.is_alphabetic() || first == '_')
    }
}

pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut found, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let blank = comment(rest).or_else(|| literal(rest));
        let length = blank.unwrap_or_else(|| name(rest)).max(first.len_utf8());
        let (token, after) = rest.split_at(if rest.starts_with("::") { 2 } else { length });
        if blank.is_none() && !first.is_whitespace() {
            found.push(Token { text: token, line });
        }
        line += token.matches('\n').count();
        rest = after;
    }
    found
}

/// Length of the identifier or number at the start.
fn name(text: &str) -> usize {
    text.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(text.len())
}

/// Length of the comment at the start.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        Some(text.find('\n').unwrap_or(text.len()))
    } else {
        text.strip_prefix("/*").map(|rest| rest.find("*/").map_or(text.len(), |end| end + 4))
    }
}

/// Length of the string or character literal at the start; 1 for the quote of a lifetime.
fn literal(text: &str) -> Option<usize> {
    let marks = text.trim_start_matches(['b', 'c']);
    let marks = marks.strip_prefix('r').unwrap_or(marks);
    let body = marks.trim_start_matches('#');
    let (prefix, hashes) = (text.len() - body.len(), marks.len() - body.len());
    let raw = text[..prefix].contains('r');
    match body.chars().next()? {
        '"' if raw => {
            let end = format!("\"{}", "#".repeat(hashes));
            Some(body[1..].find(&end).map_or(text.len(), |length| prefix + 1 + length + end.len()))
        }
        '"' if hashes == 0 => Some(prefix + 1 + quoted(&body[1..], '"')),
        '\'' if hashes == 0 => {
            let character = body[1..].chars().next()?;
            let is_character = character == '\\' || body[1 + character.len_utf8()..].starts_with('\'');
            Some(prefix + 1 + if is_character { quoted(&body[1..], '\'') } else { 0 })
        }
        _ => None,
    }
}

/// Length up to and including the closing quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[test]
fn ignores_comments_and_literals() {
    let text = "let a = b::c; // d::e\n/* f */ \"g::h \\\" i\" 'j' '\\'' r#\"k \" l\"# b\"m\" &'n str x\"";
    let found: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
    assert_eq!(found, ["let", "a", "=", "b", "::", "c", ";", "&", "n", "str", "x"]);
    assert_eq!(tokens("a\n\"b\nc\"\nd").last().map(|token| token.line), Some(4));
}
