//! The tokenisation behind published BLEU scores.

use super::words::words;

/// Splits a line into tokens as NIST's script mteval-v13a does for Western languages, and returns
/// them separated by single spaces.
///
/// The result is that of `tokenizer_13a` in sacrebleu 2.x: markup is undone, ASCII punctuation
/// becomes tokens of its own, periods and commas stay only inside of numbers, and a dash is split
/// off after a digit. Apostrophes and other dashes stay in their words.
#[must_use]
pub fn tokenize_13a(line: &str) -> String {
    // Every period and comma needs a neighbour on both sides for the rules below to see it.
    let padded = format!(" {} ", without_markup(line));
    let separated = separate_punctuation(&padded);
    // The order matters: each rule reads the spaces that the one before it has written.
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

/// Removes the marker of skipped segments, joins words hyphenated at the end of a line, and puts
/// the characters back that SGML writes as entities.
fn without_markup(line: &str) -> String {
    // One after the other, as in the original script: "&amp;lt;" ends up as "<".
    line.replace("<skipped>", "")
        .replace("-\n", "")
        .replace('\n', " ")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
}

/// Puts spaces around every ASCII punctuation mark that has no rule of its own.
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

/// Replaces every pair of neighbours that `applies` to, from left to right.
///
/// A replaced pair is used up, as in a regular expression's substitution: its second character
/// does not begin another pair. Of three periods in a row, one rule thus may see only two.
fn rewrite_pairs(
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
    fn punctuation_becomes_tokens() {
        assert_eq!(tokenize_13a("Hello, world! (Really?)"), "Hello , world ! ( Really ? )");
        assert_eq!(tokenize_13a("a/b_c@d"), "a / b _ c @ d");
    }

    #[test]
    fn apostrophes_and_dashes_stay_in_words() {
        assert_eq!(tokenize_13a("It's well-known."), "It's well-known .");
        assert_eq!(tokenize_13a("« C’est… » — oui"), "« C’est… » — oui");
    }

    #[test]
    fn periods_and_commas_stay_inside_of_numbers() {
        assert_eq!(tokenize_13a("1,234.50 euros"), "1,234.50 euros");
        assert_eq!(tokenize_13a("in 1999, or .5"), "in 1999 , or . 5");
        assert_eq!(tokenize_13a("a.b"), "a . b");
        // Only the digits of ASCII count.
        assert_eq!(tokenize_13a("٣.٤"), "٣ . ٤");
    }

    #[test]
    fn a_dash_is_split_off_after_a_digit() {
        assert_eq!(tokenize_13a("2019-20 and -5, B-2"), "2019 - 20 and -5 , B-2");
    }

    #[test]
    fn rows_of_periods() {
        assert_eq!(tokenize_13a("..."), ". . .");
        assert_eq!(tokenize_13a("wait...2"), "wait . . . 2");
        assert_eq!(tokenize_13a("1..2"), "1 . . 2");
    }

    #[test]
    fn markup_is_undone() {
        assert_eq!(tokenize_13a("<skipped>&quot;A &amp; B&quot;"), "\" A & B \"");
        assert_eq!(tokenize_13a("&amp;lt; &amp;quot;"), "< & quot ;");
        assert_eq!(tokenize_13a("hyphen-\nated\nline"), "hyphenated line");
    }

    #[test]
    fn nothing_and_single_characters() {
        assert_eq!(tokenize_13a(""), "");
        assert_eq!(tokenize_13a(" \t "), "");
        for single in ["a", ".", ",", "-", "'", "7", "&", "é"] {
            assert_eq!(tokenize_13a(single), single);
        }
    }
}
