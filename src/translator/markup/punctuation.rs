//! Punctuation beside words and placeholders.

/// Brackets and quotation marks around a placeholder, which are taken out with it.
pub(super) const WRAPPERS: [(char, char); 14] = [
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('<', '>'),
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('«', '»'),
    ('“', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('‹', '›'),
    ('「', '」'),
    ('（', '）'),
];

/// Punctuation that ends a clause. After a placeholder at the start of a sentence, it is taken out with it.
pub(super) const CLAUSE_MARKS: &str = ".,;:!?…、。，；：！？";

/// True for punctuation that stands directly after a word.
pub(super) fn is_closing(character: char) -> bool {
    !character.is_alphanumeric() && !character.is_whitespace() && !is_opening(character)
}

/// True for punctuation and symbols that stand directly before a word.
pub(super) fn is_opening(character: char) -> bool {
    "#$&*+-/<=@\\^_~£¥€–—¿¡§".contains(character)
        || WRAPPERS.iter().any(|&(left, right)| character == left && left != right)
}
