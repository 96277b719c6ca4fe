//! ZIP archives with two parallel files, as OPUS gives out its corpora for Moses: `Books.en-fr.en` and `Books.en-fr.fr`.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, ensure};

use super::archive::{file_names, is_archive, open_file};
use super::bounded_lines::BoundedLines;
use super::file_format::FileFormat;
use super::input::Input;
use super::languages::is_same;
use super::pair_reader::{FormatError, PairReader};

/// Archive of parallel files.
pub(super) static PARALLEL_ARCHIVE: FileFormat =
    FileFormat { name: "a ZIP archive", extensions: &["zip"], pairs: Some(open_pairs), ..FileFormat::UNKNOWN };

fn open_pairs(mut input: Input, sides: Option<&[String; 2]>) -> Result<Box<dyn PairReader>> {
    let name = input.name().to_owned();
    ensure!(is_archive(input.start()), "{name}: not a ZIP archive; choose another name for it");
    let path = input.path();
    let sides = parallel_files(&file_names(path)?, sides).map_err(|reason| anyhow!("{name}: {reason}"))?;
    let lines = [open_file(path, &sides[0].name)?, open_file(path, &sides[1].name)?].map(BoundedLines::new);
    Ok(Box::new(ParallelPairs { lines, sides }))
}

/// File of one side.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SideFile {
    /// Name in the archive.
    name: String,
    language: String,
}

/// Returns the files of both sides among those of an archive.
///
/// # Errors
/// There is not exactly one pair of files.
fn parallel_files(names: &[String], sides: Option<&[String; 2]>) -> Result<[SideFile; 2], String> {
    let mut groups: BTreeMap<&str, Vec<SideFile>> = BTreeMap::new();
    for name in names {
        if let Some((stem, extension)) = name.rsplit_once('.').filter(|(_, extension)| is_code(extension)) {
            let side = SideFile { name: name.clone(), language: extension.to_owned() };
            groups.entry(stem).or_default().push(side);
        }
    }
    let mut pairs = Vec::new();
    for (stem, files) in groups {
        match sides {
            Some(sides) => {
                let found = sides.each_ref().map(|side| files.iter().find(|file| is_same(&file.language, side)));
                if let [Some(source), Some(target)] = found {
                    pairs.push((stem, [source.clone(), target.clone()]));
                }
            }
            None => {
                if let Ok(files) = <[SideFile; 2]>::try_from(files) {
                    pairs.push((stem, in_order(stem, files)));
                }
            }
        }
    }
    match &pairs[..] {
        [(_, files)] => Ok(files.clone()),
        [] => Err(
            "no two parallel files such as corpus.en and corpus.fr are in this archive; unpack it and name its files"
                .to_owned(),
        ),
        [(first, _), (second, _), ..] => {
            Err(format!("parallel files {first} and {second} are in this archive; unpack it and name those you want"))
        }
    }
}

/// Puts the files in the order of the languages in their common name, such as `Books.en-fr`, or else of the archive.
fn in_order(stem: &str, [first, second]: [SideFile; 2]) -> [SideFile; 2] {
    let reversed = stem.ends_with(&format!("{}-{}", second.language, first.language));
    if reversed { [second, first] } else { [first, second] }
}

/// True for the extension of a file that names a language.
fn is_code(extension: &str) -> bool {
    let mut parts = extension.split(['-', '_']);
    let is_language = parts
        .next()
        .is_some_and(|part| (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic()));
    const OTHERS: [&str; 12] = ["txt", "xml", "ids", "csv", "tsv", "md", "gz", "pdf", "tmx", "tar", "doc", "htm"];
    is_language
        && parts.all(|part| (2..=4).contains(&part.len()))
        && !OTHERS.contains(&&*extension.to_ascii_lowercase())
}

/// Pairs of two files.
struct ParallelPairs {
    lines: [BoundedLines; 2],
    sides: [SideFile; 2],
}

impl PairReader for ParallelPairs {
    fn next_pair(&mut self) -> Result<Option<[String; 2]>, FormatError> {
        let [source, target] = self.lines.each_mut().map(BoundedLines::next_line);
        match (source?, target?) {
            (None, None) => Ok(None),
            (Some(source), Some(target)) => Ok(Some([source, target].map(|text| text.replace('\t', " ")))),
            (source, _) => {
                let short = if source.is_none() { 0 } else { 1 };
                let line = self.lines[short].number();
                let [short, long] = [&self.sides[short].name, &self.sides[1 - short].name];
                Err(FormatError::last(line, format!("{short} ends here, before {long}")))
            }
        }
    }

    fn languages(&self) -> Option<[String; 2]> {
        Some(self.sides.each_ref().map(|side| side.language.replace('_', "-")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::archive::archive_of;
    use super::super::pair_reader::all_pairs;
    use super::*;

    fn pairs(files: &[(&str, &str)], sides: Option<[&str; 2]>) -> Result<Vec<[String; 2]>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.zip");
        std::fs::write(&path, archive_of(files)).unwrap();
        let sides = sides.map(|sides| sides.map(str::to_owned));
        let mut reader = open_pairs(Input::open(&path)?, sides.as_ref())?;
        Ok(all_pairs(&mut *reader)?)
    }

    #[test]
    fn finds_the_parallel_files() {
        let opus = [
            ("README", "r"),
            ("Books.fr-en.en", "the cat\nowl\n"),
            ("Books.fr-en.fr", "le chat\thibou\nb\n"),
            ("Books.fr-en.xml", "<x/>"),
            ("LICENSE", ""),
        ];
        assert_eq!(pairs(&opus, None).unwrap(), [["le chat hibou", "the cat"], ["b", "owl"]]);
        assert_eq!(pairs(&opus, Some(["en", "fr"])).unwrap()[1], ["owl", "b"]);
        let plain = [("d/train.en", "a\n"), ("d/train.pt_BR", "b\r\n"), ("d/train.txt", "c\n")];
        assert_eq!(pairs(&plain, None).unwrap(), [["a", "b"]]);
    }

    #[test]
    fn names_what_is_missing() {
        let error = |files: &[(&str, &str)]| pairs(files, None).unwrap_err().to_string();
        assert!(error(&[("a.en", "")]).contains("no two parallel files"));
        assert!(error(&[("a.en", ""), ("a.fr", ""), ("b.en", ""), ("b.fr", "")]).contains("parallel files a and b"));
        assert_eq!(error(&[("a.en", "x\ny\n"), ("a.fr", "x\n")]), "2: a.fr ends here, before a.en");
    }
}
