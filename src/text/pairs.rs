//! Sentence pairs and the files they come from.
//!
//! Two layouts: one TSV file with a pair a line, or two files of as many lines each. Both are UTF-8 with LF or CRLF and
//! an optional byte order mark. Every error names the file and the line.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::{Layout, Pair};

/// Reads a text file line by line; the path `-` is standard input.
///
/// # Errors
/// The file cannot be read, or a line is not UTF-8.
pub fn read_lines(path: &Path) -> Result<Vec<String>> {
    let mut bytes = Vec::new();
    let read = if is_standard_input(path) {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.with_context(|| format!("{}: cannot read this file", name(path)))?;
    lines_of(&bytes, path)
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// A file as messages name it.
fn name(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn lines_of(bytes: &[u8], path: &Path) -> Result<Vec<String>> {
    ensure!(
        !is_utf_16(bytes),
        "{}: this is UTF-16, as spreadsheets save Unicode text; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
        name(path)
    );
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Some(bytes) = bytes.strip_suffix(b"\n").or((!bytes.is_empty()).then_some(bytes)) else {
        return Ok(Vec::new());
    };
    let mut lines = Vec::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line) {
            Ok(line) => lines.push(line.to_owned()),
            Err(error) => bail!(
                "{}:{}: not UTF-8 from byte {} of this line on; convert the file to UTF-8 first",
                name(path),
                index + 1,
                error.valid_up_to() + 1
            ),
        }
    }
    Ok(lines)
}

/// Whether a file is UTF-16: it begins with that byte order mark, or half of its bytes are zero as in Latin text.
fn is_utf_16(bytes: &[u8]) -> bool {
    let beginning = &bytes[..bytes.len().min(1000)];
    let zeros = beginning.iter().filter(|&&byte| byte == 0).count();
    bytes.starts_with(b"\xff\xfe")
        || bytes.starts_with(b"\xfe\xff")
        || beginning.len() > 7 && 5 * zeros > 2 * beginning.len()
}

/// Reads sentence pairs from a file with `source TAB target` on every line.
///
/// # Errors
/// The file cannot be read, or a line is not UTF-8, or has no tab or more than one.
pub fn read_tsv(path: &Path) -> Result<Vec<Pair>> {
    read_laid_out(path, &Layout::default())
}

/// Reads sentence pairs from a file that is laid out in some way.
///
/// # Errors
/// The file cannot be read, or a line is not UTF-8, or no pair.
pub fn read_laid_out(path: &Path, layout: &Layout) -> Result<Vec<Pair>> {
    layout.pairs(&read_lines(path)?).map_err(|reason| anyhow!("{}:{reason}", name(path)))
}

/// Reads sentence pairs from two files whose lines belong together. A tab inside a line is ordinary text here.
///
/// # Errors
/// A file cannot be read, or a line is not UTF-8, or the files differ in length.
pub fn read_parallel(source: &Path, target: &Path) -> Result<Vec<Pair>> {
    let sources = read_lines(source)?;
    let targets = read_lines(target)?;
    ensure!(
        sources.len() == targets.len(),
        "{} has {} lines and {} has {}; the two files must have as many lines each, line by line translations",
        name(source),
        sources.len(),
        name(target),
        targets.len()
    );
    Ok(sources.into_iter().zip(targets).map(|(source, target)| Pair { source, target }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Result<Vec<String>> {
        lines_of(bytes, Path::new("file.txt"))
    }

    #[test]
    fn line_ends_and_byte_order_marks() {
        assert_eq!(lines(b"").unwrap(), Vec::<String>::new());
        assert_eq!(lines(b"\xef\xbb\xbf").unwrap(), Vec::<String>::new());
        assert_eq!(lines(b"\n").unwrap(), [""]);
        assert_eq!(lines(b"a").unwrap(), ["a"]);
        assert_eq!(lines(b"\xef\xbb\xbfa\r\n\r\nb\rc\r\n").unwrap(), ["a", "", "b\rc"]);
    }

    #[test]
    fn broken_utf8_is_placed() {
        let message = lines(b"good\nb\xffd\n").unwrap_err().to_string();
        assert!(message.starts_with("file.txt:2: not UTF-8 from byte 2"), "{message}");
    }

    #[test]
    fn utf_16_is_called_by_its_name() {
        let text = "The fox sleeps.\tRufo.\n";
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [
            units.clone(),
            [&b"\xff\xfe"[..], &units].concat(),
            "\u{feff}日本".encode_utf16().flat_map(u16::to_be_bytes).collect(),
        ] {
            assert!(lines(&bytes).unwrap_err().to_string().contains("UTF-16"));
        }
        assert!(lines(b"a\0\tb\n").is_ok());
    }
}
