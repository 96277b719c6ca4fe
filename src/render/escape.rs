//! Escaping of untrusted text for terminals and tables.

/// Replaces control characters by their pictures (U+2400 …) or, without one, by U+FFFD, as well as line separators and
/// bidirectional embeddings, overrides and isolates; drops directional marks.
pub fn escape_controls(text: &str) -> String {
    text.chars().filter_map(escape).collect()
}

/// Like [`escape_controls`], but keeps line feeds.
pub fn escape_controls_by_line(text: &str) -> String {
    text.split('\n').map(escape_controls).collect::<Vec<_>>().join("\n")
}

/// Returns text for a cell of a table; control characters and line separators become spaces.
pub fn table_cell(text: &str) -> String {
    text.replace(|character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}'), " ")
}

fn escape(character: char) -> Option<char> {
    match u32::from(character) {
        code @ 0..0x20 => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        0x2028..=0x202e | 0x2066..=0x2069 => Some('\u{fffd}'),
        0x061c | 0x200e | 0x200f => None,
        _ if character.is_control() => Some('\u{fffd}'),
        _ => Some(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_control_characters() {
        assert_eq!(escape_controls("a\u{1b}[2J\r\u{7f}\u{9b}\t\n\u{0}"), "a␛[2J␍␡\u{fffd}␉␊␀");
        assert_eq!(
            escape_controls("a\u{202e}b\u{2066}c\u{2069}\u{200f}d\u{2028}"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}"
        );
        assert_eq!(escape_controls_by_line("a\n\u{7}b\n"), "a\n␇b\n");
    }

    #[test]
    fn keeps_text_of_all_scripts() {
        for text in ["", "l'été", "नमस्ते", "می‌خواهم", "שלום", "👩‍👩‍👧", "e\u{301}", "\u{feff}\u{10ffff}"]
        {
            assert_eq!(escape_controls(text), text);
        }
    }

    #[test]
    fn removes_every_control_character() {
        let all: String = ('\0'..=char::MAX).collect();
        for character in escape_controls(&all).chars() {
            let code = u32::from(character);
            assert!(!character.is_control(), "{code:x}");
            assert!(!matches!(code, 0x2028..=0x202e | 0x2066..=0x2069 | 0x200e | 0x200f | 0x61c), "{code:x}");
        }
    }
}
