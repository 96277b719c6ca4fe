//! Bytes as text of UTF-8 in an HTML element: eight bytes for seven, where base 64 needs more than nine.

/// Characters that HTML would change or understand: it replaces NUL, reads CR as LF, and `<` may begin a tag.
const FORBIDDEN: [u8; 3] = [0, b'\r', b'<'];
/// Character of the first forbidden one with 0 behind it.
const PAIRS: u32 = 0x100;
/// Character of the first forbidden one at the end of the text.
const LAST: u32 = PAIRS + 128 * FORBIDDEN.len() as u32;

/// Writes each seven bits, the most significant ones first, as the ASCII character of that number; zeros complete the last one. A
/// [forbidden](FORBIDDEN) character and the next one are written together, as one letter of two bytes: the text needs no more room
/// than if none were forbidden.
pub fn base128(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 7 * 8 + 16);
    let mut numbers = sevens(bytes);
    while let Some(number) = numbers.next() {
        let code = match FORBIDDEN.iter().position(|&forbidden| forbidden == number) {
            None => u32::from(number),
            Some(index) => match numbers.next() {
                Some(next) => PAIRS + 128 * index as u32 + u32::from(next),
                None => LAST + index as u32,
            },
        };
        text.extend(char::from_u32(code));
    }
    text
}

/// The bits of bytes as numbers of seven bits.
fn sevens(bytes: &[u8]) -> impl Iterator<Item = u8> {
    (0..(8 * bytes.len()).div_ceil(7)).map(|index| {
        let (first, shift) = (7 * index / 8, 7 * index % 8);
        let pair = u16::from_be_bytes([bytes[first], bytes.get(first + 1).copied().unwrap_or(0)]);
        ((pair << shift) >> 9) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_eight_characters_for_seven_bytes() {
        let written = [&[][..], &[0xff], &[0xff; 7], &[0b0100_0001, 0b0000_0101, 0]].map(base128);
        assert_eq!(written, ["", "\u{7f}@", "\u{7f}".repeat(8).as_str(), " A \u{280}"]);
    }

    #[test]
    fn joins_forbidden_characters_with_the_next_one() {
        // 0 and 1, then 0 at the end.
        assert_eq!(base128(&[0, 0b0000_0100]), "\u{101}\u{280}");
        // 13 and 60, then 0 at the end.
        assert_eq!(base128(&[0b0001_1010, 0b1111_0000]), "\u{1bc}\u{280}");
    }

    #[test]
    fn has_no_character_that_html_changes() {
        let every_pair: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_be_bytes).collect();
        let text = base128(&every_pair);
        assert!(text.chars().all(|character| !matches!(character, '\0' | '\r' | '<')));
        assert!(text.len() <= (8 * every_pair.len()).div_ceil(7) + 1);
    }
}
