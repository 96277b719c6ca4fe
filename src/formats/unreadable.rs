//! Formats that are not read, with the way to a format that is.

use anyhow::{Result, bail, ensure};

use super::utf16::has_utf_16_mark;

/// First bytes of a format, its name, and what to do.
struct Unreadable {
    /// Position of the bytes.
    at: usize,
    bytes: &'static [u8],
    name: &'static str,
    advice: &'static str,
}

const TO_TEXT: &str = "save its text as .docx, .html or .txt and name that file";
const NO_TEXT: &str = "name a file of text";
const DECOMPRESS: &str = "decompress it, or compress it with gzip";
const UNPACK: &str = "unpack it and name a file in it";

const UNREADABLE: [Unreadable; 20] = [
    of(0, b"%PDF-", "a PDF", "extract its text with pdftotext, or save it as .docx, and name that file"),
    of(0, b"{\\rtf", "RTF", "save it as .docx or .odt and name that file"),
    of(0, b"%!PS", "PostScript", TO_TEXT),
    of(0, b"\x89PNG", "an image", NO_TEXT),
    of(0, b"\xff\xd8\xff", "an image", NO_TEXT),
    of(0, b"GIF89a", "an image", NO_TEXT),
    of(0, b"II*\0", "an image", NO_TEXT),
    of(0, b"MM\0*", "an image", NO_TEXT),
    of(4, b"1AY&SY", "compressed with bzip2", DECOMPRESS),
    of(0, b"\xfd7zXZ\0", "compressed with xz", DECOMPRESS),
    of(0, b"\x28\xb5\x2f\xfd", "compressed with Zstandard", DECOMPRESS),
    of(0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    of(0, b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    of(257, b"ustar", "a tar archive", UNPACK),
    of(0, b"SQLite format 3\0", "a database", "export a table of it as CSV"),
    of(0, b"\x7fELF", "a program", NO_TEXT),
    of(0, b"MZ\x90\0", "a program", NO_TEXT),
    of(0, b"\xcf\xfa\xed\xfe", "a program", NO_TEXT),
    of(3, b"\0\0\0\0\0{\"", "a file of tensors", "--model names the directory of a model"),
    of(0, b"\0\0\0", "a video or another file of bytes", "name its subtitles as .srt or .vtt"),
];

const fn of(at: usize, bytes: &'static [u8], name: &'static str, advice: &'static str) -> Unreadable {
    Unreadable { at, bytes, name, advice }
}

/// Rejects a file whose first bytes are those of a format that is not read.
///
/// # Errors
/// It is such a format; the message names it and says what to do.
pub(super) fn check_readable(start: &[u8], name: &str) -> Result<()> {
    for Unreadable { at, bytes, name: format, advice } in &UNREADABLE {
        if start.get(*at..).is_some_and(|rest| rest.starts_with(bytes)) {
            bail!("{name}: this is {format}; {advice}");
        }
    }
    ensure!(!is_binary(start), "{name}: this is not text, but bytes of an unknown format; {NO_TEXT}");
    Ok(())
}

/// True for bytes, other than those of an archive, of which many are control characters that text has in no encoding with bytes for
/// ASCII.
fn is_binary(start: &[u8]) -> bool {
    const MIN_BYTES: usize = 100;
    let sample = &start[..start.len().min(1000)];
    let controls = sample.iter().filter(|byte| matches!(byte, 1..=8 | 14..=26 | 28..=31)).count();
    !start.starts_with(b"PK\x03\x04")
        && sample.len() >= MIN_BYTES
        && 16 * controls > sample.len()
        && !has_utf_16_mark(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_not_read() {
        let message = check_readable(b"%PDF-1.7\n", "a.txt").unwrap_err().to_string();
        assert_eq!(
            message,
            "a.txt: this is a PDF; extract its text with pdftotext, or save it as .docx, and name that file"
        );
        assert!(check_readable(&[vec![0; 257], b"ustar\0".to_vec()].concat(), "a").is_err());
        assert!(check_readable(b"\0\0\0\x18ftypmp42", "a").is_err());
        let noise: Vec<u8> = (0..2000u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        assert!(check_readable(&noise, "a").is_err());
    }

    #[test]
    fn accepts_text() {
        for text in ["", "%", "GIF", "Rar! a\tb\n", "BZh9", "the ftyp box\n", "7zip"] {
            check_readable(text.as_bytes(), "a").unwrap();
        }
        let cyrillic: Vec<u8> = "\u{feff}\u{444}\u{443}".repeat(99).encode_utf16().flat_map(u16::to_le_bytes).collect();
        check_readable(&cyrillic, "a").unwrap();
        check_readable(&[&b"PK\x03\x04"[..], &[1; 2000]].concat(), "a").unwrap();
        check_readable(&"a\u{7}b \u{1b}[0m some text".repeat(9).into_bytes(), "a").unwrap();
    }
}
