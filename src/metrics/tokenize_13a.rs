//! The 13a tokenization of published BLEU scores.

use super::whitespace::words;

/// Tokenizes a line as NIST's mteval-v13a and sacrebleu's `tokenizer_13a` do; tokens are separated by single spaces.
///
/// Markup is undone, ASCII punctuation is split off, periods and commas stay only inside numbers, and a dash is split off
/// after a digit. Apostrophes and other dashes stay in their words.
pub(super) fn tokenize_13a(line: &str) -> String {
    // Periods and commas at the ends need a neighbor too.
    separate_ascii_punctuation(&format!(" {} ", without_markup(line)))
}

/// Splits off ASCII punctuation as sacrebleu's `TokenizerRegexp` does: periods and commas unless between digits, a dash after a
/// digit, and all other marks except apostrophes. Tokens are separated by single spaces.
pub(super) fn separate_ascii_punctuation(line: &str) -> String {
    let separated = separate_punctuation(line);
    // The order matters: each rule reads the spaces written by the previous one.
    let separated = rewrite_pairs(
        &separated,
        |first, second| !first.is_ascii_digit() && is_period_or_comma(second),
        |first, second| [first, ' ', second, ' '],
    );
    let separated = rewrite_pairs(
        &separated,
        |first, second| is_period_or_comma(first) && !second.is_ascii_digit(),
        |first, second| [' ', first, ' ', second],
    );
    let separated = rewrite_pairs(
        &separated,
        |first, second| first.is_ascii_digit() && second == '-',
        |first, second| [first, ' ', second, ' '],
    );
    words(&separated).join(" ")
}

/// Removes markers of skipped segments, joins words hyphenated at line ends, and decodes SGML entities.
fn without_markup(line: &str) -> String {
    // Sequentially, as in the original script: "&amp;lt;" ends up as "<".
    line.replace("<skipped>", "")
        .replace("-\n", "")
        .replace('\n', " ")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
}

/// Puts spaces around ASCII punctuation that has no rule of its own.
fn separate_punctuation(text: &str) -> String {
    let mut separated = String::with_capacity(2 * text.len());
    for character in text.chars() {
        if character.is_ascii_punctuation() && !matches!(character, '\'' | ',' | '-' | '.') {
            separated.extend([' ', character, ' ']);
        } else {
            separated.push(character);
        }
    }
    separated
}

/// Replaces every pair of neighbors that `applies` accepts, from left to right.
///
/// Pairs do not overlap, as in a regular expression substitution: of three periods, a rule may see only two.
pub(super) fn rewrite_pairs(
    text: &str,
    applies: impl Fn(char, char) -> bool,
    replacement: impl Fn(char, char) -> [char; 4],
) -> String {
    let mut rewritten = String::with_capacity(2 * text.len());
    let mut characters = text.chars().peekable();
    while let Some(first) = characters.next() {
        match characters.next_if(|&second| applies(first, second)) {
            Some(second) => rewritten.extend(replacement(first, second)),
            None => rewritten.push(first),
        }
    }
    rewritten
}

fn is_period_or_comma(character: char) -> bool {
    matches!(character, '.' | ',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_off_punctuation() {
        assert_eq!(tokenize_13a("Hello, world! (Really?)"), "Hello , world ! ( Really ? )");
        assert_eq!(tokenize_13a("a/b_c@d"), "a / b _ c @ d");
    }

    #[test]
    fn keeps_apostrophes_and_dashes_in_words() {
        assert_eq!(tokenize_13a("It's well-known."), "It's well-known .");
        assert_eq!(tokenize_13a("« C’est… » — oui"), "« C’est… » — oui");
    }

    #[test]
    fn keeps_periods_and_commas_inside_numbers() {
        assert_eq!(tokenize_13a("1,234.50 euros"), "1,234.50 euros");
        assert_eq!(tokenize_13a("in 1999, or .5"), "in 1999 , or . 5");
        assert_eq!(tokenize_13a("a.b"), "a . b");
        // Only ASCII digits count.
        assert_eq!(tokenize_13a("٣.٤"), "٣ . ٤");
    }

    #[test]
    fn splits_off_a_dash_after_a_digit() {
        assert_eq!(tokenize_13a("2019-20 and -5, B-2"), "2019 - 20 and -5 , B-2");
    }

    #[test]
    fn splits_consecutive_periods() {
        assert_eq!(tokenize_13a("..."), ". . .");
        assert_eq!(tokenize_13a("wait...2"), "wait . . . 2");
        assert_eq!(tokenize_13a("1..2"), "1 . . 2");
    }

    #[test]
    fn undoes_markup() {
        assert_eq!(tokenize_13a("<skipped>&quot;A &amp; B&quot;"), "\" A & B \"");
        assert_eq!(tokenize_13a("&amp;lt; &amp;quot;"), "< & quot ;");
        assert_eq!(tokenize_13a("hyphen-\nated\nline"), "hyphenated line");
    }

    #[test]
    fn keeps_empty_and_single_character_lines() {
        assert_eq!(tokenize_13a(""), "");
        assert_eq!(tokenize_13a(" \t "), "");
        for single in ["a", ".", ",", "-", "'", "7", "&", "é"] {
            assert_eq!(tokenize_13a(single), single);
        }
    }
}
