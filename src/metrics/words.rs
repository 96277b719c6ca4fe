//! What separates words.
//!
//! The published scores come from Python programs, so white space is what Python's `str.split`
//! and `str.isspace` take for it: Unicode's `White_Space`, which Rust uses too, and the four
//! information separators of ASCII.

/// Whether `character` separates words.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

/// The words of `text`: its longest runs without white space.
pub(super) fn words(text: &str) -> Vec<&str> {
    text.split(is_space).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_run_of_white_space_separates_words() {
        let found = words("\u{3000}one \t two\u{a0}three\u{1f}four\n");
        assert_eq!(found, ["one", "two", "three", "four"]);
    }

    #[test]
    fn zero_width_characters_belong_to_words() {
        assert_eq!(words("a\u{200b}b \u{feff}"), ["a\u{200b}b", "\u{feff}"]);
    }

    #[test]
    fn white_space_alone_holds_no_words() {
        assert!(words("").is_empty());
        assert!(words(" \n ").is_empty());
    }
}
