//! Text of unknown origin on its way to a terminal.

/// The same text with nothing in it that a terminal would obey. Control characters become their pictures, or where they
/// have none U+FFFD, as do line separators and what turns the direction of the text after it; marks that only lean a
/// letter to a direction are left out.
pub fn visible(text: &str) -> String {
    text.chars().filter_map(shown).collect()
}

/// The same line by line: line feeds stay.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

fn shown(character: char) -> Option<char> {
    match u32::from(character) {
        code @ 0..0x20 => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        // Embeddings, overrides and isolates, with their ends.
        0x202a..=0x202e | 0x2066..=0x2069 => Some('\u{fffd}'),
        0x2028 | 0x2029 => Some('\u{fffd}'),
        0x061c | 0x200e | 0x200f => None,
        _ if character.is_control() => Some('\u{fffd}'),
        _ => Some(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_not_sent() {
        assert_eq!(visible("a\u{1b}[2J\r\u{7f}\u{9b}\t\n\u{0}"), "a␛[2J␍␡\u{fffd}␉␊␀");
        assert_eq!(visible("a\u{202e}b\u{2066}c\u{2069}\u{200f}d\u{2028}"), "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}");
        assert_eq!(visible_lines("a\n\u{7}b\n"), "a\n␇b\n");
    }

    #[test]
    fn text_of_all_scripts_stays() {
        for text in ["", "l'été", "नमस्ते", "می‌خواهم", "שלום", "👩‍👩‍👧", "e\u{301}", "\u{feff}\u{10ffff}"]
        {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn nothing_is_left_that_could_be_obeyed() {
        let all: String = ('\0'..=char::MAX).collect();
        let obeyed = |character: char| {
            character.is_control()
                || matches!(u32::from(character), 0x2028..=0x202e | 0x2066..=0x2069 | 0x200e | 0x200f | 0x61c)
        };
        assert!(!visible(&all).chars().any(obeyed));
    }
}
