//! Which way words run, and how words of both ways stand beside each other.

/// Whether words are laid from right to left: their first letter decides, as in the Unicode Bidirectional Algorithm.
pub fn runs_right_to_left(words: &[String]) -> bool {
    let first_letter = words.iter().flat_map(|word| word.chars()).find(|character| character.is_alphabetic());
    first_letter.is_some_and(is_right_to_left)
}

/// A word that leaves what stands beside it in its place: one with letters that run from right to left is set between
/// U+2068 and U+2069, which take no room. It must hold none of these itself.
pub fn isolated(word: String) -> String {
    if word.chars().any(is_right_to_left) { format!("\u{2068}{word}\u{2069}") } else { word }
}

/// Whether a letter belongs to a script that runs from right to left: the Hebrew, Arabic and neighbouring blocks.
fn is_right_to_left(letter: char) -> bool {
    matches!(
        letter,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_letter_decides() {
        for (word, expected) in
            [("שלום", true), ("(مرحبا) hello", true), ("1, hello שלום", false), ("", false), ("123", false)]
        {
            assert_eq!(runs_right_to_left(&[word.to_owned()]), expected, "{word}");
        }
    }

    #[test]
    fn only_words_that_would_move_others_are_isolated() {
        assert_eq!(isolated("שלום".to_owned()), "\u{2068}שלום\u{2069}");
        assert_eq!(isolated("12 été 世界".to_owned()), "12 été 世界");
    }
}
