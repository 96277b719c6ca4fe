//! Fonts, text widths and XML escaping.

use std::f64::consts::FRAC_1_SQRT_2;

use unicode_width::UnicodeWidthStr;

use super::super::bidi::is_rtl;

/// Font families: common in papers first, then fonts that cover other scripts.
pub const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', 'Noto Sans Arabic', \
    'Noto Sans Hebrew', 'Noto Sans Devanagari', 'Noto Sans CJK SC', sans-serif";
/// Font size.
pub const FONT_SIZE: usize = 13;
/// Approximate width of a character of one terminal column.
const COLUMN_WIDTH: usize = 8;

/// Words of one side.
pub struct Labels {
    /// Words escaped for XML.
    pub texts: Vec<String>,
    /// Right-to-left script.
    pub right_to_left: bool,
}

impl Labels {
    /// Creates the labels of words.
    pub fn new(words: &[String]) -> Self {
        Self { texts: words.iter().map(|word| escape_xml(word)).collect(), right_to_left: is_rtl(words) }
    }
}

/// Approximate width of a word.
pub fn width(word: &str) -> usize {
    word.width() * COLUMN_WIDTH
}

/// Height and width of a label of this width rotated by 45 degrees.
pub fn rotated_size(width: usize) -> usize {
    ((width + FONT_SIZE) as f64 * FRAC_1_SQRT_2).ceil() as usize
}

/// Escapes a word for XML; drops control characters and characters that XML forbids.
pub fn escape_xml(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for character in word.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if character.is_control() => {}
            _ => text.push(character),
        }
    }
    text
}
