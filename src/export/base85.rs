//! Bytes as text of five characters for four bytes, where base 64 needs more than five.

/// Printable ASCII characters that are no digits, because they mean something in HTML or JavaScript.
const EXCLUDED: &[u8] = b"\"$%&'<>\\`";
const BASE: u32 = 85;

/// Writes each four bytes, the most significant one first, as five digits in base 85. The digits are the printable ASCII
/// characters without [`EXCLUDED`], in their order. One to three bytes at the end become one digit more than they are.
pub fn base85(bytes: &[u8]) -> String {
    let digits: Vec<char> = (b'!'..=b'~').filter(|character| !EXCLUDED.contains(character)).map(char::from).collect();
    let mut text = String::with_capacity(bytes.len().div_ceil(4) * 5);
    for chunk in bytes.chunks(4) {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(word);
        text.extend((0..=chunk.len() as u32).map(|place| digits[(word / BASE.pow(4 - place) % BASE) as usize]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_a_digit_more_than_bytes() {
        let written = [&[][..], &[0], &[0, 0, 0, 1], &[255; 4], &[255]].map(base85);
        assert_eq!(written[..3], ["", "!!", "!!!!#"]);
        assert_eq!(written.map(|text| text.len()), [0, 2, 5, 5, 2]);
    }

    #[test]
    fn has_as_many_digits_as_its_base() {
        let every_byte: Vec<u8> =
            (0..=u16::MAX).flat_map(|number| [number.to_be_bytes(), number.to_le_bytes()].concat()).collect();
        let digits: std::collections::BTreeSet<char> = base85(&every_byte).chars().collect();
        assert_eq!(digits.len(), BASE as usize);
    }
}
