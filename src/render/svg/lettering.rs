//! Words and letters in a figure.

use std::f64::consts::FRAC_1_SQRT_2;

use unicode_width::UnicodeWidthStr;

use super::super::direction::runs_right_to_left;

/// Fonts by name for what papers are set with, then those that cover other scripts.
pub const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', 'Noto Sans Arabic', \
    'Noto Sans Hebrew', 'Noto Sans Devanagari', 'Noto Sans CJK SC', sans-serif";
/// Height of letters.
pub const FONT_SIZE: usize = 13;
/// Width of a letter that takes one column of a terminal, a little generous.
const LETTER: usize = 8;
/// The words of one side.
pub struct Labels {
    /// As XML holds them.
    pub texts: Vec<String>,
    /// Whether they belong to a script that runs from right to left.
    pub right_to_left: bool,
}

impl Labels {
    /// Labels of words.
    pub fn of(words: &[String]) -> Self {
        Self { texts: words.iter().map(|word| escaped(word)).collect(), right_to_left: runs_right_to_left(words) }
    }
}

/// About how wide a word is.
pub fn width(word: &str) -> usize {
    word.width() * LETTER
}

/// How far a label of this width reaches up, and to the right, when it is turned by 45 degrees.
pub fn aslant(width: usize) -> usize {
    ((width + FONT_SIZE) as f64 * FRAC_1_SQRT_2).ceil() as usize
}

/// A word as XML holds it; characters that XML forbids, and control characters, are left out.
pub fn escaped(word: &str) -> String {
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
