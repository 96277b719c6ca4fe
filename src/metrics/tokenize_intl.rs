//! The international tokenization of BLEU.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::tokenize_13a::rewrite_pairs;
use super::whitespace::words;

/// Tokenizes a line as NIST's mteval-v14 and sacrebleu's `TokenizerV14International` do; tokens are separated by single spaces.
///
/// Unicode's punctuation is split off unless it stands between digits, and so are symbols. A period after a final number stays.
pub(super) fn tokenize_intl(line: &str) -> String {
    // The order matters: each rule reads the spaces written by the previous one.
    let separated = rewrite_pairs(
        line,
        |first, second| !is_number(first) && is_punctuation(second),
        |first, second| [first, ' ', second, ' '],
    );
    let separated = rewrite_pairs(
        &separated,
        |first, second| is_punctuation(first) && !is_number(second),
        |first, second| [' ', first, ' ', second],
    );
    let mut tokens = String::with_capacity(2 * separated.len());
    for character in separated.chars() {
        if character.general_category_group() == GeneralCategoryGroup::Symbol {
            tokens.extend([' ', character, ' ']);
        } else {
            tokens.push(character);
        }
    }
    words(&tokens).join(" ")
}

fn is_number(character: char) -> bool {
    character.general_category_group() == GeneralCategoryGroup::Number
}

fn is_punctuation(character: char) -> bool {
    character.general_category_group() == GeneralCategoryGroup::Punctuation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_punctuation_and_symbols_of_unicode() {
        assert_eq!(tokenize_intl("« C’est… » — 5€+3%"), "« C ’ est … » — 5 € + 3%");
        assert_eq!(tokenize_intl("猫。犬、"), "猫 。 犬 、");
        assert_eq!(tokenize_intl("1,234.50 in 1999."), "1,234.50 in 1999.");
        assert_eq!(tokenize_intl("&lt;"), "& lt ;");
        assert_eq!(tokenize_intl(""), "");
    }
}
