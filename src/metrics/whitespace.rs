//! Word splitting at whitespace as Python's `str.split` defines it, which the published metrics are computed with: Unicode
//! `White_Space` and the four ASCII information separators.

/// Returns true for characters that separate words.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

/// Splits text at runs of whitespace.
pub(super) fn words(text: &str) -> Vec<&str> {
    text.split(is_space).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_any_run_of_whitespace() {
        let found = words("\u{3000}one \t two\u{a0}three\u{1f}four\n");
        assert_eq!(found, ["one", "two", "three", "four"]);
    }

    #[test]
    fn keeps_zero_width_characters_in_words() {
        assert_eq!(words("a\u{200b}b \u{feff}"), ["a\u{200b}b", "\u{feff}"]);
    }

    #[test]
    fn finds_no_words_in_whitespace() {
        assert!(words("").is_empty());
        assert!(words(" \n ").is_empty());
    }
}
