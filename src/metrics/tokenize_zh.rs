//! The Chinese tokenization of published BLEU scores.

use super::tokenize_13a::separate_ascii_punctuation;
use super::whitespace::is_space;

/// Tokenizes a line as sacrebleu's `TokenizerZh` does: each Chinese character is a token, and the rest is split as by 13a,
/// without undoing markup. Tokens are separated by single spaces.
pub(super) fn tokenize_zh(line: &str) -> String {
    let mut separated = String::with_capacity(2 * line.len());
    for character in line.trim_matches(is_space).chars() {
        if is_chinese(character) {
            separated.extend([' ', character, ' ']);
        } else {
            separated.push(character);
        }
    }
    separate_ascii_punctuation(&separated)
}

/// True for characters that sacrebleu counts as Chinese: ideographs, full-width forms and symbols. Where its table names
/// characters beyond U+FFFF, it is read as Python reads it, whose `\u20000` is U+2000 and a digit: so general punctuation counts,
/// and ideographs of extension B do not.
fn is_chinese(character: char) -> bool {
    matches!(character,
        '\u{2001}'..='\u{2a6d}'
        | '\u{2e80}'..='\u{2fdf}'
        | '\u{2ff0}'..='\u{303f}'
        | '\u{3100}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31c0}'..='\u{31ef}'
        | '\u{3200}'..='\u{4db5}'
        | '\u{4e00}'..='\u{9fbb}'
        | '\u{f900}'..='\u{fa2d}'
        | '\u{fa30}'..='\u{fa6a}'
        | '\u{fa70}'..='\u{fad9}'
        | '\u{fe10}'..='\u{fe1f}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_chinese_characters_and_punctuation() {
        assert_eq!(tokenize_zh("我有3.5个苹果,你有2个。"), "我 有 3.5 个 苹 果 , 你 有 2 个 。");
        assert_eq!(tokenize_zh("“Rust”——很好…"), "“ Rust ” — — 很 好 …");
        assert_eq!(tokenize_zh("カメラ、𠀀𠀁"), "カメラ 、 𠀀𠀁");
        assert_eq!(tokenize_zh(" "), "");
    }

    #[test]
    fn keeps_markup_and_periods_at_the_ends() {
        assert_eq!(tokenize_zh("a &lt; b. .5 5."), "a & lt ; b . . 5 5.");
        assert_eq!(tokenize_zh(".a 5."), ". a 5.");
    }
}
