//! Bidirectional text.

/// Returns true if words run from right to left, by their first letter as in the Unicode Bidirectional Algorithm.
pub fn is_rtl(words: &[String]) -> bool {
    let first_letter = words.iter().flat_map(|word| word.chars()).find(|character| character.is_alphabetic());
    first_letter.is_some_and(is_rtl_letter)
}

/// Encloses a word with right-to-left letters in the zero-width isolates U+2068 and U+2069, so that it does not reorder its
/// neighbors. The word must not contain isolates itself.
pub fn bidi_isolate(word: String) -> String {
    if word.chars().any(is_rtl_letter) { format!("\u{2068}{word}\u{2069}") } else { word }
}

/// Returns true for letters of the Hebrew, Arabic and neighboring blocks.
fn is_rtl_letter(letter: char) -> bool {
    matches!(
        letter,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_letter_decides_direction() {
        for (word, expected) in
            [("שלום", true), ("(مرحبا) hello", true), ("1, hello שלום", false), ("", false), ("123", false)]
        {
            assert_eq!(is_rtl(&[word.to_owned()]), expected, "{word}");
        }
    }

    #[test]
    fn isolates_only_right_to_left_words() {
        assert_eq!(bidi_isolate("שלום".to_owned()), "\u{2068}שלום\u{2069}");
        assert_eq!(bidi_isolate("12 été 世界".to_owned()), "12 été 世界");
    }
}
